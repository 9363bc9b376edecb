"""Storage that is left behind beside what is copied: a loader takes one buffer of a pool, and no other that is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from auditor.facts import NOTHING, Attr, Call, SetItem, Value
from auditor.link import Code, Frame, Instance
from auditor.loading.effects import Effects
from auditor.loading.naming import attributes, receiver
from auditor.loading.values import COPY, Lapse, Loader, Operation, Step
from auditor.spec import EngineSpec, matcher

_DEEPEST = 3
"""Calls below a loader in which its copies are looked for, and in which a name counts as carried."""


class _Copy(NamedTuple):
    """A copy of a loader: where it stands, the attribute that it writes to, and the classes of whose objects."""

    operation: Operation
    name: str
    owners: tuple[str, ...]


def beside(effects: Effects, spec: EngineSpec, code: Code, loader: Loader) -> Iterator[Lapse]:
    """The buffers of a pool that accessors hand out and a loader leaves, which copies another one of them, itself or by
    what it calls for a layer."""
    frame = effects.linker.frames.get((code.name, None))
    if frame is None:
        return
    frames = [frame, *_below(effects, frame, _DEEPEST if loader.counts else 0)]
    carried = _mentioned(effects, code)
    told: set[tuple[str, str]] = set()
    for one in frames:
        for copy in _copies(effects, spec, one):
            for cls in copy.owners:
                for name in _handed_out(effects, spec, cls):
                    if name not in carried and (cls, name) not in told:
                        told.add((cls, name))
                        yield _lapse(copy.operation, cls, copy.name, name)


def _copies(effects: Effects, spec: EngineSpec, frame: Frame) -> Iterator[_Copy]:
    """The copies that a function makes itself."""
    code = frame.code
    for copy in effects.operations(code):
        if COPY not in copy.kinds or copy.callees:
            continue
        for read in attributes(code.defined, _target(code, copy)):
            if matcher(spec.buffers)(read.name) is not None:
                seen = effects.linker.view(frame, read.base, copy.block)
                owners = {one.cls for one in seen if isinstance(one, Instance) and effects.linker.tracked(one.cls)}
                yield _Copy(copy, read.name, tuple(sorted(owners)))


def _below(effects: Effects, frame: Frame, depth: int) -> Iterator[Frame]:
    """What a function calls to copy, and what that calls."""
    for copy in effects.operations(frame.code) if depth else ():
        if COPY in copy.kinds:
            for key in sorted(effects.linker.calls.get((frame.code.name, copy.value), ()), key=repr):
                inner = effects.linker.frames.get(key)
                if inner is not None and COPY in effects.of(key[0]):
                    yield inner
                    yield from _below(effects, inner, depth - 1)


def _target(code: Code, copy: Operation) -> Value:
    """What a copy writes to."""
    instruction = code.facts.blocks[copy.block].instructions[copy.index]
    if isinstance(instruction, SetItem):
        return instruction.base
    return receiver(code.defined, instruction) if isinstance(instruction, Call) else NOTHING


def _mentioned(effects: Effects, code: Code) -> frozenset[str]:
    """Every attribute that a loader reads, itself or in what it calls."""
    found: set[str] = set()
    seen: set[str] = set()
    front = [code]
    for _ in range(_DEEPEST):
        seen.update(one.name for one in front)
        found.update(read.name for one in front for read in one.defined.values() if isinstance(read, Attr))
        names = {name for one in front for call in one.defined.values() for name in effects.callees(one, call)}
        front = [effects.linker.codes[name] for name in sorted(names - seen) if name in effects.linker.codes]
    return frozenset(found)


def _handed_out(effects: Effects, spec: EngineSpec, cls: str) -> list[str]:
    """The guarded buffers of a class that its accessors read."""
    order = effects.linker.hierarchy.mro(cls)
    stored = effects.linker.hierarchy.stored_in_all(cls)
    is_accessor, guarded = matcher(spec.accessors), matcher(spec.buffers)
    return sorted(
        {
            one.name
            for code in effects.linker.codes.values()
            if code.owner in order and is_accessor(code.facts.name) is not None
            for one in code.defined.values()
            if isinstance(one, Attr) and one.base == 0 and one.name in stored and guarded(one.name) is not None
        }
    )


def _lapse(copy: Operation, cls: str, carried: str, name: str) -> Lapse:
    short = cls.rpartition(".")[2]
    return Lapse(
        where=copy.spot,
        subject=name,
        steps=(
            Step(copy.spot, f"{copy.text} restores {carried} of {short}"),
            Step(copy.spot, f"{name} of the same rows, which accessors of {short} hand out, stays what it was"),
        ),
        message=f"restores {carried} of {short}, and leaves {name} of the same rows what it was",
        missing=f"a copy of {name} beside that of {carried}",
        classes=(cls,),
    )
