"""What happens to a value inside a function: where its elements are read, and where only its shape, address or name is.

The table of tensor attributes and methods comes from the rule pack; what is in none of its lists reads elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from auditor.facts import (
    NOTHING,
    Attr,
    Await,
    Bind,
    Branch,
    Build,
    Call,
    Const,
    Declare,
    FunctionFacts,
    Item,
    Iterate,
    Name,
    Op,
    Phi,
    Return,
    SetAttr,
    SetItem,
    Unpack,
    Value,
    Yield,
)


class User(NamedTuple):
    """An instruction (or a terminator, then ``index`` is behind the last) that uses a value."""

    block: int
    index: int
    instruction: object


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
    kind = type(one)
    if kind is Call:
        yield one.func  # type: ignore[attr-defined]
        for argument in one.arguments:  # type: ignore[attr-defined]
            yield argument.value
    elif kind is Phi:
        yield from (value for _, value in one.choices)  # type: ignore[attr-defined]
    elif kind is Build:
        yield from one.elements  # type: ignore[attr-defined]
    elif kind is Op:
        yield from one.operands  # type: ignore[attr-defined]
    elif kind is SetItem:
        yield from (one.base, one.index, one.value)  # type: ignore[attr-defined]
    elif kind is Item:
        yield from (one.base, one.index)  # type: ignore[attr-defined]
    else:
        for name in ("base", "value", "source", "iterable", "manager", "test", "func"):
            value = getattr(one, name, None)
            if isinstance(value, int) and kind is not Const:
                yield value
        for pair in (*getattr(one, "defaults", ()), *getattr(one, "keywords", ())):
            yield pair[1]
        yield from getattr(one, "bases", ())


ALIASES = (Phi, Declare, Await, Unpack, Build)
"""Instructions whose result may be the very value they use."""

METADATA_CALLS = frozenset(
    {"len", "isinstance", "hasattr", "id", "type", "print", "repr", "str", "issubclass", "callable", "bool", "range", "format"}
)
"""Builtins that read no element of a tensor."""

ALIAS_CALLS = frozenset({"list", "tuple", "zip", "enumerate", "reversed", "iter", "next", "getattr", "cast"})
"""Builtins whose result holds or is what they were given."""

READS = frozenset(
    "to cpu cuda clone contiguous item tolist numpy float half double bfloat16 int long sum mean max min amax amin abs norm "
    "index_select gather take take_along_dim masked_select matmul mm bmm add sub mul div eq ne any all isnan type "
    "nonzero unique sort topk argmax argmin repeat repeat_interleave".split()
)
"""Tensor methods that read elements: they make an element read of whatever they are called on."""

NULL_TESTS = frozenset({"is", "is not"})

__all__ = [
    "ALIASES",
    "ALIAS_CALLS",
    "METADATA_CALLS",
    "NULL_TESTS",
    "READS",
    "Attr",
    "Bind",
    "Branch",
    "Iterate",
    "Name",
    "Return",
    "SetAttr",
    "User",
    "Yield",
    "operands",
    "users",
]
