"""Markdown, for step summaries, comments and issues: a block for each finding that counts, a line for each other one.

GitHub drops a step summary of more than 1 MiB whole, so the text ends before that and says what it left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditor.render.escape import escape, prose
from auditor.render.footer import coverage, sentence
from auditor.render.likewise import together
from auditor.render.missing import beside, missing_edge
from auditor.render.page import Page
from auditor.render.plain import count, place, short
from auditor.triage import Report, ReportedFinding, Step

LIMIT = 900 * 1024
"""Bytes of UTF-8."""


def render(report: Report, page: Page) -> str:
    """Write the whole report, as far as the limit lets it."""
    head = f"## bufgate\n\n{_text(sentence(report, page.min_confidence))}\n\n"
    end = "\n".join(_coverage(report)) + "\n"
    room = LIMIT - len((head + end).encode())
    blocks: list[str] = []
    told = 0
    for group in together(report.findings, lambda one: page.level(one) == "note"):
        block = "\n".join(_finding(group, page)) + "\n\n"
        room -= len(block.encode())
        if room < 0:
            blocks.append(f"{count(len(report.findings) - told, 'more finding')}: `-o json` lists all of them.\n\n")
            break
        told += len(group)
        blocks.append(block)
    return head + "".join(blocks) + end


def _finding(group: tuple[ReportedFinding, ...], page: Page) -> Iterable[str]:
    finding, *others = group
    severity = finding.severity if finding.status == "new" else finding.status
    where = f"{page.hosted(finding.path)}:{finding.line}:{finding.column}"
    head = f"**{severity}** {_code(finding.check)} {_text(finding.message)}"
    foot = f"{_code(where)} · {finding.confidence} confidence · fingerprint {_code(finding.fingerprint)}"
    if page.level(finding) == "note":
        because = f"; {_text(finding.justification)}" if finding.justification else ""
        yield f"{head} ({foot}{because})"
        return
    yield f"### {severity}: {_text(finding.check)}"
    yield ""
    yield _text(finding.message)
    yield ""
    yield foot
    yield ""
    for one in others:
        yield f"- likewise {_step(one.witness[-1], page)} · fingerprint {_code(one.fingerprint)}"
    yield from (f"- missing: {_text(edge)}" for edge in missing_edge(*group))
    yield from (f"- {_text(hint)}" for hint in finding.hints)
    yield from (f"- see {_step(step, page)}" for step in beside(finding))
    if finding.fix is not None:
        where = _code(place(page.hosted(finding.fix.path), finding.fix.line))
        yield f"- fix: before {where}, as {_code(finding.fix.like)} waits<br>"
        yield f"  {'<br>'.join(_code(line) for line in finding.fix.gate.splitlines())}"
    if finding.witness:
        yield ""
        yield f"<details><summary>The path: {count(len(finding.witness), 'step')}</summary>"
        yield ""
        yield from (f"{number}. {_step(step, page)}" for number, step in enumerate(finding.witness, 1))
        yield ""
        yield "</details>"


def _step(step: Step, page: Page) -> str:
    function = f"{_code(short(step.function))}: " if step.function else ""
    return f"{_code(place(page.hosted(step.path), step.line))} {function}{_text(step.what)}"


def _coverage(report: Report) -> Iterable[str]:
    yield "<details><summary>What was audited</summary>"
    yield ""
    yield "| | |"
    yield "| --- | --- |"
    yield from (f"| {name} | {_text(value)} |" for name, value in coverage(report))
    yield from (
        f"| problem | {_code(place(problem.path, problem.line))} {_text(problem.what)} |"
        for problem in report.problems
        if problem.relevant
    )
    yield ""
    yield "</details>"


def _text(text: str) -> str:
    return prose(text, markdown=True)


def _code(text: str) -> str:
    return f"<code>{escape(text, markdown=True)}</code>"
