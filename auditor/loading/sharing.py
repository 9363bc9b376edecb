"""Pools that share their slots with another one, of which a loader carries one.

An object that makes a pool may be handed the allocator of slots by another maker of pools: then both pools are indexed
by the same slots, and a load that restores the slots of the one reuses those of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.facts import Argument, Branch, Call, Op, Param, SetAttr, Value
from auditor.link import Code, Instance
from auditor.loading.effects import Effects, spot
from auditor.loading.naming import called, is_none, own_attribute, receiver
from auditor.loading.values import COPY, Lapse, Loader, Step


@dataclass(frozen=True, slots=True)
class Shared:
    """``made``: where an allocator is made for the slots of ``pools``, unless one was handed over."""

    allocator: str
    made: Step
    pools: frozenset[Instance]


def shared(effects: Effects) -> Iterator[Shared]:
    """The allocators that are made for a pool where none was handed over."""
    given = _given(effects)
    for name in sorted(effects.linker.codes):
        code = effects.linker.codes[name]
        frame = effects.linker.frames.get((name, None))
        optional = _optional(code, given) if frame is not None and code.is_method else frozenset()
        for number, block in enumerate(code.facts.blocks if optional else ()):
            for one in block.instructions:
                call = code.defined.get(one.value) if isinstance(one, SetAttr) and one.base == 0 else None
                if not isinstance(one, SetAttr) or one.name not in optional or not isinstance(call, Call):
                    continue
                own = [part.value for part in call.arguments if own_attribute(code, part.value)]
                pools = frozenset(pool for value in own for pool in _pools(effects, code, value, number))
                if pools:
                    what = f"{called(code.defined, call)} is made for this pool, unless {one.name} was handed over"
                    yield Shared(one.name, Step(spot(code, call.at), what), pools)


def alone(effects: Effects, code: Code, loader: Loader, allocators: tuple[Shared, ...]) -> Iterator[Lapse]:
    """A loader of layers that carries one pool, whose slots others may share."""
    copies = loader.of(COPY) if loader.counts and (code.name, None) in effects.linker.frames else ()
    calls = [call for one in copies if isinstance(call := code.defined.get(one.value), Call)]
    carriers = {own_attribute(code, receiver(code.defined, call)) for call in calls}
    if len(carriers) != 1 or "" in carriers:
        return
    given = [(one, part.value) for one in copies for part in _arguments(code, one.value)]
    named = {
        own_attribute(code, value): (one, value) for one, value in given if _pools(effects, code, value, one.block)
    }
    for name, (one, value) in named.items() if len(named) == 1 else ():
        carried = _pools(effects, code, value, one.block)
        found = next((each for each in allocators if each.pools & carried), None)
        if found is not None:
            yield Lapse(
                where=one.spot,
                subject=name,
                steps=(
                    found.made,
                    Step(one.spot, f"{one.text} restores rows of {name} alone"),
                ),
                message=(
                    f"restores rows of {name} alone: a pool of another maker that was handed {found.allocator} is "
                    "indexed by the same slots, and is not restored"
                ),
                missing="a copy of each pool that shares the slots",
            )


def _given(effects: Effects) -> frozenset[str]:
    """The attributes that a constructor takes from an optional parameter as it is."""
    found = set()
    for code in effects.linker.codes.values():
        if code.facts.name == "__init__" and code.is_method:
            optional = {one.name for one in code.facts.params if one.has_default}
            for block in code.facts.blocks:
                for one in block.instructions:
                    value = code.defined.get(one.value) if isinstance(one, SetAttr) and one.base == 0 else None
                    if isinstance(one, SetAttr) and isinstance(value, Param) and value.name in optional:
                        found.add(one.name)
    return frozenset(found)


def _optional(code: Code, given: frozenset[str]) -> frozenset[str]:
    """Those that a method asks whether they are None."""
    found = set()
    for block in code.facts.blocks:
        test = code.defined.get(block.end.test) if isinstance(block.end, Branch) else None
        if isinstance(test, Op) and test.operator in ("is", "is not") and is_none(code.defined, test.operands[1]):
            found.add(own_attribute(code, test.operands[0]))
    return given & found


def _pools(effects: Effects, code: Code, value: Value, block: int) -> frozenset[Instance]:
    frame = effects.linker.frames[code.name, None]
    found = effects.linker.view(frame, value, block)
    return frozenset(one for one in found if isinstance(one, Instance) and effects.linker.tracked(one.cls))


def _arguments(code: Code, value: Value) -> tuple[Argument, ...]:
    call = code.defined.get(value)
    return call.arguments if isinstance(call, Call) else ()
