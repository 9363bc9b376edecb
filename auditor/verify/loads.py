"""Where a load begins: what was waited for before it is of an earlier one. Known by names: a name begins a load if all
functions that have it do."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from auditor.facts import Attr, Call, FunctionFacts, Iterate, Name, Unpack
from auditor.verify.paths import Function, Point


class Loads:
    """Answers for functions; ``signals`` are the methods that say that a layer has arrived."""

    def __init__(self, facts: Mapping[str, FunctionFacts], signals: Collection[str]) -> None:
        self._signals = signals
        self._names = self._beginning(facts) if signals else frozenset()

    def begins(self, function: Function) -> frozenset[Point]:
        """The calls of a function that begin a load."""
        return frozenset(
            (number, index)
            for number, block in enumerate(function.facts.blocks)
            for index, one in enumerate(block.instructions)
            if isinstance(one, Call) and _called(function, one) in self._names
        )

    def _tells_each(self, function: Function, call: Call) -> bool:
        """Whether a call signals the layer that a loop counts."""
        return _called(function, call) in self._signals and any(
            isinstance(_source(function, one.value), Iterate) for one in call.arguments
        )

    def _beginning(self, facts: Mapping[str, FunctionFacts]) -> frozenset[str]:
        calls: dict[str, list[frozenset[str]]] = {}
        begin: dict[str, list[bool]] = {}
        for one in facts.values():
            if one.kind == "function":
                called = _calls(one)
                function = Function(one) if not called.isdisjoint(self._signals) else None
                tells = function is not None and any(
                    self._tells_each(function, each) for each in function.defined.values() if isinstance(each, Call)
                )
                calls.setdefault(one.name, []).append(called)
                begin.setdefault(one.name, []).append(tells)
        found: frozenset[str] = frozenset()
        while True:
            more = frozenset(
                name
                for name, all_called in calls.items()
                if all(
                    tells or not found.isdisjoint(called) for tells, called in zip(begin[name], all_called, strict=True)
                )
            )
            if more == found:
                return found
            found = more


def _calls(function: FunctionFacts) -> frozenset[str]:
    """The names by which a function calls."""
    told = [one for block in function.blocks for one in block.instructions]
    called = {one.func for one in told if type(one) is Call}
    return frozenset(one.name for one in told if (type(one) is Attr or type(one) is Name) and one.dst in called)


def _called(function: Function, call: Call) -> str:
    func = function.defined.get(call.func)
    return func.name if isinstance(func, Attr | Name) else ""


def _source(function: Function, value: int) -> object:
    one = function.defined.get(value)
    return function.defined.get(one.source) if isinstance(one, Unpack) else one
