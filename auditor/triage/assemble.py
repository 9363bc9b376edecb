"""From judgement and findings to the report: ids, fingerprints, merged bindings, coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from auditor.triage.fingerprints import fingerprint
from auditor.triage.report import Binding, ExcludedBinding, Fix, Gate, ReportedFinding, Scenario, Site, Step

if TYPE_CHECKING:  # a report that was kept is read without the rooms that make one
    from auditor.checks import Finding
    from auditor.gating import BindingVerdict, Excluded, Hop, Judgement, SiteVerdict
    from auditor.gating import Gate as HeldGate

LOAD_POSSIBLE = "load-possible"
"""The phase of everything that is judged: where no load can be in flight, a read is exempt."""


def assemble_sites(judgement: Judgement, findings: Sequence[Finding], role: Callable[[str], str]) -> tuple[Site, ...]:
    """Sites in order, each with its bindings merged."""
    told: dict[tuple[str, int, int, str], str] = {}
    for one in findings:
        for place in one.sites:
            told.setdefault(place, one.check)
    return tuple(_site(judgement, one, role(one.path), told) for one in judgement.sites)


def _site(judgement: Judgement, one: SiteVerdict, role: str, told: dict[tuple[str, int, int, str], str]) -> Site:
    place = (one.path, one.line, one.column, one.name)
    return Site(
        id=site_id(place),
        path=one.path,
        line=one.line,
        column=one.column,
        kind=one.kind,
        name=one.name,
        receiver=one.receiver,
        function=one.function,
        role=role,
        verdict=one.verdict,
        open=one.open,
        bindings=tuple(_merged(judgement, one.bindings, told.get(place))),
        excluded=tuple(_excluded(one.excluded)),
    )


def _excluded(found: Iterable[Excluded]) -> Iterable[ExcludedBinding]:
    """One a class and reason."""
    groups: dict[tuple[str, str], list[Excluded]] = {}
    for one in found:
        groups.setdefault((one.object.cls, one.why), []).append(one)
    for (cls, why), members in sorted(groups.items()):
        places = sorted({str(one.object) for one in members if one.object.line})
        steps = tuple(Step(path, line, what) for path, line, what in members[0].derivation)
        yield ExcludedBinding((cls,), tuple(places), why, steps)


def site_id(place: tuple[str, int, int, str]) -> str:
    path, line, column, name = place
    return f"{path}:{line}:{column}:{name}"


def _merged(judgement: Judgement, bindings: Iterable[BindingVerdict], check: str | None) -> Iterable[Binding]:
    """Bindings of equal verdict, method and gates are one."""
    groups: dict[tuple[object, ...], list[BindingVerdict]] = {}
    for one in bindings:
        groups.setdefault((one.verdict, one.reason, one.method, one.mode, one.gates), []).append(one)
    for members in groups.values():
        first = members[0]
        need = first.need
        meetings = [one.meeting for one in members if one.meeting is not None]
        meeting = meetings[0].joined(meetings[1:]) if meetings else None
        yield Binding(
            classes=tuple(sorted({name for one in members for name in one.classes})),
            objects=tuple(sorted({str(one.object) for one in members if one.object is not None and one.object.line})),
            method=first.method,
            mode=first.mode,
            phase=LOAD_POSSIBLE,
            scenario=_scenario(judgement, first),
            feasible="proved" if meeting is not None and meeting.proved else "flow",
            when=meeting.when if meeting is not None else (),
            verdict=first.verdict,
            reason=first.reason,
            check=check if first.verdict in ("ungated", "latent") else None,
            assumptions=tuple(
                sorted({outcome.assumption for one in members for outcome in one.outcomes if outcome.assumption})
            ),
            derivation=tuple(Step(path, line, what) for path, line, what in first.derivation),
            gates=tuple(_gate(judgement, gate, why) for gate, why in first.gates) if first.verdict == "gated" else (),
            witness=steps(need.hops) if need is not None and first.verdict != "gated" else (),
        )


def _scenario(judgement: Judgement, one: BindingVerdict) -> str:
    state = judgement.armed.state(one.object) if one.object is not None else None
    event = state.registration if state is not None else None
    return f"{event.path}:{event.line}" if event is not None and event.counter else ""


def _gate(judgement: Judgement, gate: HeldGate, why: str) -> Gate:
    from auditor.gating import readable

    owners = sorted(gate.owners or (), key=repr)
    on = ", ".join(dict.fromkeys(one.cls.rpartition(".")[2] for one in owners)) or "the counter itself"
    armed = (
        "; ".join(dict.fromkeys(judgement.armed.state(one).why for one in owners)) or "the counter itself is waited on"
    )
    asked = gate.chain[0] if gate.chain else gate.place
    return Gate(
        path=gate.place.path,
        line=gate.place.line,
        expression=gate.text,
        on=on,
        layer=readable(gate.layer),
        covers=why,
        armed=armed,
        asked=Step(asked.path, asked.line, gate.text, asked.function),
    )


def steps(hops: Iterable[Hop]) -> tuple[Step, ...]:
    return tuple(Step(hop.place.path, hop.place.line, hop.what, hop.place.function) for hop in hops)


def assemble_findings(findings: Sequence[Finding], fixes: Sequence[Fix | str]) -> tuple[ReportedFinding, ...]:
    """Findings in order, each with its fingerprint and its fix (or why there is none)."""
    seen: Counter[tuple[str, ...]] = Counter()
    made: list[ReportedFinding] = []
    for one, fix in zip(findings, fixes, strict=True):
        identity = (one.check, one.function, one.cls, one.buffer)
        seen[identity] += 1
        made.append(_finding(one, fingerprint(*identity, str(seen[identity])), fix))
    return tuple(made)


def _finding(one: Finding, mark: str, fix: Fix | str) -> ReportedFinding:
    origin = one.witness[-1].place if one.witness else one.place
    read = Step(origin.path, origin.line, f"the storage is read here: {one.buffer}", origin.function)
    return ReportedFinding(
        check=one.check,
        severity=one.severity,
        confidence=one.confidence,
        message=one.message,
        fingerprint=mark,
        path=one.place.path,
        line=one.place.line,
        column=one.place.column,
        end_line=one.place.line,
        end_column=one.place.column + 1,
        function=one.function,
        class_=one.cls,
        method=one.method,
        buffer=one.buffer,
        executions=(f"{one.mode}/{LOAD_POSSIBLE}",),
        sites=tuple(site_id(place) for place in one.sites),
        status="new",
        confirmation=None,
        witness=steps(one.witness),
        related=(read,) if one.touches else (),
        fix=None if isinstance(fix, str) else fix,
        hints=one.hints,
        classes=one.classes,
        unfixed=fix if isinstance(fix, str) else "",
    )


def scenarios(judgement: Judgement) -> tuple[Scenario, ...]:
    return tuple(
        Scenario(f"{one.path}:{one.line}", one.path, one.line, f"{one.function.rpartition('.')[2]} registers a counter")
        for one in judgement.armed.scenarios
    )
