"""The one edge that a finding says is missing, in words."""

from __future__ import annotations

from auditor.render.frame import place
from auditor.render.plain import clean
from auditor.triage import PROOF_LOST, SUPPRESSION_CHECKS, ReportedFinding

LOADER_CHECKS = frozenset(
    {
        "signal-before-copy",
        "unfenced-transfer",
        "untransferred-buffer",
        "layer-range-mismatch",
        "counter-reuse",
    }
)
"""Checks of the other side of the gate."""

_NO_EDGE = LOADER_CHECKS.union(
    SUPPRESSION_CHECKS, {PROOF_LOST, "false-annotation", "unresolved-receiver", "redundant-gate", "pack-gap"}
)


def missing_edge(finding: ReportedFinding) -> list[str]:
    """Say which function must be ordered after which load; nothing for a finding that is not about a read."""
    if finding.check in _NO_EDGE:
        return []
    where = f"`{clean(finding.function)}`" if finding.function else place(finding.path, finding.line)
    buffer = f" of `{clean(finding.buffer)}`" if finding.buffer else ""
    return [f"{where} must be ordered after the load{buffer}"]
