"""Room ``loading``: the other side of the gate. Who copies storage, on which stream, behind what, and how it tells that
a layer has arrived.

A *loader* is a function that enqueues copies and says when they are done: it signals a *counter* (a class with a gate),
or records an event on the stream of its copies. A *fence* orders a stream behind other work, a *join* the host. A
*lapse* is what a loader leaves out, with the steps that show it. Names are derived from what the code does; a pack adds
the copies that no code of the tree shows, and what runs a forward pass.

It computes no verdict about a read, and says nothing where it cannot tell.
"""

from auditor.loading.build import loading_of
from auditor.loading.counters import counters_of
from auditor.loading.naming import attributes, called, context, parts, receiver, sources
from auditor.loading.values import (
    COPY,
    FENCE,
    JOIN,
    RECORD,
    SIGNAL,
    Counter,
    Lapse,
    Loader,
    Loading,
    Operation,
    Spot,
    Step,
)

__all__ = [
    "COPY",
    "FENCE",
    "JOIN",
    "RECORD",
    "SIGNAL",
    "Counter",
    "Lapse",
    "Loader",
    "Loading",
    "Operation",
    "Spot",
    "Step",
    "attributes",
    "called",
    "context",
    "counters_of",
    "loading_of",
    "parts",
    "receiver",
    "sources",
]
