"""Exit statuses (DESIGN.md §6): 0 clean, 1 findings, 2 could not do it. 2 beats 1: half an audit is not merely red."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.scales import CONFIDENCES, SEVERITIES

if TYPE_CHECKING:
    from auditor.triage import Report, ReportedFinding

CLEAN = 0
FINDINGS = 1
COULD_NOT = 2
INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
BROKEN_PIPE = 141
"""128 + SIGPIPE: who read the report stopped reading."""

FAIL_ON = (*SEVERITIES, "never")


def exit_status(report: Report, *, fail_on: str, min_confidence: str, strict: bool) -> int:
    """Return the exit status that a report earns."""
    if any(problem.relevant or strict for problem in report.problems):
        return COULD_NOT
    if any(counts(finding, fail_on, min_confidence) for finding in report.findings):
        return FINDINGS
    return CLEAN


def counts(finding: ReportedFinding, fail_on: str, min_confidence: str) -> bool:
    """Tell whether a finding fails a run."""
    if finding.status != "new" or fail_on == "never":
        return False
    severe = SEVERITIES.index(finding.severity) <= SEVERITIES.index(fail_on)
    return severe and CONFIDENCES.index(finding.confidence) <= CONFIDENCES.index(min_confidence)
