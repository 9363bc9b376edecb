"""The probe: runs the path of a claim under a delayed load and reports what it saw.

It takes a plan (JSON) from the auditor, runs it inside the engine's own environment, and writes evidence (JSON):
``confirmed`` with the race and wrong bytes, or ``ordered`` with the chain of edges from the load to the read. It
imports nothing of ``auditor``; the two talk by files alone. It executes the code that it probes, so it never runs
without being told to.
"""
