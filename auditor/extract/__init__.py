"""One file of Python to facts: the only room that knows syntax, and the only one that imports LibCST.

*Extracting* parses a file and *lowers* it to the register programs of ``auditor.facts``: a control-flow graph of basic
blocks in static single assignment form per function, built while the tree is walked (Braun et al. 2013, see ``ssa``).

Invariants: it never fails, whatever the content: a file that cannot be read has no functions and a problem that says
why and what to do. It resolves no name and knows no engine. It does no I/O and keeps nothing between calls: equal
arguments give equal facts, in any process.
"""

from auditor.extract.pool import Extractor, Source
from auditor.facts import ModuleFacts


def extract(path: str, module: str, is_package: bool, content: bytes) -> ModuleFacts:
    """Return the facts of one file; ``path`` and ``module`` are only written into them."""
    from auditor.extract.parse import extract as parsed  # the parser is slow to import, and most runs need none

    return parsed(path, module, is_package, content)


__all__ = ["Extractor", "Source", "extract"]
