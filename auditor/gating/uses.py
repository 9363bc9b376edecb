"""What happens to a value inside a function: where its elements are read, and where only its shape, address or name is.

The table of tensor attributes and methods comes from the rule pack; what is in none of its lists reads elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from auditor.facts import (
    NOTHING,
    Attr,
    Build,
    Call,
    Const,
    FunctionFacts,
    Import,
    Item,
    Iterate,
    Name,
    Op,
    Param,
    Phi,
    SetAttr,
    SetItem,
    Unpack,
    Value,
)
from auditor.link import Code


class User(NamedTuple):
    """An instruction (or a terminator, then ``index`` is behind the last) that uses a value."""

    block: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nothing needs
    instruction: object


def called_name(code: Code, one: object) -> str:
    """The name by which a method, function or attribute is called or read; of ``getattr(x, "name")(…)`` that name."""
    func = code.defined.get(one.func) if isinstance(one, Call) else one
    if isinstance(func, Attr | Name | Import):
        return func.name
    if isinstance(func, Call) and len(func.arguments) >= 2:
        constant = code.defined.get(func.arguments[1].value)
        return constant.value if isinstance(constant, Const) and isinstance(constant.value, str) else ""
    return ""


def attribute_read(code: Code, one: object) -> Attr | None:
    """The read of an attribute that an instruction is, also one by ``getattr(x, "name")`` or in ``vars(x)["name"]``."""
    match one:
        case Attr():
            return one
        case Call(arguments=(owner, name, *_)) if _is_named(code, one.func, "getattr"):
            return _read_by_name(code, one, owner.value, name.value)
        case Item(base=table):
            holder = code.defined.get(table)
            if isinstance(holder, Call) and holder.arguments and _is_named(code, holder.func, "vars"):
                return _read_by_name(code, one, holder.arguments[0].value, one.index)
            if isinstance(holder, Attr) and holder.name == "__dict__":
                return _read_by_name(code, one, holder.base, one.index)
    return None


def _read_by_name(code: Code, one: Call | Item, owner: Value, name: Value) -> Attr | None:
    constant = code.defined.get(name)
    known = isinstance(constant, Const) and isinstance(constant.value, str)
    return Attr(one.dst, owner, str(constant.value), one.at) if known and isinstance(constant, Const) else None


def attribute_set(code: Code, one: object) -> SetAttr | None:
    """The store into an attribute that an instruction is, also one by ``setattr(x, "name", value)``."""
    match one:
        case SetAttr():
            return one
        case Call(arguments=(owner, name, value)) if _is_named(code, one.func, "setattr"):
            constant = code.defined.get(name.value)
            if isinstance(constant, Const) and isinstance(constant.value, str):
                return SetAttr(owner.value, constant.value, value.value, one.at)
    return None


def _is_named(code: Code, value: Value, name: str) -> bool:
    one = code.defined.get(value)
    return isinstance(one, Name) and one.name == name


def users(function: FunctionFacts) -> Mapping[Value, tuple[User, ...]]:
    """Value -> the instructions that use it, in block order."""
    found: dict[Value, list[User]] = {}
    for number, block in enumerate(function.blocks):
        for index, one in enumerate(block.instructions):
            for value in operands(one):
                found.setdefault(value, []).append(User(number, index, one))
        for value in operands(block.end):
            found.setdefault(value, []).append(User(number, len(block.instructions), block.end))
    return {value: tuple(items) for value, items in found.items()}


def operands(one: object) -> Iterator[Value]:
    """The values that an instruction or terminator uses, each once."""
    seen: set[Value] = {NOTHING}
    for value in _operands(one):
        if value not in seen:
            seen.add(value)
            yield value


def _operands(one: object) -> Iterator[Value]:
    match one:
        case Const():
            return
        case Call():
            yield one.func
            for argument in one.arguments:
                yield argument.value
        case Phi():
            yield from (value for _, value in one.choices)
        case Build():
            yield from one.elements
        case Op():
            yield from one.operands
        case SetItem():
            yield from (one.base, one.index, one.value)
        case Item():
            yield from (one.base, one.index)
        case _:
            for name in ("base", "value", "source", "iterable", "manager", "test", "func"):
                value = getattr(one, name, None)
                if isinstance(value, int):
                    yield value
            for pair in (*getattr(one, "defaults", ()), *getattr(one, "keywords", ())):
                yield pair[1]
            yield from getattr(one, "bases", ())


METADATA_CALLS = frozenset(
    {
        "len",
        "isinstance",
        "hasattr",
        "id",
        "type",
        "print",
        "repr",
        "str",
        "issubclass",
        "callable",
        "bool",
        "range",
        "format",
    }
)
"""Builtins that read no element of a tensor."""

ALIAS_CALLS = frozenset(
    {"list", "tuple", "zip", "enumerate", "reversed", "iter", "next", "getattr", "cast", "vars", "asdict"}
)
"""Functions whose result holds or is what they were given."""

COLLECTIVES = frozenset(
    {
        "all_gather",
        "all_gather_into_tensor",
        "all_reduce",
        "all_to_all",
        "broadcast",
        "gather",
        "isend",
        "reduce",
        "reduce_scatter",
        "scatter",
        "send",
    }
)
"""Operations of torch.distributed, which read what they are given (torch.distributed documentation)."""

READS = frozenset(
    {
        "to",
        "cpu",
        "cuda",
        "clone",
        "contiguous",
        "item",
        "tolist",
        "numpy",
        "float",
        "half",
        "double",
        "bfloat16",
        "int",
        "long",
        "sum",
        "mean",
        "max",
        "min",
        "amax",
        "amin",
        "abs",
        "norm",
        "index_select",
        "gather",
        "take",
        "take_along_dim",
        "masked_select",
        "matmul",
        "mm",
        "bmm",
        "add",
        "sub",
        "mul",
        "div",
        "eq",
        "ne",
        "any",
        "all",
        "isnan",
        "type",
        "nonzero",
        "unique",
        "sort",
        "topk",
        "argmax",
        "argmin",
        "repeat",
        "repeat_interleave",
    }
)
"""Tensor methods that read elements: they make an element read of whatever they are called on."""

NULL_TESTS = frozenset({"is", "is not"})
"""Operators that look at no element."""


def is_number(code: Code, value: Value, depth: int = 0) -> bool:
    """Whether a value is certainly one integer: ``tensor[number]`` is a view, where ``tensor[tensor]`` reads."""
    one = code.defined.get(value)
    if depth > _DEEPEST:
        return False
    match one:
        case Const(value=literal):
            return isinstance(literal, int)
        case Param(name=name):
            annotation = next((each.annotation for each in code.facts.params if each.name == name), None)
            return annotation is not None and annotation.name == "int"
        case Iterate(iterable=iterable):
            return _calls(code, iterable, "range")
        case Unpack(source=source, index=0):
            pairs = code.defined.get(source)
            return isinstance(pairs, Iterate) and _calls(code, pairs.iterable, "enumerate")
        case Call():
            return called_name(code, one) in ("len", "int") and isinstance(code.defined.get(one.func), Name)
        case Op(operator=operator, operands=operands):
            return operator in _ARITHMETIC and all(is_number(code, each, depth + 1) for each in operands)
    return False


_DEEPEST = 6
"""Operations that an index is followed through."""

_ARITHMETIC = frozenset({"+", "-", "*", "//", "%"})
"""Operators whose result is an integer if the operands are."""


def _calls(code: Code, value: Value, builtin: str) -> bool:
    one = code.defined.get(value)
    return isinstance(one, Call) and isinstance(code.defined.get(one.func), Name) and called_name(code, one) == builtin
