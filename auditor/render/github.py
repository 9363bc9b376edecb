"""Workflow commands of GitHub: annotations from a plain log, without a token.

GitHub shows ten annotations of a level and step and drops the others in silence. So the worst come first, what is over
the limit stands in the log as a plain line, and a last notice counts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from auditor.render.footer import sentence
from auditor.render.page import Page
from auditor.render.plain import clean, count
from auditor.triage import Report, ReportedFinding

LIMIT = 10
COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
LEFT = {"error": LIMIT, "warning": LIMIT, "note": LIMIT - 1}
"""One notice is kept for the last line."""


def render(report: Report, page: Page) -> str:
    """Write a line for each finding: as an annotation if it is new and one is left for its level."""
    return "".join(f"{line}\n" for line in _lines(report, page))


def _lines(report: Report, page: Page) -> Iterable[str]:
    shown: Counter[str] = Counter()
    for finding in report.findings:
        level = page.level(finding)
        if finding.status == "new" and shown[level] < LEFT[level]:
            shown[level] += 1
            yield _annotation(COMMANDS[level], finding, page)
        else:
            yield _plain(finding, page)
    for problem in report.problems:
        if problem.relevant:
            yield f"problem: {_inert(page.hosted(problem.path))}:{problem.line}: {_inert(problem.what)}"
    rest = sum(finding.status == "new" for finding in report.findings) - shown.total()
    more = f" {count(rest, 'more finding')} without an annotation: see the log of this step." if rest else ""
    yield f"::notice title=bufgate::{_message(sentence(report, page.min_confidence) + more)}"


def _annotation(command: str, finding: ReportedFinding, page: Page) -> str:
    values = {
        "file": page.hosted(finding.path),
        "line": finding.line,
        "endLine": finding.end_line,
        "col": finding.column,
        "endColumn": finding.end_column - 1,
        "title": f"bufgate: {finding.check}",
    }
    return workflow_command(command, values, f"{finding.message} [{finding.fingerprint}]")


def workflow_command(command: str, values: Mapping[str, object], message: str) -> str:
    """Write one command; nothing in its values or message is taken for another."""
    written = ",".join(f"{name}={_property(str(value))}" for name, value in values.items())
    return f"::{command} {written}::{_message(message)}"


def _plain(finding: ReportedFinding, page: Page) -> str:
    """The line starts with a word of ours, so that nothing in it can be a command."""
    kind = finding.severity if finding.status == "new" else finding.status
    where = f"{page.hosted(finding.path)}:{finding.line}:{finding.column}"
    because = f" -- {clean(finding.justification)}" if finding.justification else ""
    told = f"{clean(where)}: {clean(finding.message)}{because} [{clean(finding.fingerprint)}]"
    return f"{kind}[{_inert(finding.check)}]: {_inert(told)}"


def _inert(text: str) -> str:
    """The old form of a command, ``##[name]``, is one anywhere in a line."""
    return clean(text).replace("##[", "# #[")


def _message(text: str) -> str:
    return _inert(text).replace("%", "%25")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
