"""Room ``learning``: a rule pack for an engine that nobody has written one for, mined from what its code does.

A *wait* is a method that waits for the layer that its parameter names; a *gate* is a wait on a *counter*, an attribute
that is handed to its owner. Who owns one is a *pool*; its methods that wait and hand out are *accessors*, what they
hand out is *storage*, and a *sibling* hands out the same and does not wait. A *signal* is the other half of a wait, a
*loader* gives it. *Hooks* are plugins with a wait for the layer at hand. *Evidence* is a place that shows an entry.

Invariants: names of engines play no part, only those of PyTorch and Python for waiting, recording and copying. Nothing
is solved and nothing decided: what is told is a proposal for a person, with its evidence and how sure it is (``HIGH``,
``MEDIUM``, ``LOW``). No I/O: files are asked for by what their bytes look like (``Wanted``).
"""

from auditor.learning.hints import Wanted
from auditor.learning.mine import Supply, learn
from auditor.learning.text import pack_of
from auditor.learning.values import HIGH, LOW, MEDIUM, Arming, Evidence, Gate, Hooks, InFlight, Learned, Named

__all__ = [
    "HIGH",
    "LOW",
    "MEDIUM",
    "Arming",
    "Evidence",
    "Gate",
    "Hooks",
    "InFlight",
    "Learned",
    "Named",
    "Supply",
    "Wanted",
    "learn",
    "pack_of",
]
