"""Facts to bytes and back, for the cache: compact JSON, so that reading a strange file can give wrong facts but run
nothing.

An instruction is a row ``[tag, fields…, line, column]``. The value that it defines is not written: values are numbered
in the order of the rows. Decoding checks every type, every value and every block number.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from auditor.facts.ir import (
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
    ClassFacts,
    Closure,
    Const,
    Declare,
    Delete,
    Enter,
    Exit,
    FieldFacts,
    FunctionFacts,
    Import,
    Instruction,
    Item,
    Iterate,
    Jump,
    ModuleFacts,
    Name,
    Op,
    Opaque,
    Param,
    ParamFacts,
    Phi,
    Problem,
    Raise,
    Return,
    SetAttr,
    SetItem,
    Terminator,
    TypeExpr,
    Unpack,
    Value,
    Yield,
)

FACTS_VERSION = 1
"""Part of every encoding: facts of another version do not decode."""

_TAGS: dict[type, str] = {
    Param: "p", Const: "c", Name: "n", Attr: "a", Item: "i", Call: "l", Build: "b", Op: "o", Phi: "f", Iterate: "t",
    Unpack: "u", Declare: "d", Closure: "k", Class: "s", Import: "m", Bind: "B", SetAttr: "A", SetItem: "I", Enter: "e",
    Exit: "x", Yield: "y", Await: "w", Delete: "D", Opaque: "q", Branch: "R", Choice: "C", Return: "T", Raise: "E",
}  # fmt: skip
_EFFECTS = frozenset({Bind, SetAttr, SetItem, Exit, Delete})


class _Malformed(ValueError):
    """Indicates bytes that are not facts of this version."""


def encode(facts: ModuleFacts) -> bytes:
    """Encode the facts of one file."""
    document = [
        FACTS_VERSION,
        facts.path,
        facts.module,
        facts.is_package,
        [_function_row(function) for function in facts.functions],
        [_class_row(class_) for class_ in facts.classes],
        [list(problem) for problem in facts.problems],
    ]
    return json.dumps(document, separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> ModuleFacts:
    """Decode the facts of one file; raise ``ValueError`` for what ``encode`` of this version does not give."""
    try:
        version, *rest = json.loads(data)
        if version != FACTS_VERSION or type(version) is not int:
            raise _Malformed(f"facts version {version!r}, expected {FACTS_VERSION}")
        path, module, is_package, functions, classes, problems = rest
        return ModuleFacts(
            _string(path),
            _string(module),
            _boolean(is_package),
            tuple([_function(row) for row in functions]),
            tuple([_class(row) for row in classes]),
            tuple([Problem(_integer(line), _string(what)) for line, what in problems]),
        )
    except (TypeError, ValueError, KeyError, IndexError, RecursionError) as error:
        raise _Malformed(f"not facts: {error}") from error


# ---------------------------------------------------------------- encoding


def _type_row(kind: TypeExpr | None) -> Any:
    return None if kind is None else [kind.name, *[_type_row(arg) for arg in kind.args]]


def _function_row(f: FunctionFacts) -> list[Any]:
    params = [[p.name, p.kind, p.has_default, _type_row(p.annotation)] for p in f.params]
    blocks = [[[_row(i) for i in block.instructions], _end_row(block.end), block.handlers] for block in f.blocks]
    names = [part for pair in f.names.items() for part in pair]
    head = [f.qualname, f.name, f.kind, f.scope, params, _type_row(f.returns), f.decorators]
    return [*head, f.is_async, f.is_generator, *f.at, f.end_line, blocks, names]


def _class_row(c: ClassFacts) -> list[Any]:
    fields = [[f.name, _type_row(f.annotation), f.has_default, *f.at] for f in c.fields]
    bases = [_type_row(base) for base in c.bases]
    return [c.qualname, c.name, c.scope, bases, c.keywords, c.decorators, fields, c.methods, *c.at, c.end_line]


def _row(i: Instruction) -> list[Any]:
    kind = i.__class__
    fields: tuple[Any, ...] = i if kind in _EFFECTS else i[1:]
    if kind is Phi:
        return ["f", *[part for pair in fields[0] for part in pair]]
    if kind is Declare:
        return ["d", fields[0], _type_row(fields[1]), *fields[2]]
    return [_TAGS[kind], *fields[:-1], *fields[-1]]


def _end_row(end: Terminator) -> list[Any]:
    return ["J", end.target] if isinstance(end, Jump) else [_TAGS[end.__class__], *end[:-1], *end.at]


# ---------------------------------------------------------------- decoding


_at = lru_cache(maxsize=None)(At)
"""Places are most of what there is in memory, and the same ones in many files."""


def _string(part: Any) -> str:
    if type(part) is not str:
        raise _Malformed("a text is missing")
    return part


def _integer(part: Any) -> int:
    if type(part) is not int:
        raise _Malformed("a number is missing")
    return part


def _boolean(part: Any) -> bool:
    if type(part) is not bool:
        raise _Malformed("a truth value is missing")
    return part


def _strings(part: Any) -> tuple[str, ...]:
    return tuple([_string(text) for text in _list(part)])


def _list(part: Any) -> list[Any]:
    if type(part) is not list:
        raise _Malformed("a list is missing")
    return part


def _place(line: Any, column: Any) -> At:
    return _at(_integer(line), _integer(column))


def _type(row: Any) -> TypeExpr:
    name, *args = _list(row)
    return TypeExpr(_string(name), tuple([_type(arg) for arg in args]))


def _optional_type(row: Any) -> TypeExpr | None:
    return None if row is None else _type(row)


def _class(row: Any) -> ClassFacts:
    qualname, name, scope, bases, keywords, decorators, fields, methods, line, column, end_line = _list(row)
    return ClassFacts(
        _string(qualname),
        _string(name),
        _string(scope),
        tuple([_type(base) for base in _list(bases)]),
        tuple([(_string(key), _string(value)) for key, value in _list(keywords)]),
        _strings(decorators),
        tuple([_field(field) for field in _list(fields)]),
        _strings(methods),
        _place(line, column),
        _integer(end_line),
    )


def _field(row: Any) -> FieldFacts:
    name, annotation, has_default, line, column = _list(row)
    return FieldFacts(_string(name), _optional_type(annotation), _boolean(has_default), _place(line, column))


def _function(row: Any) -> FunctionFacts:
    (
        qualname,
        name,
        kind,
        scope,
        params,
        returns,
        decorators,
        is_async,
        is_generator,
        line,
        column,
        end_line,
        blocks,
        names,
    ) = _list(row)
    reader = _Blocks(_list(blocks))
    return FunctionFacts(
        _string(qualname),
        _string(name),
        _string(kind),
        _string(scope),
        tuple([_param(param) for param in _list(params)]),
        _optional_type(returns),
        _strings(decorators),
        _boolean(is_async),
        _boolean(is_generator),
        _place(line, column),
        _integer(end_line),
        reader.read(),
        {reader.defined(value): _string(text) for value, text in _pairs(names)},
    )


def _param(row: Any) -> ParamFacts:
    name, kind, has_default, annotation = _list(row)
    return ParamFacts(_string(name), _string(kind), _boolean(has_default), _optional_type(annotation))


def _pairs(flat: Any) -> list[tuple[Any, Any]]:
    parts = iter(_list(flat))
    return list(zip(parts, parts, strict=True))


_Make: TypeAlias = Callable[[Value, list[Any]], Instruction]

# tag: the types of the fields, which of them are values, and how to make the instruction
_SIMPLE: dict[str, tuple[tuple[type, ...], tuple[int, ...], _Make]] = {
    "p": ((str, str, int, int), (), lambda d, r: Param(d, r[1], _at(r[2], r[3]))),
    "n": ((str, str, int, int), (), lambda d, r: Name(d, r[1], _at(r[2], r[3]))),
    "a": ((str, int, str, int, int), (1,), lambda d, r: Attr(d, r[1], r[2], _at(r[3], r[4]))),
    "i": ((str, int, int, int, int), (1, 2), lambda d, r: Item(d, r[1], r[2], _at(r[3], r[4]))),
    "t": ((str, int, int, int), (1,), lambda d, r: Iterate(d, r[1], _at(r[2], r[3]))),
    "u": ((str, int, int, int, int), (1,), lambda d, r: Unpack(d, r[1], r[2], _at(r[3], r[4]))),
    "m": ((str, str, str, int, int), (), lambda d, r: Import(d, r[1], r[2], _at(r[3], r[4]))),
    "e": ((str, int, int, int), (1,), lambda d, r: Enter(d, r[1], _at(r[2], r[3]))),
    "y": ((str, int, bool, int, int), (1,), lambda d, r: Yield(d, r[1], r[2], _at(r[3], r[4]))),
    "w": ((str, int, int, int), (1,), lambda d, r: Await(d, r[1], _at(r[2], r[3]))),
    "q": ((str, str, int, int), (), lambda d, r: Opaque(d, r[1], _at(r[2], r[3]))),
    "B": ((str, str, str, int, int, int), (3,), lambda d, r: Bind(r[1], r[2], r[3], _at(r[4], r[5]))),
    "A": ((str, int, str, int, int, int), (1, 3), lambda d, r: SetAttr(r[1], r[2], r[3], _at(r[4], r[5]))),
    "I": ((str, int, int, int, int, int), (1, 2, 3), lambda d, r: SetItem(r[1], r[2], r[3], _at(r[4], r[5]))),
    "x": ((str, int, int, int), (1,), lambda d, r: Exit(r[1], _at(r[2], r[3]))),
    "D": ((str, int, str, int, int), (1,), lambda d, r: Delete(r[1], r[2], _at(r[3], r[4]))),
}
_EFFECT_TAGS = frozenset("BAIxD")


class _Blocks:
    """Reads the blocks of one function; knows how many values and blocks there are."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows
        self.values = sum(1 for block in rows for row in block[0] if row[0] not in _EFFECT_TAGS)

    def read(self) -> tuple[Block, ...]:
        blocks = []
        dst = 0
        for rows, end, handlers in self.rows:
            made = []
            for row in _list(rows):
                made.append(self._instruction(dst, row))
                dst += row[0] not in _EFFECT_TAGS
            blocks.append(
                Block(tuple(made), self._end(end), tuple([self._target(number) for number in _list(handlers)]))
            )
        return tuple(blocks)

    def value(self, part: Any) -> Value:
        if type(part) is not int or not NOTHING <= part < self.values:
            raise _Malformed("a value is out of range")
        return part

    def defined(self, part: Any) -> Value:
        if part == NOTHING:
            raise _Malformed("a value is missing")
        return self.value(part)

    def _target(self, part: Any) -> int:
        if type(part) is not int or not 0 <= part < len(self.rows):
            raise _Malformed("a block is out of range")
        return part

    def _values(self, part: Any) -> tuple[Value, ...]:
        return tuple([self.value(value) for value in _list(part)])

    def _named(self, part: Any) -> tuple[tuple[str, Value], ...]:
        return tuple([(_string(name), self.value(value)) for name, value in _list(part)])

    def _instruction(self, dst: Value, row: Any) -> Instruction:
        tag = row[0]
        simple = _SIMPLE.get(tag)
        if simple is None:
            return self._composite(dst, tag, _list(row))
        types, values, make = simple
        if tuple(map(type, row)) != types:
            raise _Malformed(f"row {tag!r} has other fields")
        for index in values:
            if not NOTHING <= row[index] < self.values:
                raise _Malformed("a value is out of range")
        return make(dst, row)

    def _composite(self, dst: Value, tag: str, row: list[Any]) -> Instruction:
        if tag == "f":
            return Phi(dst, tuple([(self._target(block), self.value(value)) for block, value in _pairs(row[1:])]))
        at = _place(row[-2], row[-1])
        fields = row[1:-2]
        if tag == "l":
            func, arguments = fields
            return Call(dst, self.value(func), tuple([self._argument(row) for row in _list(arguments)]), at)
        if tag == "c":
            (constant,) = fields
            if type(constant) in (dict, list):
                raise _Malformed("a constant is missing")
            return Const(dst, constant, at)
        if tag in "bo":
            kind, values = fields
            return (Build if tag == "b" else Op)(dst, _string(kind), self._values(values), at)
        if tag == "d":
            source, declared = fields
            return Declare(dst, self.value(source), _type(declared), at)
        if tag == "k":
            function, defaults = fields
            return Closure(dst, _string(function), self._named(defaults), at)
        if tag == "s":
            name, bases, keywords = fields
            return Class(dst, _string(name), self._values(bases), self._named(keywords), at)
        raise _Malformed(f"unknown row {tag!r}")

    def _argument(self, row: Any) -> Argument:
        kind, name, value = _list(row)
        return Argument(_string(kind), _string(name), self.value(value))

    def _end(self, row: Any) -> Terminator:
        tag, *fields = _list(row)
        if tag == "J":
            (target,) = fields
            return Jump(self._target(target))
        at = _place(fields[-2], fields[-1])
        if tag == "R":
            test, then, orelse, _, _ = fields
            return Branch(self.value(test), self._target(then), self._target(orelse), at)
        if tag == "C":
            targets, _, _ = fields
            return Choice(tuple([self._target(target) for target in _list(targets)]), at)
        value, _, _ = fields
        if tag not in ("T", "E"):
            raise _Malformed(f"unknown end {tag!r}")
        return (Return if tag == "T" else Raise)(self.value(value), at)
