"""GitLab Code Quality: the JSON artifact behind the widget of a merge request, which compares fingerprints itself."""

from __future__ import annotations

import json

from auditor.render.page import Page, state
from auditor.render.plain import clean
from auditor.triage import Report, ReportedFinding

SEVERITIES = {"error": "critical", "warning": "major", "note": "info"}


def render(report: Report, page: Page) -> str:
    """Write a list of issues."""
    return json.dumps([_issue(finding, page) for finding in report.findings], indent=2) + "\n"


def _issue(finding: ReportedFinding, page: Page) -> object:
    status = f"({state(finding)}) " if state(finding) else ""
    return {
        "check_name": clean(finding.check),
        "description": status + clean(finding.message),
        "severity": SEVERITIES[page.level(finding)],
        "fingerprint": clean(finding.fingerprint),
        "location": {"path": clean(page.hosted(finding.path)), "lines": {"begin": finding.line}},
    }
