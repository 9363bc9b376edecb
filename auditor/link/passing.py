"""Parameters that a function hands back: each caller gets what it gave itself, not what others gave.

One level of calling context for what needs it most: ``resolve(default=A)`` and ``resolve(default=B)`` of one helper are
A and B, not both (call-site sensitivity by summary; Sharir, Pnueli 1981). Everything else of the function is shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from auditor.facts import NOTHING, Branch, Phi, Return, Value
from auditor.link.constraints import Accept
from auditor.link.filters import filter_of
from auditor.link.narrowing import Condition, edge_condition
from auditor.link.program import Code, Program, is_property


class Copied(NamedTuple):
    """A value that the result of a function is a copy of, with what the way there lets through."""

    value: Value
    accept: Accept | None


def returned(program: Program, code: Code) -> tuple[Copied, ...] | None:
    """All that the result is a copy of; None for a function that hands no parameter back."""
    facts = code.facts
    implicit = facts.name.startswith("__") or is_property(facts)  # who calls it is not in sight
    if facts.kind not in ("function", "lambda") or facts.is_generator or facts.is_async or implicit or not facts.params:
        return None
    found: dict[Copied, None] = {}
    for index, block in enumerate(facts.blocks):
        if isinstance(block.end, Return) and block.end.value != NOTHING:
            held = code.conditions.get(index, ())
            accept = filter_of(program, code, code.defined, block.end.value, held)
            _follow(program, code, block.end.value, accept, found, set())
    return tuple(found) if any(_is_given(code, one.value) for one in found) else None


def passed(program: Program, code: Code) -> Mapping[int, tuple[Accept | None, ...]]:
    """Position of a parameter that is handed back -> the filters on the ways from it to the result."""
    if code.passed is None:
        found: dict[int, tuple[Accept | None, ...]] = {}
        for one in returned(program, code) or ():
            if _is_given(code, one.value):
                found[one.value] = (*found.get(one.value, ()), one.accept)
        code.passed = found
    return code.passed


def _is_given(code: Code, value: Value) -> bool:
    """Whether ``value`` is a parameter that callers give by place or by name; a receiver is told apart by its frame."""
    params = code.facts.params
    return 0 <= value < len(params) and params[value].kind not in ("*", "**") and not (value == 0 and code.is_method)


def _follow(
    program: Program, code: Code, value: Value, accept: Accept | None, found: dict[Copied, None], seen: set[Value]
) -> None:
    if value in seen:
        return
    seen.add(value)
    one = code.defined.get(value)
    if isinstance(one, Phi):
        here = _block(code, one)
        for block, choice in one.choices:
            if choice not in (NOTHING, value):
                _follow(program, code, choice, _both(accept, _chosen(program, code, block, here, choice)), found, seen)
    else:
        found[Copied(value, accept)] = None


def _chosen(program: Program, code: Code, block: int, here: int, choice: Value) -> Accept | None:
    held: tuple[Condition, ...] = code.conditions.get(block, ())
    if code.conditions and isinstance(code.facts.blocks[block].end, Branch):
        extra = edge_condition(code.facts, code.defined, block, here)
        held = held if extra is None else (*held, extra)
    return filter_of(program, code, code.defined, choice, held)


def _block(code: Code, one: Phi) -> int:
    return next(index for index, block in enumerate(code.facts.blocks) if one in block.instructions)


def _both(first: Accept | None, second: Accept | None) -> Accept | None:
    if first is None or second is None:
        return first or second
    return lambda one: first(one) and second(one)
