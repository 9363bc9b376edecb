"""What the HTML page shows, worked out from the report: numbered, counted, merged. Values only; the
pictures are the one markup in them.

A page of thousands of bindings must open fast, so what many of them share is told once and linked to: gates, and the
ways by which objects reach their readers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from auditor.render import words
from auditor.render.documentation import parts, read_documentation
from auditor.render.flows import Flow, Ways
from auditor.render.likewise import together
from auditor.render.page import Page
from auditor.render.picture import Stop, picture, stops
from auditor.render.probed import Probed, probed
from auditor.triage import VERDICTS, Binding, Gate, Report, ReportedFinding, Site, Step

AROUND = 2
"""Source lines shown before and after a step."""
LONGEST = 200
"""Letters of a source line that are shown."""
TAB = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A source line; ``hit`` when a step of the path stands in it."""

    number: int
    text: str
    hit: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stop of the path and its source, in parts that lie apart; no parts where the source cannot be had."""

    stop: Stop
    parts: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, with the picture of its path (SVG, or ""), the sites that go through it by their ids, and what the
    probe saw of it."""

    id: str
    finding: ReportedFinding
    level: str
    picture: str
    excerpts: tuple[Excerpt, ...]
    sites: tuple[tuple[str, Site], ...]
    evidence: tuple[Probed, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """Something counted by verdict. ``bar``: verdict, start and length in percent."""

    name: str
    href: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def bar(self) -> Iterable[tuple[str, float, float]]:
        start = 0.0
        for verdict in VERDICTS:
            length = 100 * self.counts.get(verdict, 0) / (self.total or 1)
            if length:
                yield verdict, round(start, 2), round(length, 2)
            start += length


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool class: bindings by accessor, mode and verdict."""

    id: str
    tally: Tally
    modes: tuple[str, ...]
    matrix: tuple[tuple[str, Mapping[tuple[str, str], int]], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What a call binds to: classes, where their objects are made, and the way by which they come here (its id)."""

    classes: tuple[str, ...]
    objects: tuple[str, ...]
    way: str


@dataclass(slots=True)
class Row:
    """Bindings of a site that differ in their objects only."""

    verdict: str
    reason: str
    method: str
    runs: str
    gates: tuple[tuple[str, Gate], ...]
    findings: tuple[str, ...]
    end: Step | None
    targets: list[Target] = field(default_factory=list)
    when: set[str] = field(default_factory=set)
    assumptions: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class SiteView:
    """A site and its bindings."""

    id: str
    site: Site
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class File:
    """The sites of a file."""

    tally: Tally
    sites: tuple[SiteView, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A reason of ``unknown``: what it means, what would change it, and the bindings that have it."""

    reason: str
    meaning: str
    change: str
    cases: tuple[tuple[SiteView, Row], ...]


@dataclass(frozen=True, slots=True)
class GateView:
    """A gate in the source, and the facts about it that differ from object to object."""

    id: str
    gate: Gate
    facts: tuple[Gate, ...]


@dataclass(frozen=True, slots=True)
class View:
    """The whole page. ``groups`` are the findings as they are told: the first of each stands for all. ``checks`` are
    those that found something, each with the parts of its documentation; ``evidence`` is that of claims which are no
    findings."""

    report: Report
    findings: tuple[FindingView, ...]
    groups: tuple[tuple[FindingView, ...], ...]
    checks: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    verdicts: Tally
    pools: tuple[Pool, ...]
    accessors: tuple[Tally, ...]
    files: tuple[File, ...]
    unknown: tuple[Unknown, ...]
    gates: tuple[GateView, ...]
    flows: tuple[Flow, ...]
    evidence: tuple[Probed, ...]


def view(report: Report, page: Page) -> View:
    """Work out the whole page."""
    numbered = {site.id: f"s{number}" for number, site in enumerate(report.sites, 1)}
    evidence = probed(page.evidence, {site.id: (numbered[site.id], site) for site in report.sites})
    findings = _findings(report, page, numbered, evidence)
    gates, ways = _Gates(), Ways()
    sites = [_site(site, numbered[site.id], findings, gates, ways) for site in report.sites]
    return View(
        report=report,
        findings=findings,
        groups=tuple(_groups(findings, page)),
        checks=tuple(_checks(report.findings)),
        verdicts=Tally("sites", "#sites", report.stats.verdicts),
        pools=tuple(_pools(report.sites)),
        accessors=_tallies((site.name, site.verdict, "") for site in report.sites),
        files=tuple(_files(sites)),
        unknown=tuple(_unknown(sites)),
        gates=gates.all(),
        flows=ways.flows(),
        evidence=tuple(one for one in evidence if one.finding is None),
    )


def _checks(findings: Iterable[ReportedFinding]) -> Iterable[tuple[str, tuple[tuple[str, str], ...]]]:
    documentation = read_documentation()
    for check in dict.fromkeys(finding.check for finding in findings):
        if check in documentation:
            yield check, tuple(parts(documentation[check]))


# ---------------------------------------------------------------- findings


def _findings(
    report: Report, page: Page, numbered: Mapping[str, str], evidence: Sequence[Probed]
) -> tuple[FindingView, ...]:
    lines = cache(page.lines)
    sites = {site.id: site for site in report.sites}
    return tuple(
        FindingView(
            id=f"f{number}",
            finding=finding,
            level=page.level(finding),
            picture=picture(finding, sites, f"f{number}") if finding.witness else "",
            excerpts=tuple(_excerpt(stop, lines(stop.path)) for stop in stops(finding.witness)),
            sites=tuple((numbered[id_], sites[id_]) for id_ in finding.sites if id_ in sites),
            evidence=tuple(one for one in evidence if one.finding == finding.fingerprint),
        )
        for number, finding in enumerate(report.findings, 1)
    )


def _groups(findings: Sequence[FindingView], page: Page) -> Iterable[tuple[FindingView, ...]]:
    rest = iter(findings)
    for group in together((one.finding for one in findings), lambda one: page.level(one) == "note"):
        yield tuple(islice(rest, len(group)))


def _excerpt(stop: Stop, source: Sequence[str]) -> Excerpt:
    hits = {step.line for step in stop.steps}
    near = {line + offset for line in hits for offset in range(-AROUND, AROUND + 1)}
    shown = sorted(line for line in near if 0 < line <= len(source))
    texts = {line: _shown(source[line - 1]) for line in shown}
    margin = min((len(text) - len(text.lstrip()) for text in texts.values() if text), default=0)
    parts: list[list[Line]] = []
    for line in shown:
        if line - 1 not in near or not parts:
            parts.append([])
        parts[-1].append(Line(line, texts[line][margin:], line in hits))
    return Excerpt(stop, tuple(map(tuple, parts)))


def _shown(line: str) -> str:
    text = line[: LONGEST + 1].rstrip().expandtabs(TAB)
    return text if len(line) <= LONGEST else f"{text[:LONGEST]}…"


# ---------------------------------------------------------------- counts


def _tallies(counted: Iterable[tuple[str, str, str]]) -> tuple[Tally, ...]:
    """Count (name, verdict, link) by name, worst first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    links: dict[str, str] = {}
    for name, verdict, link in counted:
        counts[name][verdict] += 1
        links[name] = link
    return tuple(sorted((Tally(name, links[name], counts[name]) for name in counts), key=_worst_first))


def _worst_first(tally: Tally) -> tuple[object, ...]:
    return *(-tally.counts.get(verdict, 0) for verdict in VERDICTS), tally.name


def _pools(sites: Sequence[Site]) -> Iterable[Pool]:
    cells: dict[str, dict[str, Counter[tuple[str, str]]]] = defaultdict(lambda: defaultdict(Counter))
    for site in sites:
        for binding in site.bindings:
            for cls in binding.classes if _is_pool(binding) else ():
                cells[cls][site.name][binding.mode, binding.verdict] += 1
    tallies = _tallies(
        (cls, verdict, "")
        for cls, accessors in cells.items()
        for counts in accessors.values()
        for (_, verdict), number in counts.items()
        for _ in range(number)
    )
    for number, tally in enumerate(tallies, 1):
        id_, accessors = f"p{number}", cells[tally.name]
        modes = tuple(sorted({mode for counts in accessors.values() for mode, _ in counts}))
        yield Pool(id_, Tally(tally.name, f"#{id_}", tally.counts), modes, tuple(sorted(accessors.items())))


def _is_pool(binding: Binding) -> bool:
    return not (binding.verdict == "exempt" and binding.reason == "not-a-pool")


def _files(sites: Iterable[SiteView]) -> Iterable[File]:
    by_path: dict[str, list[SiteView]] = defaultdict(list)
    for one in sites:
        by_path[one.site.path].append(one)
    tallies = _tallies((path, one.site.verdict, "") for path, group in by_path.items() for one in group)
    for number, tally in enumerate(tallies, 1):
        yield File(Tally(tally.name, f"#file{number}", tally.counts), tuple(by_path[tally.name]))


def _unknown(sites: Iterable[SiteView]) -> Iterable[Unknown]:
    cases: dict[str, list[tuple[SiteView, Row]]] = defaultdict(list)
    for one in sites:
        for row in one.rows:
            if row.verdict == "unknown":
                cases[row.reason].append((one, row))
    for reason in sorted(cases, key=lambda reason: (-len(cases[reason]), reason)):
        yield Unknown(reason, *words.unknown(reason), tuple(cases[reason]))


# ---------------------------------------------------------------- sites and what they share


class _Gates:
    """Gates by their place and expression, numbered as they come."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, int, str], str] = {}
        self._facts: dict[str, dict[Gate, None]] = defaultdict(dict)

    def id(self, gate: Gate) -> str:
        name = self._ids.setdefault((gate.path, gate.line, gate.expression), f"g{len(self._ids) + 1}")
        self._facts[name][gate] = None
        return name

    def all(self) -> tuple[GateView, ...]:
        return tuple(GateView(name, next(iter(facts)), tuple(facts)) for name, facts in self._facts.items())


def _site(site: Site, name: str, findings: Sequence[FindingView], gates: _Gates, ways: Ways) -> SiteView:
    told = {check: tuple(ids) for check, ids in _by_check(name, findings).items()}
    rows: dict[tuple[object, ...], Row] = {}
    for binding in sorted(site.bindings, key=lambda one: VERDICTS.index(one.verdict)):
        runs = f"{binding.mode}, {'a load possible' if binding.phase == 'load-possible' else 'no load possible'}"
        held = tuple((gates.id(gate), gate) for gate in binding.gates)
        key = (binding.verdict, binding.reason, binding.method, runs, tuple(id_ for id_, _ in held))
        end = binding.derivation[-1] if binding.derivation and binding.verdict == "unknown" else None
        row = rows.setdefault(
            key,
            Row(binding.verdict, binding.reason, binding.method, runs, held, told.get(binding.check or "", ()), end),
        )
        row.targets.append(Target(binding.classes, binding.objects, ways.id(site, binding)))
        row.when.update(binding.when)
        row.assumptions.update(binding.assumptions)
    return SiteView(name, site, tuple(rows.values()))


def _by_check(name: str, findings: Iterable[FindingView]) -> Mapping[str, list[str]]:
    told: dict[str, list[str]] = defaultdict(list)
    for one in findings:
        if any(id_ == name for id_, _ in one.sites):
            told[one.finding.check].append(one.id)
    return told
