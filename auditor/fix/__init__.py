"""Room ``fix``: writes the missing gate into the source text, as a LibCST codemod of one function.

A *remedy* says who should wait for which layer; an *idiom* is the statement by which a method of the same class waits
already. The idiom, with its receiver and layer replaced, goes to the start of the function or before the statement that
reads; everything else keeps its bytes. A fix replaces whole lines, so it can be shown, suggested and applied without a
parser (``applied``).

Invariants: it reads no file and writes none; what it cannot write with certainty it refuses with a reason; it says
nothing of whether the fix is right: that is for the audit of the changed tree.
"""

from auditor.fix.applied import apply, compatible
from auditor.fix.proposer import Proposer

__all__ = ["Proposer", "apply", "compatible"]
