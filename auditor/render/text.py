"""The text format: each finding with its place, its path and what is missing; then one sentence; then the footer.

Errors and warnings come worst first, each with a frame. Notes, findings of less confidence than asked for, and findings
that are known or suppressed get a line each, a few a check: nothing is left out without being counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from auditor.render.footer import footer, sentence
from auditor.render.frame import caret_frame, place, step_text, tree
from auditor.render.missing import EVERYTHING, about_loader, missing_edge
from auditor.render.page import Page
from auditor.render.plain import clean, count, short, wrapped
from auditor.scales import CONFIDENCES, SEVERITIES
from auditor.triage import SUPPRESSION_CHECKS, Report, ReportedFinding, Site

SHOWN_SITES = 3
SHOWN_BRIEF = 3


def render(report: Report, page: Page) -> str:
    """Write the whole report."""
    sites = {site.id: site for site in report.sites}
    framed = [finding for finding in report.findings if page.level(finding) != "note"]
    brief = [finding for finding in report.findings if page.level(finding) == "note"]
    blocks = ["\n".join(_finding(finding, sites, page)) for finding in sorted(framed, key=_worst_first)]
    blocks += ["\n".join(_brief(brief, page))] if brief else []
    ending = [page.strong(line) for line in wrapped(sentence(report, page.min_confidence), page.width)]
    return "\n\n".join([*blocks, "\n".join([*ending, "", *footer(report, page)])]) + "\n"


def explain_finding(report: Report, finding: ReportedFinding, page: Page) -> str:
    """Write one finding with its frame, whatever its status."""
    return "\n".join(_finding(finding, {site.id: site for site in report.sites}, page)) + "\n"


def _worst_first(finding: ReportedFinding) -> tuple[int, int]:
    return SEVERITIES.index(finding.severity), CONFIDENCES.index(finding.confidence)


# ---------------------------------------------------------------- one finding


def _finding(finding: ReportedFinding, sites: Mapping[str, Site], page: Page) -> list[str]:
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    gutter = " " * len(str(finding.line))
    notes = [
        *_path(finding, page, gutter),
        *_missing(finding, sites),
        *_fix(finding, page, gutter),
        *_advice(finding, page),
    ]
    return [
        *_headline(finding, page),
        *caret_frame(page, finding.path, start, end, _label(finding)),
        f"{gutter} {page.frame('|')}",
        *(line for name, lines in notes for line in _note(page, gutter, name, lines)),
    ]


def _headline(finding: ReportedFinding, page: Page) -> list[str]:
    head = f"{finding.severity}[{clean(finding.check)}]"
    first, *rest = wrapped(clean(finding.message), page.width, f"{head}: ", "  ")
    message = page.strong(first.removeprefix(head))
    return [_severity(page, finding.severity)(head) + message, *map(page.strong, rest)]


def _severity(page: Page, severity: str) -> Callable[[str], str]:
    return {"error": page.error, "warning": page.warning}.get(severity, page.note)


def _label(finding: ReportedFinding) -> str:
    named = bool(finding.sites) and finding.buffer not in ("", EVERYTHING) and not about_loader(finding)
    buffer = f" reads `{clean(finding.buffer)}`" if named else ""
    return f"{short(finding.method)}{buffer}" if finding.method else buffer.strip()


Note = tuple[str, list[str]]
"""A name and the line that stands beside it; or an empty line, and the lines that stand under it as they are."""


def _path(finding: ReportedFinding, page: Page, gutter: str) -> Iterable[Note]:
    if finding.witness:
        yield "path", ["", *tree(page, finding.witness, f"{gutter}   ")]
    for step in finding.related:
        yield "see", [step_text(page, step)]


def _missing(finding: ReportedFinding, sites: Mapping[str, Site]) -> Iterable[Note]:
    yield from (("missing", [edge]) for edge in missing_edge(finding))
    yield from (("hint", [clean(hint)]) for hint in finding.hints)
    others = [sites[id_] for id_ in finding.sites if id_ in sites and not _is_place(sites[id_], finding)]
    if others:
        shown = ", ".join(place(site.path, site.line) for site in others[:SHOWN_SITES])
        more = f" and {len(others) - SHOWN_SITES:,} more" if len(others) > SHOWN_SITES else ""
        yield "also at", [shown + more]


def _is_place(site: Site, finding: ReportedFinding) -> bool:
    return (site.path, site.line) == (finding.path, finding.line)


def _fix(finding: ReportedFinding, page: Page, gutter: str) -> Iterable[Note]:
    fix = finding.fix
    if fix is not None:
        where = f"before {place(fix.path, fix.line)}, as {clean(fix.like)} waits"
        added = (page.good(f"+ {clean(line)}") for line in fix.gate.splitlines())
        yield "fix", ["", f"{gutter}   {where}", *(f"{gutter}   {line}" for line in added)]


def _advice(finding: ReportedFinding, page: Page) -> Iterable[Note]:
    if finding.executions:
        yield "when", ["; ".join(map(clean, finding.executions))]
    if finding.confidence != "high":
        yield "confidence", [finding.confidence]
    if finding.confirmation:
        yield "confirmed", [clean(finding.confirmation)]
    if finding.check in SUPPRESSION_CHECKS:
        return
    if about_loader(finding):
        yield "explain", [f"bufgate explain {clean(finding.check)}"]
    else:
        yield "explain", [f"bufgate why {place(finding.path, finding.line)} {clean(page.arguments)}".rstrip()]
    yield "story", [f"bufgate explain {clean(finding.fingerprint)} {clean(page.arguments)}".rstrip()]
    if finding.fix is not None:
        yield "apply", [f"bufgate fix --fingerprint {clean(finding.fingerprint)[:8]} {clean(page.arguments)}".rstrip()]
    yield "suppress", [f"# bufgate: ignore[{clean(finding.check)}] -- reason"]


def _note(page: Page, gutter: str, name: str, lines: list[str]) -> list[str]:
    head = f"{gutter} {page.frame('=')} {page.strong(f'{name}:')}"
    indent = " " * (len(gutter) + 3)
    first = f"{gutter} = {name}:"
    if len(lines) == 1:
        text, *rest = wrapped(lines[0], page.width, f"{first} ", indent + "  ")
        return [head + text.removeprefix(first), *rest]
    return [head, *lines[1:]]


# ---------------------------------------------------------------- findings of one line


def _brief(findings: list[ReportedFinding], page: Page) -> list[str]:
    lines: list[str] = []
    for key, members in groupby(sorted(findings, key=_group), key=_group):
        lines += _group_lines(list(members), key[-1], page)
    return lines


def _group(finding: ReportedFinding) -> tuple[bool, int, int, str, str]:
    kind = "" if finding.status == "new" else f", {finding.status}"
    sure = "" if finding.confidence == "high" else f", {finding.confidence} confidence"
    return finding.status != "new", *_worst_first(finding), finding.check, kind + sure


def _group_lines(members: list[ReportedFinding], remark: str, page: Page) -> list[str]:
    severity, check = members[0].severity, clean(members[0].check)
    head = _severity(page, severity)(f"{severity}[{check}]") + f": {count(len(members), 'finding')}{clean(remark)}"
    lines = [head]
    for finding in members[:SHOWN_BRIEF]:
        where = f"{clean(finding.path)}:{finding.line}:{finding.column}"
        because = f" -- {clean(finding.justification)}" if finding.justification else ""
        lines += wrapped(f"{where}  {clean(finding.message)}{because}", page.width, "  ", "      ")
    if len(members) > SHOWN_BRIEF:
        lines.append(f"  and {len(members) - SHOWN_BRIEF:,} more: -o json lists all of them")
    return lines
