"""What functions do to streams and storage: themselves, and through what they call.

A *primitive* is an instruction that does it; an *effect* of a function reaches its callers up to a distance that keeps
"somewhere below, something is copied" from being true of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from auditor.facts import NOTHING, At, Call, SetItem, Value, expression
from auditor.link import Code, Linker
from auditor.loading.edges import edge
from auditor.loading.naming import (
    Kinds,
    attributes,
    called,
    own_attribute,
    receiver,
)
from auditor.loading.streams import Streams
from auditor.loading.values import COPY, FENCE, JOIN, RECORD, SIGNAL, Counter, Operation, Spot
from auditor.spec import EngineSpec, matcher

_FAR = {COPY: 3, SIGNAL: 1, JOIN: 2, FENCE: 2, RECORD: 1}
"""Calls that an effect is seen through. (A signal is a method of a counter: its callers are the loaders.)"""


class Named(NamedTuple):
    """A call with where it stands."""

    code: Code
    block: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nothing needs
    call: Call


class Effects:
    """Answers for each function of a program; built once. ``named``: the calls of the product by the last part of the
    name that they are written with."""

    def __init__(
        self, linker: Linker, spec: EngineSpec, counters: Collection[Counter], product: Callable[[str], bool]
    ) -> None:
        self.linker = linker
        self.kinds = Kinds(linker)
        self._copies = matcher(spec.transfers)
        self._guarded = matcher(spec.buffers)
        self._stores = frozenset(spec.uses.stores) & _MOVES
        self._joins = frozenset(spec.uses.synchronizes)
        self.product = product
        self.counters: dict[str, Counter] = {name: one for one in counters for name in one.signals}
        """The counter that a function signals: a method of it, or one that does nothing but call such a method."""
        self.named: dict[str, list[Named]] = {}
        self._operations: dict[str, tuple[Operation, ...]] = {}
        self._primitives = {name: self._primitive(code) for name, code in linker.codes.items() if product(code.path)}
        self.callers = self._callers()
        self._of = self._spread()
        is_host = matcher(spec.host_side)
        self._transferring = {
            code.facts.name
            for name, code in linker.codes.items()
            if COPY in self.of(name)
            and code.owner
            and (linker.tracked(code.owner) or linker.hierarchy.is_kind_of(code.owner, is_host))
        }

    def of(self, function: str) -> frozenset[str]:
        """The kinds of what a function does, itself or through what it calls."""
        return self._of.get(function, frozenset())

    def operations(self, code: Code) -> tuple[Operation, ...]:
        """What a function does, in the order of its text."""
        known = self._operations.get(code.name)
        if known is None:
            known = self._operations[code.name] = tuple(self._found(code))
        return known

    def _found(self, code: Code) -> Iterator[Operation]:
        streams = Streams(code, self.kinds, self.linker)
        own = self._primitives.get(code.name, {})
        for number, block in enumerate(code.facts.blocks):
            for index, one in enumerate(block.instructions):
                if not isinstance(one, Call | SetItem):
                    continue
                callees = self.callees(code, one)
                kinds = own.get((number, index), frozenset()).union(*(self.of(name) for name in callees))
                if (
                    not kinds
                    and isinstance(one, Call)
                    and not callees
                    and called(code.defined, one) in self._transferring
                ):
                    kinds = frozenset({COPY})
                if kinds:
                    yield self._operation(code, one, (number, index), kinds, callees, streams)

    def callees(self, code: Code, one: object) -> tuple[str, ...]:
        if not isinstance(one, Call):
            return ()
        return tuple(sorted({name for name, _ in self.linker.calls.get((code.name, one.dst), ())}))

    def called(self, code: Code, one: object) -> tuple[Code, ...]:
        """The functions of the tree that a call may be of."""
        return tuple(self.linker.codes[name] for name in self.callees(code, one) if name in self.linker.codes)

    def _operation(
        self,
        code: Code,
        one: Call | SetItem,
        where: tuple[int, int],
        kinds: frozenset[str],
        callees: tuple[str, ...],
        streams: Streams,
    ) -> Operation:
        value = one.dst if isinstance(one, Call) else NOTHING
        text = expression(code.facts, value, code.defined) if value != NOTHING else _stored(code, one)
        named = self._named_stream(code, one) if isinstance(one, Call) else ""
        target = one.base if isinstance(one, SetItem) else receiver(code.defined, one)
        about = self._about(code, target)
        orders = isinstance(one, Call) and not callees and kinds & {FENCE, JOIN}
        ordered = edge(code, streams, where, one) if orders and isinstance(one, Call) else (None, None)
        return Operation(
            kinds, spot(code, one.at), text, *where, value, callees, streams.at(*where), named, about, *ordered
        )

    def _about(self, code: Code, target: Value) -> str:
        storage = (one.name for one in attributes(code.defined, target) if self._guarded(one.name) is not None)
        return next(storage, "") or own_attribute(code, target)

    def _named_stream(self, code: Code, one: Call) -> str:
        """The stream that a record is told to use, or that a wait is made on."""
        for argument in one.arguments:
            if self.kinds.is_stream(code, argument.value):
                return expression(code.facts, argument.value, code.defined)
        on = receiver(code.defined, one)
        return expression(code.facts, on, code.defined) if on != NOTHING and self.kinds.is_stream(code, on) else ""

    # ------------------------------------------------------------ primitives

    def _primitive(self, code: Code) -> dict[tuple[int, int], frozenset[str]]:
        found = {}
        for number, block in enumerate(code.facts.blocks):
            for index, one in enumerate(block.instructions):
                kind = ""
                if type(one) is Call:
                    name = called(code.defined, one)
                    self.named.setdefault(name, []).append(Named(code, number, index, one))
                    kind = self._called(code, one, name)
                elif type(one) is SetItem and self._is_storage(code, one.base):
                    kind = COPY
                if kind:
                    found[number, index] = frozenset({kind})
        return found

    def _called(self, code: Code, one: Call, name: str) -> str:
        if self._copies(name) is not None:
            return COPY
        on = receiver(code.defined, one)
        if on == NOTHING or name not in _WORDS | self._stores | self._joins:
            return ""
        if name in ("wait_stream", "wait_event"):
            return FENCE
        if name == "wait":
            waits = [argument for argument in one.arguments if self.kinds.is_stream(code, argument.value)]
            return FENCE if waits or (not one.arguments and self.kinds.is_event(code, on)) else ""
        if name == "record":
            return RECORD if self.kinds.is_event(code, on) else ""
        if name == "record_event":
            return RECORD
        if name in self._joins:
            return JOIN
        given = [on, *(argument.value for argument in one.arguments)]
        return COPY if any(self._is_storage(code, value) for value in given) else ""

    def _is_storage(self, code: Code, value: Value) -> bool:
        return any(self._guarded(one.name) is not None for one in attributes(code.defined, value))

    # ------------------------------------------------------------ through calls

    def _callers(self) -> dict[str, tuple[tuple[str, Value], ...]]:
        """Function -> the calls of it (function, value of the call) in the text of the product."""
        found: dict[str, set[tuple[str, Value]]] = {}
        for site, callees in self.linker.calls.items():
            if site[0] in self._primitives:
                for name in self._meant(site, {name for name, _ in callees}):
                    found.setdefault(name, set()).add(site)
        return {name: tuple(sorted(sites)) for name, sites in found.items()}

    def _meant(self, site: tuple[str, Value], callees: set[str]) -> set[str]:
        """The callees of a call without those that its decorator was given for definitions of another name, or for
        those of other classes than that of ``self``."""
        code, functions = self.linker.codes[site[0]], self.linker.functions
        call = code.defined.get(site[1])
        if len(callees) < 2 or not isinstance(call, Call):
            return callees
        name = called(code.defined, call)
        meant = {one for one in callees if one.rpartition(".")[2] == name}
        if code.owner and receiver(code.defined, call) == 0:
            meant = {one for one in meant if self._are_kin(code.owner, one.rpartition(".")[0])}
        decorators = {each for one in meant for each in functions[one].decorators}
        return {one for one in callees if one in meant or decorators.isdisjoint(functions[one].decorators)}

    def _are_kin(self, one: str, other: str) -> bool:
        """Whether an object may be of both classes, one of them being a base of the other."""
        mro = self.linker.hierarchy.mro
        return one in mro(other) or other in mro(one)

    def _spread(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for kind, distance in _FAR.items():
            if kind == SIGNAL:
                self._helpers(found)
                front = set(self.counters)
            else:
                front = {name for name, own in self._primitives.items() if any(kind in kinds for kinds in own.values())}
            reached: set[str] = set()
            for _ in range(distance):
                reached |= front
                front = {caller for name in front for caller, _ in self.callers.get(name, ())} - reached
            for name in reached:
                found.setdefault(name, set()).add(kind)
        return {name: frozenset(kinds) for name, kinds in found.items()}

    def _helpers(self, known: Mapping[str, set[str]]) -> None:
        """counter(f) = counter(s) ← calls(f, s), copies nothing(f)"""
        for signal, counter in tuple(self.counters.items()):
            for name, _ in self.callers.get(signal, ()):
                if COPY not in known.get(name, ()):
                    self.counters.setdefault(name, counter)


_MOVES = frozenset({"copy_", "index_copy_", "index_put_", "scatter_"})
"""The stores that bring elements from elsewhere."""
_WORDS = frozenset({"wait_stream", "wait_event", "wait", "record", "record_event"})


def spot(code: Code, at: At) -> Spot:
    return Spot(code.path, at.line, at.column, code.name)


def _stored(code: Code, one: Call | SetItem) -> str:
    if not isinstance(one, SetItem):
        return ""
    return f"{expression(code.facts, one.base, code.defined)}[…] = …"


def calls_of(code: Code) -> Iterator[tuple[int, int, Call]]:
    """The calls of a function with the block and index where they stand."""
    for number, block in enumerate(code.facts.blocks):
        for index, one in enumerate(block.instructions):
            if isinstance(one, Call):
                yield number, index, one
