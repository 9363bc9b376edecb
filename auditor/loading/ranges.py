"""Ranges of layers that are as long as there are layers, where the ids have gaps: ``len(a | b)`` for ``max(…) + 1``."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Attr, Call, Item, Name, Op, Param, Value, expression
from auditor.link import Code
from auditor.loading.effects import Effects, calls_of, spot
from auditor.loading.naming import called, parameters, receiver, sources
from auditor.loading.values import Lapse, Step

_DEEPEST = 3
"""Calls that the bound and the map are followed through together."""


def ranges(effects: Effects) -> Iterator[Lapse]:
    """The counts of the ids of several maps that a function bounds the same ids by."""
    for code, _, _, one in effects.named.get("len", ()):
        counted = _counted(code, one)
        for _, _, call in calls_of(code) if len(counted) > 1 else ():
            found = _bounded(effects, code, call, one.dst, counted, 0)
            if found is not None:
                yield _lapse(code, one, call, found)
                break


def _lapse(code: Code, one: Call, call: Call, found: Step) -> Lapse:
    text = expression(code.facts, one.dst, code.defined)
    where = spot(code, one.at)
    return Lapse(
        where=where,
        subject=text,
        steps=(
            Step(where, f"{text} counts the layer ids"),
            Step(spot(code, call.at), f"it goes to {called(code.defined, call)}, with the ids themselves"),
            found,
        ),
        message=f"bounds layer ids by their number, {text}: where they have gaps, the last are left out",
        missing="the greatest id and one (max(…) + 1) as the bound of the ids",
    )


def _counted(code: Code, one: Call) -> frozenset[Value]:
    """The maps that ``len(a | b)`` counts the keys of."""
    if len(one.arguments) != 1:
        return frozenset()
    found: set[Value] = set()
    todo = [one.arguments[0].value]
    while todo:
        value = todo.pop()
        part = code.defined.get(value)
        if isinstance(part, Op) and part.operator == "|":
            todo.extend(part.operands)
        elif isinstance(part, Call) and called(code.defined, part) in ("keys", "set"):
            on = receiver(code.defined, part)
            todo.extend([on] if on >= 0 else [argument.value for argument in part.arguments[:1]])
        else:
            found.add(value)
    return frozenset(found)


def _bounded(effects: Effects, code: Code, call: Call, bound: Value, maps: frozenset[Value], depth: int) -> Step | None:
    """Where a callee that is given the bound and a map compares an id with the bound and looks it up in the map."""
    for name in effects.callees(code, call) if depth < _DEEPEST else ():
        callee = effects.linker.codes.get(name)
        if callee is None:
            continue
        given = parameters(callee, call)
        bounds = {parameter for parameter, value in given.items() if bound in sources(code.defined, value)}
        looked_up = {parameter for parameter, value in given.items() if value in maps}
        if not bounds or not looked_up:
            continue
        found = _compared(effects, callee, bounds, looked_up) or _further(effects, callee, bounds, looked_up, depth)
        if found is not None:
            return found
    return None


def _further(effects: Effects, code: Code, bounds: set[str], maps: set[str], depth: int) -> Step | None:
    values = {one.name: value for value, one in code.defined.items() if isinstance(one, Param)}
    for _, _, call in calls_of(code):
        for name in bounds:
            found = _bounded(effects, code, call, values[name], frozenset(values[one] for one in maps), depth + 1)
            if found is not None:
                return found
    return None


def _compared(effects: Effects, callee: Code, bounds: set[str], maps: set[str]) -> Step | None:
    """``id < bound`` and ``map.get(id)`` for one ``id``, in a function or in one that is defined in it."""
    for code in (callee, *_inside(effects, callee)):
        below = {}
        for one in code.defined.values():
            if isinstance(one, Op) and one.operator in ("<", "<=") and _name(code, one.operands[1]) in bounds:
                below[one.operands[0]] = one
        for one in code.defined.values():
            index = _looked_up(code, one, maps)
            if index in below:
                test = below[index]
                return Step(
                    spot(code, test.at),
                    f"{expression(code.facts, test.dst, code.defined)} decides whether an id is loaded",
                )
    return None


def _inside(effects: Effects, callee: Code) -> Iterator[Code]:
    start = f"{callee.name}."
    return (code for name, code in effects.linker.codes.items() if name.startswith(start))


def _looked_up(code: Code, one: object, maps: set[str]) -> Value | None:
    if isinstance(one, Item) and _name(code, one.base) in maps:
        return one.index
    if isinstance(one, Call) and called(code.defined, one) == "get" and one.arguments:
        on = receiver(code.defined, one)
        return one.arguments[0].value if _name(code, on) in maps else None
    return None


def _name(code: Code, value: Value) -> str:
    one = code.defined.get(value)
    return one.name if isinstance(one, Param | Name | Attr) else ""
