"""Work that goes to another thread by a queue: who puts it there for whom."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Attr, Build, Call, Closure, Name, Param, Value
from auditor.link import Code
from auditor.loading.effects import Effects, calls_of
from auditor.loading.naming import attributes, called, is_none, methods, receiver

_TAKES = frozenset({"get", "get_nowait", "popleft"})
_PUTS = frozenset({"put", "put_nowait", "append", "appendleft"})


def submitters(effects: Effects, worker: Code) -> Iterator[tuple[Code, tuple[int, int], Call]]:
    """The calls that put something on a queue that ``worker`` takes from, in the methods of its class."""
    if not worker.owner:
        return
    queues = _taken_from(effects, worker)
    for code in methods(effects.linker, worker.owner):
        for number, index, one in calls_of(code):
            end = all(is_none(code.defined, argument.value) for argument in one.arguments)  # tells the thread to end
            if (
                called(code.defined, one) in _PUTS
                and not end
                and _attribute(code, receiver(code.defined, one)) in queues
            ):
                yield code, (number, index), one


def _taken_from(effects: Effects, worker: Code) -> frozenset[str]:
    """The attributes that hold the queues: read by the worker itself, or handed to it when its thread was made."""
    found: set[str] = set()
    for _, _, one in calls_of(worker):
        if called(worker.defined, one) in _TAKES:
            on = receiver(worker.defined, one)
            parameter = worker.defined.get(on)
            if isinstance(parameter, Param):
                found.update(_handed(effects, worker, parameter.name))
            elif name := _attribute(worker, on):
                found.add(name)
    return frozenset(found)


def _handed(effects: Effects, worker: Code, parameter: str) -> Iterator[str]:
    """The attributes given for a parameter where ``Thread(target=worker, args=(…))`` is made."""
    names = [one.name for one in worker.facts.params]
    position = names.index(parameter) - (1 if worker.is_method else 0)
    for code in methods(effects.linker, worker.owner):
        for _, _, one in calls_of(code):
            given = {argument.name: argument.value for argument in one.arguments if argument.kind == "key"}
            args = code.defined.get(given.get("args", -1))
            if _names(code, given.get("target", -1)) != worker.facts.name or not isinstance(args, Build):
                continue
            if position < len(args.elements) and (name := _attribute(code, args.elements[position])):
                yield name


def _names(code: Code, value: Value) -> str:
    one = code.defined.get(value)
    return one.name if isinstance(one, Attr | Name) else one.function if isinstance(one, Closure) else ""


def _attribute(code: Code, value: Value) -> str:
    return next((one.name for one in attributes(code.defined, value) if one.base == 0 and code.is_method), "")
