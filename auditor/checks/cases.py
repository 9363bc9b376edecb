"""From uncovered reads to findings: who should have waited, which check tells it, which cases are one finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from auditor.checks.finding import Case, Check, Finding, overridden_wait
from auditor.gating import Hop, Judgement, Layer, Need, Remedy, SiteVerdict, by_length, plainness, readable
from auditor.scales import CONFIDENCES, SEVERITIES

Key = tuple[str, str, str, bool]
Member = tuple[Case, Check, str, SiteVerdict]
TOLD = ("ungated", "latent")


def findings(judgement: Judgement, checks: Sequence[Check]) -> tuple[Finding, ...]:
    """Group the cases by (severity, function to change, storage): one missing edge, told by one check."""
    groups: dict[Key, list[Member]] = {}
    for site in judgement.sites:
        for case in _cases(judgement, site):
            check, message = _told(case, checks)
            groups.setdefault((check.severity, case.culprit, case.buffer.name, case.latent), []).append(
                (case, check, message, site)
            )
    made = sorted((_finding(members, checks) for members in groups.values()), key=by_weight)
    return tuple(_absorbed(made))


def _absorbed(found: Iterable[Finding]) -> Iterator[Finding]:
    """Of several findings of one function and storage the worst; it stands for the others if none is surer."""
    by_edge: dict[tuple[str, str, bool], list[Finding]] = {}
    for one in found:
        by_edge.setdefault((one.function, one.buffer, one.latent), []).append(one)
    for first, *others in by_edge.values():
        surer = [one for one in others if CONFIDENCES.index(one.confidence) < CONFIDENCES.index(first.confidence)]
        sites = {site for one in (first, *others) if one not in surer for site in one.sites}
        yield replace(first, sites=tuple(sorted(sites)))
        yield from surer


def by_weight(one: Finding) -> tuple[object, ...]:
    """Orders findings: worst first, then by place."""
    return (
        one.latent,
        SEVERITIES.index(one.severity),
        CONFIDENCES.index(one.confidence),
        one.place.path,
        one.place.line,
        one.check,
        one.buffer,
    )


def _cases(judgement: Judgement, site: SiteVerdict) -> Iterator[Case]:
    told: dict[int, tuple[Need, bool]] = {}
    proved: set[int] = set()
    for binding in site.bindings:
        for outcome in binding.outcomes:
            if outcome.verdict in TOLD and outcome.need is not None:
                told.setdefault(id(outcome.need), (outcome.need, outcome.verdict == "latent"))
                if binding.proved:
                    proved.add(id(outcome.need))
    for key, (need, latent) in told.items():
        yield _case(judgement, need, latent=latent, proved=key in proved)


def _case(judgement: Judgement, need: Need, *, latent: bool, proved: bool) -> Case:
    hop, inside = (need.hops[need.culprit], True) if need.culprit else _culprit(judgement, need.hops)
    objects = (hop.frame[1], need.buffer.owner)
    classes = frozenset(one.cls for one in objects if one is not None)
    return Case(need, hop.frame[0], hop, classes, hop.place, inside, latent, proved, judgement)


def _culprit(judgement: Judgement, hops: tuple[Hop, ...]) -> tuple[Hop, bool]:
    """The step at which somebody should have waited: the outermost method of an armed object next to the read, or the
    override of a method that waits which that one calls on the same object; else, from outside the pools, the function
    that went round the owner."""
    start = len(hops)
    while start and hops[start - 1].frame[1] is not None:
        start -= 1
    inner = hops[start:]
    if start and inner and _is_private(inner[0].frame[0].rpartition(".")[2]):
        return hops[start - 1], False  # called from outside
    for hop in inner:
        context = hop.frame[1]
        if context is not None and judgement.armed.state(context).kind == "armed":
            own = (one for one in inner if one.frame[1] == context)
            return next((one for one in own if overridden_wait(judgement, one.frame[0]) is not None), hop), True
    if start == 0:
        return hops[0], True
    if inner and not _round_owner(judgement, inner[0]):
        return inner[0], True
    return hops[start - 1], False


def _is_private(method: str) -> bool:
    return method.startswith("_") and not method.endswith("__")


def _round_owner(judgement: Judgement, hop: Hop) -> bool:
    """Whether the object belongs to another one that would wait for it."""
    context = hop.frame[1]
    state = judgement.armed.state(context) if context is not None else None
    return (
        state is not None
        and context in judgement.armed.loaded
        and (state.kind == "unset" or (state.registration is not None and state.registration.wrapper is not None))
    )


def _told(case: Case, checks: Iterable[Check]) -> tuple[Check, str]:
    for check in checks:
        message = check.applies(case)
        if message is not None:
            return check, message
    raise AssertionError("the last check applies to every case")


def _finding(members: list[Member], checks: Sequence[Check]) -> Finding:
    """Told by the surest cases, of these by the most specific check, of these along the shortest path."""
    surest = min((one.confidence for one, *_ in members), key=CONFIDENCES.index)
    telling = [one for one in members if one[0].confidence == surest]
    speaks = min((check for _, check, *_ in telling), key=checks.index)
    case, check, message, _ = min((one for one in telling if one[1] is speaks), key=_plainest)
    cls, _, method = case.culprit.rpartition(".")
    latent = all(one.latent for one, *_ in members)
    sites = sorted({(site.path, site.line, site.column, site.name) for *_, site in members})
    return Finding(
        check=check.id,
        severity="note" if latent else check.severity,
        confidence=surest,
        message=message,
        function=case.culprit,
        cls=cls if cls in case.judgement.hierarchy.classes else "",
        method=method,
        buffer=case.buffer.name,
        place=case.place,
        latent=latent,
        touches=case.need.touches,
        witness=case.need.hops,
        near=case.need.near,
        hints=tuple(_hints(case)),
        remedy=_remedy(case, check),
        classes=tuple(sorted(frozenset().union(*(one.classes for one, *_ in members)))),
        sites=tuple(sites),
        mode=case.mode,
    )


def _plainest(one: Member) -> tuple[object, ...]:
    case = one[0]
    return *plainness(case.need, case.judgement.hierarchy.mro), case.place, by_length(case.need.hops)


def _remedy(case: Case, check: Check) -> Remedy | str:
    if case.latent:
        return "nothing arms the object, so a wait would change nothing"
    return check.unmended or case.judgement.remedies.of(case.step, case.need, inside=case.inside)


def _layer(layer: Layer) -> str:
    text = readable(layer)
    return "its layer" if text == "some layer" or "(computed)" in text else text


def _hints(case: Case) -> Iterator[str]:
    if case.latent:
        yield f"latent: {case.judgement.armed.state(case.buffer.owner).why}"
    yield f"nothing orders this read behind the load of {_layer(case.need.layer)} on the copy stream"
    cls = case.culprit.rpartition(".")[0]
    siblings = [name for name in case.judgement.waits if name.rpartition(".")[0] in case.judgement.hierarchy.mro(cls)]
    siblings.sort(
        key=lambda name: (
            case.judgement.waits[name].place.path != case.place.path,
            abs(case.judgement.waits[name].place.line - case.place.line),
            name,
        )
    )
    if siblings:
        gate = case.judgement.waits[siblings[0]]
        name = ".".join(siblings[0].rsplit(".", 2)[-2:])
        yield f"nearest gate: {name} waits with {gate.text} ({gate.place.path}:{gate.place.line})"
