"""The probe: runs the path of a finding under a delayed load and reports what it saw.

It will take a plan (JSON) from the auditor, run it inside the engine's own environment, and write evidence (JSON),
``ordered`` with the happens-before path, or ``confirmed`` with wrong bytes. It imports nothing of ``auditor``; the two
talk by files alone. It executes the code that it probes, so it never runs without being told to.

Not built yet: this package is empty, so that its name and its place in the import contract are taken.
"""
