"""Room ``callgraph``: who calls whom, per context, frozen after linking. Refined by points-to, so a call on an unknown
receiver has no callee here rather than every method of that name.

A *call graph* is a set of (caller, call site, callee); it is *sound* if no possible call is missing and *precise* if no
impossible one is there. An *entry point* is a frame that no resolved call reaches.
"""

from auditor.callgraph.decorated import wraps
from auditor.callgraph.graph import CallGraph, CallSite, FrameKey, entered, freeze
from auditor.callgraph.names import by_name

__all__ = ["CallGraph", "CallSite", "FrameKey", "by_name", "entered", "freeze", "wraps"]
