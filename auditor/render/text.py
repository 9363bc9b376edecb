"""The text format: each finding with its place, its path and what is missing; then one sentence; then the footer.

Errors and warnings come worst first, each with a frame; those that differ in the buffer alone share one. Notes,
findings of less confidence than asked for, and findings that are known or suppressed get a line each, a few a check:
nothing is left out without being counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from auditor.render.footer import footer, sentence
from auditor.render.frame import caret_frame, step_text, tree
from auditor.render.likewise import together
from auditor.render.missing import EVERYTHING, about_loader, beside, missing_edge
from auditor.render.page import Page
from auditor.render.plain import clean, count, short, wrapped
from auditor.render.words import execution
from auditor.scales import CONFIDENCES, SEVERITIES
from auditor.triage import SUPPRESSION_CHECKS, Report, ReportedFinding, Site

SHOWN_FILES = 5
SHOWN_BRIEF = 3
COPIED = frozenset({"explain", "apply", "suppress"})
"""Notes that stay on one line, however long: a part of a command is of no use."""


def render(report: Report, page: Page) -> str:
    """Write the whole report."""
    sites = {site.id: site for site in report.sites}
    framed = [finding for finding in report.findings if page.level(finding) != "note"]
    brief = [finding for finding in report.findings if page.level(finding) == "note"]
    framed.sort(key=_worst_first)
    blocks = ["\n".join(_finding(group, sites, page)) for group in together(framed)]
    blocks += ["\n".join(_brief(brief, page))] if brief else []
    ending = [page.strong(line) for line in wrapped(sentence(report, page.min_confidence), page.width)]
    return "\n\n".join([*blocks, "\n".join([*ending, "", *footer(report, page)])]) + "\n"


def explain_finding(report: Report, finding: ReportedFinding, page: Page) -> str:
    """Write one finding with its frame, whatever its status."""
    sites = {site.id: site for site in report.sites}
    about = f"`bufgate explain {clean(finding.check)}` tells what the check means."
    return "\n".join([*_finding((finding,), sites, page, explained=True), "", *wrapped(about, page.width)]) + "\n"


def _worst_first(finding: ReportedFinding) -> tuple[int, int]:
    return SEVERITIES.index(finding.severity), CONFIDENCES.index(finding.confidence)


# ---------------------------------------------------------------- one finding


def _finding(
    group: tuple[ReportedFinding, ...], sites: Mapping[str, Site], page: Page, *, explained: bool = False
) -> list[str]:
    """Tell the first of a group, and of the others what they read. ``explained``: the reader has asked for the whole
    story already."""
    finding, *others = group
    gutter = " " * len(str(finding.line))
    notes: list[Note] = [
        *_path(finding, page, gutter),
        *_missing(group, sites, page),
        *_fix(finding, page, gutter),
        *_circumstances(finding, sites),
        *([] if explained else [("explain", [_command("explain", finding.fingerprint, page)])]),
        *_advice(finding, page),
        *_likewise(others, page, gutter),
    ]
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    return [
        *_headline(finding, page, len(others)),
        *caret_frame(page, finding.path, start, end, _label(finding)),
        f"{gutter} {page.frame('|')}",
        *(line for name, lines in notes for line in _note(page, gutter, name, lines)),
    ]


def _headline(finding: ReportedFinding, page: Page, others: int) -> list[str]:
    head = f"{finding.severity}[{clean(finding.check)}]"
    told = page.prose(finding.message) + (f" ({count(others, 'more buffer')} likewise)" if others else "")
    first, *rest = wrapped(told, page.width, f"{head}: ", "  ")
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
    yield from (("see", [step_text(page, step)]) for step in beside(finding))


def _likewise(findings: Iterable[ReportedFinding], page: Page, gutter: str) -> Iterable[Note]:
    """What other findings read on the same path, each with its fingerprint."""
    lines: list[str] = []
    for one in findings:
        told = f"{step_text(page, one.witness[-1])} (fingerprint {clean(one.fingerprint)})"
        lines += wrapped(told, page.width, f"{gutter}   ", f"{gutter}     ")
    if lines:
        yield "likewise", ["", *lines]


def _missing(group: tuple[ReportedFinding, ...], sites: Mapping[str, Site], page: Page) -> Iterable[Note]:
    finding = group[0]
    yield from (("missing", [edge]) for edge in missing_edge(*group))
    yield from (("hint", [page.prose(hint)]) for hint in finding.hints)
    concerned = dict.fromkeys(id_ for one in group for id_ in one.sites)
    others = [sites[id_] for id_ in concerned if id_ in sites and not _is_place(sites[id_], finding)]
    if others:
        yield "also at", [_places(others, page)]


def _places(sites: Iterable[Site], page: Page) -> str:
    """Write ``a.py:1, 7; b.py:3``, with the number of those that are left out."""
    files: dict[str, list[int]] = {}
    for site in sites:
        files.setdefault(site.path, []).append(site.line)
    shown = [f"{clean(page.near(path))}:{', '.join(map(str, dict.fromkeys(lines)))}" for path, lines in files.items()]
    rest = list(files.values())[SHOWN_FILES:]
    more = f"; and {sum(map(len, rest)):,} more in {count(len(rest), 'file')}" if rest else ""
    return "; ".join(shown[:SHOWN_FILES]) + more


def _is_place(site: Site, finding: ReportedFinding) -> bool:
    return (site.path, site.line) == (finding.path, finding.line)


def _fix(finding: ReportedFinding, page: Page, gutter: str) -> Iterable[Note]:
    fix = finding.fix
    if fix is not None:
        where = f"before {page.place(fix.path, fix.line)}, as {page.prose(fix.like)} waits"
        added = (page.good(f"+ {clean(line)}") for line in fix.gate.splitlines())
        yield "fix", ["", f"{gutter}   {where}", *(f"{gutter}   {line}" for line in added)]


def _circumstances(finding: ReportedFinding, sites: Mapping[str, Site]) -> Iterable[Note]:
    if when := [*filter(None, map(execution, finding.executions)), *map(clean, _conditions(finding, sites))]:
        yield "when", ["; ".join(when)]
    if finding.confidence != "high":
        yield "confidence", [finding.confidence]
    if finding.confirmation:
        yield "probed", [clean(finding.confirmation)]


def _conditions(finding: ReportedFinding, sites: Mapping[str, Site]) -> list[str]:
    """What has to hold for each of the objects that are read ungated at the place of a finding."""
    here = [sites[id_] for id_ in finding.sites if id_ in sites and _is_place(sites[id_], finding)]
    open_ = [binding.when for site in here for binding in site.bindings if binding.check == finding.check]
    return [one for one in open_[0] if all(one in when for when in open_)] if open_ else []


def _advice(finding: ReportedFinding, page: Page) -> Iterable[Note]:
    if finding.fix is not None:
        yield "apply", [_command("fix --fingerprint", finding.fingerprint[:8], page)]
    if finding.check not in SUPPRESSION_CHECKS:
        yield "suppress", [f"# bufgate: ignore[{clean(finding.check)}] -- reason"]


def _command(verb: str, fingerprint: str, page: Page) -> str:
    return f"bufgate {verb} {clean(fingerprint)} {clean(page.arguments)}".rstrip()


def _note(page: Page, gutter: str, name: str, lines: list[str]) -> list[str]:
    head = f"{gutter} {page.frame('=')} {page.strong(f'{name}:')}"
    indent = " " * (len(gutter) + 3)
    first = f"{gutter} = {name}:"
    if name in COPIED:
        return [f"{head} {lines[0]}"]
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
        where = f"{page.place(finding.path, finding.line)}:{finding.column}"
        because = f" -- {clean(finding.justification)}" if finding.justification else ""
        lines += wrapped(f"{where}  {page.prose(finding.message)}{because}", page.width, "  ", "      ")
    if len(members) > SHOWN_BRIEF:
        lines.append(f"  and {len(members) - SHOWN_BRIEF:,} more: -o json lists all of them")
    return lines
