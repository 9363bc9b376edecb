"""Ranges of layers in another index space than the ids: as long as there are layers, where the ids have gaps
(``len(a | b)`` for ``max(…) + 1``), or counted from the first layer of all, where readers count from the stage's."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import NOTHING, At, Attr, Build, Call, Const, Item, Iterate, Name, Op, Param, Value, expression
from auditor.link import Code
from auditor.loading.counters import picks
from auditor.loading.effects import Effects, calls_of, spot
from auditor.loading.naming import called, parameters, receiver, sources
from auditor.loading.values import SIGNAL, Lapse, Loader, Operation, Step
from auditor.spec import EngineSpec

_UNITES = frozenset({"|", "*", "**"})
_GATHERS = frozenset({"keys", "set", "list", "dict", "sorted", "union"})
"""What makes one collection of ids of several."""
_DEEPEST = 3
"""Calls that the bound and the map are followed through together."""


def ranges(effects: Effects) -> Iterator[Lapse]:
    """The counts of the ids of several maps that a function bounds the same ids by."""
    for code in dict.fromkeys(code for code, _, _, _ in effects.named.get("len", ())):
        for value, at, counted in _counts(code):
            for _, _, call in calls_of(code):
                found = _bounded(effects, code, call, value, counted, 0)
                if found is not None:
                    yield _lapse(code, value, at, call, found)
                    break


def _lapse(code: Code, value: Value, at: At, call: Call, found: Step) -> Lapse:
    text = expression(code.facts, value, code.defined)
    where = spot(code, at)
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


def _counts(code: Code) -> Iterator[tuple[Value, At, frozenset[Value]]]:
    """The numbers of ids of several maps, each with them: the length of their union, or the sum of their lengths."""
    for one in code.defined.values():
        if isinstance(one, Call | Op):
            counted = _counted(code, one.dst)
            if len(counted) > 1:
                yield one.dst, one.at, counted


def _counted(code: Code, value: Value) -> frozenset[Value]:
    """The maps whose ids a value is the number of."""
    one = code.defined.get(value)
    if isinstance(one, Call) and called(code.defined, one) == "len" and len(one.arguments) == 1:
        return frozenset(_united(code, one.arguments[0].value))
    if isinstance(one, Op) and one.operator == "+":
        parts = [_counted(code, operand) for operand in one.operands]
        return frozenset().union(*parts) if all(parts) else frozenset()
    return frozenset()


def _united(code: Code, value: Value) -> Iterator[Value]:
    """The maps that a union is made of."""
    one = code.defined.get(value)
    if isinstance(one, Op) and one.operator in _UNITES:
        within: tuple[Value, ...] = one.operands
    elif isinstance(one, Build):
        within = one.elements
    elif isinstance(one, Call) and called(code.defined, one) in _GATHERS:
        on = receiver(code.defined, one)
        within = (*([on] if on >= 0 else ()), *(argument.value for argument in one.arguments))
    else:
        yield value
        return
    for part in within:
        if part != NOTHING:
            yield from _united(code, part)


def unshifted(effects: Effects, spec: EngineSpec, code: Code, loader: Loader) -> Iterator[Lapse]:
    """The signals of ids of all stages, where the waits, and what the loader picks itself, count from the stage's own
    first layer: ``for id in range(first, last): copy(id - first); signal(id)``."""
    if not any(gate.index == "local" for gate in spec.gates):
        return
    for signal in loader.of(SIGNAL):
        call = code.defined.get(signal.value)
        if not isinstance(call, Call) or not any(map(picks, effects.called(code, call))):
            continue
        for given in call.arguments:
            first = _first(code, given.value)
            shifted = _shifted(code, given.value, first) if first else None
            if shifted is not None:
                yield _unshifted(code, signal, expression(code.facts, given.value, code.defined), shifted, first)


def _unshifted(code: Code, signal: Operation, given: str, shifted: Op, first: str) -> Lapse:
    own = expression(code.facts, shifted.dst, code.defined)
    return Lapse(
        where=signal.spot,
        subject=given,
        steps=(
            Step(spot(code, shifted.at), f"{own} is the layer in this stage"),
            Step(signal.spot, f"{signal.text} signals it by its id among all stages"),
        ),
        message=f"signals a layer by its id among all stages, while its readers wait for that less {first}",
        missing=f"{own} in the signal",
    )


def _first(code: Code, value: Value) -> str:
    """The start of the range that a value is an element of, where that is no number."""
    one = code.defined.get(value)
    made = code.defined.get(one.iterable) if isinstance(one, Iterate) else None
    if isinstance(made, Call) and called(code.defined, made) == "range" and len(made.arguments) > 1:
        start = made.arguments[0].value
        return "" if isinstance(code.defined.get(start), Const) else expression(code.facts, start, code.defined)
    return ""


def _shifted(code: Code, value: Value, first: str) -> Op | None:
    """Where a loader takes the start of a range from its element."""
    less = (one for one in code.defined.values() if isinstance(one, Op) and one.operator == "-")
    for one in less:
        if one.operands[0] == value and expression(code.facts, one.operands[1], code.defined) == first:
            return one
    return None


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
    known = frozenset(values[one] for one in maps & values.keys())  # a keyword may be none of the parameters
    for _, _, call in calls_of(code):
        for name in sorted(bounds & values.keys()):
            found = _bounded(effects, code, call, values[name], known, depth + 1)
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
