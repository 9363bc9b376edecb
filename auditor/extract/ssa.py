"""Build the control-flow graph of one function in static single assignment form, while it is being lowered.

The algorithm is that of Braun, Buchwald, Hack, Leißa, Mallon and Zwinkau, "Simple and Efficient Construction of Static
Single Assignment Form" (CC 2013): a variable is looked up backwards through the predecessors when it is read; a block
whose predecessors are not all known yet (a loop header) is *unsealed* and gets a phi that is completed later; trivial
phis are removed at once. Two things are added. An edge to an exception handler carries the values at the *start* of its
block. And blocks that cannot be reached are never linked in, so no phi ever names them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from auditor.extract.tokens import Refused
from auditor.facts import (
    NOTHING,
    Argument,
    At,
    Attr,
    Await,
    Bind,
    Block,
    Branch,
    Build,
    Call,
    Choice,
    Class,
    Closure,
    Const,
    Declare,
    Delete,
    Enter,
    Exit,
    Import,
    Instruction,
    Item,
    Iterate,
    Jump,
    Name,
    Op,
    Opaque,
    Param,
    Phi,
    Raise,
    Return,
    SetAttr,
    SetItem,
    Terminator,
    Unpack,
    Value,
    Yield,
)

MAX_RECORDS = 150_000

Record: TypeAlias = tuple[Any, ...]
"""A drafted instruction: its class, its offset in the text, then its fields (but ``at``) with drafted values."""

Variable: TypeAlias = Hashable


class Draft:
    """A block under construction."""

    __slots__ = (
        "end",
        "entering",
        "handler",
        "leaving",
        "number",
        "phis",
        "predecessors",
        "records",
        "sealed",
        "waiting",
    )

    def __init__(self) -> None:
        self.number = -1
        self.records: list[Record] = []
        self.end: tuple[Any, ...] = ()
        self.handler: Draft | None = None
        self.predecessors: list[tuple[Draft, bool]] = []
        self.sealed = False
        self.leaving: dict[Variable, Value] = {}
        self.entering: dict[Variable, Value] = {}
        self.phis: list[Value] = []
        self.waiting: list[tuple[Variable, Value]] = []


class _Join:
    """A phi under construction; ``users`` are the phis that choose it."""

    __slots__ = ("block", "choices", "users")

    def __init__(self, block: Draft) -> None:
        self.block = block
        self.choices: list[tuple[Draft, Value]] = []
        self.users: set[Value] = set()


class Flow:
    """The graph under construction. Instructions go to ``current``; exceptions in new blocks go to ``handler``."""

    def __init__(self) -> None:
        self.entry = Draft()
        self.void = Draft()
        self.void.sealed = True
        self.blocks = [self.entry]
        self.current = self.entry
        self.handler: Draft | None = None
        self.entry.sealed = True
        self.count = 0
        self.joins: dict[Value, _Join] = {}
        self.replaced: dict[Value, Value] = {}
        self.names: dict[Value, str] = {}
        self.used: list[Value] = []
        self.maybe: dict[Value, Value] = {}

    # ------------------------------------------------------------ instructions

    def value(self, kind: type, offset: int, *fields: Any) -> Value:
        """Append an instruction that defines a value, and give the value."""
        value = self.count
        self.count = value + 1
        self.current.records.append((kind, offset, value, *fields))
        return value

    def effect(self, kind: type, offset: int, *fields: Any) -> None:
        """Append an instruction that defines none."""
        self.current.records.append((kind, offset, *fields))

    # ------------------------------------------------------------ blocks

    @property
    def dead(self) -> bool:
        """Whether what is appended now can never run."""
        return self.current is self.void

    def start(self, block: Draft, *, sealed: bool = True) -> None:
        """Go on in ``block``. All its predecessors are known, unless it is left unsealed."""
        if not block.predecessors:
            block.sealed = True
            self.current = self.void
            self.void.records.clear()
            return
        block.sealed = sealed
        block.handler = self.handler
        self.blocks.append(block)
        self.current = block
        if self.handler is not None:
            self.handler.predecessors.append((block, True))
        if len(self.blocks) + self.count > MAX_RECORDS:
            raise Refused(0, f"function of more than {MAX_RECORDS} instructions (limit); split it")

    def seal(self, block: Draft) -> None:
        """Say that all predecessors of ``block`` are known now."""
        if block.sealed:
            return
        block.sealed = True
        for variable, phi in block.waiting:
            self._complete(variable, phi)
        block.waiting.clear()

    def split(self) -> None:
        """Go on in a fresh block after the current one, where exceptions go to the current handler."""
        block = Draft()
        self.jump(block)
        self.start(block)

    def _edge(self, target: Draft) -> Draft:
        target.predecessors.append((self.current, False))
        return target

    def _end(self, *end: Any) -> None:
        self.current.end = end
        self.current = self.void

    def jump(self, target: Draft) -> None:
        """End the current block with a ``Jump``."""
        if not self.dead:
            self._end(Jump, 0, self._edge(target))

    def branch(self, test: Value, then: Draft, orelse: Draft, offset: int) -> None:
        """End the current block with a ``Branch``."""
        if not self.dead:
            self._end(Branch, offset, test, self._edge(then), self._edge(orelse))

    def choose(self, targets: tuple[Draft, ...], offset: int) -> None:
        """End the current block with a ``Choice``."""
        if not self.dead:
            self._end(Choice, offset, *[self._edge(target) for target in targets])

    def leave(self, kind: type, value: Value, offset: int) -> None:
        """End the current block with a ``Return`` or a ``Raise``."""
        if kind is Raise and self.handler is not None and self.current.leaving:
            self.split()  # the handler is to see what was bound before
        if not self.dead:
            self._end(kind, offset, value)

    # ------------------------------------------------------------ variables

    def write(self, variable: Variable, value: Value) -> None:
        """Let ``variable`` have ``value`` from here on; ``NOTHING`` unbinds it."""
        self.current.leaving[variable] = value

    def read(self, variable: Variable) -> Value:
        """Give the value that ``variable`` has here, ``NOTHING`` if it has none on any path."""
        if self.dead:
            return NOTHING
        value = self._leaving(variable, self.current)
        self.used.append(value)
        return value

    def read_or(self, variable: Variable, otherwise: Value) -> Value:
        """Give ``otherwise`` (the last instruction), to become the variable's value if it has one on every path."""
        if not self.dead:
            self.maybe[otherwise] = self._leaving(variable, self.current)
        return otherwise

    def _leaving(self, variable: Variable, block: Draft) -> Value:
        value = block.leaving.get(variable)
        return self._entering(variable, block) if value is None else self.find(value)

    def _entering(self, variable: Variable, block: Draft) -> Value:
        value = block.entering.get(variable)
        if value is not None:
            return self.find(value)
        if not block.sealed:
            value = self._join(variable, block)
            block.waiting.append((variable, value))
        elif not block.predecessors:
            value = NOTHING
        elif len(block.predecessors) == 1:
            value = self._across(variable, block.predecessors[0])
        else:
            block.entering[variable] = phi = self._join(variable, block)
            value = self._complete(variable, phi)
        block.entering[variable] = value
        return value

    def _across(self, variable: Variable, edge: tuple[Draft, bool]) -> Value:
        block, exceptional = edge
        return self._entering(variable, block) if exceptional else self._leaving(variable, block)

    def _join(self, variable: Variable, block: Draft) -> Value:
        value = self.count
        self.count = value + 1
        self.joins[value] = _Join(block)
        block.phis.append(value)
        if isinstance(variable, str):
            self.names[value] = variable.partition("@")[0]
        return value

    def _complete(self, variable: Variable, phi: Value) -> Value:
        join = self.joins[phi]
        for edge in join.block.predecessors:
            value = self._across(variable, edge)
            join.choices.append((edge[0], value))
            if value in self.joins:
                self.joins[value].users.add(phi)
        return self._simplify(phi)

    def _simplify(self, phi: Value) -> Value:
        """Remove ``phi`` if it chooses one value only, and then those of its users that became so."""
        pending = [phi]
        while pending:
            candidate = pending.pop()
            join = self.joins.get(candidate)
            if join is None or len(join.choices) < len(join.block.predecessors):
                continue
            values = {self.find(value) for _, value in join.choices}
            values.discard(candidate)
            if len(values) > 1:
                continue
            only = values.pop() if values else NOTHING
            self.replaced[candidate] = only
            del self.joins[candidate]
            join.users.discard(candidate)
            if only in self.joins:
                self.joins[only].users |= join.users
            pending.extend(sorted(join.users))
        return self.find(phi)

    def find(self, value: Value) -> Value:
        """Give what ``value`` was replaced by, at the end of the chain."""
        replaced = self.replaced
        if value not in replaced:
            return value
        end = value
        while end in replaced:
            end = replaced[end]
        while value in replaced and replaced[value] != end:
            replaced[value], value = end, replaced[value]
        return end

    # ------------------------------------------------------------ finish

    def finish(self, place: Callable[[int], At]) -> tuple[tuple[Block, ...], dict[Value, str]]:
        """Number blocks and values densely and give the blocks, and the names of the values that are a variable's."""
        self._settle_reads()
        used = self._used_joins()
        for number, block in enumerate(self.blocks):
            block.number = number
        numbers = self._number(used)
        blocks = tuple(self._block(block, used, numbers, place) for block in self.blocks)
        names = {numbers[value]: name for value, name in self.names.items() if value in self._defined}
        for block in self.blocks:  # those of a loop hold one another, and nobody collects cycles here
            block.end, block.predecessors = (), []
        return blocks, dict(sorted(names.items()))

    def _settle_reads(self) -> None:
        """Replace each tentative read by the variable's value where that is bound on every path."""
        if not self.maybe:
            return
        unbound = self._maybe_unbound()
        for read, found in self.maybe.items():
            value = self.find(found)
            if value not in unbound:
                self.replaced[read] = value
                self.used.append(value)
        for phi in sorted(self.joins):
            self._simplify(phi)

    def _maybe_unbound(self) -> set[Value]:
        unbound = {NOTHING}
        users: dict[Value, list[Value]] = {}
        for phi, join in self.joins.items():
            for _, value in join.choices:
                users.setdefault(self.find(value), []).append(phi)
        pending = [NOTHING]
        while pending:
            for user in users.get(pending.pop(), ()):
                if user not in unbound:
                    unbound.add(user)
                    pending.append(user)
        return unbound

    def _used_joins(self) -> set[Value]:
        used: set[Value] = set()
        pending = [self.find(value) for value in self.used]
        while pending:
            value = pending.pop()
            if value in self.joins and value not in used:
                used.add(value)
                pending.extend(self.find(choice) for _, choice in self.joins[value].choices)
        return used

    def _number(self, used: set[Value]) -> list[Value]:
        numbers = [NOTHING] * (self.count + 1)  # the last one, [-1], stays NOTHING
        self._defined: set[Value] = set()
        number = 0
        for block in self.blocks:
            order = [phi for phi in block.phis if phi in used]
            order += [
                record[2] for record in block.records if record[0] not in _EFFECTS and record[2] not in self.replaced
            ]
            for value in order:
                numbers[value] = number
                number += 1
            self._defined.update(order)
        for value in self.replaced:
            numbers[value] = numbers[self.find(value)]
        return numbers

    def _block(self, block: Draft, used: set[Value], numbers: list[Value], place: Callable[[int], At]) -> Block:
        made: list[Instruction] = [
            Phi(
                numbers[phi],
                tuple(sorted({(source.number, numbers[value]) for source, value in self.joins[phi].choices})),
            )
            for phi in block.phis
            if phi in used
        ]
        maybe = self.maybe
        replaced = self.replaced
        for record in block.records:
            if not (maybe and record[0] is Name and record[2] in replaced):
                made.append(_MAKE[record[0]](record, numbers, place(record[1])))
        end = _end(block.end, numbers, place)
        return Block(tuple(made), end, (block.handler.number,) if block.handler else ())


def _end(end: tuple[Any, ...], numbers: list[Value], place: Callable[[int], At]) -> Terminator:
    kind = end[0]
    if kind is Jump:
        return Jump(end[2].number)
    if kind is Branch:
        return Branch(numbers[end[2]], end[3].number, end[4].number, place(end[1]))
    if kind is Choice:
        return Choice(tuple(target.number for target in end[2:]), place(end[1]))
    if kind is Return:
        return Return(numbers[end[2]], place(end[1]))
    return Raise(numbers[end[2]], place(end[1]))


_EFFECTS = frozenset({Bind, SetAttr, SetItem, Exit, Delete})

_Make: TypeAlias = Callable[[Record, list[Value], At], Instruction]


def _pairs(pairs: tuple[tuple[str, Value], ...], n: list[Value]) -> tuple[tuple[str, Value], ...]:
    return tuple([(name, n[value]) for name, value in pairs])


def _call(r: Record, n: list[Value], at: At) -> Instruction:
    return Call(n[r[2]], n[r[3]], tuple([Argument(kind, name, n[value]) for kind, name, value in r[4]]), at)


_MAKE: dict[type, _Make] = {
    Param: lambda r, n, at: Param(n[r[2]], r[3], at),
    Const: lambda r, n, at: Const(n[r[2]], r[3], at),
    Name: lambda r, n, at: Name(n[r[2]], r[3], at),
    Attr: lambda r, n, at: Attr(n[r[2]], n[r[3]], r[4], at),
    Item: lambda r, n, at: Item(n[r[2]], n[r[3]], n[r[4]], at),
    Call: _call,
    Build: lambda r, n, at: Build(n[r[2]], r[3], tuple([n[value] for value in r[4]]), at),
    Op: lambda r, n, at: Op(n[r[2]], r[3], tuple([n[value] for value in r[4]]), at),
    Iterate: lambda r, n, at: Iterate(n[r[2]], n[r[3]], at),
    Unpack: lambda r, n, at: Unpack(n[r[2]], n[r[3]], r[4], at),
    Declare: lambda r, n, at: Declare(n[r[2]], n[r[3]], r[4], at),
    Closure: lambda r, n, at: Closure(n[r[2]], r[3], _pairs(r[4], n), at),
    Class: lambda r, n, at: Class(n[r[2]], r[3], tuple([n[value] for value in r[4]]), _pairs(r[5], n), at),
    Import: lambda r, n, at: Import(n[r[2]], r[3], r[4], at),
    Bind: lambda r, n, at: Bind(r[2], r[3], n[r[4]], at),
    SetAttr: lambda r, n, at: SetAttr(n[r[2]], r[3], n[r[4]], at),
    SetItem: lambda r, n, at: SetItem(n[r[2]], n[r[3]], n[r[4]], at),
    Enter: lambda r, n, at: Enter(n[r[2]], n[r[3]], at),
    Exit: lambda r, n, at: Exit(n[r[2]], at),
    Yield: lambda r, n, at: Yield(n[r[2]], n[r[3]], r[4], at),
    Await: lambda r, n, at: Await(n[r[2]], n[r[3]], at),
    Delete: lambda r, n, at: Delete(n[r[2]], r[3], at),
    Opaque: lambda r, n, at: Opaque(n[r[2]], r[3], at),
}
