"""Counters with one set of signals that loads in flight together share."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import NOTHING, Call, Value
from auditor.link import Code
from auditor.loading.effects import Effects, calls_of, spot
from auditor.loading.naming import receiver
from auditor.loading.order import path
from auditor.loading.values import FENCE, JOIN, SIGNAL, Counter, Lapse, Loader, Operation, Spot, Step


def reused(effects: Effects, code: Code, loader: Loader) -> Iterator[Lapse]:
    """Where a load begins to use signals that the one before may still be waited for by."""
    signals = loader.of(SIGNAL)
    known = (effects.counters.get(name) for one in signals for name in one.callees)
    counter = next(filter(None, known), None)
    if counter is None or counter.generations:
        return
    name = counter.cls.rpartition(".")[2]
    yield from _taken_back(effects, code, loader, counter, name)
    for caller, places in _calls(effects, loader):
        operations = effects.operations(caller)
        ordered = [one.at for one in operations if one.kinds & {JOIN, FENCE} and not _is(one, loader)]
        for second in places:
            before = (one for one in places if not _apart(effects, caller, one, second))
            first = next((one for one in before if path(caller, one.at, second.at, ordered) is not None), None)
            if first is not None:
                yield _lapse(second.spot, name, _start(first, loader), _start(second, loader))
                break


def _taken_back(effects: Effects, code: Code, loader: Loader, counter: Counter, name: str) -> Iterator[Lapse]:
    """The loader's own thread takes the signals back, some time after the load was asked for."""
    if effects.callers.get(loader.function):
        return
    for number, index, one in calls_of(code):
        taken = counter.rearms.intersection(effects.callees(code, one))
        if taken and path(code, (number, index), (number, index)) is not None:
            where = spot(code, one.at)
            method = min(taken).rpartition(".")[2]
            what = f"the thread of the loader takes the signals back with {method}, when it comes to the load"
            before = f"until then {counter.gate.rpartition('.')[2]} passes by the signals of the load before"
            yield _lapse(where, name, Step(where, what), Step(where, before))
            return


def _calls(effects: Effects, loader: Loader) -> Iterator[tuple[Code, list[Operation]]]:
    callers = sorted({name for name, _ in effects.callers.get(loader.function, ())})
    for name in callers:
        code = effects.linker.codes[name]
        yield code, [one for one in effects.operations(code) if _is(one, loader)]


def _is(one: Operation, loader: Loader) -> bool:
    return loader.function in one.callees


def _apart(effects: Effects, caller: Code, one: Operation, other: Operation) -> bool:
    """Whether two loads are started on objects that are made in two places here, each with signals of its own."""
    some, more = (_made(effects, caller, each) for each in (one, other))
    return NOTHING not in (some, more) and some != more


def _made(effects: Effects, caller: Code, one: Operation) -> Value:
    """The call that makes the object of a load, if it is made in the same function."""
    call = caller.defined.get(one.value)
    on = receiver(caller.defined, call) if isinstance(call, Call) else NOTHING
    made = effects.callees(caller, caller.defined.get(on))
    return on if any(name.endswith(".__init__") for name in made) else NOTHING


def _start(one: Operation, loader: Loader) -> Step:
    return Step(one.spot, f"{one.text} starts a load")


def _lapse(where: Spot, name: str, first: Step, second: Step) -> Lapse:
    return Lapse(
        where=where,
        subject=name,
        steps=(first, second),
        message=f"uses the one set of signals of {name} for a load while the one before may be in flight",
        missing="signals of its own for each load in flight, picked by the load and by its readers",
    )
