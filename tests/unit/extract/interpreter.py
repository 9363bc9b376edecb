"""A small interpreter of the facts, to compare what a register program does with what Python does.

Left out is what the vocabulary leaves out: the elements of a comprehension (programs hide them), awaits and yields.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from auditor.facts import (
    NOTHING,
    Attr,
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
    FunctionFacts,
    Item,
    Iterate,
    Jump,
    ModuleFacts,
    Name,
    Op,
    Opaque,
    Param,
    Phi,
    Raise,
    Return,
    SetAttr,
    SetItem,
    Unpack,
)

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "is": lambda a, b: a is b,
    "neg": lambda a: -a,
    "not": lambda a: not a,
}


class Machine:
    """Runs the functions of one file; ``world`` holds the names that the program does not define."""

    def __init__(self, facts: ModuleFacts, world: dict[str, Any], source: str) -> None:
        self.shapes = {
            (node.lineno, node.col_offset + 1): node.patterns
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.MatchSequence)
        }
        self.functions = {function.qualname: function for function in facts.functions}
        self.world = world
        self.globals: dict[str, Any] = {}

    def run(self) -> dict[str, Any]:
        Activation(self, self.functions[""], None).run([])
        return self.globals


class Activation:
    """One call of one function."""

    def __init__(self, machine: Machine, function: FunctionFacts, outer: Activation | None) -> None:
        self.machine = machine
        self.function = function
        self.outer = outer
        self.cells: dict[str, Any] = machine.globals if function.kind == "module" else {}
        self.registers: dict[int, Any] = {}
        self.iterators: dict[int, Any] = {}
        self.entered: list[Any] = []
        self.exception: BaseException | None = None
        self.swallowed = False

    def run(self, arguments: list[Any]) -> Any:
        self.arguments = iter(arguments)
        number, previous = 0, -1
        while True:
            block = self.function.blocks[number]
            try:
                going, where = self.block(block, previous)
            except BaseException as error:
                if not block.handlers:
                    self.abandon(error)
                    raise
                self.exception = error
                (where,) = block.handlers
                going = True
            if not going:
                return where
            previous, number = number, where

    def abandon(self, error: BaseException) -> None:
        """Leave the managers that are still entered: without a handler the facts do not say so."""
        for manager in reversed(self.entered):
            manager.__exit__(type(error), error, None)

    def block(self, block: Block, previous: int) -> tuple[bool, Any]:
        phis = [i for i in block.instructions if isinstance(i, Phi)]
        values = [dict(phi.choices)[previous] for phi in phis]
        for phi, value in zip(phis, [self.get(v, None) for v in values], strict=True):
            self.define(phi.dst, value)
        exceptional = False
        for instruction in block.instructions[len(phis) :]:
            if isinstance(instruction, Exit):
                self.leave(instruction, exceptional)
            else:
                EXECUTE[type(instruction)](self, instruction)
            exceptional = isinstance(instruction, Opaque) and instruction.reason == "exception"
        return self.end(block)

    def end(self, block: Block) -> tuple[bool, Any]:
        match block.end:
            case Jump(target=target):
                return True, target
            case Branch(test=test, then=then, orelse=orelse):
                return True, then if self.get(test) else orelse
            case Choice(targets=targets):
                return True, targets[self.choose(targets)]
            case Return(value=value):
                return False, self.get(value)
            case Raise(value=value):
                raise self.get(value)
        raise AssertionError(block.end)

    def choose(self, targets: tuple[int, ...]) -> int:
        body = [i for i in self.function.blocks[targets[0]].instructions if not isinstance(i, Phi)]
        if not body or not isinstance(body[0], Iterate):
            return 0 if self.swallowed else 1
        iterable = body[0].iterable
        if iterable not in self.iterators:
            self.iterators[iterable] = iter(self.get(iterable))
        try:
            self.next = next(self.iterators[iterable])
        except StopIteration:
            del self.iterators[iterable]
            return 1
        return 0

    def get(self, value: int, *default: Any) -> Any:
        if default and value not in self.registers:
            return default[0]
        return self.registers[value]

    def define(self, dst: int, value: Any) -> None:
        self.registers[dst] = value
        self.iterators.pop(dst, None)

    def lookup(self, name: str) -> Any:
        activation: Activation | None = self
        while activation is not None:
            if name in activation.cells and (activation is self or activation.function.kind != "class"):
                return activation.cells[name]
            activation = activation.outer
        if name in self.machine.globals:
            return self.machine.globals[name]
        if name in self.machine.world:
            return self.machine.world[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(name)

    def bind(self, i: Bind) -> None:
        activation: Activation | None = self
        while activation is not None and activation.function.qualname != i.scope:
            activation = activation.outer
        cells = self.machine.globals if activation is None else activation.cells
        cells[i.name] = self.get(i.value)

    def call(self, i: Call) -> None:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for kind, name, value in i.arguments:
            if kind == "pos":
                positional.append(self.get(value))
            elif kind == "*":
                positional.extend(self.get(value))
            elif kind == "key":
                named[name] = self.get(value)
        self.define(i.dst, self.get(i.func)(*positional, **named))

    def closure(self, i: Closure) -> None:
        function = self.machine.functions[i.function]
        defaults = {name: self.get(value) for name, value in i.defaults}

        def python(*positional: Any, **named: Any) -> Any:
            given = dict(zip([p.name for p in function.params], positional, strict=False)) | named
            return Activation(self.machine, function, self).run(
                [{**defaults, **given}[p.name] for p in function.params]
            )

        self.define(i.dst, python)

    def klass(self, i: Class) -> None:
        body = Activation(self.machine, self.machine.functions[i.name], self)
        body.run([])
        bases = tuple(self.get(base) for base in i.bases)
        self.define(i.dst, type(i.name.rpartition(".")[2], bases, dict(body.cells)))

    def build(self, i: Build) -> None:
        parts = [self.get(part, None) for part in i.elements]
        if i.kind == "tuple":
            self.define(i.dst, tuple(parts))
        elif i.kind == "list":
            self.define(i.dst, parts)
        elif i.kind == "slice":
            self.define(i.dst, slice(*parts))
        elif i.kind == "string":
            self.define(i.dst, "text")
        else:
            self.define(i.dst, {"build": parts})

    def operate(self, i: Op) -> None:
        operands = [self.get(operand) for operand in i.operands]
        if i.operator == "match-exception":
            self.define(i.dst, isinstance(operands[0], operands[1]))
        elif i.operator == "match-shape":
            self.define(i.dst, self.shape(i, operands[0]))
        else:
            self.define(i.dst, OPERATORS[i.operator](*operands))

    def shape(self, i: Op, subject: Any) -> bool:
        """Tell whether a sequence has as many elements as its pattern, which the test itself does not say."""
        if not isinstance(subject, tuple):
            return False
        patterns = self.machine.shapes[i.at]
        starred = any(isinstance(pattern, ast.MatchStar) for pattern in patterns)
        return len(subject) >= len(patterns) - 1 if starred else len(subject) == len(patterns)

    def opaque(self, i: Opaque) -> None:
        if i.reason in ("exception", "current exception"):
            assert self.exception is not None
            self.define(i.dst, self.exception)
        elif i.reason == "AssertionError":
            self.define(i.dst, AssertionError())
        elif i.reason.startswith("unbound local"):
            raise UnboundLocalError(i.reason)
        else:
            self.define(i.dst, ...)

    def enter(self, i: Enter) -> None:
        manager = self.get(i.manager)
        self.define(i.dst, manager.__enter__())
        self.entered.append(manager)

    def leave(self, i: Exit, exceptional: bool) -> None:
        manager = self.get(i.manager)
        assert self.entered.pop() is manager
        error = self.exception if exceptional else None
        self.swallowed = bool(manager.__exit__(type(error) if error else None, error, None))

    def unpack(self, i: Unpack) -> None:
        """Take one element; the number of targets is checked by the last of them only in Python, so not here."""
        source = self.get(i.source)
        self.define(i.dst, list(source) if i.index == -1 else source[i.index if i.index >= 0 else i.index + 1])


def _delete(self: Activation, i: Delete) -> None:
    self.get(i.base).__delitem__(None)


EXECUTE: dict[type, Callable[[Activation, Any], None]] = {
    Param: lambda self, i: self.define(i.dst, next(self.arguments)),
    Const: lambda self, i: self.define(i.dst, i.value),
    Name: lambda self, i: self.define(i.dst, self.lookup(i.name)),
    Attr: lambda self, i: self.define(i.dst, getattr(self.get(i.base), i.name)),
    Item: lambda self, i: self.define(i.dst, self.get(i.base)[self.get(i.index)]),
    Call: Activation.call,
    Build: Activation.build,
    Op: Activation.operate,
    Iterate: lambda self, i: self.define(i.dst, self.next),
    Unpack: Activation.unpack,
    Declare: lambda self, i: self.define(i.dst, None if i.source == NOTHING else self.get(i.source)),
    Closure: Activation.closure,
    Class: Activation.klass,
    Bind: Activation.bind,
    SetAttr: lambda self, i: setattr(self.get(i.base), i.name, self.get(i.value)),
    SetItem: lambda self, i: self.get(i.base).__setitem__(self.get(i.index), self.get(i.value)),
    Enter: Activation.enter,
    Delete: _delete,
    Opaque: Activation.opaque,
}
