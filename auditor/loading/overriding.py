"""Overrides of loaders: what the overridden method copies and the override does not, though it says "done" as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.facts import Attr, Call
from auditor.link import Code
from auditor.loading.effects import Effects
from auditor.loading.naming import own_attribute, receiver
from auditor.loading.values import COPY, RECORD, SIGNAL, Lapse, Loader, Operation, Step

_DEEPEST = 3
"""Calls of methods of its own that an override is followed through."""


def dropped(effects: Effects, code: Code, loader: Loader) -> Iterator[Lapse]:
    """For each override of a loader: the pools that only the overridden method copies."""
    hierarchy = effects.linker.hierarchy
    carried = _carried(code, loader)
    for cls in sorted(hierarchy.classes) if loader.cls and carried else ():
        override = effects.linker.codes.get(f"{cls}.{code.facts.name}")
        if cls == loader.cls or override is None or override is code or not hierarchy.is_subclass(cls, loader.cls):
            continue
        operations = effects.operations(override)
        done = [one for one in operations if one.kinds & {SIGNAL, RECORD} and COPY not in one.kinds]
        if not done or not any(COPY in one.kinds for one in operations) or _calls_up(effects, override, code):
            continue
        known = _mentioned(effects, override)
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


def _carried(code: Code, loader: Loader) -> dict[str, Operation]:
    """The attributes of ``self`` that the copies of a method are called on."""
    found: dict[str, Operation] = {}
    for one in loader.of(COPY):
        call = code.defined.get(one.value)
        if isinstance(call, Call) and (name := own_attribute(code, receiver(code.defined, call))):
            found.setdefault(name, one)
    return found


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
