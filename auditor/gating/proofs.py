"""From verdicts to certificates: what each ``gated`` stands on, in places that another program can look up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from auditor.certificates import Certificate, Step, Vocabulary
from auditor.gating.armed import Armed
from auditor.gating.storage import first_layers
from auditor.gating.symbols import LAYER_COUNTS
from auditor.gating.values import EAGER, Gate, Outcome, Place
from auditor.gating.verdicts import Judgement
from auditor.link import Hierarchy, Linker
from auditor.loading import counters_of
from auditor.spec import EngineSpec


def certificates(judgement: Judgement) -> Iterator[Certificate]:
    """The certificates of all gated bindings of an eager execution, each once."""
    seen: set[Certificate] = set()
    for site in judgement.sites:
        for binding in site.bindings:
            for outcome in binding.outcomes:
                if outcome.verdict == "gated" and outcome.mode == EAGER:
                    for one in _certificates(f"{site.path}:{site.line}", outcome, judgement):
                        if one not in seen:
                            seen.add(one)
                            yield one


def _certificates(site: str, outcome: Outcome, judgement: Judgement) -> Iterator[Certificate]:
    gate = outcome.gate
    if gate is not None:
        read = tuple(_step(hop.place) for hop in outcome.hops)
        wait = tuple(map(_step, gate.chain or (gate.place,)))
        beside = tuple(tuple(map(_step, chain)) for chain in gate.beside)
        others = tuple(chain for chain in beside if chain != wait)
        resets = tuple(map(_step, gate.resets))
        for registered, kinds in product(_registrations(gate, judgement.armed), _kinds(gate, judgement.hierarchy)):
            yield Certificate(site, read, wait, registered, others, resets, kinds)


def _kinds(gate: Gate, hierarchy: Hierarchy) -> Iterable[tuple[str, ...]]:
    """The classes of each object that a gate is for, where it is for some objects only."""
    classes = {one.cls for one in gate.only[1]} if gate.only is not None else set()
    return [tuple(sorted({each.rpartition(".")[2] for each in hierarchy.mro(cls)})) for cls in sorted(classes)] or [()]


def _registrations(gate: Gate, armed: Armed) -> Iterable[Step | None]:
    states = [armed.state(one) for one in sorted(gate.owners or (), key=repr)]
    events = [one.registration for one in states if one.kind == "armed"]
    return {Step(one.path, one.line, -1, one.function) if one is not None else None for one in events} or {None}


def _step(place: Place) -> Step:
    return Step(place.path, place.line, place.column, place.function)


def vocabulary(spec: EngineSpec, linker: Linker) -> Vocabulary:
    """What the engine calls its waits, counters and flights."""
    own = frozenset({spec.connectors.wait}) - {""}
    return Vocabulary(
        waits={one.method: one.argument for one in spec.gates} | dict.fromkeys(own, 0),
        counters=frozenset(one.counter for one in spec.gates),
        arming=frozenset(one.method for one in spec.arming),
        in_flight=frozenset((one.attribute, one.operator, one.value) for one in spec.in_flight),
        first_layers=first_layers(linker),
        counts=frozenset(LAYER_COUNTS),
        signals=frozenset(name.rpartition(".")[2] for one in counters_of(linker, spec) for name in one.signals),
        own=own,
        absent=frozenset(spec.connectors.absent),
        idle=frozenset(spec.connectors.idle),
    )
