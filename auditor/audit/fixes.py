"""The fix of each finding, where one is known. The parser that writes it is loaded for the first one that needs it."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.checks import Finding
from auditor.source import SourceTree
from auditor.triage import Fix


def fixes(findings: Sequence[Finding], tree: SourceTree) -> list[Fix | str]:
    """Return for each finding its fix, or why there is none."""
    if all(isinstance(one.remedy, str) for one in findings):
        return [str(one.remedy) for one in findings]
    from auditor.fix import Proposer

    proposer = Proposer(tree.lines)
    return [one.remedy if isinstance(one.remedy, str) else proposer.fix(one.remedy) for one in findings]
