"""Methods that wait for one of several: an element that their parameter picks, or until a number has reached it."""

from __future__ import annotations

from auditor.facts import Attr, Branch, Call, Closure, Item, Op, Param, Value, expression
from auditor.learning.hints import WAITS
from auditor.learning.program import SELF, at, calls, origin
from auditor.learning.values import Evidence
from auditor.link import Code
from auditor.loading import called, receiver, sources

_WAITS = frozenset(WAITS)
_ORDERS = frozenset({"<", "<=", ">", ">="})


def indexed_wait(code: Code) -> Evidence | None:
    """Where a method waits for what one of its parameters picks out of the state of its object, or None."""
    if not code.is_method or len(code.facts.params) < 2 or code.facts.name == "__init__":
        return None
    for one in calls(code):
        if called(code.defined, one) not in _WAITS:
            continue
        values = [receiver(code.defined, one), *(argument.value for argument in one.arguments)]
        found: frozenset[Value] = frozenset().union(*(sources(code.defined, value) for value in values))
        own = any(isinstance(read := code.defined.get(value), Attr) and read.base == SELF for value in found)
        if own and (_picked(code, found) or _reached(code) or _asked(code, found)):
            return at(code, one.at.line, f"waits: {expression(code.facts, one.dst, code.defined)}")
    return None


def _picked(code: Code, values: frozenset[Value]) -> bool:
    """An element of the object's own by a parameter: ``self.events[layer]``."""
    return any(
        isinstance(one := code.defined.get(value), Item)
        and bool(origin(code.defined, value))
        and _from_parameter(code, one.index)
        for value in values
    )


def _reached(code: Code) -> bool:
    """A loop until a number of the object has reached a parameter: ``while self.done <= layer``."""
    for block in code.facts.blocks:
        if isinstance(block.end, Branch):
            test = code.defined.get(block.end.test)
            if isinstance(test, Op) and test.operator in _ORDERS:
                sides = [sources(code.defined, operand) for operand in test.operands]
                if any(_from_parameter(code, operand) for operand in test.operands) and any(SELF in s for s in sides):
                    return True
    return False


def _asked(code: Code, values: frozenset[Value]) -> bool:
    """A condition that is handed to the wait: ``wait_for(lambda: self.done > layer)``."""
    return any(isinstance(code.defined.get(value), Closure) for value in values)


def _from_parameter(code: Code, value: Value) -> bool:
    return any(
        isinstance(code.defined.get(source), Param) and source != SELF for source in sources(code.defined, value)
    )


def from_parameters(code: Code, one: Call) -> bool:
    """Whether a call is given something that was computed from a parameter of the function."""
    return any(_from_parameter(code, argument.value) for argument in one.arguments)
