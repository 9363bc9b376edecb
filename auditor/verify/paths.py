"""Ways through one function: whether a place can be reached without passing a gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeAlias

from auditor.certificates import Step, Vocabulary
from auditor.facts import (
    Attr,
    Await,
    Block,
    Branch,
    Call,
    Choice,
    Const,
    Enter,
    FunctionFacts,
    Instruction,
    Item,
    Iterate,
    Jump,
    Op,
    Param,
    Return,
    SetAttr,
    Value,
    Yield,
    definitions,
    expression,
)

Point: TypeAlias = tuple[int, int]
"""A block and the index of an instruction in it."""
Running: TypeAlias = Call | Attr | Enter | Iterate | Item
"""An instruction that runs a function, or a generator up to its next ``yield``."""
Cut: TypeAlias = Callable[[Value, bool], bool]
"""Whether a branch that goes this way has nothing to wait for."""


class Loop(NamedTuple):
    """A loop over all layers: the block that its rounds begin at, the first one of its body, the one behind it; and the
    variable that is the layer."""

    head: int
    body: int
    end: int
    layer: Value


class Function:
    """A function, looked at by places."""

    def __init__(self, facts: FunctionFacts) -> None:
        self.facts = facts
        self.defined = definitions(facts)
        self._texts: dict[Value, str] = {}

    def points(self, step: Step) -> frozenset[Point]:
        """The instructions at a place that call or read something."""
        return self._places.get((step.line, step.column), frozenset())

    @cached_property
    def _places(self) -> Mapping[tuple[int, ...], frozenset[Point]]:
        found: dict[tuple[int, ...], set[Point]] = defaultdict(set)
        for number, block in enumerate(self.facts.blocks):
            for index, one in enumerate(block.instructions):
                if not isinstance(one, Const | Param):
                    found[tuple(getattr(one, "at", ()))].add((number, index))
        return {place: frozenset(points) for place, points in found.items()}

    def at(self, point: Point) -> Instruction:
        return self.facts.blocks[point[0]].instructions[point[1]]

    def running(self, step: Step) -> frozenset[Point]:
        """The instructions by which a function has run that is called at a place: the call or, of a coroutine, where it
        is awaited."""
        return frozenset(
            point
            for place, one in self._called(step)
            for point in (isinstance(one, Call) and self.awaited(one)) or (place,)
        )

    def calls(self, step: Step) -> list[Running]:
        """The instructions that call a function at a place: calls, else reads of a property or an element, starts of a
        ``with`` or rounds of a loop."""
        return [one for _, one in self._called(step)]

    def _called(self, step: Step) -> list[tuple[Point, Running]]:
        found = [(point, one) for point in sorted(self.points(step)) if isinstance(one := self.at(point), Running)]
        return [(point, one) for point, one in found if isinstance(one, Call)] or found

    def awaited(self, made: Call) -> frozenset[Point]:
        """Where the result of a call is awaited, or that of a function to which it is passed."""
        if not self._awaits:
            return frozenset()
        passed_to = {one.dst for one in self.defined.values() if isinstance(one, Call) and _is_passed(made.dst, one)}
        return frozenset(point for point, value in self._awaits if value in {made.dst, *passed_to})

    @cached_property
    def _awaits(self) -> list[tuple[Point, Value]]:
        return [
            ((number, index), one.value)
            for number, block in enumerate(self.facts.blocks)
            for index, one in enumerate(block.instructions)
            if isinstance(one, Await)
        ]

    def resumed(self, step: Step) -> list[Enter | Iterate]:
        """The instructions at a place that run a generator on."""
        found = [self.at(point) for point in sorted(self.points(step))]
        return [one for each in found if isinstance(one := self.begun(each) or each, Enter | Iterate)]

    def begun(self, one: Instruction) -> Enter | None:
        """The ``with`` that an instruction begins, also by way of a stack: ``stack.enter_context(manager)``."""
        if isinstance(one, Enter):
            return one
        func = self.defined.get(one.func) if isinstance(one, Call) else None
        if not isinstance(one, Call) or not isinstance(func, Attr) or len(one.arguments) != 1:
            return None
        stacked = func.name in ("enter_context", "enter_async_context")
        return Enter(one.dst, one.arguments[0].value, one.at) if stacked else None

    def runs(self, one: Running) -> Call | None:
        """The call that an instruction is, or that made the generator or context that it runs on."""
        one = self.begun(one) or one
        match one:
            case Call():
                return one
            case Enter(manager=value) | Iterate(iterable=value):
                return self.made(value)
        return None

    def resumptions(self) -> list[Enter | Iterate]:
        """All instructions that run a generator on."""
        found = [one for block in self.facts.blocks for one in block.instructions]
        return [one for each in found if isinstance(one := self.begun(each) or each, Enter | Iterate)]

    def made(self, value: Value) -> Call | None:
        """The call that a value is the result of."""
        one = self.defined.get(value)
        return one if isinstance(one, Call) else None

    def alike(self, points: frozenset[Point]) -> frozenset[Point]:
        """These calls and those that are written the same: a wait on each of two branches is one."""
        texts = {self.text(one.dst) for point in points if isinstance(one := self.at(point), Call)}
        calls = (
            ((number, index), one.dst)
            for number, block in enumerate(self.facts.blocks)
            for index, one in enumerate(block.instructions)
            if isinstance(one, Call)
        )
        return points | {point for point, value in calls if self.text(value) in texts}

    def text(self, value: Value) -> str:
        known = self._texts.get(value)
        if known is None:
            known = self._texts[value] = expression(self.facts, value, self.defined)
        return known

    def stored(self) -> frozenset[str]:
        """The expressions of the attributes that it sets."""
        told = (one for block in self.facts.blocks for one in block.instructions)
        return frozenset(f"{self.text(one.base)}.{one.name}" for one in told if isinstance(one, SetAttr))

    def names(self, value: Value) -> frozenset[str]:
        """The names of a value: of a local variable, and of what it was read from."""
        return frozenset({self.facts.names.get(value, ""), getattr(self.defined.get(value), "name", "")}) - {""}

    def handovers(self) -> frozenset[Point]:
        """Where control goes back to the caller: by a return, or of a generator, with an element."""
        return self.yields() if self.facts.is_generator else self.returns()

    def handed_out(self) -> list[Yield]:
        """The ``yield``s of a generator."""
        found = [self.at(point) for point in sorted(self.yields())]
        return [one for one in found if isinstance(one, Yield)]

    def yields(self) -> frozenset[Point]:
        return frozenset(
            (number, index)
            for number, block in enumerate(self.facts.blocks)
            for index, one in enumerate(block.instructions)
            if isinstance(one, Yield)
        )

    def returns(self) -> frozenset[Point]:
        return frozenset(
            (number, len(block.instructions))
            for number, block in enumerate(self.facts.blocks)
            if isinstance(block.end, Return)
        )

    def loops(self, counts: Collection[str]) -> list[Loop]:
        """The loops over ``range(n)`` where n is one of the attributes that hold how many layers there are."""
        found = []
        for number, block in enumerate(self.facts.blocks):
            if isinstance(block.end, Choice) and len(block.end.targets) == 2:
                body, end = block.end.targets
                one = next(iter(self.facts.blocks[body].instructions), None)
                made = self.made(one.iterable) if isinstance(one, Iterate) else None
                if isinstance(one, Iterate) and made is not None and self._is_range(made, counts):
                    found.append(Loop(number, body, end, one.dst))
        return found

    def _is_range(self, made: Call, counts: Collection[str]) -> bool:
        names = self.names(made.func) | {"range"} if len(made.arguments) == 1 else frozenset()
        count = self.defined.get(made.arguments[0].value) if made.arguments else None
        return names == {"range"} and isinstance(count, Attr) and count.name in counts

    def inside(self, loop: Loop) -> frozenset[int]:
        """The blocks that run in a round of a loop."""
        found, todo = {loop.body}, [loop.body]
        while todo:
            for target in _targets(self.facts.blocks[todo.pop()], lambda test, side: False):
                if target not in (loop.head, *found):
                    found.add(target)
                    todo.append(target)
        return frozenset(found)

    def gated_loops(self, gates: Collection[Point], cut: Cut, counts: Collection[str]) -> frozenset[tuple[int, int]]:
        """The edges by which loops end of which no round goes by without passing a gate: none ends without a round."""
        return frozenset(
            (loop.head, loop.end)
            for loop in self.loops(counts)
            if not self.reaches((loop.body, 0), {(loop.head, 0)}, gates, cut)
        )

    def reaches(
        self,
        start: Point,
        goals: Collection[Point],
        gates: Collection[Point],
        cut: Cut,
        gated: Collection[tuple[int, int]] = (),
    ) -> frozenset[Point]:
        """The goals that some way from ``start`` leads to without passing a gate. A way through a branch on which there
        is nothing to wait for, or by a ``gated`` edge, does not count; an exception may leave a block before any of its
        instructions."""
        found: set[Point] = set()
        seen: set[int] = set()
        todo = [start]
        while todo:
            number, begin = todo.pop()
            if begin == 0:
                if number in seen:
                    continue
                seen.add(number)
            block = self.facts.blocks[number]
            stop = min((index for where, index in gates if where == number and index >= begin), default=None)
            found.update(
                one for one in goals if one[0] == number and begin <= one[1] and (stop is None or one[1] <= stop)
            )
            todo.extend((handler, 0) for handler in block.handlers)
            if stop is None:
                todo.extend((target, 0) for target in _targets(block, cut) if (number, target) not in gated)
        return frozenset(found)


def _is_passed(value: Value, call: Call) -> bool:
    return any(one.value == value for one in call.arguments)


def _targets(block: Block, cut: Cut) -> Iterator[int]:
    match block.end:
        case Branch(test=test, then=then, orelse=orelse):
            yield from (target for side, target in ((True, then), (False, orelse)) if not cut(test, side))
        case Jump(target=target):
            yield target
        case Choice(targets=targets):
            yield from targets


def nothing_to_wait_for(function: Function, owners: Collection[str], given: Collection[str], words: Vocabulary) -> Cut:
    """The branches that say that the counter of one of ``owners`` (expressions) is not set or has no load in flight,
    that one of the parameters ``given`` was not passed, or that nothing loads at all."""

    def is_counter(value: Value) -> bool:
        one = function.defined.get(value)
        if isinstance(one, Attr) and one.name in words.counters:
            return function.text(one.base) in owners
        return (isinstance(one, Param) and one.name in given) or function.text(value) in owners

    def cut(test: Value, side: bool) -> bool:
        match function.defined.get(test):
            case Op(operator="not", operands=(negated,)):
                return cut(negated, not side)
            case Op(operator="is" | "is not" | "==" | "!=" as operator, operands=(left, right)):
                null = function.defined.get(right)
                is_null_test = isinstance(null, Const) and null.value is None
                is_null = is_null_test and side == (operator in ("is", "=="))
                return is_null and (is_counter(left) or not words.idle.isdisjoint(function.names(left)))
            case Op(operator=operator, operands=(left, right)):
                asked, number = function.defined.get(left), function.defined.get(right)
                if side or not isinstance(asked, Attr) or not isinstance(number, Const):
                    return False
                return (asked.name, operator, number.value) in words.in_flight and is_counter(asked.base)
            case Attr():
                return not side and is_counter(test)
            case Call(func=func):
                return not side and not words.absent.isdisjoint(function.names(func))
        return False

    return cut
