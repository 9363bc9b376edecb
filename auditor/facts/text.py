"""Facts back to text a reader knows: what a value was in the source, and where it is defined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from auditor.facts.ir import (
    NOTHING,
    Argument,
    Attr,
    Await,
    Bind,
    Build,
    Call,
    Class,
    Closure,
    Const,
    Declare,
    Delete,
    Enter,
    Exit,
    FunctionFacts,
    Import,
    Instruction,
    Item,
    Iterate,
    Name,
    Op,
    Opaque,
    Param,
    Phi,
    SetAttr,
    SetItem,
    Unpack,
    Value,
    Yield,
)

WIDTH = 80
_DEPTH = 24
_CUT = "…"
_BRACKETS = {"tuple": "()", "list": "[]", "set": "{}", "dict": "{}", "generator": "()"}


def definitions(function: FunctionFacts) -> dict[Value, Instruction]:
    """Give the instruction that defines each value."""
    return {instruction.dst: instruction for _, _, instruction in _defining(function)}


def places(function: FunctionFacts) -> dict[Value, tuple[int, int]]:
    """Give where each value is defined: the block, and the index in it."""
    return {instruction.dst: (block, index) for block, index, instruction in _defining(function)}


_Defining: TypeAlias = (
    Param | Const | Name | Attr | Item | Call | Build | Op | Phi | Iterate | Unpack | Declare | Closure | Class | Import
) | (Enter | Yield | Await | Opaque)


_NO_VALUE = (Bind, SetAttr, SetItem, Exit, Delete)


def _defining(function: FunctionFacts) -> list[tuple[int, int, _Defining]]:
    return [
        (number, index, instruction)
        for number, block in enumerate(function.blocks)
        for index, instruction in enumerate(block.instructions)
        if not isinstance(instruction, _NO_VALUE)
    ]


def expression(function: FunctionFacts, value: Value, defined: Mapping[Value, Instruction] | None = None) -> str:
    """Render ``value`` as a short expression, by its definition; a variable that paths join by its name.

    ``defined`` are the ``definitions`` of the function, for who has them.

    >>> expression(function, value)
    'self.pool.get_key_buffer(layer_id - self.start_layer)'
    """
    text = _Renderer(definitions(function) if defined is None else defined, function.names).text(value, 0)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + _CUT


def _short(qualname: str) -> str:
    name = qualname.rpartition(".")[2].partition("#")[0]
    return "lambda" if name.startswith("<lambda") else name


class _Renderer:
    def __init__(self, definitions: Mapping[Value, Instruction], names: dict[Value, str]) -> None:
        self.definitions = definitions
        self.names = names

    def text(self, value: Value, depth: int) -> str:
        instruction = self.definitions.get(value)
        if instruction is None or depth > _DEPTH:
            return _CUT
        match instruction:
            case Phi():
                return self.names.get(value, _CUT)
            case Param(name=name) | Name(name=name):
                return name
            case Const(value=constant):
                return repr(constant)
            case Attr(base=base, name=name):
                return f"{self.operand(base, depth)}.{name}"
            case Item(base=base, index=index):
                return f"{self.operand(base, depth)}[{self._index(index, depth)}]"
            case Call(func=func, arguments=arguments):
                return f"{self.operand(func, depth)}({self._some([self._argument(a, depth) for a in arguments])})"
            case Closure(function=name) | Class(name=name):
                return _short(name)
            case Import(module=module, name=name):
                return name or module
            case Declare(source=source) if source != NOTHING:
                return self.text(source, depth)
            case Enter(manager=manager):
                return self.names.get(value) or self.text(manager, depth)
            case Build():
                return self._build(instruction, depth)
            case Op():
                return self._operation(instruction, depth)
            case _:
                return self._other(instruction, depth)

    def _other(self, instruction: Instruction, depth: int) -> str:
        match instruction:
            case Iterate(dst=dst, iterable=iterable):
                return self.names.get(dst) or f"next({self.text(iterable, depth + 1)})"
            case Unpack(dst=dst, source=source, index=index):
                return self.names.get(dst) or f"{self.operand(source, depth)}[{index if index != -1 else '*'}]"
            case Await(value=awaited):
                return f"await {self.operand(awaited, depth)}"
            case Yield(value=given, delegate=delegate):
                return f"(yield {'from ' if delegate else ''}{self.text(given, depth + 1)})"
            case Opaque(reason=reason):
                return reason if reason == "..." else f"<{reason}>"
            case Declare(dst=dst):
                return self.names.get(dst, _CUT)
            case _:
                return _CUT

    def operand(self, value: Value, depth: int) -> str:
        """Render a value where an operator would bind it wrongly without parentheses."""
        text = self.text(value, depth + 1)
        instruction = self.definitions.get(value)
        while isinstance(instruction, Declare):
            instruction = self.definitions.get(instruction.source)
        return f"({text})" if isinstance(instruction, Op | Await) else text

    def _argument(self, argument: Argument, depth: int) -> str:
        text = self.text(argument.value, depth + 1)
        return f"{argument.name}={text}" if argument.kind == "key" else argument.kind.replace("pos", "") + text

    def _index(self, value: Value, depth: int) -> str:
        instruction = self.definitions.get(value)
        if isinstance(instruction, Build) and instruction.kind == "slice":
            return self._slice(instruction, depth)
        if isinstance(instruction, Build) and instruction.kind == "tuple" and instruction.elements:
            return self._some([self._index(element, depth + 1) for element in instruction.elements])
        return self.text(value, depth + 1)

    def _slice(self, build: Build, depth: int) -> str:
        parts = ["" if part == NOTHING else self.text(part, depth + 1) for part in build.elements]
        return ":".join(parts[:2] if build.elements[2:] == (NOTHING,) else parts)

    def _build(self, build: Build, depth: int) -> str:
        if build.kind == "slice":
            return f"slice({self._slice(build, depth)})"
        if build.kind == "dict":
            keys, values = build.elements[::2], build.elements[1::2]
            pairs = [self._pair(key, value, depth) for key, value in zip(keys, values, strict=False)]
            return "{" + self._some(pairs) + "}"
        parts = [self.text(element, depth + 1) for element in build.elements]
        if build.kind == "string":
            return "f'" + "".join("{" + part + "}" for part in parts[:8]) + "'"
        brackets = _BRACKETS.get(build.kind, "()")
        comma = "," if build.kind == "tuple" and len(parts) == 1 else ""
        return f"{brackets[0]}{self._some(parts)}{comma}{brackets[1]}"

    def _pair(self, key: Value, value: Value, depth: int) -> str:
        text = self.text(value, depth + 1)
        return f"**{text}" if key == NOTHING else f"{self.text(key, depth + 1)}: {text}"

    def _operation(self, op: Op, depth: int) -> str:
        operands = [self.operand(operand, depth) for operand in op.operands]
        if op.operator.startswith("match-"):
            return f"{op.operator[6:]}({', '.join(operands)})"
        if len(operands) == 1:
            return {"neg": "-", "pos": "+", "not": "not "}.get(op.operator, op.operator) + operands[0]
        return f" {op.operator} ".join(operands)

    def _some(self, parts: list[str]) -> str:
        return ", ".join(parts if len(parts) <= 8 else [*parts[:8], _CUT])
