"""What deserves a remark without being a read: waits that were made already, classes that take a counter and are no
pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from auditor.callgraph import CallGraph, FrameKey
from auditor.gating.held import HeldGates
from auditor.gating.values import Gate, Place
from auditor.link import Linker
from auditor.spec import EngineSpec, matcher


@dataclass(frozen=True, slots=True)
class Repeat:
    """A wait, and the one before it that it repeats on every path that leads to it."""

    place: Place
    text: str
    first: Place


def repeats(graph: CallGraph, held: HeldGates, product: Callable[[str], bool]) -> Iterator[Repeat]:
    """Waits that a function makes for itself although it holds what they give, whoever it runs for.

    repeat(f, point) ⇐ for every frame of f: every gate of the wait at point is held before point.
    """
    frames: dict[str, list[FrameKey]] = {}
    for key in graph.frames:
        frames.setdefault(key[0], []).append(key)
    for name in sorted(frames):
        keys = frames[name]
        code = graph.code(keys[0])
        if not product(code.path):
            continue
        for one in held.primitives(code):
            found = [_first(held, key, one.block, one.position) for key in keys]
            if all(first is not None for first in found) and found[0] is not None:
                place = Place(code.path, one.call.at.line, one.call.at.column, code.name)
                yield Repeat(place, found[0].text, found[0].chain[0])


def _first(held: HeldGates, key: FrameKey, block: int, index: int) -> Gate | None:
    """The gate that was held before; None where the wait gives something new."""
    state = held.state(key)
    here = [gate for event in state.events if (event.block, event.index) == (block, index) for gate in event.gates]
    before: Mapping[Gate, Gate] = {one: one for one in state.at(block, index) if isinstance(one, Gate)}
    plain = all(gate in before and not gate.given and gate.only is None and before[gate].chain for gate in here)
    return before[here[0]] if here and plain else None


def outsiders(
    linker: Linker, spec: EngineSpec, is_buffer: Callable[[str], bool], product: Callable[[str], bool]
) -> Iterator[tuple[str, Place]]:
    """Classes that are given a counter as pools are, are of no family of pools, and store nothing that is guarded by
    its name: whatever they hold is read without a site."""
    methods = {one.method for one in spec.arming}
    counters = {one.counter for one in spec.gates}
    hierarchy = linker.hierarchy
    for name, info in sorted(hierarchy.classes.items()):
        if methods.isdisjoint(info.facts.methods) or not product(info.path):
            continue
        if any(hierarchy.is_kind_of(name, matcher(group)) for group in (spec.pools, spec.host_side)):
            continue
        stored = hierarchy.stored_in_all(name)
        if stored & counters and not any(map(is_buffer, stored)):
            yield name, Place(info.path, info.facts.at.line, info.facts.at.column, name)
