"""Gates: the call ``<owner>.<counter>.<method>(layer)`` that makes a read wait, and who gives an object its counter.

A *wait* is a method that waits for the layer that its parameter names: it picks an event, future or condition by it, or
hands it to a wait of what it has made itself. A *counter* is an attribute that holds such an object and is handed to
its owner from outside: that is what tells a pool from a counter that is made of smaller ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from auditor.facts import Attr, Branch, Call, Const, Op, Return, Value, expression
from auditor.learning.hints import Wanted, calling, mentioning
from auditor.learning.program import SELF, Program, at, calls, label, origin, parameter, short
from auditor.learning.values import HIGH, LOW, MEDIUM, Arming, Evidence, Gate, InFlight
from auditor.learning.waits import Wait, from_parameters, indexed_wait, tells
from auditor.link import Code
from auditor.loading import called, receiver


class Use(NamedTuple):
    """A wait that a function makes on a counter that it reaches from its object: ``path`` are the attributes, ``made``
    the waits of the classes that they are known to hold."""

    code: Code
    call: Call
    path: tuple[str, ...]
    method: str
    made: tuple[str, ...]

    @property
    def counter(self) -> str:
        """The attribute that holds the counter."""
        return self.path[-1]

    @property
    def evidence(self) -> Evidence:
        text = expression(self.code.facts, self.call.dst, self.code.defined)
        return at(self.code, self.call.at.line, f"{label(self.code)} waits: {text}")


class Gates:
    """The waits of a program and their uses."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.waits: dict[str, Wait] = {}
        """Method (qualified) → its wait."""
        self.uses: list[Use] = []
        self._grow()

    def _grow(self) -> None:
        """wait(m) ← picks(m, parameter);  wait(m) ← calls(m, n, parameter), wait(n), made(m's object, n's object)"""
        for code in self._methods():
            if (found := indexed_wait(code)) is not None:
                self.waits[code.name] = found
        known = -1
        while known != len(self.waits):
            known = len(self.waits)
            waiting = frozenset(map(short, self.waits))
            self.uses = [use for code in self._methods() for use in self._uses(code, waiting)]
            for use in self.uses:
                if use.made and not self._is_counter(use) and from_parameters(use.code, use.call):
                    device = any(self.waits[name].device for name in use.made)
                    self.waits.setdefault(use.code.name, Wait(use.evidence, device))
        self.uses = [use for use in self.uses if self._is_counter(use)]

    def _methods(self) -> Iterator[Code]:
        return (code for named in self._program.methods.values() for code in named)

    def _uses(self, code: Code, waiting: frozenset[str]) -> Iterator[Use]:
        for one in calls(code):
            name = called(code.defined, one)
            path = origin(code.defined, receiver(code.defined, one)) if name in waiting else ()
            if path:
                held = self._program.held(code.owner, path[0]) if len(path) == 1 else frozenset()
                bases = sorted({f"{base}.{name}" for cls in held for base in self._program.lineage(cls)})
                made = tuple(one for one in bases if one in self.waits)
                if made or (not held and "_" in name.strip("_")):  # one common word says nothing by itself
                    yield Use(code, one, path, name, made)

    # ------------------------------------------------------------ counters

    def _is_counter(self, use: Use) -> bool:
        """Whether an attribute is given to its object from outside: after it was made; or when it was made, if it is a
        stream of the device that waits, and others signal to it."""
        if any(self._armings(use.counter)):
            return True
        given = (parameter(code, store.value) for code, store in self._program.storing(use.counter))
        waiting = [name for name in use.made if self.waits[name].device and self._is_signalled(name)]
        return bool(waiting) and any(one is not None for one in given)

    def _is_signalled(self, wait: str) -> bool:
        """Whether the class of a wait, or one that its objects hold, has a method that is the other half of it."""
        cls = wait.rpartition(".")[0]
        held = {one for owner, name in self._program.stored() if owner == cls for one in self._program.held(cls, name)}
        known = [one for one in sorted({cls} | held) if one in self._program.hierarchy.classes]
        return any(tells(code) for one in known for code in self._program.own(one) if code.name != wait)

    def _armings(self, attribute: str) -> Iterator[tuple[Code, int, int]]:
        """The methods that store a parameter as an attribute of their object, its position, the line."""
        for code, store in self._program.storing(attribute):
            given = parameter(code, store.value)
            if code.facts.name != "__init__" and given is not None:
                yield code, given.dst - 1, store.at.line

    def counters(self) -> frozenset[str]:
        """The attributes that hold a counter."""
        return frozenset(use.counter for use in self.uses)

    def arming_methods(self) -> frozenset[str]:
        """The methods that store one."""
        return frozenset(code.facts.name for name in self.counters() for code, *_ in self._armings(name))

    def layers(self) -> frozenset[str]:
        """How the layer is written that gates are given, where it is counted from the first one of the object."""
        given = ((use.code, argument.value) for use in self.uses for argument in use.call.arguments)
        return frozenset(expression(code.facts, value, code.defined) for code, value in given if _is_less(code, value))

    def wanted(self) -> Iterator[Wanted]:
        """The files that may say more: those that call a wait, those that have to do with a counter."""
        for method in sorted(self.waits):
            cls, _, name = method.rpartition(".")
            yield calling(name, () if "_" in name.strip("_") else (short(cls),))
        if names := self.counters() | self.arming_methods():
            yield mentioning(names)

    # ------------------------------------------------------------ what is told

    def gates(self) -> tuple[Gate, ...]:
        """Each pair of a method and the attribute that it is called on."""
        pairs = sorted({(use.method, use.counter) for use in self.uses})
        return tuple(self._gate(method, counter) for method, counter in pairs)

    def _gate(self, method: str, counter: str) -> Gate:
        uses = [use for use in self.uses if (use.method, use.counter) == (method, counter)]
        deep = [wait.where for name, wait in sorted(self.waits.items()) if short(name) == method]
        local = Counter(_is_local(use) for use in uses).most_common(1)[0][0]
        argument = Counter(_layer(use) for use in uses).most_common(1)[0][0]
        shown = (*(use.evidence for use in uses), *deep)
        sure = HIGH if len(uses) > 1 and deep else MEDIUM if deep else LOW
        return Gate(method, counter, argument, "local" if local else "global", sure, shown)

    def in_flight(self) -> tuple[InFlight, ...]:
        """What a counter asks of itself before it waits, the first of each attribute."""
        methods = {use.method for use in self.uses}
        waiting = (self._program.codes[name] for name in sorted(self.waits) if short(name) in methods)
        found: dict[str, InFlight] = {}
        for one in (one for code in waiting for one in _leaving(code)):
            found.setdefault(one.attribute, one)
        return tuple(found.values())

    def arming(self) -> tuple[Arming, ...]:
        """Each method that stores a counter on its object; of classes that take it at different positions the most."""
        found: dict[tuple[str, int], list[Evidence]] = {}
        for name in sorted(self.counters()):
            for code, argument, line in self._armings(name):
                evidence = at(code, line, f"{label(code)} stores its argument as {name}")
                found.setdefault((code.facts.name, argument), []).append(evidence)
        usual: dict[str, Arming] = {}
        for (method, argument), shown in sorted(found.items(), key=lambda one: (-len(one[1]), one[0])):
            sure = HIGH if len(shown) > 1 else MEDIUM
            usual.setdefault(method, Arming(method, argument, sure, tuple(shown)))
        return tuple(usual[method] for method in sorted(usual))


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _leaving(code: Code) -> Iterator[InFlight]:
    """The tests of a number of the object after which a wait returns at once: ``if self.index < 0: return``."""
    for block in code.facts.blocks:
        test = code.defined.get(block.end.test) if isinstance(block.end, Branch) else None
        if not isinstance(block.end, Branch) or not isinstance(test, Op) or test.operator not in _OPPOSITE:
            continue
        left, number = code.defined.get(test.operands[0]), _number(code, test.operands[1])
        own = isinstance(left, Attr) and left.base == SELF
        if isinstance(left, Attr) and number is not None and own and _returns(code, block.end.then):
            text = expression(code.facts, block.end.test, code.defined)
            where = at(code, block.end.at.line, f"{label(code)} returns at once where {text}")
            yield InFlight(left.name, _OPPOSITE[test.operator], number, MEDIUM, (where,))


def _number(code: Code, value: Value) -> int | None:
    """A whole number that is written out, be it below zero."""
    one = code.defined.get(value)
    if isinstance(one, Op) and one.operator == "neg":
        number = _number(code, one.operands[0])
        return None if number is None else -number
    return one.value if isinstance(one, Const) and type(one.value) is int else None


def _returns(code: Code, number: int) -> bool:
    block = code.facts.blocks[number]
    return isinstance(block.end, Return) and not any(isinstance(one, Call) for one in block.instructions)


def _layer(use: Use) -> int:
    """The position of the layer among the arguments: the first that is not written out."""
    positional = [use.code.defined.get(one.value) for one in use.call.arguments if one.kind == "pos"]
    return next((position for position, one in enumerate(positional) if not isinstance(one, Const)), 0)


def _is_local(use: Use) -> bool:
    """Whether the layer is counted from the first one of the object: something is taken off it."""
    return any(_is_less(use.code, argument.value) for argument in use.call.arguments)


def _is_less(code: Code, value: Value) -> bool:
    one = code.defined.get(value)
    if not isinstance(one, Op) or one.operator != "-" or len(one.operands) != 2:
        return False
    return bool(origin(code.defined, one.operands[1]))
