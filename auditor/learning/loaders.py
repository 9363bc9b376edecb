"""Loaders: who copies a layer and then says that it is there.

A *signal* is the other half of a wait: a method of the same class that records the event, or resolves the future, which
the wait picks. A *loader* is a function that gives signals, or a generator that copies on a stream of its own, a layer
a step. Its *copies* are the calls for the same layer whose result nobody takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from auditor.facts import NOTHING, Attr, Branch, Call, Enter, Iterate, Param, Return, Value, Yield, expression
from auditor.learning.gates import Gates
from auditor.learning.hints import Wanted, calling, defining
from auditor.learning.program import SELF, Program, at, calls, label, origin, short
from auditor.learning.steps import Step, copied
from auditor.learning.values import HIGH, MEDIUM, Evidence, Named
from auditor.learning.waits import TELLS, tells
from auditor.link import Code
from auditor.loading import called, parts, receiver, sources

_ORDERS = frozenset({"wait_stream", "wait_event", "synchronize"})
_FILLS = frozenset({"append", "extend", "add", "update", "put", "info", "debug", "warning", "error", "set"})
"""Methods of containers and loggers: their result is not taken either, and they copy nothing."""


class Copying(NamedTuple):
    """A call that a loader makes for a layer, and what makes it one."""

    code: Code
    call: Call
    why: str


class Loaders:
    """The signals of a program, and the functions that copy for them."""

    def __init__(self, program: Program, gates: Gates, steps: Sequence[Step]) -> None:
        self._program = program
        self._gates = gates
        self._steps = steps
        self.counters = self._chain()
        """The classes whose objects are waited on: counters, and what they are made of."""
        self.signals = {code.name: code for cls in sorted(self.counters) for code in program.own(cls) if tells(code)}
        self._callbacks = dict(self._handed_on())
        self.stepping = tuple(code for code in self._sorted() if code.facts.is_generator and _streams(code))
        """Generators that copy on a stream of their own, a layer a step."""
        self.copies = tuple(self._copies())

    def _chain(self) -> frozenset[str]:
        methods = {use.method for use in self._gates.uses}
        found = {name.rpartition(".")[0] for name in self._gates.waits if short(name) in methods}
        for cls in tuple(found):
            for code in self._program.own(cls):
                for one in calls(code):
                    path = origin(code.defined, receiver(code.defined, one))
                    held = self._program.held(cls, path[0]) if len(path) == 1 else ()
                    found.update(
                        one for one in held if any(f"{one}.{m}" in self._gates.waits for m in self._named(one))
                    )
        return frozenset(found)

    def _named(self, cls: str) -> tuple[str, ...]:
        info = self._program.hierarchy.classes.get(cls)
        return info.facts.methods if info is not None else ()

    def wanted(self) -> Iterator[Wanted]:
        """The files that give signals, or take one as a callback."""
        near = {short(cls) for cls in self.counters}
        for signal in sorted({code.facts.name for code in self.signals.values()}):
            yield calling(signal, near)
        for method in sorted({method for method, _ in self._callbacks}):
            if "_" in method.strip("_"):
                yield calling(method)
                yield defining("def", (method,))
        for name in sorted({called(one.code.defined, one.call) for one in self.copies}):
            if "_" in name.strip("_"):
                yield defining("def", (name,))

    # ------------------------------------------------------------ signals

    def _handed_on(self) -> Iterator[tuple[tuple[str, str], Evidence]]:
        """(method, parameter) that a signal is given for: ``submit(…, on_layer_done=event.complete)``"""
        names = {code.facts.name for code in self.signals.values()}
        for code in self._program.codes.values():
            for one in calls(code):
                for argument in one.arguments:
                    read = code.defined.get(argument.value)
                    if argument.kind == "key" and isinstance(read, Attr) and read.name in names:
                        text = expression(code.facts, argument.value, code.defined)
                        where = at(code, one.at.line, f"{label(code)} gives it {text} as {argument.name}")
                        yield (called(code.defined, one), argument.name), where

    def _given(self, code: Code) -> Iterator[tuple[Call, str]]:
        """The signals that a function gives, with what they are."""
        names = {one.facts.name for one in self.signals.values()}
        for one in calls(code):
            name, func = called(code.defined, one), code.defined.get(one.func)
            if name in names and one.arguments and code.name not in self.signals and self._is_counter(code, one):
                yield one, f"{expression(code.facts, one.dst, code.defined)} signals it"
            elif isinstance(func, Param) and (where := self._callbacks.get((code.facts.name, func.name))):
                yield one, f"{func.name} signals it: {where.what} ({where.path}:{where.line})"

    def _is_counter(self, code: Code, one: Call) -> bool:
        """Whether what a signal is called on is a counter, or may be one."""
        path = origin(code.defined, receiver(code.defined, one))
        if path and code.owner:
            held = self._program.held(code.owner, path[0])
            return not held or bool(self.counters.intersection(held))
        return code.path in {signal.path for signal in self.signals.values()}

    def _sorted(self) -> list[Code]:
        return sorted(self._program.codes.values(), key=lambda code: code.name)

    # ------------------------------------------------------------ copies

    def _copies(self) -> Iterator[Copying]:
        for code in self._sorted():
            signals = list(self._given(code))
            if signals:
                for signal, why in signals:
                    layer = _steps(code, [argument.value for argument in signal.arguments])
                    given = {one.dst for one, _ in signals}
                    yield from (Copying(code, one, why) for one in _acts(code, layer) if one.dst not in given)
            elif code.facts.is_generator and (why := _streams(code)):
                layer = _steps(code, [one.dst for one in code.defined.values() if isinstance(one, Iterate)])
                yield from (Copying(code, one, why) for one in _acts(code, layer))
        for step in self._steps:
            if step.copies is not None:
                why = f"{label(step.code)} waits for {step.attribute}"
                taken = set(_taken(step.copies))
                yield from (
                    Copying(step.copies, one, why)
                    for one in copied(step.copies, step.attribute)
                    if one.dst not in taken and called(step.copies.defined, one)
                )

    # ------------------------------------------------------------ what is told

    def transfers(self, stores: Collection[str]) -> tuple[Named, ...]:
        """The calls that enqueue the copies of a layer, but for ``stores``, which every tensor has."""
        found: dict[str, list[Evidence]] = {}
        for code, one, why in self.copies:
            if (name := called(code.defined, one)) not in stores:
                text = expression(code.facts, one.dst, code.defined)
                found.setdefault(name, []).append(at(code, one.at.line, f"{text}, then {why}"))
        return tuple(
            Named(name, HIGH if len(shown) > 1 else MEDIUM, tuple(shown)) for name, shown in sorted(found.items())
        )

    def host_side(self, pools: frozenset[str]) -> tuple[Named, ...]:
        """The classes that load, and those whose methods are the copies; those that start a family."""
        found = dict(self._makers())
        for code, one, _ in self.copies:
            if code.owner:
                found.setdefault(code.owner, at(code, one.at.line, f"{label(code)} is a loader"))
            for method in self._program.methods.get(called(code.defined, one), ()):
                found.setdefault(method.owner, at(method, method.facts.at.line, f"{label(method)} copies a layer"))
        kept: dict[str, Evidence] = {}
        for cls, where in sorted(found.items()):
            if cls not in pools | self.counters and not any(base in found for base in self._program.lineage(cls)[1:]):
                kept.setdefault(short(cls), where)
        return tuple(Named(name, MEDIUM, (where,)) for name, where in sorted(kept.items()))

    def _makers(self) -> Iterator[tuple[str, Evidence]]:
        """The classes whose objects make a counter."""
        for cls, attribute in self._program.stored():
            for code, store in self._program.stores(cls, attribute):
                if self.counters.intersection(self._program.constructed(code, store.value)):
                    yield cls, at(code, store.at.line, f"{label(code)} makes the counter {attribute}")


def _steps(code: Code, values: list[Value]) -> frozenset[Value]:
    """The elements of loops that values are computed from."""
    found = frozenset().union(*(sources(code.defined, value) for value in values)) if values else frozenset()
    return frozenset(one for one in found if isinstance(code.defined.get(one), Iterate))


def _acts(code: Code, layer: frozenset[Value]) -> Iterator[Call]:
    """The calls of methods and kernels for a layer whose result nobody takes."""
    taken = set(_taken(code))
    for one in calls(code):
        name = called(code.defined, one)
        given = frozenset().union(*(sources(code.defined, argument.value) for argument in one.arguments), frozenset())
        on = receiver(code.defined, one)
        if (
            name
            and on not in (NOTHING, SELF)
            and name not in _FILLS | TELLS | _ORDERS
            and one.dst not in taken
            and layer.intersection(given)
        ):
            yield one


def _taken(code: Code) -> Iterator[Value]:
    """Every value that something is made of: an argument, an operand, what is stored, tested or returned."""
    for block in code.facts.blocks:
        for one in block.instructions:
            yield from parts(one)
            yield from (getattr(one, name) for name in ("value", "iterable", "manager") if hasattr(one, name))
        if isinstance(block.end, Return):
            yield block.end.value
        elif isinstance(block.end, Branch):
            yield block.end.test


def _streams(code: Code) -> str:
    """What a generator does between its steps to order them behind a stream, or ""."""
    entered = any(isinstance(one, Enter) for one in code.defined.values())
    stepping = any(isinstance(one, Yield) for one in code.defined.values())
    for one in calls(code):
        if entered and stepping and called(code.defined, one) in _ORDERS:
            return f"{expression(code.facts, one.dst, code.defined)} orders the next step behind it"
    return ""
