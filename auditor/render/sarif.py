"""SARIF 2.1.0, as code scanning and editors read it.

What consumers are known to need decides the shape: relative addresses, one thread flow a result with the whole story in
its steps' messages (viewers show the first flow and no more), a location of one line, and ``primaryLocationLineHash``
(the only fingerprint that GitHub matches alerts by) with a value of our own that survives line moves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from auditor.render.documentation import parts, read_documentation
from auditor.render.page import Page, is_sure
from auditor.render.plain import clean, is_source
from auditor.triage import Fix, Report, ReportedFinding, ReportedProblem, Step

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"
LIMIT = 25_000
"""Results that GitHub takes in one run; the worst are told first, what is left out is counted."""
RANK = {"high": 90.0, "medium": 60.0, "low": 30.0}
PROBLEM_SEVERITY = {"error": "error", "warning": "warning", "note": "recommendation"}

Node = Mapping[str, object]


def render(report: Report, page: Page) -> str:
    """Write one run."""
    rules = _rules(report.findings)
    told = report.findings[:LIMIT]
    compared = any(finding.status == "known" for finding in report.findings)
    run = {
        "tool": {"driver": {"name": "bufgate", **_version(report), "rules": list(rules.values())}},
        "automationDetails": {"id": f"bufgate/{page.prefix}"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": _text("The top of the repository that was audited.")}},
        "invocations": [_invocation(report, page)],
        "results": [_result(finding, list(rules).index(finding.check), page, compared=compared) for finding in told],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


# ---------------------------------------------------------------- the tool and its rules


def _version(report: Report) -> Node:
    return {"version": report.tool_version, "semanticVersion": report.tool_version}


def _rules(findings: Iterable[ReportedFinding]) -> dict[str, Node]:
    """Every check of the list; and those of findings that are not of it."""
    from auditor.checks import CHECKS

    rules = {check.id: (check.severity, check.title) for check in CHECKS}
    for one in findings:
        rules.setdefault(one.check, (one.severity, f"{one.check.replace('-', ' ').capitalize()}."))
    documentation = read_documentation()
    return {id_: _rule(id_, *rule, documentation.get(id_, "")) for id_, rule in rules.items()}


def _rule(id_: str, severity: str, title: str, section: str) -> Node:
    """``precision`` is that of the check, by which GitHub filters; how sure one finding is stands in its ``rank``."""
    paragraphs = [text for kind, text in parts(section) if kind == "text"] or [title]
    return {
        "id": clean(id_),
        "name": "".join(word.capitalize() for word in clean(id_).split("-")),
        "shortDescription": _text(title),
        "fullDescription": _text(paragraphs[0]),
        "help": {"text": "\n\n".join(paragraphs), "markdown": section} if section else _text(title),
        "defaultConfiguration": {"level": severity},
        "properties": {
            "precision": "high",
            "problem.severity": PROBLEM_SEVERITY[severity],
            "tags": ["correctness", "concurrency"],
        },
    }


def _invocation(report: Report, page: Page) -> Node:
    left_out = len(report.findings) - LIMIT
    more = [{"level": "warning", "message": _text(f"{left_out:,} more findings than GitHub takes are left out.")}]
    return {
        "executionSuccessful": not any(problem.relevant for problem in report.problems),
        "toolExecutionNotifications": [
            *(_notification(problem, page) for problem in report.problems),
            *(more if left_out > 0 else []),
        ],
    }


def _notification(problem: ReportedProblem, page: Page) -> Node:
    return {
        "level": "error" if problem.relevant else "warning",
        "message": _text(problem.what),
        "locations": [{"physicalLocation": _physical(problem.path, {"startLine": problem.line}, page)}],
    }


# ---------------------------------------------------------------- results


def _result(finding: ReportedFinding, rule: int, page: Page, *, compared: bool) -> Node:
    return {
        "ruleId": clean(finding.check),
        "ruleIndex": rule,
        "level": finding.severity if is_sure(finding, page.min_confidence) else "note",
        "rank": RANK[finding.confidence],
        "message": _text(finding.message),
        "locations": [_location(finding, page)],
        **({"codeFlows": [_flow(finding.witness, page)]} if finding.witness else {}),
        "relatedLocations": [{"id": n, **_step(step, page)} for n, step in enumerate(finding.related)],
        "partialFingerprints": {
            "primaryLocationLineHash": f"{clean(finding.fingerprint)}:1",
            "bufgate/v1": clean(finding.fingerprint),
        },
        **({"fixes": [_fix(finding.fix, page)]} if finding.fix and is_source(finding.fix.text) else {}),
        **({"baselineState": "unchanged" if finding.status == "known" else "new"} if compared else {}),
        "suppressions": [_suppression(finding)] if finding.status == "suppressed" else [],
        "properties": {
            "confidence": finding.confidence,
            "class": clean(finding.class_),
            "method": clean(finding.method),
            "buffer": clean(finding.buffer),
            "executions": [clean(one) for one in finding.executions],
            "sites": [clean(one) for one in finding.sites],
            **({"confirmation": clean(finding.confirmation)} if finding.confirmation else {}),
        },
    }


def _fix(fix: Fix, page: Page) -> Node:
    """The lines of a fix, up to the end of the last one, whose line end stays."""
    last = len(page.source(fix.path, fix.end_line) or "") + 1
    region = {"startLine": fix.line, "startColumn": 1, "endLine": fix.end_line, "endColumn": last}
    replacement = {"deletedRegion": region, "insertedContent": {"text": fix.text}}
    return {
        "description": _text(f"Wait as {fix.like} does"),
        "artifactChanges": [{**_artifact(fix.path, page), "replacements": [replacement]}],
    }


def _suppression(finding: ReportedFinding) -> Node:
    because = {"justification": clean(finding.justification)} if finding.justification else {}
    return {"kind": "inSource", "status": "accepted", **because}


def _location(finding: ReportedFinding, page: Page) -> Node:
    """The first line only: a region of several lines is shown badly, and never in a pull request."""
    end = {"endColumn": finding.end_column} if finding.end_line == finding.line else {}
    region = {"startLine": finding.line, "startColumn": finding.column, **end}
    return {"physicalLocation": _physical(finding.path, region, page), **_logical(finding.function)}


def _flow(witness: Sequence[Step], page: Page) -> Node:
    steps = [
        {"executionOrder": order, "nestingLevel": order - 1, "importance": "essential", "location": _step(step, page)}
        for order, step in enumerate(witness, 1)
    ]
    return {"threadFlows": [{"locations": steps}]}


def _step(step: Step, page: Page) -> Node:
    told = f"{step.function.rpartition('.')[2]}: {step.what}" if step.function else step.what
    return {
        "physicalLocation": _physical(step.path, {"startLine": max(step.line, 1)}, page),
        "message": _text(told),
        **_logical(step.function),
    }


def _logical(function: str) -> Node:
    names = [{"fullyQualifiedName": clean(function), "kind": "function"}]
    return {"logicalLocations": names} if function else {}


def _physical(path: str, region: Mapping[str, int], page: Page) -> Node:
    return {**_artifact(path, page), "region": region}


def _artifact(path: str, page: Page) -> Node:
    address = quote(page.hosted(path), safe="/", errors="backslashreplace")
    return {"artifactLocation": {"uri": address, "uriBaseId": ROOT}}


def _text(text: str) -> dict[str, str]:
    """A message: braces are doubled, since single ones are placeholders, and ``[text](address)`` would be a link."""
    return {"text": clean(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")}
