"""Memos: branches on which a wait is said to have been made, worked out from the facts alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from auditor.certificates import Step
from auditor.facts import (
    NOTHING,
    Attr,
    Branch,
    Build,
    Call,
    Const,
    FunctionFacts,
    Name,
    Op,
    Phi,
    SetAttr,
    SetItem,
    Value,
)
from auditor.facts import Item as Element
from auditor.verify.paths import Function, Point

_PUTS = frozenset({"add", "append"})
_FORGETS = frozenset({"clear"})
_EMPTY = frozenset({"set", "dict", "list"})


class Known(NamedTuple):
    """``test`` is ``side`` where the memo written ``memo`` holds ``key`` (NOTHING: it is a flag, which has no key)."""

    test: Value
    side: bool
    memo: str
    key: Value


class Put(NamedTuple):
    """At ``point`` the memo written ``memo`` is told ``key``; ``name`` is the attribute that it is."""

    point: Point
    memo: str
    name: str
    key: Value


def tests(function: Function) -> Iterator[Known]:
    """What the branches of a function say that memos hold."""
    for block in function.facts.blocks:
        if isinstance(block.end, Branch):
            for side in (True, False):
                yield from _tested(function, block.end.test, block.end.test, side)


def _tested(function: Function, test: Value, value: Value, side: bool) -> Iterator[Known]:
    match function.defined.get(value):
        case Op(operator="not", operands=(negated,)):
            yield from _tested(function, test, negated, not side)
        case Op(operator="in" | "not in" as operator, operands=(key, memo)) if (operator == "in") == side:
            yield Known(test, side, function.text(memo), key)
        case Op(operator="==" | "!=" as operator, operands=(left, right)) if (operator == "==") == side:
            yield Known(test, side, function.text(left), right)
            yield Known(test, side, function.text(right), left)
        case Element(base=memo, index=key) if side:
            yield Known(test, side, function.text(memo), key)
        case Attr() if side:
            yield Known(test, side, function.text(value), NOTHING)


def puts(function: Function) -> Iterator[Put]:
    """What a function tells memos."""
    for number, block in enumerate(function.facts.blocks):
        for index, one in enumerate(block.instructions):
            match one:
                case Call(func=func, arguments=(argument,)):
                    method = function.defined.get(func)
                    if isinstance(method, Attr) and method.name in _PUTS:
                        name = _name(function, method.base)
                        yield Put((number, index), function.text(method.base), name, argument.value)
                case SetItem(base=base, index=key, value=value) if not nothing(function, value):
                    yield Put((number, index), function.text(base), _name(function, base), key)
                case SetAttr(base=base, name=name, value=value) if not nothing(function, value):
                    flag = isinstance(told := function.defined.get(value), Const) and told.value is True
                    memo = f"{function.text(base)}.{name}"
                    yield Put((number, index), memo, name, NOTHING if flag else value)


def _name(function: Function, value: Value) -> str:
    one = function.defined.get(value)
    return one.name if isinstance(one, Attr) else ""


def nothing(function: Function, value: Value) -> bool:
    """Whether a value says of no layer that it was waited for: False, None, a negative number, none of them."""
    match function.defined.get(value):
        case Const(value=constant):
            return constant is None or constant is False or constant == -1
        case Op(operator="neg"):
            return True
        case Op(operator="*", operands=(elements, _)):
            return isinstance(function.defined.get(elements), Build) and nothing(function, elements)
        case Phi(choices=choices):
            return all(choice < 0 or (choice != value and nothing(function, choice)) for _, choice in choices)
        case Build(elements=elements):
            return all(element < 0 or nothing(function, element) for element in elements)
        case Call(func=func, arguments=()):
            made = function.defined.get(func)
            return isinstance(made, Name) and made.name in _EMPTY
    return False


def told_elsewhere(facts: Mapping[str, FunctionFacts], function: Function, name: str) -> bool:
    """Whether another function tells a memo of this name something."""
    others = (Function(other) for other in facts.values() if other is not function.facts and _mentions(other, name))
    return any(put.name == name for other in others for put in puts(other))


def _mentions(function: FunctionFacts, name: str) -> bool:
    return any(
        isinstance(one, Attr | SetAttr) and one.name == name for block in function.blocks for one in block.instructions
    )


def resets(function: Function, step: Step, names: Collection[str]) -> bool:
    """Whether at a place a memo, of one of these names, is made to forget everything, or made anew."""
    for point in function.points(step):
        match function.at(point):
            case SetAttr(name=name, value=value):
                if name in names and nothing(function, value):
                    return True
            case Attr(name=method, base=base) if method in _FORGETS and _name(function, base) in names:
                return True
            case Build(elements=()) | Call(arguments=()) if "" in names:
                return True
    return False


def remembered(
    function: Function, avoids: Callable[[Collection[Point]], bool], fits: Callable[[Value], bool]
) -> Mapping[tuple[Value, bool], str]:
    """The branches, with the name of the memo, on which a wait was made. ``avoids``: whether some way leads to points
    round the wait; ``fits``: whether the wait is for the layer that is a key."""
    told = list(puts(function))
    found: dict[tuple[Value, bool], str] = {}
    for known in tests(function):
        own = [put for put in told if put.memo == known.memo]
        same = all(put.key == known.key or _text(function, put.key) == _text(function, known.key) for put in own)
        if own and same and fits(known.key) and not avoids({put.point for put in own}):
            found[known.test, known.side] = own[0].name
    return found


def _text(function: Function, value: Value) -> str:
    return function.text(value) if value != NOTHING else ""
