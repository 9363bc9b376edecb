"""JUnit XML: a test case for each finding, and one that says what was audited, so that silence is never an empty suite.

A new finding that is sure enough and no note is a failure; known, suppressed and unsure ones are skipped tests; a
problem that leaves the audit incomplete is an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditor.render.footer import sentence
from auditor.render.frame import step_text
from auditor.render.page import Page, is_sure, state
from auditor.render.plain import clean
from auditor.triage import Report, ReportedFinding, ReportedProblem


def render(report: Report, page: Page) -> str:
    """Write one suite."""
    errors = [problem for problem in report.problems if problem.relevant]
    failures = sum(page.level(finding) != "note" for finding in report.findings)
    numbers = {
        "tests": len(report.findings) + len(errors) + 1,
        "failures": failures,
        "errors": len(errors),
        "skipped": len(report.findings) - failures,
    }
    counts = "".join(f' {name}="{number}"' for name, number in numbers.items())
    time = "" if report.stats.seconds is None else f' time="{report.stats.seconds:.2f}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="bufgate"{counts}{time}>',
        f'  <testsuite name="bufgate"{counts}{time}>',
        f'    <testcase classname="bufgate" name={_value(sentence(report, page.min_confidence))}/>',
        *(line for finding in report.findings for line in _case(finding, page)),
        *(line for problem in errors for line in _error(problem, page)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(finding: ReportedFinding, page: Page) -> Iterable[str]:
    where = f"{page.hosted(finding.path)}:{finding.line}:{finding.column}"
    name = f"{finding.check} [{finding.fingerprint}]"
    place = f'file={_value(page.hosted(finding.path))} line="{finding.line}"'
    yield f"    <testcase classname={_value(finding.function or finding.path)} name={_value(name)} {place}>"
    if page.level(finding) != "note":
        story = [f"{clean(where)}: {clean(finding.message)}", *(step_text(Page(), step) for step in finding.witness)]
        yield f"      <failure type={_value(finding.severity)} message={_value(finding.message)}>"
        yield from map(_text, story)
        yield "      </failure>"
    else:
        yield f"      <skipped message={_value(f'{_why(finding, page)}: {finding.message}')}/>"
    yield "    </testcase>"


def _why(finding: ReportedFinding, page: Page) -> str:
    if finding.status != "new":
        return state(finding)
    return finding.severity if is_sure(finding, page.min_confidence) else f"{finding.confidence} confidence"


def _error(problem: ReportedProblem, page: Page) -> Iterable[str]:
    path = page.hosted(problem.path)
    yield f'    <testcase classname={_value(path)} name="read" file={_value(path)} line="{problem.line}">'
    yield f'      <error type="problem" message={_value(problem.what)}/>'
    yield "    </testcase>"


def _text(line: str) -> str:
    from xml.sax.saxutils import escape  # imports a whole HTTP client

    return escape(line)


def _value(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(clean(text))
