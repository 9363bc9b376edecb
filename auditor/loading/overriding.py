"""Overrides of loaders: what the overridden method copies and the override does not, though it says "done" as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.facts import Attr, Call, SetAttr, Value
from auditor.link import Code, Instance
from auditor.loading.effects import Effects, calls_of
from auditor.loading.naming import called, own_attribute, receiver, sources
from auditor.loading.values import COPY, RECORD, SIGNAL, Lapse, Loader, Operation, Step

_PUTS = frozenset({"append", "extend", "add", "insert"})
_DEEPEST = 3
"""Calls of methods of its own that an override is followed through."""


def dropped(effects: Effects, code: Code, loader: Loader) -> Iterator[Lapse]:
    """For each override of a loader: the pools that only the overridden method copies."""
    hierarchy = effects.linker.hierarchy
    carried = _carried(effects, code, loader.operations)
    for cls in sorted(hierarchy.classes) if loader.cls and carried else ():
        override = effects.linker.codes.get(f"{cls}.{code.facts.name}")
        if cls == loader.cls or override is None or override is code or not hierarchy.is_subclass(cls, loader.cls):
            continue
        operations = effects.operations(override)
        done = [one for one in operations if one.kinds & {SIGNAL, RECORD} and COPY not in one.kinds]
        if not done or not any(COPY in one.kinds for one in operations) or _calls_up(effects, override, code):
            continue
        known = _within(effects, cls, _mentioned(effects, override))
        for name, copy in carried.items():
            if name not in known:
                yield _lapse(cls, loader, name, copy, done[-1])


def _lapse(cls: str, loader: Loader, name: str, copy: Operation, done: Operation) -> Lapse:
    base = f"{loader.cls.rpartition('.')[2]}.{loader.function.rpartition('.')[2]}"
    return Lapse(
        where=done.spot,
        subject=name,
        steps=(
            Step(copy.spot, f"{base}, which is overridden, copies {name}: {copy.text}"),
            Step(done.spot, f"the override says that all is done without it: {done.text}"),
        ),
        message=f"overrides {base} and leaves out its copies of {name}, but still tells that the load is done",
        missing=f"the copies of {name} before the signal",
        confidence="high" if SIGNAL in done.kinds else "medium",
        classes=(cls,),
    )


def _carried(
    effects: Effects, code: Code, operations: Sequence[Operation], depth: int = _DEEPEST
) -> dict[str, Operation]:
    """The attributes of ``self`` that the copies of a method are called on, or that hold the pools which they are
    handed; also in methods of its own that it calls for its copies."""
    found: dict[str, Operation] = {}
    for one in operations:
        call = code.defined.get(one.value)
        if COPY not in one.kinds or not isinstance(call, Call):
            continue
        on = receiver(code.defined, call)
        given = (argument.value for argument in call.arguments)
        names = [
            own_attribute(code, on),
            *(own_attribute(code, value) for value in given if _is_pool(effects, code, value)),
        ]
        if on == 0 and code.is_method and depth:
            helpers = effects.called(code, call)
            inside = [_carried(effects, each, effects.operations(each), depth - 1) for each in helpers]
            names.extend(name for each in inside for name in each)
        for name in names:
            if name:
                found.setdefault(name, one)
    return found


def _is_pool(effects: Effects, code: Code, value: Value) -> bool:
    """Whether a value is a pool of the device."""
    frame = effects.linker.frames.get((code.name, None))
    objects = effects.linker.graph.points_to(frame.node(value)) if frame is not None else ()
    return any(isinstance(one, Instance) and effects.linker.tracked(one.cls) for one in objects)


def _within(effects: Effects, cls: str, names: frozenset[str]) -> frozenset[str]:
    """Attributes, and those whose values were put into one of them: ``self.pools = [self.pool, self.draft]``."""
    found = set(names)
    constructors = [effects.linker.codes.get(f"{base}.__init__") for base in effects.linker.hierarchy.mro(cls)]
    for code in filter(None, constructors):
        kept = {
            one.value: one.name for block in code.facts.blocks for one in block.instructions if type(one) is SetAttr
        }
        put = [value for value, name in kept.items() if name in names]
        for _, _, one in calls_of(code):
            if called(code.defined, one) in _PUTS and own_attribute(code, receiver(code.defined, one)) in names:
                put.extend(argument.value for argument in one.arguments)
        for value in frozenset().union(*(sources(code.defined, one) for one in put)):
            read = code.defined.get(value)
            found.update({kept[value]} if value in kept else ())
            found.update({read.name} if isinstance(read, Attr) and read.base == 0 else ())
    return frozenset(found)


def _calls_up(effects: Effects, override: Code, code: Code) -> bool:
    return any(code.name in effects.callees(override, one) for one in override.defined.values())


def _mentioned(effects: Effects, code: Code) -> frozenset[str]:
    """The attributes of ``self`` that a method reads, itself or through methods of its own."""
    found: set[str] = set()
    seen: set[str] = set()
    front: Sequence[Code] = (code,)
    for _ in range(_DEEPEST):
        seen.update(one.name for one in front)
        names: set[str] = set()
        for one in front:
            for instruction in one.defined.values():
                if isinstance(instruction, Attr) and instruction.base == 0:
                    found.add(instruction.name)
                names.update(effects.callees(one, instruction))
        codes = (effects.linker.codes.get(name) for name in sorted(names - seen))
        front = [one for one in codes if one is not None and one.is_method and _related(effects, one, code)]
    return frozenset(found)


def _related(effects: Effects, one: Code, code: Code) -> bool:
    return one.owner in effects.linker.hierarchy.mro(code.owner)
