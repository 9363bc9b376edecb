"""Room ``verify``: a second opinion on every ``gated``, from the facts and its certificate alone.

It knows nothing of the solver that found the proof: it asks whether each step of it is there. ``paths`` are the ways
through one function, ``forms`` the layers; here is what a certificate claims:

1. each step of ``wait`` calls the function of the next, which cannot return without coming by it, or by a step of
   another wait ``beside`` it; the last one waits;
2. each step of ``read`` calls the function of the next;
3. in some function both meet: there the step of ``read`` (or what was got from it) is not reached but by the wait, and
   no load begins between the two;
4. the layer waited for covers the layer read;
5. the counter is registered where it is said to be;
6. a way round the wait that a memo opens does not count where the wait is made before the memo is told of its layer,
   nobody else tells it, and it is reset where that is said;
7. nor does one that calls switch off by the constants that they give, or that objects of other classes take.

What of that cannot be asked of the facts is told as ``untested``; it is no objection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from auditor.certificates import Certificate, Step, Vocabulary
from auditor.facts import (
    NOTHING,
    Attr,
    Branch,
    Call,
    Const,
    Enter,
    FunctionFacts,
    Import,
    Item,
    Iterate,
    Name,
    SetAttr,
    Value,
)
from auditor.verify import written_out
from auditor.verify.constants import Constants, constants, decided
from auditor.verify.forms import Form, beyond_yielded, carried_up, covers, form, passed, stored
from auditor.verify.kinds import of_others
from auditor.verify.loads import Loads
from auditor.verify.memos import remembered, resets, told_elsewhere
from auditor.verify.paths import Cut, Function, Point, Running, nothing_to_wait_for


@dataclass(frozen=True, slots=True)
class Opinion:
    """What was found out about a certificate. It holds if there is no objection."""

    certificate: Certificate
    objections: tuple[str, ...]
    untested: tuple[str, ...]


def verify(
    certificates: Iterable[Certificate], facts: Mapping[str, FunctionFacts], words: Vocabulary
) -> tuple[Opinion, ...]:
    """Check certificates against the facts of functions (by qualified name)."""
    program = _Program(facts, words)
    return tuple(program.opinion(one) for one in certificates)


_BY_PROTOCOL = frozenset({"forward"})
"""Methods that Python or PyTorch runs for a call of the object."""


_MEMOISES = frozenset({"lru_cache", "cache", "cached_property"})
"""Decorators of the library that run a function once for the same arguments."""

Branches: TypeAlias = frozenset[tuple[Value, bool]]
"""Sides of tests that do not count: where a memo says that a wait was made, or that objects of other classes take."""
Trail: TypeAlias = tuple[Step, ...]
"""Steps that lead down to a function."""


class _Program:
    def __init__(self, facts: Mapping[str, FunctionFacts], words: Vocabulary) -> None:
        self._facts = facts
        self._words = words
        self._functions: dict[str, Function] = {}
        self._loads = Loads(facts, words.signals)
        self._begun: dict[str, frozenset[Point]] = {}
        self._names = frozenset(one.name for one in facts.values())
        self._classes = frozenset(one.name for one in facts.values() if one.kind == "class")
        self._signals = written_out.signals(facts, words)
        self._ways: dict[tuple[Trail, Trail, Point, frozenset[Point], Branches], frozenset[Point]] = {}
        self._known: dict[tuple[tuple[Step, ...], Step], Constants] = {}

    def opinion(self, one: Certificate) -> Opinion:
        objections = list(self._missing(one))
        untested: list[str] = []
        if not objections:
            objections += [each for wait in _waits(one) for each in self._broken(wait, untested)]
            objections += self._broken(one.read, untested, reads=True)
            objections += [each for wait in _waits(one) for each in self._avoided(one, wait)]
            objections += self._unarmed(one)
            if one.kinds:
                untested.append(f"that what is waited on at {one.wait[0]} is of these classes: {', '.join(one.kinds)}")
            untested += (f"that every load begins behind the reset at {step}" for step in one.resets)
        if not objections:
            objections += self._apart(one, untested)
        return Opinion(one, tuple(objections), tuple(untested))

    def function(self, step: Step) -> Function:
        return self._named(step.function)

    def _named(self, name: str) -> Function:
        known = self._functions.get(name)
        if known is None:
            known = self._functions[name] = Function(self._facts[name])
        return known

    def _missing(self, one: Certificate) -> Iterator[str]:
        for step in (*(step for wait in _waits(one) for step in wait), *one.read):
            if step.function not in self._facts or not self.function(step).points(step):
                yield f"nothing happens at {step}"

    # ------------------------------------------------------------ the steps

    def _broken(self, steps: Sequence[Step], untested: list[str], *, reads: bool = False) -> Iterator[str]:
        """Steps that do not call the function of the next one; of what is read, two may be in one run of it."""
        for step, below in pairwise(steps):
            if reads and step.function == below.function:
                continue
            if self._facts[below.function].is_generator:
                yield from self._not_resumed(step, below, reads=reads)
            else:
                is_property = any(name.endswith("property") for name in self._facts[below.function].decorators)
                calls = [one for one in self.function(step).calls(step) if is_property or not isinstance(one, Attr)]
                awaited = any(isinstance(one, Call) and self.function(step).awaited(one) for one in calls)
                if self._facts[below.function].is_async and not awaited:
                    yield f"{step} does not await {below.function}, a coroutine"
                names = {self._called(step, one) for one in calls}
                wanted = below.function.rpartition(".")[2].partition("#")[0]
                hidden = wanted in _BY_PROTOCOL or wanted.startswith(("__", "<")) or self._is_nested(below)
                hidden |= names.isdisjoint(self._names)  # another name of some function
                if wanted not in names and (hidden or any(self._is_variable(step, one) for one in calls)):
                    untested.append(f"that the call at {step} runs {below.function}")
                elif wanted not in names:
                    yield f"{step} calls {' or '.join(sorted(names)) or 'nothing'}, not {below.function}"

    def _not_resumed(self, step: Step, below: Step, *, reads: bool) -> Iterator[str]:
        """A generator does nothing where it is called: it runs in the rounds of a loop, or, made a context manager by
        the library, in a ``with``. What is read of one may be told where it is called."""
        function, facts = self.function(step), self._facts[below.function]
        manager = any(name.rpartition(".")[2].endswith("contextmanager") for name in facts.decorators)
        told = [one for one in function.calls(step) if isinstance(one, Call) and function.begun(one) is None and reads]
        runs = [
            made is not None and self._called(step, made) == facts.name
            for one in (function.resumptions() if told else function.resumed(step))
            for made in [function.runs(one)]
            if isinstance(one, Enter) == manager and (not told or made in told)
        ]
        if not any(runs):
            yield f"{step} does not run {below.function}, a generator"

    def _is_nested(self, step: Step) -> bool:
        """Whether its function is defined in a function: a decorator's, or a callback."""
        facts = self._facts[step.function]
        around = step.function.removesuffix(f".{facts.qualname}") + f".{facts.scope}"
        return (
            bool(facts.scope)
            and self._facts.get(around, facts).kind in ("function", "lambda")
            and around in self._facts
        )

    def _is_variable(self, step: Step, one: Running) -> bool:
        """Whether what is called is held by a variable, an element or a name that may be another function's."""
        function = self.function(step)
        return isinstance(one, Call) and not isinstance(function.defined.get(one.func), Attr)

    def _called(self, step: Step, one: Running) -> str:
        function = self.function(step)
        func = function.defined.get(one.func) if isinstance(one, Call) else one
        return func.name if isinstance(func, Attr | Name | Import) else ""

    def _avoided(self, one: Certificate, wait: Sequence[Step]) -> Iterator[str]:
        """Functions that are said to wait and can return without."""
        for depth, (above, step) in enumerate(pairwise(wait), 1):
            function, steps = self.function(step), _beside(one, wait, depth)
            trail = (*_down_to(one.read, wait[0]), *wait[:depth])
            spared = self._spared(one, wait, depth, trail)
            if above.function != step.function and self._is_memoised(step):
                yield f"{step.function} is memoised: a call of it need not come by {step}"
            elif above.function != step.function and self._reached(steps, trail, (0, 0), function.handovers(), spared):
                yield f"{step.function} can return without coming by {step}"
        last = wait[-1]
        calls = [call for call in self.function(last).calls(last) if isinstance(call, Call)]
        if not any(
            self._called(last, call) in self._words.waits or self._written_out(self.function(last), call) is not None
            for call in calls
        ):
            yield f"nothing is waited for at {last}"

    def _written_out(self, function: Function, call: Call) -> Value | None:
        return written_out.layer(function, call, self._signals, self._words)

    def _is_memoised(self, step: Step) -> bool:
        return any(one.rpartition(".")[2] in _MEMOISES for one in self._facts[step.function].decorators)

    def _reached(
        self,
        gates: tuple[Step, ...],
        trail: Trail,
        start: Point,
        goals: Iterable[Point],
        spared: Branches = frozenset(),
    ) -> frozenset[Point]:
        """The goals that a way round all ``gates`` of a function leads to, which is called by the steps of ``trail``;
        not by way of ``spared``."""
        asked = (gates, trail, start, frozenset(goals), spared)
        if asked not in self._ways:
            function = self.function(gates[0])
            owners = {text for gate in gates for call in function.calls(gate) for text in self._owners(function, call)}
            above = next((step for step in reversed(trail) if step.function != gates[0].function), None)
            idle = nothing_to_wait_for(function, owners, self._given(above, function), self._words)
            cut = _any(idle, decided(function, self._constants(trail, gates[0])), spared)
            running = function.alike(frozenset[Point]().union(*map(function.running, gates)))
            gated = function.gated_loops(running, cut, self._words.counts)
            self._ways[asked] = function.reaches(start, asked[3], running, cut, gated)
        return self._ways[asked]

    def _spared(self, one: Certificate, wait: Sequence[Step], depth: int, trail: Trail) -> Branches:
        """The branches, in the function of a step of a wait, on which nobody has to wait."""
        return self._remembered(one, wait, depth, trail) | self._of_others(one, _beside(one, wait, depth))

    def _of_others(self, one: Certificate, gates: Sequence[Step]) -> Branches:
        """The branches that only objects of other classes take than the one waited on."""
        function = self.function(gates[0])
        owners = {text for gate in gates for call in function.calls(gate) for text in self._owners(function, call)}
        cut = of_others(function, owners - function.stored(), one.kinds, self._classes)
        ends = (block.end for block in function.facts.blocks) if one.kinds else ()
        tests = {end.test for end in ends if isinstance(end, Branch)}
        return frozenset((test, side) for test in tests for side in (True, False) if cut(test, side))

    def _remembered(self, one: Certificate, wait: Sequence[Step], depth: int, trail: Trail) -> Branches:
        """The branches, in the function of a step of a wait, on which a memo says that the wait was made."""
        if not one.resets:
            return frozenset()
        function, steps = self.function(wait[depth]), _beside(one, wait, depth)
        waited = self._carried(wait[depth:], self._waited(wait[-1]))
        words = self._words

        def fits(key: Value) -> bool:
            if key == NOTHING:
                return any(covers(each, Form(constant=_LAST), words.first_layers, words.counts) for each in waited)
            wanted = form(function, key).without(words.first_layers)
            found = (each.without(words.first_layers) for each in waited)
            return any((each.terms, each.constant) == (wanted.terms, wanted.constant) for each in found)

        found = remembered(function, lambda points: bool(self._reached(steps, trail, (0, 0), points)), fits)
        return frozenset(branch for branch, name in found.items() if self._is_reset(one, function, name))

    def _is_reset(self, one: Certificate, function: Function, name: str) -> bool:
        """Whether a memo is told nothing in other functions, and forgets where it is said to."""
        if name and told_elsewhere(self._facts, function, name):
            return False
        return all(step.function in self._facts and resets(self.function(step), step, {name}) for step in one.resets)

    def _given(self, above: Step | None, function: Function) -> frozenset[str]:
        """The optional parameters that the call above passes, with something else than a literal None."""
        if above is None or above.function == function.facts.qualname:
            return frozenset()
        caller = self.function(above)
        optional = {one.name for one in function.facts.params if one.has_default}
        passed_for = [passed(caller, call, function.facts) for call in caller.calls(above)]
        return frozenset(
            name for one in passed_for for name, (_, text) in one.items() if name in optional and text != "None"
        )

    def _constants(self, trail: Trail, step: Step) -> Constants:
        """The parameters of the function of a step that are constants where the steps of ``trail`` lead to it."""
        asked = (trail, step)
        if asked not in self._known:
            known: Constants = {}
            for above, below in pairwise((*trail, step)):
                if above.function != below.function:
                    known = self._constants_below(above, known, below)
            self._known[asked] = known
        return self._known[asked]

    def _constants_below(self, above: Step, known: Constants, below: Step) -> Constants:
        caller, callee = self.function(above), self._facts[below.function]
        scope = (below.function.removesuffix(callee.qualname) + callee.scope).rstrip(".")
        made = map(caller.runs, caller.calls(above))
        calls = [one for one in made if one is not None and self._called(above, one) == callee.name]
        if len(calls) != 1 or scope not in self._facts:
            return {}
        return constants(caller, known, calls[0], callee, self._named(scope))

    def _owners(self, function: Function, call: Running) -> Iterator[str]:
        """The expressions of the object that is waited on, and of its counter."""
        func = function.defined.get(call.func) if isinstance(call, Call) else call
        if isinstance(call, Call) and self._written_out(function, call) is not None:
            text = written_out.owner(function, call)
            yield text
            yield text.rpartition(".")[0]
        elif isinstance(func, Attr):
            yield function.text(func.base)
            counter = function.defined.get(func.base)
            if isinstance(counter, Attr) and counter.name in self._words.counters:
                yield function.text(counter.base)

    # ------------------------------------------------------------ where wait and read meet

    def _apart(self, one: Certificate, untested: list[str]) -> Iterator[str]:
        """Why in no function the read comes behind the wait."""
        why = "the wait and the read are in no function together"
        for depth, gate in enumerate(one.wait):
            for place, step in enumerate(one.read):
                if step == gate and self._decorates(one.wait[depth + 1 :], one.read[place + 1 :]):
                    untested.append(f"that the decorator waits before it runs {one.read[place + 1].function}")
                    return
                if step.function == gate.function and step != gate:
                    if self._before(one, depth, place):
                        if self._covered(one, depth, place, untested):
                            return
                        why = f"the layer waited for at {gate} is not the one read at {one.read[-1]}"
                    else:
                        why = f"{step} can be reached without coming by {gate}"
        yield why

    def _decorates(self, wrapper: Sequence[Step], wrapped: Sequence[Step]) -> bool:
        """Whether the function of the first step of the one is what a decorator made of that of the other."""
        if not wrapper or not wrapped:
            return False
        decorators = {name.rpartition(".")[2] for name in self._facts[wrapped[0].function].decorators}
        return not decorators.isdisjoint(self._facts[wrapper[0].function].scope.split("."))

    def _before(self, one: Certificate, depth: int, place: int) -> bool:
        """Whether no way leads round the wait to a step, or from it on to where what was got there is used: the step
        before in the same function, or the return."""
        step, gates = one.read[place], _beside(one, one.wait, depth)
        function = self.function(step)
        before = one.read[place - 1] if place else None
        used = before is not None and before.function == step.function
        if before is not None and not used and self._is_memoised(step):
            return False  # what it returned may be from before the wait
        trail = _down_to(one.read, step)
        spared = self._spared(one, one.wait, depth, trail)
        if self._loads_between(gates, step, one.read[place + 1 :]):
            return False
        round_it = self._reached(gates, trail, (0, 0), function.points(step), spared)
        if not round_it:
            return True
        goals = function.points(before) if used and before is not None else function.returns()
        if not used and (before is None or not goals):
            return False
        return not any(self._reached(gates, trail, (block, index + 1), goals, spared) for block, index in round_it)

    def _loads_between(self, gates: Sequence[Step], step: Step, below: Sequence[Step]) -> bool:
        """Whether a load begins behind the waits and before a step, or in the functions ``below`` it."""
        asked = [(step, frozenset[Point]().union(*map(self.function(step).running, gates)))]
        asked += [(each, frozenset[Point]()) for each in below if each.function != step.function]
        return any(
            function.reaches((block, index + 1), function.points(each), waits, lambda test, side: False)
            for each, waits in asked
            for function in [self.function(each)]
            for block, index in self._begins(each) - waits
        )

    def _begins(self, step: Step) -> frozenset[Point]:
        """The calls in the function of a step that begin a load."""
        known = self._begun.get(step.function)
        if known is None:
            known = self._begun[step.function] = self._loads.begins(self.function(step))
        return known

    def _covered(self, one: Certificate, depth: int, place: int, untested: list[str]) -> bool:
        """Whether each of the waits that are acquired in one function is for the layer that is read."""
        return all(self._covers(one, wait, depth, place, untested) for wait in _alongside(one, one.wait, depth))

    def _covers(self, one: Certificate, wait: Sequence[Step], depth: int, place: int, untested: list[str]) -> bool:
        last = wait[-1]
        if any(self._called(last, call) in self._words.own for call in self.function(last).calls(last)):
            untested.append(f"that the storage read at {one.read[-1]} is of the layer at hand")
            return True
        if self._is_for_each(wait[depth:], one.read[place]):
            return True
        waited = self._carried(wait[depth:], self._waited(last))
        read = self._carried(one.read[place:], self._read(one.read[-1]))
        if not waited or not read:
            untested.append(f"the layer that is read at {one.read[-1]}")
            return True
        words = self._words
        if any(covers(left, right, words.first_layers, words.counts) for left in waited for right in read):
            return True
        if any(right.computed for right in read):
            untested.append(f"the layer of the computed index at {one.read[-1]}")
            return True
        return False

    def _is_for_each(self, wait: Sequence[Step], read: Step) -> bool:
        """Whether a wait is made in a loop over all layers, for that of the round, and the read is not in the loop."""
        for place, step in enumerate(wait):
            function = self.function(step)
            waited = [
                each.without(self._words.first_layers) for each in self._carried(wait[place:], self._waited(wait[-1]))
            ]
            for loop in function.loops(self._words.counts):
                layer = form(function, loop.layer)
                outside = step.function != read.function or not any(
                    block in function.inside(loop) for block, _ in function.points(read)
                )
                if outside and any((each.terms, each.constant) == (layer.terms, layer.constant) for each in waited):
                    return True
        return False

    def _waited(self, step: Step) -> list[Form]:
        function = self.function(step)
        found = []
        for call in function.calls(step):
            signalled = self._written_out(function, call) if isinstance(call, Call) else None
            if signalled is not None:
                found.append(form(function, signalled))
            position = self._words.waits.get(self._called(step, call), -1)
            if isinstance(call, Call) and 0 <= position < len(call.arguments):
                found.append(form(function, call.arguments[position].value))
        return found

    def _read(self, step: Step) -> list[Form]:
        """The indices that are taken of the storage where it is read."""
        function = self.function(step)
        storage = {one.dst for one in function.calls(step)}
        items = [one for one in function.defined.values() if isinstance(one, Item) and one.base in storage]
        return [form(function, one.index) for one in items]

    def _carried(self, steps: Sequence[Step], inner: list[Form]) -> list[Form]:
        """Forms of the last step's function in the terms of the first one's."""
        found = inner
        for step, below in reversed(list(pairwise(steps))):
            if step.function != below.function:
                function, callee = self.function(step), self.function(below)
                found = [
                    each
                    for call in function.calls(step)
                    for one in found
                    for each in self._carried_once(function, call, callee, one)
                ]
        return found

    def _carried_once(self, function: Function, call: Running, callee: Function, one: Form) -> Iterator[Form]:
        made, call = function.runs(call), function.begun(call) or call
        if isinstance(call, Iterate) and made is not None:
            arguments = passed(function, made, callee.facts)
            for beyond in beyond_yielded(callee, one):
                yield carried_up(beyond, arguments).plus(form(function, call.dst), 1)
        elif isinstance(call, Enter) and made is not None and callee.facts.is_generator:
            yield carried_up(one, passed(function, made, callee.facts))
        elif isinstance(call, Enter) or (made is not None and callee.facts.name == "__enter__"):
            manager = Enter(NOTHING, made.dst, made.at) if made is not None else call
            yield carried_up(one, {**passed(function, manager, callee.facts), **self._fields(function, made, callee)})
        elif not isinstance(call, Iterate):
            yield carried_up(one, passed(function, call, callee.facts))

    def _fields(self, function: Function, made: Call | None, method: Function) -> Mapping[str, tuple[Form, str]]:
        """The attributes of an object that is made here as the constructor of the method's class stores them."""
        own = next((name for name, facts in self._facts.items() if facts is method.facts), "").rpartition(".")[0]
        if made is None or f"{own}.__init__" not in self._facts:
            return {}
        constructor = self._named(f"{own}.__init__")
        arguments = passed(function, made, constructor.facts, constructs=True)
        return {name: arguments[one] for name, one in stored(constructor).items() if one in arguments}

    # ------------------------------------------------------------ armed

    def _unarmed(self, one: Certificate) -> Iterator[str]:
        if one.armed is None:
            return
        known = one.armed.function in self._facts
        if not known or not any(self._arms(self.function(one.armed), one.armed.line)):
            yield f"no counter is registered at {one.armed}"

    def _arms(self, function: Function, line: int) -> Iterator[bool]:
        for block in function.facts.blocks:
            for one in block.instructions:
                if getattr(one, "at", (0, 0))[0] == line:
                    if isinstance(one, SetAttr):
                        yield one.name in self._words.counters and not self._is_none(function, one.value)
                    elif isinstance(one, Call):
                        func = function.defined.get(one.func)
                        if isinstance(func, Name) and func.name == "setattr" and len(one.arguments) == 3:
                            name = function.defined.get(one.arguments[1].value)
                            is_counter = isinstance(name, Const) and name.value in self._words.counters
                            yield is_counter and not self._is_none(function, one.arguments[2].value)
                        known = isinstance(func, Attr) and func.name in self._words.arming
                        yield known and not any(self._is_none(function, each.value) for each in one.arguments)

    @staticmethod
    def _is_none(function: Function, value: Value) -> bool:
        one = function.defined.get(value)
        return isinstance(one, Const) and one.value is None


_LAST = 1_000_000
"""A layer that only a wait for the last one covers."""


def _any(cut: Cut, other: Cut, spared: Branches) -> Cut:
    return lambda test, side: cut(test, side) or other(test, side) or (test, side) in spared


def _down_to(read: Sequence[Step], step: Step) -> tuple[Step, ...]:
    """The steps of ``read`` before those in the function of ``step``."""
    place = next((place for place, each in enumerate(read) if each.function == step.function), 0)
    return tuple(read[:place])


def _waits(one: Certificate) -> tuple[tuple[Step, ...], ...]:
    """The wait and those beside it."""
    return (one.wait, *one.beside)


def _alongside(one: Certificate, wait: Sequence[Step], depth: int) -> list[tuple[Step, ...]]:
    """The waits with a step at this depth in the same function, called in the same way: ``wait`` and others."""
    return [
        each
        for each in _waits(one)
        if len(each) > depth and each[:depth] == tuple(wait[:depth]) and each[depth].function == wait[depth].function
    ]


def _beside(one: Certificate, wait: Sequence[Step], depth: int) -> tuple[Step, ...]:
    """A step of a wait, and the steps of those alongside it."""
    return tuple(dict.fromkeys((wait[depth], *sorted(each[depth] for each in _alongside(one, wait, depth)))))


__all__ = ["Opinion", "verify"]
