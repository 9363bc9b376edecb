"""Room ``triage``: verdicts and findings become the report that people read: ordered, numbered, new or known.

A *fingerprint* names a finding by what it is (check, functions, classes, buffer, occurrence), never by lines. The
values of ``report`` are those of report-v1; renderers see nothing else.
"""

from auditor.triage.assemble import assemble_findings, assemble_sites, fingerprint, scenarios
from auditor.triage.probing import Agreement, merge_evidence, probe_plan
from auditor.triage.report import (
    VERDICTS,
    Binding,
    Engine,
    Gate,
    Report,
    ReportedFinding,
    ReportedProblem,
    Scenario,
    Site,
    Stats,
    Step,
)

__all__ = [
    "VERDICTS",
    "Agreement",
    "Binding",
    "Engine",
    "Gate",
    "Report",
    "ReportedFinding",
    "ReportedProblem",
    "Scenario",
    "Site",
    "Stats",
    "Step",
    "assemble_findings",
    "assemble_sites",
    "fingerprint",
    "merge_evidence",
    "probe_plan",
    "scenarios",
]
