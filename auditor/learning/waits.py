"""Methods that wait for one of several: an element that their parameter picks, or until a number has reached it."""

from __future__ import annotations

from typing import NamedTuple

from auditor.facts import Attr, Branch, Call, Closure, Item, Op, Param, Value, expression
from auditor.learning.hints import DEVICE, WAITS
from auditor.learning.program import SELF, at, calls, label, origin
from auditor.learning.values import Evidence
from auditor.link import Code
from auditor.loading import called, receiver, sources

TELLS = frozenset({"record", "notify", "notify_all", "set", "set_result", "release"})
"""What tells a waiter: of an event of the device, a condition, an event of threads, a future, a semaphore."""
_WAITS = frozenset(WAITS)
_ORDERS = frozenset({"<", "<=", ">", ">="})


class Wait(NamedTuple):
    """Where a method waits, and whether it is a stream of the device that does."""

    where: Evidence
    device: bool


def indexed_wait(code: Code) -> Wait | None:
    """The wait of a method for what one of its parameters picks out of the state of its object, or None."""
    if not code.is_method or len(code.facts.params) < 2 or code.facts.name == "__init__":
        return None
    for one in calls(code):
        if called(code.defined, one) not in _WAITS:
            continue
        values = [receiver(code.defined, one), *(argument.value for argument in one.arguments)]
        found: frozenset[Value] = frozenset().union(*(sources(code.defined, value) for value in values))
        own = any(isinstance(read := code.defined.get(value), Attr) and read.base == SELF for value in found)
        if own and (_picked(code, found) or _reached(code) or _asked(code, found)):
            text = f"{label(code)} waits: {expression(code.facts, one.dst, code.defined)}"
            return Wait(at(code, one.at.line, text), called(code.defined, one) in DEVICE)
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


def tells(code: Code) -> bool:
    """Whether a method tells waiters of an element that its parameter picks: a signal, the other half of a wait."""
    if not code.is_method or len(code.facts.params) < 2:
        return False
    told = (receiver(code.defined, one) for one in calls(code) if called(code.defined, one) in TELLS)
    return any(origin(code.defined, value) and _from_parameter(code, value) for value in told)
