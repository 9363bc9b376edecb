"""Which objects have a counter: arming calls, the objects they reach and in which order (DESIGN.md §2.5).

An *arming call* gives an object its counter, or None. A wrapper that passes None to its inner pool while it is armed
itself *disarms* it: the wrapper's arming comes last, whatever was registered on the inner pool before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from auditor.callgraph import CallGraph, FrameKey
from auditor.conditions import Conditions
from auditor.facts import NOTHING, Argument, Attr, Branch, Call, Const, Op, Param, Phi, Return, Value
from auditor.gating.completing import Completing
from auditor.gating.held import arguments_of, calling
from auditor.gating.overriding import Overriding, Point
from auditor.gating.storage import own_stores
from auditor.gating.uses import attribute_set
from auditor.link import Code, Frame, Instance, Linker, Object, edge_condition, successors
from auditor.spec import Arming, EngineSpec


@dataclass(frozen=True, slots=True)
class Registration:
    """One arming call as it reaches one object. ``counter`` is False for None; ``wrapper`` is the object in whose own
    arming method the call stands, at ``block`` and ``index``. ``value`` is what is registered, ``base`` what is armed,
    ``use`` what is read or set of it."""

    path: str
    line: int
    function: str
    counter: bool
    wrapper: Instance | None
    frame: FrameKey
    block: int
    index: int
    value: Value
    method: str = ""
    base: Value = NOTHING
    use: Value = NOTHING


@dataclass(frozen=True, slots=True)
class State:
    """``kind``: ``armed``, ``disarmed`` (None last), ``unset`` (never registered), ``unclear`` (order cannot be
    told)."""

    kind: str
    why: str
    registration: Registration | None = None


class Armed:
    """Answers for every object; built once from the linked program."""

    def __init__(
        self,
        linker: Linker,
        graph: CallGraph,
        spec: EngineSpec,
        product: Callable[[str], bool],
        conditions: Conditions,
        completing: Completing,
        overriding: Overriding,
    ) -> None:
        self._linker = linker
        self._completing = completing
        self._overriding = overriding
        self._counters = frozenset(one.counter for one in spec.gates)
        self._conditions = conditions
        self._graph = graph
        self._connected = bool(spec.connectors.wait)
        self._arguments = {one.method: one.argument for one in spec.arming}
        found = _registrations(linker, graph, spec, product)
        self.refused: dict[Instance, str] = {}
        self._registrations = {one: self._feasible(one, events) for one, events in found.items()}
        self._states: dict[Instance, State] = {}
        self._apart: dict[Instance, bool] = {}
        self._held: dict[tuple[Object, int], tuple[Instance, ...]] = {}
        self.loaded = self._loaded()
        self.scenarios = self._scenarios()

    def state(self, one: Instance) -> State:
        """What ``one``'s counter is when loads run."""
        known = self._states.get(one)
        if known is None:
            self._states[one] = State("unclear", "its arming depends on itself")
            known = self._states[one] = self._decide(one)
        return known

    def _decide(self, one: Instance) -> State:
        if self._connected:
            return State("armed", "a connector loads each layer's storage")
        everything = self._registrations.get(one, ())
        found = self._last_words(everything)
        given = [event for event in found if event.counter]
        lost = [event for event in given if self._is_never_completed(event)]
        cleared = [event for event in found if not event.counter]
        by_wrapper = [
            event for event in cleared if event.wrapper is not None and self.state(event.wrapper).kind == "armed"
        ]
        if by_wrapper:
            event = by_wrapper[0]
            why = f"{_short(event.wrapper)} takes its counter away at {event.path}:{event.line} when it is armed itself"
            return State("disarmed", why, event)
        outer = [event for event in cleared if event.wrapper is None]
        if given and outer:
            event = outer[0]
            both = f"a counter at {given[0].path}:{given[0].line} and None at {event.path}:{event.line}"
            return State("unclear", f"{both}: which is last cannot be told", event)
        if lost and len(lost) == len(given):
            return State("disarmed", f"no loader completes the counter of {lost[0].path}:{lost[0].line}", lost[0])
        if lost:
            completed = next(event for event in given if event not in lost)
            both = f"{completed.path}:{completed.line} and {lost[0].path}:{lost[0].line}, which no loader completes"
            return State("unclear", f"counters of {both}: which is last cannot be told", lost[0])
        if given:
            return State("armed", f"registered at {given[0].path}:{given[0].line}", given[0])
        if cleared:
            said = "only None is ever registered" if len(cleared) == len(everything) else "None is registered last"
            return State("disarmed", f"{said}, at {cleared[0].path}:{cleared[0].line}", cleared[0])
        if one in self.refused:
            return State("unset", self.refused[one])
        return State("unset", "no counter is ever registered on it")

    def _last_words(self, events: tuple[Registration, ...]) -> tuple[Registration, ...]:
        """The registrations that the others do not override."""
        if len(events) < 2:
            return events
        points = {event: Point(event.frame, event.block, event.index) for event in events}
        last = [
            event
            for event, point in points.items()
            if not self._overriding.follow(set(points.values()) - {point}, point)
        ]
        return tuple(last) or events  # of two that run by turns

    def _is_never_completed(self, event: Registration) -> bool:
        return self._completing.never(self._graph.code(event.frame), event.value)

    def arrives_apart(self, one: Instance) -> bool:
        """Whether a loader signals the layers of an object each on a stream of its own: a wait is for one layer."""
        if one not in self._apart:
            counters = (each for each in self._counters_of(one) if isinstance(each, Instance))
            self._apart[one] = any(map(self._completing.apart, counters))
        return self._apart[one]

    def _counters_of(self, one: Instance) -> frozenset[Object]:
        nodes = (self._linker.fields.get((one, name)) for name in self._counters)
        return frozenset[Object]().union(*(self._linker.graph.points_to(node) for node in nodes if node is not None))

    def _feasible(self, one: Instance, events: tuple[Registration, ...]) -> tuple[Registration, ...]:
        """The registrations that some path from an entry point leads to without a refusal of this object."""
        kept = []
        for event in events:
            why = self._raises(one, event) or self._lacks(one, event) or self._refusal(one, event)
            if why is None:
                kept.append(event)
            else:
                self.refused.setdefault(one, why)
        return tuple(kept)

    def _raises(self, one: Instance, event: Registration) -> str | None:
        """Where the arming method of the object itself refuses: it never returns, or only where it is given None."""
        code = self._linker.codes.get(event.method)
        if code is None or _returns(code, self._parameter(code) if event.counter else ""):
            return None
        raises = f"{event.method.rpartition('.')[2]} raises at {code.path}:{code.facts.at.line}"
        return f"{_short(one)} refuses a counter: {raises}"

    def _parameter(self, code: Code) -> str:
        """The parameter of an arming method that takes the counter."""
        names = [one.name for one in code.facts.params][1:]
        position = self._arguments.get(code.facts.name, len(names))
        return names[position] if position < len(names) else ""

    def _lacks(self, one: Instance, event: Registration) -> str | None:
        """Where an attribute is read of what is armed, before that, that the object has not: it is not this one."""
        if event.base == NOTHING:
            return None
        missing = self._conditions.lacking(self._graph.frames[event.frame], event.base, event.block, event.use, one)
        return None if missing is None else f"it has no `{missing[0]}`, which {event.path}:{missing[1]} reads before"

    def _refusal(self, one: Instance, event: Registration) -> str | None:
        """Where every way to the arming call is cut off for ``one``, or None if there is a way."""
        why: str | None = None
        seen: set[FrameKey] = set()
        todo: list[tuple[FrameKey, int]] = [(event.frame, event.block)]
        while todo:
            key, block = todo.pop()
            cut = refusal(self._linker, self._graph.frames[key], one, block)
            if cut is not None:
                why = cut
                continue
            callers = self._graph.callers.get(key, ())
            if not callers:
                return None
            for caller, site in callers:
                if caller not in seen:
                    seen.add(caller)
                    todo.append((caller, site.block))
        return why

    def _loaded(self) -> frozenset[Instance]:
        """Objects whose buffers a load can write: armed ones, and what they are made of. Who takes a counter and is no
        pool hands it on: what refuses it there is not loaded."""
        if self._connected:
            return frozenset(one for made in self._linker.instances.values() for one in made)
        start = [one for one, events in self._registrations.items() if any(event.counter for event in events)]
        inner: dict[Instance, list[Instance]] = {}
        for (owner, name), node in self._linker.fields.items():
            if isinstance(owner, Instance) and not name.startswith("["):
                inner.setdefault(owner, []).extend(self._parts(node))
        seen, queue = set(start), deque(start)
        while queue:
            owner = queue.popleft()
            for part in inner.get(owner, ()):
                refuses = part in self.refused and not self._linker.context_of(owner)
                if part not in seen and not refuses:
                    seen.add(part)
                    queue.append(part)
        return frozenset(seen)

    def _parts(self, node: int, depth: int = 0) -> Iterable[Instance]:
        """The objects in ``node``, and those in its containers, two levels deep."""
        found: dict[Instance, None] = {}
        for one in self._linker.graph.points_to(node):
            if isinstance(one, Instance):
                if self._linker.context_of(one):
                    found[one] = None
            elif depth < 2 and (one, "[*]") in self._linker.fields:
                held = self._held.get((one, depth))
                if held is None:
                    held = self._held[one, depth] = tuple(self._parts(self._linker.fields[one, "[*]"], depth + 1))
                found.update(dict.fromkeys(held))
        return found

    def _scenarios(self) -> tuple[Registration, ...]:
        """The outermost arming calls, each one way in which loading is set up."""
        found = {
            (event.path, event.line): event
            for events in self._registrations.values()
            for event in events
            if event.counter and event.wrapper is None
        }
        return tuple(found[key] for key in sorted(found))


def _returns(code: Code, given: str) -> bool:
    """Whether a function can return when its parameter ``given`` ("" for none) is not None."""
    blocks = code.facts.blocks
    seen, todo = {0}, [0]
    while todo:
        block = blocks[todo.pop()]
        end = block.end
        if isinstance(end, Return):
            return True
        for target in successors(block):
            null = isinstance(end, Branch) and _says_null(code, end.test, given, target == end.then)
            if not null and target not in seen:
                seen.add(target)
                todo.append(target)
    return False


def _says_null(code: Code, test: Value, name: str, outcome: bool) -> bool:
    """Whether a parameter is None where a test comes out like this."""
    one = code.defined.get(test)
    if isinstance(one, Param):
        return one.name == name and not outcome
    if not isinstance(one, Op):
        return False
    if one.operator == "not":
        return _says_null(code, one.operands[0], name, not outcome)
    if one.operator not in ("is", "is not", "==", "!="):
        return False
    left, right = (code.defined.get(operand) for operand in one.operands)
    compared = isinstance(left, Param) and left.name == name and isinstance(right, Const) and right.value is None
    return compared and outcome == (one.operator in ("is", "=="))


def _null_value(code: Code, value: Value, depth: int = 0) -> bool:
    """Whether a value is certainly None."""
    one = code.defined.get(value)
    if isinstance(one, Const):
        return one.value is None
    return (
        isinstance(one, Phi)
        and depth < 4
        and all(_null_value(code, choice, depth + 1) for _, choice in one.choices if choice >= 0)
    )


def _registrations(
    linker: Linker, graph: CallGraph, spec: EngineSpec, product: Callable[[str], bool]
) -> dict[Instance, tuple[Registration, ...]]:
    found: dict[Instance, set[Registration]] = {}
    methods = {one.method: one for one in spec.arming}
    for key, sites in graph.calls.items():
        code = graph.code(key)
        if not product(code.path):
            continue
        for site in sites:
            callee = graph.code(site.callee)
            arming = methods.get(callee.facts.name)
            if arming is None or site.receiver is None or site.implicit:
                continue
            call = code.defined[site.value]
            argument = _argument(call, arming, callee) if isinstance(call, Call) else None
            if argument is None or not isinstance(call, Call):
                continue
            wrapper = key[1] if code.facts.name in methods else None
            if wrapper == site.receiver:
                continue  # it hands on to the method that it overrides what it was given
            counter = not _null_value(code, argument.value)
            func = code.defined.get(call.func)
            base, use = (func.base, func.dst) if isinstance(func, Attr) else (NOTHING, NOTHING)
            event = Registration(
                *(code.path, call.at.line, code.name, counter, wrapper, key, site.block, site.index, argument.value),
                *(callee.name, base, use),
            )
            found.setdefault(site.receiver, set()).add(event)
    _assignments(linker, graph, spec, product, found)
    _constructions(graph, spec, product, found)
    return {
        one: tuple(sorted(events, key=lambda event: (event.path, event.line, str(event.frame))))
        for one, events in found.items()
    }


def _assignments(
    linker: Linker,
    graph: CallGraph,
    spec: EngineSpec,
    product: Callable[[str], bool],
    found: dict[Instance, set[Registration]],
) -> None:
    """``pool.counter = …`` from outside the pool registers as well."""
    counters = {one.counter for one in spec.gates}
    for key, frame in graph.frames.items():
        code = frame.code
        for number, block in enumerate(code.facts.blocks if product(code.path) else ()):
            for index, one in enumerate(attribute_set(code, each) for each in block.instructions):
                if one is None or one.name not in counters or (code.owner and one.base == 0):
                    continue
                for target in linker.view(frame, one.base, number):
                    if isinstance(target, Instance):
                        counter = not _null_value(code, one.value)
                        event = Registration(
                            *(code.path, one.at.line, code.name, counter, None, key, number, index, one.value),
                            base=one.base,
                        )
                        for owner in linker.set_on(target, one.name):
                            found.setdefault(owner, set()).add(event)


def _constructions(
    graph: CallGraph, spec: EngineSpec, product: Callable[[str], bool], found: dict[Instance, set[Registration]]
) -> None:
    """So does ``Pool(…, counter)`` where the constructor keeps its parameter as the counter, or hands it to one that
    does."""
    keeps = _kept_by_constructors(graph, frozenset(one.counter for one in spec.gates))
    todo = list(keeps)
    while todo:
        key, name = todo.pop()
        stored = keeps[key, name]
        for caller, site in graph.callers.get(key, ()):
            code = graph.code(caller)
            given = arguments_of(code, calling(code, site), graph.code(key).facts, implicit=site.implicit).get(name)
            if site.receiver is None or not isinstance(given, int) or not product(code.path):
                continue
            passed = code.defined.get(given)
            if isinstance(passed, Param) and code.facts.name == "__init__" and site.receiver == caller[1]:
                if (caller, passed.name) not in keeps:
                    keeps[caller, passed.name] = stored
                    todo.append((caller, passed.name))
                continue
            path, line, function = stored
            counter = not _null_value(code, given)
            event = Registration(path, line, function, counter, None, caller, site.block, site.index, given)
            found.setdefault(site.receiver, set()).add(event)


def _kept_by_constructors(
    graph: CallGraph, counters: frozenset[str]
) -> dict[tuple[FrameKey, str], tuple[str, int, str]]:
    """The parameters that constructors keep as a counter, each with where (path, line, function)."""
    found: dict[tuple[FrameKey, str], tuple[str, int, str]] = {}
    for key, frame in graph.frames.items():
        code = frame.code
        for one in own_stores(code):
            value = code.defined.get(one.value)
            if one.name in counters and isinstance(value, Param):
                found[key, value.name] = (code.path, one.at.line, code.name)
    return found


def refusal(linker: Linker, frame: Frame, one: Instance, block: int) -> str | None:
    """Whether the class tests on the way cut ``block`` off for ``one``: then where, else None."""
    code = frame.code
    blocks = code.facts.blocks
    seen, todo, cut = {0}, [0], ""
    while todo:
        number = todo.pop()
        if number == block:
            return None
        end = blocks[number].end
        for target in successors(blocks[number]):
            if isinstance(end, Branch):
                condition = edge_condition(code.facts, code.defined, number, target)
                if condition is not None and not linker.admits(frame, condition, one):
                    cut = f"{code.path}:{end.at.line} admits other classes only"
                    continue
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return cut or None


def _argument(call: Call, arming: Arming, callee: Code) -> Argument | None:
    positional = [one for one in call.arguments if one.kind == "pos"]
    if arming.argument < len(positional):
        return positional[arming.argument]
    names = [one.name for one in callee.facts.params][1:]
    if arming.argument < len(names):
        return next((one for one in call.arguments if one.kind == "key" and one.name == names[arming.argument]), None)
    return None


def _short(one: Instance | None) -> str:
    return one.cls.rpartition(".")[2] if one is not None else "?"
