"""Room ``triage``: verdicts and findings become the report that people read: ordered, numbered, new or known.

A *fingerprint* names a finding by what it is (check, functions, classes, buffer, occurrence), never by lines. The
values of ``report`` are those of report-v1; renderers see nothing else.
"""

from auditor.triage.assemble import assemble_findings, assemble_sites, scenarios
from auditor.triage.baseline import (
    Baseline,
    BaselineError,
    Comparison,
    Entry,
    baseline_of,
    compare,
    entry_of,
    from_json,
    marked,
    migrated,
    pruned,
    to_json,
)
from auditor.triage.codec import decode, encode
from auditor.triage.difference import (
    PROOF_LOST,
    Change,
    Difference,
    changes,
    difference_of,
    explained,
    gates,
    lost_proofs,
)
from auditor.triage.fingerprints import fingerprint
from auditor.triage.matrix import Column, Matrix, matrix_of
from auditor.triage.probing import Agreement, merge_evidence, probe_plan
from auditor.triage.reading import report_of
from auditor.triage.report import (
    VERDICTS,
    Binding,
    Engine,
    ExcludedBinding,
    Fix,
    Gate,
    Report,
    ReportedFinding,
    ReportedProblem,
    Scenario,
    Site,
    Stats,
    Step,
    ordered,
)
from auditor.triage.suppressions import INVALID, UNUSED, Suppression, read_suppressions, suppress

SUPPRESSION_CHECKS = (INVALID, UNUSED)
"""Findings about suppressions."""

__all__ = [
    "PROOF_LOST",
    "SUPPRESSION_CHECKS",
    "VERDICTS",
    "Baseline",
    "BaselineError",
    "Agreement",
    "Binding",
    "Change",
    "Column",
    "Comparison",
    "Difference",
    "Engine",
    "ExcludedBinding",
    "Entry",
    "Fix",
    "Gate",
    "Matrix",
    "Report",
    "ReportedFinding",
    "ReportedProblem",
    "Scenario",
    "Site",
    "Stats",
    "Step",
    "Suppression",
    "assemble_findings",
    "assemble_sites",
    "baseline_of",
    "changes",
    "compare",
    "decode",
    "difference_of",
    "encode",
    "entry_of",
    "explained",
    "fingerprint",
    "from_json",
    "gates",
    "lost_proofs",
    "marked",
    "matrix_of",
    "merge_evidence",
    "migrated",
    "ordered",
    "probe_plan",
    "pruned",
    "read_suppressions",
    "report_of",
    "scenarios",
    "suppress",
    "to_json",
]
