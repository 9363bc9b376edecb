"""Which gates are certainly held at a point of a frame: a forward must-analysis over its control-flow graph.

Transfer: a wait adds its gate; a call adds what every method it may run acquires; the branch on which there is no
counter (or no load in flight) adds "nothing to wait for". Join: ``values.meet``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple, TypeAlias

from auditor.callgraph import CallGraph, CallSite, FrameKey, entered, wraps
from auditor.dataflow import bottom_up, is_recursive, solve_forward
from auditor.facts import (
    NOTHING,
    Attr,
    Await,
    Branch,
    Call,
    Const,
    Enter,
    FunctionFacts,
    Item,
    Iterate,
    Name,
    Op,
    Param,
    Return,
    Value,
    Yield,
    expression,
)
from auditor.gating.class_tests import class_test, tested_names
from auditor.gating.course import Course, End, Event, stores
from auditor.gating.fields import Fields
from auditor.gating.given import Answers, asked, is_optional
from auditor.gating.inlined import signals as signals_of
from auditor.gating.inlined import waited
from auditor.gating.kinds import kept_out
from auditor.gating.loops import behind as behind_loops
from auditor.gating.memos import Memos, is_memoised
from auditor.gating.streams import Streams
from auditor.gating.symbols import OWN, Layer, Path, layer_of, path_of, substitute
from auditor.gating.tables import Tables
from auditor.gating.uses import called_name
from auditor.gating.values import PASSED_ON, Gate, Given, Held, Place, Vacuous, defined_at, meet, simplest
from auditor.link import Code, Frame, Instance, Linker, successors
from auditor.spec import EngineSpec

Calling: TypeAlias = Call | Attr | Enter | Item
"""An instruction that runs a function of the tree: a call, the read of a property, the start of a with block, a
subscript."""
Resuming: TypeAlias = Iterate | Enter
"""An instruction that runs a generator up to its next ``yield``: the round of a loop, the start of a with block."""


Begins: TypeAlias = Callable[[FrameKey], Collection[tuple[int, int]]]
"""The places (block, index) in a frame at which a load may begin."""


class Primitive(NamedTuple):
    """A wait in a function: where it stands, the call, the method called, the counter attribute it is called on (None:
    the counter is a value of its own), the value that is its layer (NOTHING: the last)."""

    block: int
    position: int
    call: Call
    func: Attr
    counter: Attr | None
    layer: Value


@dataclass(frozen=True, slots=True)
class FrameState:
    """The answer for one frame. ``known``: what is held on branches on which a memo, or the class of an object, says
    so."""

    events: tuple[Event, ...]
    starts: Mapping[int, Held]
    exits: Held
    known: Mapping[tuple[int, int], Held] = field(default_factory=dict)
    course: Course = field(default_factory=Course)

    def at(self, block: int, index: int) -> Held:
        """What is held just before instruction ``index`` of ``block``."""
        return self.course.through(self.starts.get(block, frozenset()), block, index)


def _side_by_side(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events, each gate with the calls that acquire the same one elsewhere in the function."""
    events = tuple(events)
    gates = [gate for event in events for gate in event.gates]
    if len(gates) < 2 and all(len(gate.chains) < 2 and not gate.beside for gate in gates):
        return events  # most functions
    chains: dict[Gate, dict[tuple[Place, ...], None]] = {}
    for gate in gates:
        chains.setdefault(_unconditional(gate), {}).update(dict.fromkeys(gate.chains))
    shared = {gate: tuple(found) if len(found) > 1 else () for gate, found in chains.items()}
    return tuple(
        Event(event.block, event.index, tuple(replace(one, beside=shared[_unconditional(one)]) for one in event.gates))
        for event in events
    )


def _unconditional(gate: Gate) -> Gate:
    return replace(gate, given=(), only=None, memo=False)


def _skipped(events: Iterable[Event], known: Mapping[tuple[int, int], Held]) -> tuple[Event, ...]:
    """The events, each gate that a memo skips with where the memo is reset."""
    resets = {gate: gate.resets for held in known.values() for gate in held if isinstance(gate, Gate)}
    return tuple(
        Event(one.block, one.index, tuple(replace(gate, resets=resets.get(gate, ())) for gate in one.gates))
        for one in events
    )


CONNECTOR = Path(":connector")
"""Stands for the plugin that loads: which it is, is a matter of configuration."""
EMPTY = FrameState((), {}, frozenset())


class HeldGates:
    """Computes and remembers the state of every frame that is asked for."""

    def __init__(
        self, linker: Linker, graph: CallGraph, spec: EngineSpec, signals: frozenset[str], begins: Begins
    ) -> None:
        """``signals``: the methods that say that a layer has arrived; ``begins``: where loads begin in a frame."""
        self.begins = begins
        self._linker = linker
        self._graph = graph
        self._spec = spec
        self._waits = {one.method: one.argument for one in spec.gates}
        self._connector_wait = spec.connectors.wait
        if self._connector_wait:
            self._waits[self._connector_wait] = 0
        self._counters = frozenset(one.counter for one in spec.gates)
        self._signals = signals_of(linker, frozenset(one.method for one in spec.gates))
        self._primitives: dict[str, tuple[Primitive, ...]] = {}
        self._states: dict[FrameKey, FrameState] = {}
        self._refined: dict[str, Mapping[tuple[int, int], Held]] = {}
        self._class_tested = tested_names(linker)
        self._tests: dict[tuple[str, str], tuple[tuple[str, ...], frozenset[Instance]] | None] = {}
        start = [key for key in graph.frames if self.primitives(graph.code(key))]
        self._empty = dict(self._empty_overrides())
        start += [key for key in graph.frames if key[0] in self._empty]
        self.acquiring = graph.reaching(start)
        """Frames from which a wait can be reached."""
        self.answers = Answers(linker, graph)
        self._fields = Fields(linker, graph)
        self.tables = Tables(linker, graph, signals)
        self.streams = Streams(linker, graph)
        self._memos = Memos(linker, graph, signals, frozenset(name for name, _ in self.acquiring))
        self.run()

    def run(self) -> None:
        """Solve every frame that can reach a wait, callees first. A recursive call acquires nothing at first and what
        the first round found in the second: certificates rest on calls that end."""
        successors = self._graph.within(self.acquiring)
        for component in bottom_up(successors):
            for _ in range(2 if is_recursive(component, successors) else 1):
                for key in component:
                    self._states[key] = self._solve(key)

    def state(self, key: FrameKey) -> FrameState:
        """The state of a frame; of one that reaches no wait the empty one."""
        return self._states.get(key, EMPTY)

    def along(self, key: FrameKey, source: int, target: int) -> Held:
        """What is held on the edge from one block to another."""
        code = self._graph.code(key)
        block = code.facts.blocks[source]
        state = self.state(key)
        nothing: Held = frozenset()
        if target in block.handlers:
            held = state.course.left(state.at(source, 0), source)
        else:
            held = state.at(source, len(block.instructions) + 1)
        said = self._refinements(code).get((source, target), nothing) | state.known.get((source, target), nothing)
        return held | said

    def _solve(self, key: FrameKey) -> FrameState:
        code = self._graph.code(key)
        if code.name in self._empty:
            return FrameState((), {0: frozenset()}, frozenset({self._empty[code.name]}))
        events = _side_by_side(self._events(key, self._graph.frames[key]))
        begins = (End(*place, None) for place in self.begins(key))
        ends = (*begins, *stores(code, events))
        kinds = kept_out(self._linker, self._graph.frames[key]) if events else {}
        state = self._state(code, events, ends, kinds)
        memos = self._memos.known(key, state.at) if events else {}
        known = {**(behind_loops(code, code.flow, state.at) if events else {}), **memos}
        if known:
            known = {edge: known.get(edge, frozenset()) | kinds.get(edge, frozenset()) for edge in {**known, **kinds}}
            state = self._state(code, _skipped(events, memos), ends, known)
        aside = {
            one for event in events if self.streams.is_left(key, (event.block, event.index)) for one in event.gates
        }
        return replace(state, exits=state.exits - aside) if aside else state

    def _state(
        self, code: Code, events: tuple[Event, ...], ends: tuple[End, ...], known: Mapping[tuple[int, int], Held]
    ) -> FrameState:
        course = Course.of(events, ends)
        starts = self._starts(code, course, known)
        return FrameState(events, starts, _at_returns(code.facts, starts, course), known, course)

    def _starts(self, code: Code, course: Course, known: Mapping[tuple[int, int], Held]) -> Mapping[int, Held]:
        """What is held at the start of each block; ``known`` what is besides on some edges."""
        nothing: Held = frozenset()
        said = self._refinements(code)

        def transfer(block: int, held: Held) -> Mapping[int, Held]:
            after, left = course.through(held, block), course.left(held, block)
            content = code.facts.blocks[block]
            # a handler sees the state at the start of the block
            return {
                to: simplest(
                    (left if to in content.handlers else after)
                    | said.get((block, to), nothing)
                    | known.get((block, to), nothing)
                )
                for to in successors(content)
            }

        return solve_forward(code.flow, nothing, transfer, meet)

    # ------------------------------------------------------------ which functions wait

    def waits(self) -> Mapping[str, Gate]:
        """Functions that have waited when they return, with the first gate of each; of methods that nobody runs (an
        override may stand in front of them) what their text says."""
        found: dict[str, Gate] = {}
        for name, context in sorted((key for key in self.acquiring if key[0] not in self._empty), key=repr):
            gate = _first(self.state((name, context)).exits)
            if gate is not None:
                found.setdefault(name, gate)
        run = {name for name, _ in self._graph.frames}
        for cls, info in sorted(self._linker.hierarchy.classes.items()):
            for name in (f"{cls}.{method}" for method in info.facts.methods if self._linker.tracked(cls)):
                gate = self._declared(name, frozenset()) if name not in run else None
                if gate is not None:
                    found[name] = gate
        return found

    def _empty_overrides(self) -> Iterator[tuple[str, Gate]]:
        """The methods that do nothing in place of one that waits, each with that wait as one that does nothing."""
        for name, code in {key[0]: frame.code for key, frame in self._graph.frames.items()}.items():
            if code.owner and len(code.facts.blocks) == 1 and is_empty(code.facts):
                bases = self._linker.hierarchy.mro(code.owner)[1:]
                overridden = next(
                    (one for base in bases if (one := f"{base}.{code.facts.name}") in self._linker.codes), ""
                )
                gate = self._declared(overridden, frozenset({name}))
                if gate is not None:
                    place = defined_at(code)
                    given = zip(self._linker.codes[overridden].facts.params, code.facts.params, strict=False)
                    own: dict[str, Value | Path] = {one.name: Path(other.name) for one, other in given}
                    yield (
                        name,
                        replace(
                            gate,
                            through=path_into(code, own, gate.through),
                            layer=layer_into(code, own, gate.layer, "!"),
                            noop=True,
                            place=place,
                            text=".".join(name.rsplit(".", 2)[-2:]),
                            chain=(place,),
                        ),
                    )

    def _declared(self, name: str, above: frozenset[str]) -> Gate | None:
        """The gate that a method has acquired when it returns, as far as its text and the methods it calls on its own
        object say."""
        code = self._linker.codes.get(name)
        if code is None or name in above:
            return None
        events: list[Event] = []
        for one in self.primitives(code):
            path = path_of(code.defined, one.func.base if one.counter is None else one.counter.base)
            place = Place(code.path, one.call.at.line, one.call.at.column, code.name)
            text = expression(code.facts, one.call.dst, code.defined)
            layer = self._waited_layer(code, one)
            gate = Gate(None, path, layer, place=place, text=text, chain=(place,))
            events.append(Event(one.block, one.position, (gate,)))
        for number, block in enumerate(code.facts.blocks):
            for index, call in enumerate(block.instructions):
                if not isinstance(call, Call):
                    continue
                called = _own_method(code, call)
                methods = self._linker.hierarchy.applicable(code.owner, self._linker.functions).get(called, ())
                inner = self._declared(methods[0], above | {name}) if methods else None
                if inner is not None:
                    callee = self._linker.codes[methods[0]]
                    arguments = arguments_of(code, call, callee.facts, implicit=False)
                    layer = layer_into(code, arguments, inner.layer, f"{call.dst}!")
                    place = Place(code.path, call.at.line, call.at.column, code.name)
                    events.append(Event(number, index, (replace(inner, layer=layer, chain=(place, *inner.chain)),)))
        course = Course.of(events)
        return _first(_at_returns(code.facts, self._starts(code, course, {}), course)) if events else None

    # ------------------------------------------------------------ events

    def primitives(self, code: Code) -> tuple[Primitive, ...]:
        """The waits in a function."""
        known = self._primitives.get(code.name)
        if known is None:
            known = self._primitives[code.name] = tuple(self._find_primitives(code))
        return known

    def _find_primitives(self, code: Code) -> Iterable[Primitive]:
        for number, block in enumerate(code.facts.blocks):
            for index, one in enumerate(block.instructions):
                func = code.defined.get(one.func) if isinstance(one, Call) else None
                if isinstance(one, Call) and isinstance(func, Attr) and func.name in self._waits:
                    base = code.defined.get(func.base)
                    counter = base if isinstance(base, Attr) and base.name in self._counters else None
                    argument = one.arguments[self._waits[func.name] :][:1]
                    yield Primitive(number, index, one, func, counter, argument[0].value if argument else NOTHING)
                elif isinstance(one, Call) and isinstance(func, Attr) and self._signals:
                    signal = waited(code, one, self._signals, self._counters)
                    if signal is not None:
                        yield Primitive(number, index, one, func, signal.counter, signal.layer)

    def _events(self, key: FrameKey, frame: Frame) -> Iterable[Event]:
        for one in self.primitives(frame.code):
            yield Event(one.block, one.position, (self._primitive_gate(frame, one),))
        grouped: dict[tuple[int, int, Value], list[CallSite]] = {}
        for site in self._graph.calls[key]:
            grouped.setdefault((site.block, site.index, site.value), []).append(site)
        awaited = _awaited(frame.code)
        for (block, index, value), sites in grouped.items():
            gates = tuple(self._call_gates(frame, sites))
            if gates:
                is_coroutine = any(self._graph.code(site.callee).facts.is_async for site in sites)
                for point in awaited.get(value, ()) if is_coroutine else ((block, index),):
                    yield Event(*point, gates)
        made = {value: sites for (_, _, value), sites in grouped.items() if self._are_generators(sites)}
        for block, index, resuming in _resumptions(frame.code) if made else ():
            sites = made.get(resuming.iterable if isinstance(resuming, Iterate) else resuming.manager, [])
            manages = [_is_manager(self._graph.code(site.callee).facts) for site in sites]
            if sites and all(each == isinstance(resuming, Enter) for each in manages):
                yield Event(block, index, tuple(self._call_gates(frame, sites, resuming)))

    def _are_generators(self, sites: Iterable[CallSite]) -> bool:
        """Whether all callees are generators of which some wait."""
        facts = (self._graph.code(site.callee).facts.is_generator for site in sites)
        return any(site.callee in self.acquiring for site in sites) and all(facts)

    def _primitive_gate(self, frame: Frame, one: Primitive) -> Gate:
        code, call = frame.code, one.call
        layer = self.tables.marked((code.name, frame.context), self._waited_layer(code, one))
        place = Place(code.path, call.at.line, call.at.column, code.name)
        text = expression(code.facts, call.dst, code.defined)
        if one.func.name == self._connector_wait:
            return Gate(None, CONNECTOR, OWN, place=place, text=text, chain=(place,))
        noop = self._does_nothing(frame, one.func.base, one.func.name, one.block)
        if one.counter is None:
            path = path_of(code.defined, one.func.base)
            given = (Given(path.root, PASSED_ON),) if not path.names and is_optional(code.facts, path.root) else ()
            return Gate(None, path, layer, given=given, noop=noop, place=place, text=text, chain=(place,))
        reached = self._linker.reached(frame, one.counter.base, one.block, one.counter.name)
        owners = frozenset(owner for owner, _ in reached)
        through = path_of(code.defined, one.counter.base)
        return Gate(owners, through, layer, noop=noop, place=place, text=text, chain=(place,))

    def _waited_layer(self, code: Code, one: Primitive) -> Layer:
        return layer_of(code.defined, one.layer) if one.layer != NOTHING else Layer(last=True)

    def has(self, one: Instance, name: str) -> bool:
        """Whether objects of its class have an attribute of a name."""
        return name in self._linker.hierarchy.attributes(one.cls)

    def _does_nothing(self, frame: Frame, counter: Value, method: str, block: int) -> bool:
        """Whether the wait of every counter that this can be has an empty body."""
        known = instances(self._linker, frame, counter, block)
        bodies = [
            self._linker.functions[name]
            for one in known
            for name in self._linker.hierarchy.applicable(one.cls, self._linker.functions).get(method, ())[:1]
        ]
        return bool(bodies) and all(is_empty(one) for one in bodies)

    def _acquired(self, callee: FrameKey) -> Held:
        """What a callee has acquired when it returns, or hands out an element; of one that is memoised, some time."""
        facts = self._graph.code(callee).facts
        state = self.state(callee)
        if is_memoised(facts):
            return frozenset(replace(one, memo=True) for one in state.exits if isinstance(one, Gate))
        if not facts.is_generator:
            return state.exits
        held = [state.at(block, index) for block, index, one in _yields(facts) if block in state.starts]
        return reduce(meet, held) if held and not any(one.delegate for _, _, one in _yields(facts)) else frozenset()

    def _call_gates(self, frame: Frame, sites: list[CallSite], resuming: Resuming | None = None) -> Iterable[Gate]:
        """What a call acquires: what all its callees do, and what some do, bound to their receivers. What a generator
        does it acquires where it is run on (``resuming``)."""
        relevant = [
            site
            for site in sites
            if site.callee in self.acquiring
            and self._graph.code(site.callee).facts.is_generator == (resuming is not None)
        ]
        if not relevant:
            return
        call = calling(frame.code, sites[0])
        receiver = receiver_path(frame.code, call)
        found: dict[Gate, list[tuple[CallSite, Gate]]] = {}
        for site in relevant:
            for gate in self._acquired(site.callee):
                moved = self.into_caller(frame, call, site, gate, resuming) if isinstance(gate, Gate) else None
                if moved is not None:
                    # waits of several receivers for the same layer, each on itself, are one gate
                    same = moved if moved.through is None or moved.through != receiver else replace(moved, owners=None)
                    found.setdefault(same, []).append((site, moved))
        for same, holders in found.items():
            owners = _union(gate.owners for _, gate in holders)
            made = replace(
                same,
                owners=owners,
                place=holders[0][1].place,
                text=holders[0][1].text,
                chain=holders[0][1].chain,
                beside=holders[0][1].beside,
                resets=holders[0][1].resets,
            )
            callees = {site.callee for site, _ in holders}
            if len(callees) == len(sites):
                yield made
            elif receiver is not None:
                plain = [site for site in sites if site.callee not in callees and not self._wrapped(site, callees)]
                others = {site.receiver for site in plain}
                objects = frozenset(site.receiver for site, _ in holders if site.receiver is not None) - others
                if objects and made.only is None:
                    yield replace(made, only=(receiver, objects))

    def _wrapped(self, site: CallSite, wrappers: Collection[FrameKey]) -> bool:
        """Whether a callee is what one of the others was made of by a decorator: it runs inside that one."""
        function = self._graph.code(site.callee).facts
        return any(wraps(self._graph.code(one).facts, function) for one in wrappers)

    def into_caller(
        self, frame: Frame, call: Calling, site: CallSite, gate: Gate, resuming: Resuming | None
    ) -> Gate | None:
        """A callee's gate in the caller's terms; None where the caller cannot name its layer."""
        key = frame.code.name, frame.context
        callee = self._graph.code(site.callee)
        argument = arguments_of(frame.code, call, callee.facts, implicit=site.implicit)
        beyond = None if resuming is None or gate.layer.last else _beyond_yielded(callee, gate.layer)
        layer = layer_into(frame.code, argument, gate.layer if beyond is None else beyond, f"{site.value}!")
        if beyond is not None and resuming is not None:
            layer = layer.plus(Layer(((Path(f"%{resuming.dst}"), 1),)))
        layer = self.tables.marked(key, self._fields.layer(key, layer))
        if layer.foreign and not layer.last:
            return None
        at = call.at if resuming is None else resuming.at
        place = Place(frame.code.path, at.line, at.column, frame.code.name)
        given = self.answers.answered(key, site, argument, gate.given)
        if given is None:
            return None
        through = path_into(frame.code, argument, gate.through)
        through = None if through is None else self._fields.path(key, through)
        only = gate.only
        if only is not None:
            path = path_into(frame.code, argument, only[0])
            if path is None:
                return None
            only = (path, only[1])
        chains = [(place, *chain) for chain in gate.chains]
        return replace(
            gate, through=through, layer=layer, only=only, given=given, chain=chains[0], beside=tuple(chains[1:])
        )

    # ------------------------------------------------------------ branches

    def _refinements(self, code: Code) -> Mapping[tuple[int, int], Held]:
        """What the branches say on which there is nothing to wait for."""
        known = self._refined.get(code.name)
        if known is None:
            known = self._refined[code.name] = self._find_refinements(code)
        return known

    def _find_refinements(self, code: Code) -> Mapping[tuple[int, int], Held]:
        found: dict[tuple[int, int], Held] = {}
        for number, block in enumerate(code.facts.blocks):
            if isinstance(block.end, Branch) and block.end.then != block.end.orelse:
                for side, target in ((True, block.end.then), (False, block.end.orelse)):
                    vacuous = self._nothing_to_wait_for(code, block.end.test, side=side) or _switched(
                        code, block.end.test, side=side
                    )
                    if vacuous is not None:
                        found[number, target] = frozenset({vacuous})
        return found

    def _nothing_to_wait_for(self, code: Code, test: Value, *, side: bool) -> Vacuous | None:
        """The test, on this side, says that there is no counter or that no load is in flight."""
        one = code.defined.get(test)
        if isinstance(one, Op) and one.operator == "not":
            return self._nothing_to_wait_for(code, one.operands[0], side=not side)
        if isinstance(one, Op) and one.operator in ("is", "is not", "==", "!=") and len(one.operands) == 2:
            null = code.defined.get(one.operands[1])
            if isinstance(null, Const) and null.value is None and side == (one.operator in ("is", "==")):
                return self._without_requests(code, one.operands[0]) or self._owner(code, one.operands[0])
        elif isinstance(one, Op) and not side:
            left, right = code.defined.get(one.operands[0]), code.defined.get(one.operands[-1])
            if isinstance(left, Attr) and isinstance(right, Const):
                for flight in self._spec.in_flight:
                    if (left.name, one.operator, right.value) == (flight.attribute, flight.operator, flight.value):
                        return self._owner(code, left.base)
        elif isinstance(one, Call) and not side and called_name(code, one) in self._spec.connectors.absent:
            return Vacuous(frozenset({CONNECTOR}))
        elif isinstance(one, Attr) and not side:
            return self._owner(code, test) or self._of_another_class(code, one)
        return None

    def _without_requests(self, code: Code, value: Value) -> Vacuous | None:
        """The value is None: the pack says that it is so in a pass without requests."""
        one = code.defined.get(value)
        names = {code.facts.names.get(value, ""), one.name if isinstance(one, Attr | Param) else ""}
        return Vacuous(frozenset({CONNECTOR})) if names.intersection(self._spec.connectors.idle) else None

    def _of_another_class(self, code: Code, test: Attr) -> Vacuous | None:
        """``self.is_x`` is false, which is only ever set to ``isinstance(self.y, X)``: the object there is no X."""
        key = (code.owner, test.name)
        if key not in self._tests:
            asked = code.owner and test.name in self._class_tested
            self._tests[key] = class_test(self._linker, self._graph, *key) if asked else None
        known = self._tests[key]
        own = code.defined.get(test.base)
        if known is None or not isinstance(own, Param):
            return None
        names, objects = known
        return Vacuous(unless=(Path(own.name, names), objects))

    def _owner(self, code: Code, counter: Value) -> Vacuous | None:
        one = code.defined.get(counter)
        if isinstance(one, Attr) and one.name in self._counters:
            return Vacuous(frozenset({path_of(code.defined, one.base)}))
        path = path_of(code.defined, counter)
        loose = {path_of(code.defined, each.func.base) for each in self.primitives(code) if each.counter is None}
        if path in loose:
            return Vacuous(frozenset({path}))
        if loose and isinstance(one, Param) and is_optional(code.facts, one.name):
            return Vacuous(without=frozenset({Given(one.name, PASSED_ON)}))
        return None


def _switched(code: Code, test: Value, *, side: bool) -> Vacuous | None:
    """The test of a parameter, on this side, says that it is not what the other side asks."""
    other = asked(code, test, side=not side)
    return None if other is None else Vacuous(without=frozenset({other}))


def _awaited(code: Code) -> Mapping[Value, list[tuple[int, int]]]:
    """Where (block, index) the coroutines of a function run: where they, or what they are passed to, are awaited."""
    found: dict[Value, list[tuple[int, int]]] = {}
    for number, block in enumerate(code.facts.blocks):
        for index, one in enumerate(block.instructions):
            if isinstance(one, Await):
                called = code.defined.get(one.value)
                passed = [each.value for each in called.arguments] if isinstance(called, Call) else []
                for value in (one.value, *passed):
                    found.setdefault(value, []).append((number, index))
    return found


def _yields(function: FunctionFacts) -> Iterator[tuple[int, int, Yield]]:
    for number, block in enumerate(function.blocks):
        for index, one in enumerate(block.instructions):
            if isinstance(one, Yield):
                yield number, index, one


def _resumptions(code: Code) -> Iterator[tuple[int, int, Resuming]]:
    for number, block in enumerate(code.facts.blocks):
        for index, each in enumerate(block.instructions):
            one = entered(code, each) or each
            if isinstance(one, Iterate | Enter):
                yield number, index, one


def _is_manager(function: FunctionFacts) -> bool:
    """Whether a generator is made a context manager by the decorator of the library."""
    return any(one.rpartition(".")[2] in ("contextmanager", "asynccontextmanager") for one in function.decorators)


def _beyond_yielded(generator: Code, layer: Layer) -> Layer | None:
    """What a layer of a generator is beyond the element that it hands out, if that is the same of each; None where it
    is not computed from it."""
    beyond = {layer.plus(layer_of(generator.defined, one.value), -1) for _, _, one in _yields(generator.facts)}
    one = beyond.pop() if len(beyond) == 1 else layer
    inner = any(path.root.startswith("%") for path in one.roots())
    return None if inner or not layer.roots() - one.roots() else one


def _first(held: Held) -> Gate | None:
    """The first gate of those that no call switches off."""
    gates = [one for one in held if isinstance(one, Gate) and not _is_switched(one)]
    return min(gates, key=lambda gate: (gate.place.path, gate.place.line), default=None)


def _is_switched(gate: Gate) -> bool:
    """Whether some calls switch a gate off."""
    return any(one.operator != PASSED_ON for one in gate.given)


def _own_method(code: Code, one: Call) -> str:
    """The name of the method that is called on the object of the method at hand; "" for any other call."""
    func = code.defined.get(one.func)
    base = code.defined.get(func.base) if isinstance(func, Attr) else None
    own = isinstance(base, Param) and base.name == code.facts.params[0].name
    return func.name if own and isinstance(func, Attr) else ""


def _union(owners: Iterable[frozenset[Instance] | None]) -> frozenset[Instance] | None:
    known = [one for one in owners if one is not None]
    return frozenset().union(*known) if known else None


def is_empty(function: FunctionFacts) -> bool:
    """A body of ``pass``, a docstring or ``return``: it calls, stores and raises nothing."""
    kinds = {type(one) for block in function.blocks for one in block.instructions}
    return kinds <= {Param, Const} and all(isinstance(block.end, Return) for block in function.blocks)


def _at_returns(function: FunctionFacts, starts: Mapping[int, Held], course: Course) -> Held:
    held: Held | None = None
    for number, block in enumerate(function.blocks):
        if number in starts and isinstance(block.end, Return):
            here = simplest(course.through(starts[number], number))
            held = here if held is None else meet(held, here)
    return held if held is not None else frozenset()


def instances(linker: Linker, frame: Frame, value: Value, block: int) -> frozenset[Instance]:
    """The in-tree objects that a value points to."""
    return frozenset(one for one in linker.view(frame, value, block) if isinstance(one, Instance))


def calling(code: Code, site: CallSite) -> Calling:
    """The instruction of a call site."""
    one = code.defined[site.value]
    if site.callee[0].endswith(".__enter__"):
        one = entered(code, one) or one
    assert isinstance(one, Call | Attr | Enter | Item), "the call graph has sites of these only"
    return one


def receiver_path(code: Code, call: Calling) -> Path | None:
    """The path of the object that a method is called on (or a property or element read of, or a with block begun
    with)."""
    if isinstance(call, Attr | Item):
        return path_of(code.defined, call.base)
    if isinstance(call, Enter):
        return path_of(code.defined, call.manager)
    func = code.defined.get(call.func)
    if not isinstance(func, Attr):
        return None
    base = code.defined.get(func.base)
    if isinstance(base, Call) and code.facts.params:
        called = code.defined.get(base.func)
        if isinstance(called, Name) and called.name == "super":
            return Path(code.facts.params[0].name)
    return path_of(code.defined, func.base)


def arguments_of(code: Code, call: Calling, callee: FunctionFacts, *, implicit: bool) -> dict[str, Value | Path]:
    """Parameter name -> the caller's value for it (of a bound receiver: its path)."""
    found: dict[str, Value | Path] = {}
    positional = [one.name for one in callee.params if one.kind in ("posonly", "pos")]
    receiver = receiver_path(code, call)
    if callee.name == "__init__" and not _calls_by_name(code, call, "__init__"):
        receiver = Path(f"%{call.dst}")
    method = callee.scope != "" and not any("staticmethod" in one for one in callee.decorators)
    if receiver is not None and method and positional:
        found[positional[0]] = receiver
        positional = positional[1:]
    if isinstance(call, Item):
        found.update((name, call.index) for name in positional[:1])
    if implicit or not isinstance(call, Call):
        return found
    place = 0
    for one in call.arguments:
        if one.kind == "pos" and place < len(positional):
            found[positional[place]] = one.value
            place += 1
        elif one.kind == "key":
            found[one.name] = one.value
    return found


def _calls_by_name(code: Code, call: Calling, name: str) -> bool:
    func = code.defined.get(call.func) if isinstance(call, Call) else None
    return isinstance(func, Attr) and func.name == name


def _layer_argument(code: Code, arguments: Mapping[str, Value | Path], name: str) -> Layer | None:
    given = arguments.get(name)
    if given is None:
        return None
    return Layer(((given, 1),)) if isinstance(given, Path) else layer_of(code.defined, given)


def layer_into(code: Code, arguments: Mapping[str, Value | Path], layer: Layer, mark: str) -> Layer:
    """A callee's layer expression in the caller's terms."""
    return substitute(layer, lambda name: _layer_argument(code, arguments, name), mark)


def path_into(code: Code, arguments: Mapping[str, Value | Path], path: Path | None) -> Path | None:
    """A callee's path in the caller's terms; None where the caller cannot name it."""
    if path is None or path.root not in arguments:
        return path if path is not None and path.root.startswith(":") else None
    given = arguments[path.root]
    base = given if isinstance(given, Path) else path_of(code.defined, given)
    return Path(base.root, base.names + path.names)
