"""The diagnostic format of reviewdog. Its columns count bytes of UTF-8; its messages become comments in Markdown."""

from __future__ import annotations

import json

from auditor.render.escape import unlinked
from auditor.render.page import Page, state
from auditor.render.plain import clean, is_source
from auditor.triage import Fix, Report, ReportedFinding

SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(report: Report, page: Page) -> str:
    """Write one result with all diagnostics."""
    diagnostics = [_diagnostic(finding, page) for finding in report.findings]
    return json.dumps({"source": {"name": "bufgate"}, "diagnostics": diagnostics}, indent=2) + "\n"


def _diagnostic(finding: ReportedFinding, page: Page) -> object:
    status = f" ({unlinked(state(finding))})" if state(finding) else ""
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    fix = finding.fix
    return {
        "message": unlinked(finding.message) + status,
        "location": {
            "path": clean(page.hosted(finding.path)),
            "range": {"start": _position(finding.path, start, page), "end": _position(finding.path, end, page)},
        },
        "severity": SEVERITIES[page.level(finding)],
        **({"suggestions": [_suggestion(fix, page)]} if fix is not None and is_source(fix.text) else {}),
        "code": {"value": clean(finding.check)},
        "original_output": f"{clean(finding.check)} {clean(finding.fingerprint)}",
    }


def _suggestion(fix: Fix, page: Page) -> object:
    last = len(page.source(fix.path, fix.end_line) or "") + 1
    start, end = (fix.line, 1), (fix.end_line, last)
    return {
        "range": {"start": _position(fix.path, start, page), "end": _position(fix.path, end, page)},
        "text": fix.text,
    }


def _position(path: str, place: tuple[int, int], page: Page) -> object:
    line, column = place
    before = (page.source(path, line) or "")[: column - 1]
    wider = len(before.encode("utf-8", "replace")) - len(before)
    return {"line": line, "column": column + wider}
