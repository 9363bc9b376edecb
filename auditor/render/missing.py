"""The one edge that a finding says is missing, in words; and what it points at beside its path."""

from __future__ import annotations

from auditor.render.plain import clean, joined, short
from auditor.triage import PROOF_LOST, SUPPRESSION_CHECKS, ReportedFinding, Step

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
OVERRIDE = "override-drops-gate"
"""The check that tells of both sides."""
EVERYTHING = "*"
"""The name of all storage of a pool, in findings about replays."""

_NO_EDGE = LOADER_CHECKS.union(
    SUPPRESSION_CHECKS, {PROOF_LOST, "false-annotation", "unresolved-receiver", "redundant-gate", "pack-gap"}
)


def about_loader(finding: ReportedFinding) -> bool:
    """Whether a finding is about the loader's side, where no site is."""
    return finding.check in LOADER_CHECKS or (finding.check == OVERRIDE and not finding.sites)


def missing_edge(finding: ReportedFinding, *others: ReportedFinding) -> list[str]:
    """Say what has to be waited for and where, for a finding and others that are told with it; nothing where it is not
    about a read."""
    if finding.check in _NO_EDGE or about_loader(finding):
        return []
    where = f"`{short(finding.function)}`" if finding.function else "the code of the module"
    if finding.buffer == EVERYTHING:
        return [f"a wait for the load of every layer in {where}, which a replay does not skip"]
    buffers = [f"`{clean(name)}`" for name in dict.fromkeys(one.buffer for one in (finding, *others)) if name]
    of, read = f" of {joined(buffers)}" if buffers else "", "it is read" if len(buffers) < 2 else "they are read"
    return [f"a wait for the load{of} in {where}, before {read}"]


def beside(finding: ReportedFinding) -> list[Step]:
    """Return the related places that the path of the finding does not show."""
    shown = {(step.path, step.line) for step in finding.witness}
    return [step for step in finding.related if (step.path, step.line) not in shown]
