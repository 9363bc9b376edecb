"""Where guarded storage comes from, where it is read, and which reads no gate covers: procedure summaries, bottom-up.

A *handle* is a value that denotes guarded storage; it is followed through aliases, returns and parameters to the uses
that read its elements. An uncovered use is a *need*; a need goes up to the callers until a gate covers it or an entry
point is reached. ``requires`` of a function are its needs, ``acquires`` its gates (Clang thread safety's words).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from auditor.callgraph import CallGraph, CallSite, FrameKey
from auditor.conditions import FALSE, TRUE, Conditions, Formula, either
from auditor.dataflow import bottom_up, is_recursive
from auditor.facts import Attr, Call, Enter, Instruction, Item, Param, Value
from auditor.gating.armed import Armed
from auditor.gating.covering import MEMO, ORDER, Covering
from auditor.gating.feasible import Feasible
from auditor.gating.held import (
    CONNECTOR,
    Calling,
    HeldGates,
    arguments_of,
    calling,
    layer_into,
    path_into,
    receiver_path,
)
from auditor.gating.joins import Joins
from auditor.gating.kept import Kept
from auditor.gating.loads import goes_on
from auditor.gating.memos import is_memoised
from auditor.gating.picking import Picking
from auditor.gating.storage import Storage, first_layers, own_stores
from auditor.gating.streams import UNCLEAR
from auditor.gating.symbols import EVERY, OWN, SOME, Layer, Path, path_of
from auditor.gating.tracing import Tracer, Use
from auditor.gating.uncalled import Uncalled
from auditor.gating.uses import attribute_read, called_name
from auditor.gating.values import (
    ANYWHERE,
    EARLY,
    KEPT,
    PACKS,
    PASSED,
    SWITCH,
    UNBOUND,
    UNRELATED_ARGUMENT,
    UNRELATED_SWITCH,
    Bound,
    Buffer,
    Gate,
    Handle,
    Held,
    Hop,
    Near,
    Need,
    Outcome,
    Place,
    Touch,
    Vacuous,
    plainness,
    put_into,
)
from auditor.link import Code, Frame, Instance, Linker
from auditor.spec import Assumption, EngineSpec, matcher

MAX_NEEDS = 800
"""Needs of one frame that are followed to its callers; what is beyond is reported as a limit."""


@dataclass(slots=True)
class Summary:
    """What one frame gives its callers."""

    needs: list[Need] = field(default_factory=list)
    returns: list[Handle] = field(default_factory=list)
    settled: dict[Buffer, Outcome] = field(default_factory=dict)
    """Reads inside, here or deeper, that are decided: for each storage the worst outcome."""

    def keys(self) -> tuple[object, ...]:
        """What tells it from another summary of the same frame."""
        return [need.key() for need in self.needs], self.returns, set(self.settled)


UNORDERED = "nothing orders that stream behind it"
"""What is missing of a gate that was made on another stream."""
_NOTHING = Summary()
_START = (0, 0)
"""The start of a function: what its callers have waited for is held on the stream that is current there."""
SMALL_CYCLE = 6
"""Frames in a recursive component that is summarised until nothing new can come up."""


class Needs:
    """Computes summaries on demand and records what became of every touch."""

    def __init__(
        self,
        linker: Linker,
        graph: CallGraph,
        spec: EngineSpec,
        held: HeldGates,
        armed: Armed,
        conditions: Conditions,
    ) -> None:
        self._linker = linker
        self._graph = graph
        self._spec = spec
        self._held = held
        self._armed = armed
        storage = Storage(linker, spec)
        self.is_buffer = storage.guards
        self._kept = Kept(linker, storage)
        self.is_accessor = matcher(spec.accessors)
        self._is_host = matcher(spec.host_side)
        self._is_passed = matcher(spec.parameters)
        self._tracer = Tracer(linker, graph, spec, storage, held, self._cover)
        self._picking = Picking(graph, own=bool(spec.connectors.wait))
        self._covering = Covering(graph, held, armed, first_layers(linker))
        self._joins = Joins(linker, graph, held, self._covering)
        self._feasible = Feasible(graph, conditions)
        self.cut: dict[Touch, str] = {}
        """Touches from which some path contradicts itself, and how."""
        self._cut_in: dict[FrameKey, str] = {}
        self._defined_at: dict[str, Mapping[Value, tuple[int, int]]] = {}
        self._summaries: dict[FrameKey, Summary] = {}
        self.outcomes: dict[Touch, list[Outcome]] = {}
        sources = [key for key, frame in graph.frames.items() if self._has_source(frame)]
        self.relevant = graph.reaching(sources)
        """Frames that can reach guarded storage."""
        self._phases: dict[str, bool] = {}
        self._assumptions: dict[str, Assumption | None] = {}
        self._accessor_places: dict[str, set[tuple[int, int]]] = {}
        self._uncalled = Uncalled(linker, graph)
        self._below_waits = graph.below(key for key in self.relevant if held.state(key).events)
        """Frames that run below one that waits: only there can a caller still cover a need."""

    def _has_source(self, frame: Frame) -> bool:
        return any(
            ((read := attribute_read(frame.code, one)) is not None and self.is_buffer(read.name) is True)
            or any(self._kept.read_by(frame, one))
            or (isinstance(one, Param) and frame.context is not None and self._is_passed(one.name) is not None)
            for one in frame.code.defined.values()
        )

    # ------------------------------------------------------------ summaries

    def run(self) -> None:
        """Summarise every relevant frame, callees first; a recursive component until nothing new comes up, at most
        ``_rounds`` times: a need that goes round once more only gets longer."""
        successors = self._graph.within(self.relevant)
        for component in bottom_up(successors):
            recursive = is_recursive(component, successors)
            if recursive:
                self._feasible.recur(component)
            for _ in range(self._rounds(component) if recursive else 1):
                before = [self.summary(key).keys() for key in component]
                for key in component:
                    self._summaries[key] = self._summarise(key)
                if before == [self.summary(key).keys() for key in component]:
                    break
            called = any(caller not in component for key in component for caller, _ in self._graph.callers.get(key, ()))
            for key in component:
                if not called:
                    self._returns_at_entry(key)
                    self._needs_at_entry(key)
                elif key[1] is None and key not in self._below_waits:
                    self._needs_at_entry(key)
                    self._summaries[key].needs.clear()

    @staticmethod
    def _rounds(component: Sequence[FrameKey]) -> int:
        """Enough for every need to travel a small cycle; a large one is as good as its first two rounds."""
        return len(component) + 1 if len(component) <= SMALL_CYCLE else 2

    def _returns_at_entry(self, key: FrameKey) -> None:
        uncalled = self._uncalled.why(key)
        for handle in self._summaries[key].returns:
            if uncalled:
                self._cut(key, uncalled, handle.touches)
                continue
            outcome = self._returned_to_nobody(key, handle)
            for touch in handle.touches:
                self._record(touch, outcome)

    def _needs_at_entry(self, key: FrameKey) -> None:
        """Nothing is held at an entry point, nor above a function that no wait is above: what is still needed here is
        not gated."""
        needs = self._summaries[key].needs
        uncalled = self._uncalled.why(key)
        loads = bool(needs) and self._uncalled.only_from(key, self._host_side)
        for need in needs:
            if uncalled:
                self._cut(key, uncalled, need.touches)
                continue
            verdict, why = ("exempt", "transfer-side") if loads else self._verdict(need)
            for touch in need.touches:
                self._record(touch, Outcome(verdict, why, None, need, need.hops))

    def _returned_to_nobody(self, key: FrameKey, handle: Handle) -> Outcome:
        """What becomes of a handle that an entry point returns: no code of the tree reads it."""
        if handle.gate is not None:
            return Outcome("gated", handle.gate[1], handle.gate[0], None, handle.hops)
        unread = Need(handle.buffer, handle.layer, handle.origin, "returns it", handle.touches, hops=handle.hops)
        return self.exempt(self._graph.frames[key], unread) or Outcome("unknown", "unreached", hops=handle.hops)

    def _verdict(self, need: Need) -> tuple[str, str]:
        if need.buffer.owner not in self._armed.loaded:
            return "latent", self._armed.state(need.buffer.owner).why
        if need.use == PACKS:
            return "unknown", "escape-untracked"
        if need.touches[:1] and need.touches[0].kind == PASSED and not need.near:
            return "unknown", "unreached"  # who calls it from outside may have waited
        if any(one.why == ORDER for one in need.near):
            return "unknown", "arming-order"
        if any(one.why == MEMO for one in need.near):
            return "unknown", "memoised-gate"
        if any(one.why == "unrelated" for one in need.near):
            return "unknown", "layer-unrelated"
        if any(one.why == UNCLEAR for one in need.near):
            return "unknown", "stream-unknown"
        if any(one.why == "guard" for one in need.near) and not any(one.why == "branch" for one in need.near):
            return "unknown", "guard-not-implied"
        return "ungated", ""

    def summary(self, key: FrameKey) -> Summary:
        """The summary of a frame; of one that is not computed yet (a recursive call) an empty one."""
        return self._summaries.get(key, _NOTHING)

    def _summarise(self, key: FrameKey) -> Summary:
        frame = self._graph.frames[key]
        made = Summary()
        needs: dict[tuple[object, ...], Need] = {}
        for site in self._graph.calls[key]:
            if site.callee in self.relevant:
                self._settled_inside(key, frame, site, made)
        for need in self._callee_needs(key, frame):
            self._settle(key, frame, need, made, needs)
        for value, handle in self._handles(key, frame):
            self._follow(key, frame, value, handle, made, needs)
        made.needs = list(needs.values())
        made.returns = _merged(made.returns)
        return made

    def _settled_inside(self, key: FrameKey, frame: Frame, site: CallSite, made: Summary) -> None:
        """What a callee has decided for itself counts for the site that calls it."""
        call = calling(frame.code, site)
        for buffer, outcome in self.summary(site.callee).settled.items():
            for touch in self._touched(frame, call, site, ()):
                self._record(touch, outcome)
            _keep_worst(made.settled, buffer, outcome)
        why = self._cut_in.get(site.callee)
        if why is not None:
            self._cut(key, why, self._touched(frame, call, site, ()))

    def _decide(self, made: Summary, buffer: Buffer, touches: tuple[Touch, ...], outcome: Outcome) -> None:
        _keep_worst(made.settled, buffer, outcome)
        for touch in touches:
            self._record(touch, outcome)

    # ------------------------------------------------------------ handles

    def _handles(self, key: FrameKey, frame: Frame) -> Iterator[tuple[Value, Handle]]:
        code = frame.code
        by_value: dict[Value, list[CallSite]] = {}
        for site in self._graph.calls[key]:
            by_value.setdefault(site.value, []).append(site)
        for number, block in enumerate(code.facts.blocks):
            for one in block.instructions:
                if isinstance(one, Param) and self._is_passed(one.name):
                    yield from self._passed(key, frame, one)
                elif isinstance(one, Call | Attr | Enter | Item) and one.dst in by_value:
                    for site in by_value[one.dst]:
                        yield from self._returned(key, frame, calling(code, site), site)
                elif (read := attribute_read(code, one)) is not None and self.is_buffer(read.name):
                    yield from self._raw(key, frame, number, read)
                else:
                    yield from self._kept_elsewhere(key, frame, number, one)

    def _passed(self, key: FrameKey, frame: Frame, one: Param) -> Iterator[tuple[Value, Handle]]:
        """Storage that is passed to a method of a pool, in the end from outside the tree. Its uses are the sites."""
        code, owner = frame.code, key[1]
        if owner is None:
            return
        place = Place(code.path, one.at.line, one.at.column, code.name)
        yield one.dst, Handle(Buffer(owner, one.name), OWN, False, place, (), bound=(Path(one.name), owner))

    def _raw(self, key: FrameKey, frame: Frame, block: int, one: Attr) -> Iterator[tuple[Value, Handle]]:
        code = frame.code
        place = Place(code.path, one.at.line, one.at.column, code.name)
        picked = self._picking.layer(key, one.base)
        own = key[1] if one.base == 0 else None
        read = {(own, one.name)} if own else self._linker.reached(frame, one.base, block, one.name)
        for owner, name in sorted(read, key=repr):
            if not self._linker.context_of(owner) or self._host_side(owner.cls):
                continue
            if "_" not in name and self._linker.tracked(owner.cls):
                continue  # a common word means storage only on the helpers that a pool builds
            if name in self._linker.hierarchy.applicable(owner.cls, self._linker.functions):
                continue  # a method that is named like storage
            if name not in self._linker.hierarchy.attributes(owner.cls, self._linker.functions):
                continue  # it has no such attribute
            touch = Touch(code.path, one.at.line, one.at.column, one.name, "attribute", owner, "")
            when = self._passing(self._feasible.start(owner), key, block, (touch,))
            if when == FALSE:
                continue
            hop = Hop(key, place, f"reads {_class(owner.cls)}.{name}", picked)
            yield (
                one.dst,
                Handle(
                    Buffer(owner, name),
                    picked,
                    False,
                    place,
                    (touch,),
                    None,
                    (path_of(code.defined, one.base), owner),
                    (hop,),
                    when=when,
                ),
            )

    def _kept_elsewhere(
        self, key: FrameKey, frame: Frame, block: int, one: Instruction
    ) -> Iterator[tuple[Value, Handle]]:
        """Storage that somebody keeps under a name of his own, or in a collection of his own."""
        for owner, name, value, read in self._kept.read_by(frame, one):
            if self._host_side(owner.cls):
                continue
            place = Place(frame.code.path, read.at.line, read.at.column, frame.code.name)
            touch = Touch(place.path, place.line, place.column, called_name(frame.code, read), KEPT, owner, "")
            when = self._passing(self._feasible.start(owner), key, block, (touch,))
            hop = Hop(key, place, f"reads {_class(owner.cls)}.{name}, kept as `{touch.name}`", EVERY)
            if when != FALSE:
                bound, buffer = (None, owner), Buffer(owner, name)
                yield value.dst, Handle(buffer, EVERY, False, place, (touch,), None, bound, (hop,), when=when)

    def _outlives_the_pass(self, frame: Frame, use: Use) -> bool:
        """Whether a constructor keeps a buffer in its object, for passes whose loads have not begun yet."""
        one = use.instruction(frame.code)
        return any(each is one for each in own_stores(frame.code)) and not self._host_side(frame.code.owner)

    def _returned(self, key: FrameKey, frame: Frame, one: Calling, site: CallSite) -> Iterator[tuple[Value, Handle]]:
        if site.callee not in self.relevant:
            return
        returns = self.summary(site.callee).returns
        if not returns:
            return
        arguments = self._arguments(frame, one, site)
        hop = self._call_hop(key, frame, one, site)
        for handle in returns:
            touches = self._touched(frame, one, site, handle.touches)
            when = self._coming_up(handle.when, key, (one, site), touches)
            if when == FALSE:
                continue
            bound = self._bound_here(frame, one, site, arguments, handle.bound)
            layer = self._layer_here(key, frame, (one, site), arguments, handle.layer)
            optional = self._asked(key, site, arguments, handle.optional)
            gate = handle.gate or _answered(optional)
            hops = (replace(hop, layer=layer), *handle.hops)
            yield (
                one.dst,
                replace(
                    handle,
                    layer=layer,
                    touches=touches,
                    gate=gate,
                    bound=bound,
                    near=tuple(self._near_here(key, site, arguments, near) for near in handle.near),
                    optional=optional,
                    hops=hops,
                    when=when,
                ),
            )

    def _passing(self, when: Formula, key: FrameKey, block: int, touches: tuple[Touch, ...]) -> Formula:
        """What is necessary for a path to go on through a block; where it never does, its touches are cut off."""
        found = self._feasible.through(when, key, block)
        if found == FALSE:
            self._cut(key, self._feasible.against(when, key, block), touches)
        return found

    def _coming_up(
        self, when: Formula, key: FrameKey, called: tuple[Calling, CallSite], touches: tuple[Touch, ...]
    ) -> Formula:
        """The same for a path that comes up from a callee. Where the call does not name it (a protocol, a variable) who
        else calls it cannot be told: a contradiction with the callers that are known is none with all."""
        call, site = called
        by_name = called_name(self._graph.code(key), call) == self._graph.code(site.callee).facts.name
        return self._passing(when, key, site.block, touches) if by_name else TRUE

    def _cut(self, key: FrameKey, why: str, touches: tuple[Touch, ...]) -> None:
        """Remember that a path contradicts itself in a frame, or deeper, on its way from these touches."""
        self._cut_in.setdefault(key, why)
        for touch in touches:
            self.cut.setdefault(touch, why)

    def _bound_here(
        self, frame: Frame, one: Calling, site: CallSite, arguments: Mapping[str, Value | Path], inside: Bound
    ) -> Bound:
        """The receiver of a read in the caller's terms: the pool that a method is called on stands for what is in it; a
        function that is handed a pool, or has it in its object, leaves the receiver what it is."""
        if site.receiver is None or not self._linker.context_of(site.receiver):
            path = path_into(frame.code, arguments, inside[0])
            if path is not None:
                return path, inside[1]
        return receiver_path(frame.code, one), site.receiver

    def _layer_here(
        self,
        key: FrameKey,
        frame: Frame,
        called: tuple[Calling, CallSite],
        arguments: Mapping[str, Value | Path],
        layer: Layer,
    ) -> Layer:
        """A callee's layer in the caller's terms. If that is a computed index, as of slots, the object that the method
        runs on may have been picked by layer."""
        one, site = called
        here = layer_into(frame.code, arguments, layer, f"{site.value}!")
        if not here.computed:
            return here
        picked = self._picking.of_receiver(key, one)
        return here if picked.every else picked

    def _touched(self, frame: Frame, one: Calling, site: CallSite, touches: tuple[Touch, ...]) -> tuple[Touch, ...]:
        name = called_name(frame.code, one)
        if site.receiver is None or not self._linker.context_of(site.receiver):
            return touches
        if not self.is_accessor(name) and not (isinstance(one, Attr) and self.is_buffer(name)):
            return touches
        kind = "attribute" if site.implicit else "call"
        touch = Touch(frame.code.path, one.at.line, one.at.column, name, kind, site.receiver, site.callee[0])
        return (touch, *touches)

    def _call_hop(self, key: FrameKey, frame: Frame, one: Calling, site: CallSite) -> Hop:
        place = Place(frame.code.path, one.at.line, one.at.column, frame.code.name)
        return Hop(key, place, f"calls {_tail(site.callee[0])}")

    # ------------------------------------------------------------ uses

    def _follow(
        self,
        key: FrameKey,
        frame: Frame,
        value: Value,
        handle: Handle,
        made: Summary,
        needs: dict[tuple[object, ...], Need],
    ) -> None:
        used = False
        for use, traced in self._tracer.trace(key, value, handle):
            used = True
            if not traced.touches and self._is_passed_on(key, frame, use):
                continue  # told where it is used
            now = traced if traced.touches else self._touched_at(frame, use, traced)
            when = self._passing(now.when, key, use.block, now.touches)
            if when == FALSE:
                continue
            now = self._fresh(key, value, use, replace(now, when=when))
            if use.kind in ("returned", "yielded"):
                handed = now if use.kind == "returned" else put_into(now, ANYWHERE)
                made.returns.append(self._on_return(key, handed, use))
                continue
            if use.kind in ("escape", "packed") and not now.selected and self._kept.is_followed(frame, use):
                self._decide(made, now.buffer, now.touches, Outcome("exempt", "address"))
                continue  # told where it is read under its other name
            if use.kind == "escape" and now.selected and self._outlives_the_pass(frame, use):
                self._decide(made, now.buffer, now.touches, Outcome("unknown", "escape-untracked"))
                continue
            if use.kind not in ("element", "escape", "packed"):
                self._decide(made, now.buffer, now.touches, Outcome("exempt", use.kind))
                continue
            place = Place(frame.code.path, use.line, use.column, frame.code.name)
            hops = (Hop(key, place, use.what, now.layer), *now.hops)
            missing = self._stream_missing(key, value, use) if now.gate is not None else None
            if now.gate is not None and missing is None:
                self._decide(made, now.buffer, now.touches, Outcome("gated", now.gate[1], now.gate[0], None, hops))
            else:
                near = now.near
                if now.gate is not None and missing is not None:
                    near = (*near, Near(missing, now.gate[0], UNORDERED))
                confidence = self._tracer.confidence(key, use)
                need = Need(
                    *(now.buffer, now.layer, now.origin, use.what, now.touches, confidence, hops, near),
                    culprit=-len(hops) if now.layer == OWN else 0,  # where each layer is an object, its reader waits
                    bound=now.bound,
                    when=when,
                    optional=now.optional,
                )
                self._settle_at(key, frame, need, (use.block, use.index), made, needs, nearby=True)
        if not used:
            for touch in handle.touches:
                self._record(touch, Outcome("exempt", "metadata"))

    def _fresh(self, key: FrameKey, value: Value, use: Use, handle: Handle) -> Handle:
        """The handle at a use: no longer behind its gate where a load may begin after it was got."""
        if handle.gate is None or not any(self._between(key, value, begin, use) for begin in self._held.begins(key)):
            return handle
        gate, why = handle.gate
        return replace(handle, gate=None, near=_distinct((*handle.near, Near(EARLY, gate, why))))

    def _between(self, key: FrameKey, value: Value, begin: tuple[int, int], use: Use) -> bool:
        """Whether control can come from where a handle is got, by way of ``begin``, to its use and not get it anew."""
        code = self._graph.code(key)
        got = self._points(code).get(value, _START)
        return goes_on(code.flow, got, begin, got) and goes_on(code.flow, begin, (use.block, use.index), got)

    def _begins_before(self, key: FrameKey, point: tuple[int, int]) -> bool:
        """Whether a load may begin in a frame before a point of it."""
        flow = self._graph.code(key).flow
        return any(goes_on(flow, begin, point) for begin in self._held.begins(key))

    def _stream_missing(self, key: FrameKey, value: Value, use: Use) -> str | None:
        """Whether a use of a handle, which was got behind a gate, is on another stream that is not behind it."""
        points = self._points(self._graph.code(key))
        return self._held.streams.missing(key, points.get(value, _START), (use.block, use.index))

    def _points(self, code: Code) -> Mapping[Value, tuple[int, int]]:
        known = self._defined_at.get(code.name)
        if known is None:
            known = self._defined_at[code.name] = {
                one.dst: (number, index)
                for number, block in enumerate(code.facts.blocks)
                for index, one in enumerate(block.instructions)
                if isinstance(one, Attr | Call | Enter | Item)
            }
        return known

    def _gate_missing(self, key: FrameKey, gate: Gate, point: tuple[int, int]) -> str | None:
        """The same of a gate that is held at a point: where it was acquired here, or else before this function."""
        events = self._held.state(key).events
        start = next(((one.block, one.index) for one in events if gate in one.gates), _START)
        return self._held.streams.missing(key, start, point)

    def _is_passed_on(self, key: FrameKey, frame: Frame, use: Use) -> bool:
        """Whether a use hands storage that was passed in to another method that it is passed to."""
        call = use.instruction(frame.code)
        if not isinstance(call, Call):
            return False
        sites = [site for site in self._graph.calls[key] if site.value == call.dst]
        return bool(sites) and all(
            site.callee[1] is not None
            and any(
                value == use.value and self._is_passed(name)
                for name, value in self._arguments(frame, call, site).items()
            )
            for site in sites
        )

    def _touched_at(self, frame: Frame, use: Use, handle: Handle) -> Handle:
        """A handle of storage that was passed in: the use itself is the site."""
        name, owner = handle.buffer.name, handle.buffer.owner
        touch = Touch(frame.code.path, use.line, use.column, name, PASSED, owner, frame.code.name)
        return replace(handle, touches=(touch,))

    def _cover(self, handle: Handle, held: Held) -> Handle:
        """A handle that goes on from where ``held`` is held: who reads it later is behind the gate that covers it."""
        if handle.gate is not None:
            return handle
        gate, _ = self._covering.judge(held, handle.layer, handle.bound)
        return handle if gate is None else replace(handle, gate=gate)

    def _on_return(self, key: FrameKey, handle: Handle, use: Use) -> Handle:
        """The handle as callers get it: behind a gate that is held here, or with the gates that were near."""
        if handle.hops:
            handle = replace(handle, hops=(replace(handle.hops[0], layer=handle.layer), *handle.hops[1:]))
        remembered = is_memoised(self._graph.code(key).facts)
        if handle.gate is not None:
            return _remembered(handle) if remembered else handle
        gate, near = self._ordering(key, (use.block, use.index), handle.layer, handle.bound)
        missing = any(one.what == UNORDERED for one in near)
        if gate is None and not missing and not self._begins_before(key, (use.block, use.index)):
            gate = self._joins.gate(key, handle.layer, handle.bound)
        if gate is None and not missing:
            aside = self._covering.elsewhere(key, handle.layer, (use.block, use.index), handle.bound)
            near.extend(self._meant(self._graph.code(key), aside))
        optional = tuple(dict.fromkeys((*handle.optional, *_optional(near))))
        handle = replace(handle, gate=gate, near=_distinct((*handle.near, *near)), optional=optional)
        return _remembered(handle) if remembered else handle

    # ------------------------------------------------------------ settling

    def _callee_needs(self, key: FrameKey, frame: Frame) -> Iterator[tuple[Need, CallSite]]:
        for site in self._graph.calls[key]:
            if site.callee not in self.relevant:
                continue
            needs = self.summary(site.callee).needs
            if not needs:
                continue
            call = calling(frame.code, site)
            arguments = self._arguments(frame, call, site)
            hop = self._call_hop(key, frame, call, site)
            for need in needs[:MAX_NEEDS]:
                touches = self._touched(frame, call, site, need.touches)
                when = self._coming_up(need.when, key, (call, site), touches)
                if when == FALSE:
                    continue
                layer = self._layer_here(key, frame, (call, site), arguments, need.layer)
                into = replace(
                    need,
                    layer=layer,
                    touches=touches,
                    bound=self._bound_here(frame, call, site, arguments, need.bound),
                    when=when,
                    optional=self._asked(key, site, arguments, need.optional),
                    near=tuple(self._near_here(key, site, arguments, one) for one in need.near),
                    hops=(replace(hop, layer=layer), *need.hops),
                )
                yield into, site
            for need in needs[MAX_NEEDS:]:
                for touch in need.touches:
                    self._record(touch, Outcome("unknown", "limit", None, need, need.hops))

    def _arguments(self, frame: Frame, call: Calling, site: CallSite) -> Mapping[str, Value | Path]:
        return arguments_of(frame.code, call, self._graph.code(site.callee).facts, implicit=site.implicit)

    def _asked(
        self,
        key: FrameKey,
        site: CallSite,
        arguments: Mapping[str, Value | Path],
        optional: tuple[tuple[Gate, str], ...],
    ) -> tuple[tuple[Gate, str], ...]:
        """Gates that depend on arguments, with what they ask of the caller's own parameters; without those that a call
        does not make."""
        found: list[tuple[Gate, str]] = []
        for gate, why in optional:
            left = self._held.answers.answered(key, site, arguments, gate.given)
            if left is not None:
                found.append((replace(gate, given=left), why))
        return tuple(found)

    def _near_here(self, key: FrameKey, site: CallSite, arguments: Mapping[str, Value | Path], one: Near) -> Near:
        """A gate that depends on arguments is no longer near for that reason where a call passes them."""
        if one.why not in (UNRELATED_ARGUMENT, UNRELATED_SWITCH):
            return one
        asked = self._asked(key, site, arguments, ((one.gate, one.what),))
        why = "unrelated" if asked and not asked[0][0].given else one.why
        return replace(one, why=why, gate=asked[0][0] if asked else one.gate)

    def _settle(
        self,
        key: FrameKey,
        frame: Frame,
        found: tuple[Need, CallSite],
        made: Summary,
        needs: dict[tuple[object, ...], Need],
    ) -> None:
        need, site = found
        nearby = key[1] is not None or site.callee[1] is not None
        self._settle_at(key, frame, need, (site.block, site.index), made, needs, nearby=nearby)

    def _settle_at(
        self,
        key: FrameKey,
        frame: Frame,
        need: Need,
        point: tuple[int, int],
        made: Summary,
        needs: dict[tuple[object, ...], Need],
        *,
        nearby: bool,
    ) -> None:
        """Cover ``need`` by what is held at ``point`` (block, index), or keep it for the callers."""
        bound = need.bound
        gate, near = self._ordering(key, point, need.layer, bound)
        if need.later:  # whatever is held here is of an earlier load
            near, gate = [Near(EARLY, gate[0], gate[1])] if gate is not None else [], None
        near = self._meant(frame.code, near)
        missing = any(one.what == UNORDERED for one in near)
        if gate is None:
            gate = _answered(need.optional)
        later = need.later or self._begins_before(key, point)
        if gate is None and not missing and not later:
            gate = self._joins.gate(key, need.layer, bound)
        if gate is not None:
            self._decide(made, need.buffer, need.touches, Outcome("gated", gate[1], gate[0], need, need.hops))
            return
        exempt = self.exempt(frame, need)
        if exempt is None and Vacuous(frozenset({CONNECTOR})) in self._held.state(key).at(*point):
            exempt = Outcome("exempt", "no-load", need=need)
        if exempt is not None:
            self._decide(made, need.buffer, need.touches, exempt)
            return
        if nearby:
            missed = self._meant(frame.code, self._covering.elsewhere(key, need.layer, point, bound))
            near.extend(missed)
            if missed and need.layer == OWN:  # this function waits, though not for this read
                need = replace(need, culprit=-len(need.hops))
        optional = tuple(dict.fromkeys((*need.optional, *_optional(near))))
        kept = replace(need, near=_distinct((*need.near, *near)), optional=optional, later=later)
        wide = key[1] is None and len(need.hops) > 1 and need.hops[1].frame[1] is None
        name = (*kept.key(wide=wide), need.buffer.owner in self._armed.loaded if wide else None)
        old = needs.get(name)
        if old is not None:
            bound = bound if bound == old.bound else UNBOUND
            when, later = either(old.when, kept.when), old.later or kept.later
            kept, old = (replace(one, bound=bound, when=when, later=later) for one in (kept, old))
        if old is not None and wide:
            layer = kept.layer if kept.layer == old.layer else SOME
            touches = _both(old.touches, kept.touches)
            optional = tuple(one for one in old.optional if one in kept.optional)
            kept = replace(self._plainer(old, kept), layer=layer, touches=touches, optional=optional)
        elif old is not None:
            optional = tuple(one for one in old.optional if one in kept.optional)
            plainer = self._plainer(old, kept)
            kept = replace(plainer, near=_distinct((*old.near, *kept.near)), optional=optional)
        needs[name] = kept

    def _ordering(
        self, key: FrameKey, point: tuple[int, int], layer: Layer, bound: Bound
    ) -> tuple[tuple[Gate, str] | None, list[Near]]:
        """The gate held at a point that covers ``layer`` and is on the stream that is current there, with why; or why
        each of them does not."""
        gate, near = self._covering.judge(self._held.state(key).at(*point), layer, bound)
        missing = self._gate_missing(key, gate[0], point) if gate is not None else None
        if gate is None or missing is None:
            return gate, near
        return None, [*near, Near(missing, gate[0], UNORDERED)]

    def _plainer(self, one: Need, other: Need) -> Need:
        """The one that is told of two."""
        mro = self._linker.hierarchy.mro
        return one if plainness(one, mro) <= plainness(other, mro) else other

    def _meant(self, code: Code, near: Iterable[Near]) -> list[Near]:
        """Without waits that another read brings along: they are not meant for this one."""
        accessors = self._accessor_places.get(code.name)
        if accessors is None:
            accessors = self._accessor_places[code.name] = {
                (one.at.line, one.at.column)
                for one in code.defined.values()
                if isinstance(one, Call) and self.is_accessor(called_name(code, one))
            }
        return [
            one
            for one in near
            if one.why not in ("layer", "unrelated", "aside")
            or (one.gate.chain[0].line, one.gate.chain[0].column) not in accessors
        ]

    def exempt(self, frame: Frame, need: Need) -> Outcome | None:
        """Why a read needs no gate in ``frame``, or below it on the way that it came by."""
        owner = need.buffer.owner
        for function in dict.fromkeys((need.origin.function, *(hop.frame[0] for hop in need.hops), frame.code.name)):
            assumed = self.assumption(function)
            if assumed is not None:
                return Outcome("exempt", assumed.verdict, need=need, assumption=assumed.id)
        if self._without_load(frame.code.name):
            return Outcome("exempt", "no-load", need=need)
        if self.is_transfer_side(frame.code):
            return Outcome("exempt", "transfer-side", need=need)
        if frame.code.facts.name == "__init__" and need.use != PACKS and self._builds(frame, owner):
            return Outcome("exempt", "no-load", need=need)
        return None

    def assumption(self, function: str) -> Assumption | None:
        """The assumption of the pack about what is read in, or by way of, a function."""
        if function not in self._assumptions:
            fitting = (one for one in self._spec.assumptions if fnmatchcase(function, one.scope))
            self._assumptions[function] = next(fitting, None)
        return self._assumptions[function]

    def _without_load(self, function: str) -> bool:
        """Whether the pack says that a function runs in a phase in which no load is in flight."""
        if function not in self._phases:
            entries = self._spec.entries
            self._phases[function] = any(
                one.phase == "no-load" and fnmatchcase(function, one.function) for one in entries
            )
        return self._phases[function]

    def _builds(self, frame: Frame, owner: Instance) -> bool:
        return frame.context is not None and (
            frame.context == owner or owner.owner == frame.context or frame.context.owner == owner
        )

    def is_transfer_side(self, code: Code) -> bool:
        """Whether a function belongs to what loads."""
        return bool(code.owner) and self._host_side(code.owner)

    def _host_side(self, cls: str) -> bool:
        return self._linker.hierarchy.is_kind_of(cls, self._is_host)

    def _record(self, touch: Touch, outcome: Outcome) -> None:
        self.outcomes.setdefault(touch, []).append(outcome)


def _optional(near: Iterable[Near]) -> Iterator[tuple[Gate, str]]:
    """The gates that callers decide about, with why they cover."""
    return ((one.gate, one.what) for one in near if one.why in ("argument", SWITCH))


def _answered(optional: tuple[tuple[Gate, str], ...]) -> tuple[Gate, str] | None:
    """The first gate of which nothing is asked any more."""
    return next((one for one in optional if not one[0].given), None)


def _remembered(handle: Handle) -> Handle:
    """A handle that a memoised function returns: the wait that covered it was made for an earlier load, perhaps."""
    if handle.gate is None:
        return handle
    gate, why = handle.gate
    return replace(handle, gate=None, near=_distinct((*handle.near, Near(MEMO, replace(gate, memo=True), why))))


def _merged(handles: Iterable[Handle]) -> list[Handle]:
    """Handles that differ only in how they were got are one, with the touches of all."""
    found: dict[tuple[object, ...], Handle] = {}
    for one in handles:
        key = (one.buffer, one.layer, one.selected, one.inside, one.gate[0].place if one.gate is not None else None)
        known = found.get(key)
        if known is None:
            found[key] = one
        else:
            bound = known.bound if known.bound == one.bound else UNBOUND
            when = either(known.when, one.when)
            optional = tuple(each for each in known.optional if each in one.optional)
            touches = _both(known.touches, one.touches)
            found[key] = replace(known, touches=touches, bound=bound, optional=optional, when=when)
    return list(found.values())


def _both(one: tuple[Touch, ...], other: tuple[Touch, ...]) -> tuple[Touch, ...]:
    return one if set(other) <= set(one) else tuple(dict.fromkeys((*one, *other)))


def _distinct(near: Iterable[Near]) -> tuple[Near, ...]:
    return tuple({(one.why, one.gate.place): one for one in near}.values())


def _keep_worst(settled: dict[Buffer, Outcome], buffer: Buffer, outcome: Outcome) -> None:
    known = settled.get(buffer)
    if known is None or (known.verdict == "exempt" and outcome.verdict != "exempt"):
        settled[buffer] = outcome


def _class(cls: str) -> str:
    return cls.rpartition(".")[2]


def _tail(function: str) -> str:
    return ".".join(function.rsplit(".", 2)[-2:])
