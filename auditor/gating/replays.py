"""Is there a wait for the last layer before a graph is replayed? A replay runs no Python, so the waits that the
recorded code made do not happen: what was gated when Python ran it must be gated again, for all layers, before that.

Each replay call is followed to its callers until a gate is held, the pack says that no load can be in flight, or an
entry point is reached. With connectors, who replays has nothing to wait for: a connector's wait is for the layer at
hand, and is skipped. A wait on the way may be for some classes of an object only (``if self.is_full: wait()``): it
counts for the paths that call a method of such an object by the same attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from auditor.callgraph import CallGraph, CallSite, FrameKey
from auditor.facts import At, Value
from auditor.gating.armed import Armed
from auditor.gating.borrowed import lent
from auditor.gating.captures import Capture, Graphs, ReplayCall
from auditor.gating.connectors import Connectors
from auditor.gating.covering import covering_all
from auditor.gating.held import CONNECTOR, HeldGates, calling, receiver_path
from auditor.gating.needs import Needs
from auditor.gating.symbols import EVERY, OWN
from auditor.gating.values import REPLAY, SKIPPED, Buffer, Gate, Hop, Near, Need, Outcome, Place, Touch, defined_at
from auditor.link import Code, Instance, Linker
from auditor.spec import EngineSpec

STORAGE = "*"
"""The name of all guarded storage of a pool."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way down to a replay call: from ``point`` in ``frame`` by ``hops``. ``called``: the methods on it are called on
    these receivers, by these attributes."""

    frame: FrameKey
    point: tuple[int, int]
    hops: tuple[Hop, ...]
    called: frozenset[tuple[tuple[str, ...], Instance]] = frozenset()
    near: tuple[Near, ...] = ()
    """Gates that were held on the way and did not do."""


class Replays:
    """Judges every replay call; ``run`` adds what it finds to the outcomes of the recorded reads."""

    def __init__(
        self,
        linker: Linker,
        graph: CallGraph,
        spec: EngineSpec,
        held: HeldGates,
        armed: Armed,
        needs: Needs,
        connectors: Connectors,
    ) -> None:
        self._linker = linker
        self._graph = graph
        self._held = held
        self._armed = armed
        self._needs = needs
        self._connectors = connectors if spec.connectors.wait else None
        self._name = spec.graphs.replay
        self._graphs = Graphs(linker, graph, spec)
        self._lent: dict[str, tuple[tuple[FrameKey, int, int, At], ...]] = {}
        self.outcomes: dict[Touch, list[Outcome]] = {}
        """What became of each replay call, by pool: sites of their own."""

    def run(self) -> None:
        captures = list(self._graphs.captures())
        reads = {id(one): self._reads(one) for one in captures}
        for call in self._graphs.replays():
            for one in captures:
                if one.graphs & call.graphs:
                    self._judge(call, one, reads[id(one)])

    # ------------------------------------------------------------ what is recorded

    def _reads(self, one: Capture) -> Mapping[Instance, tuple[Touch, ...]]:
        """The pools whose storage a capture reads, with the reads that were found gated. Of a network whose code is
        hidden the pools are all that a load can fill, and which reads run is not known."""
        frames = self._certainly_below(one.called)
        codes = [self._graph.code(key) for key in frames]
        if one.forwards or any(map(self._graphs.runs_network, codes)):
            if self._connectors is not None:
                return dict.fromkeys(self._connectors.awaited, ())
            pools = (pool for pool in self._armed.loaded if pool.owner is None)
            return {pool: () for pool in pools if self._armed.state(pool).kind == "armed"}
        found: dict[Instance, list[Touch]] = {}
        spans = _Spans(codes)
        own = self._graph.code(one.frame)
        for touch, outcomes in self._needs.outcomes.items():
            here = touch.path == own.path and (touch.line, touch.column) in one.read
            if (here or spans.hold(touch)) and any(outcome.verdict == "gated" for outcome in outcomes):
                found.setdefault(touch.object, []).append(touch)
        return {pool: tuple(touches) for pool, touches in found.items()}

    def _certainly_below(self, start: Iterable[FrameKey]) -> frozenset[FrameKey]:
        """``start``, and what it calls where a call can only be of one function."""
        seen = set(start)
        todo = list(seen)
        while todo:
            sites: dict[Value, list[CallSite]] = {}
            for site in self._graph.calls[todo.pop()]:
                sites.setdefault(site.value, []).append(site)
            for found in sites.values():
                if len({site.callee[0] for site in found}) == 1:
                    new = {site.callee for site in found} - seen
                    seen |= new
                    todo.extend(new)
        return frozenset(seen)

    # ------------------------------------------------------------ the ways to a replay

    def _judge(self, call: ReplayCall, capture: Capture, reads: Mapping[Instance, tuple[Touch, ...]]) -> None:
        for pool in sorted(reads, key=repr):
            touch = Touch(call.place.path, call.place.line, call.place.column, self._name, "call", pool, "")
            for outcome in self._outcomes(call, capture, pool):
                self.outcomes.setdefault(touch, []).append(outcome)
                for read in reads[pool]:
                    self._needs.outcomes[read].append(outcome)

    def _outcomes(self, call: ReplayCall, capture: Capture, pool: Instance) -> Iterator[Outcome]:
        """What is held for ``pool`` on each way to a replay."""
        recorder = self._graph.code(capture.frame).name.rpartition(".")[2]
        last = Hop(call.frame, call.place, f"replays what {recorder} recorded")
        if self._connectors is not None:
            for wait, fault in self._connectors.at_fault.items():
                sure = "low" if wait in self._connectors.foreign else "medium"
                yield self._skipped(wait, fault, last, pool, sure)
            return
        todo = [_Way(call.frame, (call.block, call.position), (last,))]
        seen: set[tuple[FrameKey, tuple[int, int], str]] = set()
        while todo:
            way = todo.pop(0)
            runner = way.hops[self._runner(capture, way.hops)].frame[0]
            if (way.frame, way.point, runner) in seen:
                continue
            seen.add((way.frame, way.point, runner))
            gate, near = self._gate(way, pool, capture)
            way = replace(way, near=tuple(dict.fromkeys((*way.near, *near))))
            need = self._need(call, capture, pool, way)
            if gate is not None:
                yield Outcome("gated", gate[1], gate[0], need, way.hops, mode=REPLAY)
                continue
            exempt = self._needs.exempt(self._graph.frames[way.frame], need)
            if exempt is not None:
                yield replace(exempt, mode=REPLAY)
                continue
            above = list(self._above(way))
            todo.extend(above)
            if not above:
                yield self._uncovered(need)

    def _skipped(self, wait: FrameKey, fault: FrameKey, last: Hop, pool: Instance, sure: str) -> Outcome:
        """A replay does not make the wait of a connector; ``fault``: the method that should keep it from that."""
        place = defined_at(self._graph.code(wait))
        hops: tuple[Hop, ...] = (Hop(wait, place, "is not called: a replay runs no Python"), last)
        if fault != wait:
            above = defined_at(self._graph.code(fault))
            hops = (Hop(fault, above, "has no hook to keep the reads behind it out of graphs"), *hops)
        gate = Gate(None, CONNECTOR, OWN, place=place, text=place.function.rpartition(".")[2], chain=(place,))
        near = (Near(SKIPPED, gate, ""),)
        need = Need(Buffer(pool, STORAGE), EVERY, last.place, REPLAY, (), sure, hops, near, culprit=-len(hops))
        return Outcome("ungated", "", None, need, hops, mode=REPLAY)

    def _above(self, way: _Way) -> Iterator[_Way]:
        """Where the way goes on: at the callers; of a function that is only lent to an attribute, where it is lent."""
        for caller, site in self._graph.callers.get(way.frame, ()):
            yield self._called(way, caller, site)
        if way.frame not in self._graph.callers:
            if way.frame[0] not in self._lent:
                self._lent[way.frame[0]] = tuple(lent(self._graph, self._graph.code(way.frame)))
            for maker, block, index, at in self._lent[way.frame[0]]:
                place = Place(self._graph.code(maker).path, at.line, at.column, maker[0])
                yield _Way(maker, (block, index), (Hop(maker, place, "lends it"), *way.hops), way.called, way.near)

    def _called(self, way: _Way, caller: FrameKey, site: CallSite) -> _Way:
        code = self._graph.code(caller)
        call = calling(code, site)
        place = Place(code.path, call.at.line, call.at.column, code.name)
        hop = Hop(caller, place, f"calls {'.'.join(site.callee[0].rsplit('.', 2)[-2:])}")
        path = receiver_path(code, call)
        called = way.called
        if path is not None and site.receiver is not None:
            called |= {(path.names, site.receiver)}
        return _Way(caller, (site.block, site.index), (hop, *way.hops), called, way.near)

    def _gate(self, way: _Way, pool: Instance, capture: Capture) -> tuple[tuple[Gate, str] | None, tuple[Near, ...]]:
        """The gate that is held there for every layer, or those that are held and do not do."""
        near: list[Near] = []
        for gate in sorted(
            (one for one in self._held.state(way.frame).at(*way.point) if isinstance(one, Gate)),
            key=lambda one: (one.place, one.chain),
        ):
            if gate.given or (gate.only is not None and not _is_on(way, gate)) or _is_recorded(capture, gate):
                continue
            verdict, why = covering_all(self._armed, gate, pool)
            if verdict:
                return (gate, why), ()
            near.append(Near("noop" if gate.noop else "layer" if verdict is False else "unrelated", gate, why))
        return None, tuple(near)

    def _need(self, call: ReplayCall, capture: Capture, pool: Instance, way: _Way) -> Need:
        hops = way.hops
        return Need(
            Buffer(pool, STORAGE),
            EVERY,
            call.place,
            REPLAY,
            (),
            "high",
            hops,
            way.near,
            culprit=self._runner(capture, hops),
        )

    def _runner(self, capture: Capture, hops: tuple[Hop, ...]) -> int:
        """The step at which somebody should have waited: where the way enters the object that had the graph recorded,
        else the object that recorded it."""
        makers = {self._class_of(key) for key in (capture.frame, *capture.called)} - {""}
        for place, hop in enumerate(hops):
            if makers.intersection(self._linker.hierarchy.mro(self._class_of(hop.frame) or "?")):
                return place - len(hops)
        return -1

    def _class_of(self, key: FrameKey) -> str:
        """The class that a function, or the function around it, is a method of."""
        name = self._graph.code(key).name
        while name:
            name = name.rpartition(".")[0]
            if name in self._linker.hierarchy.classes:
                return name
        return ""

    def _uncovered(self, need: Need) -> Outcome:
        pool = need.buffer.owner
        if pool not in self._armed.loaded:
            return Outcome("latent", self._armed.state(pool).why, None, need, need.hops, mode=REPLAY)
        if any(one.why == "unrelated" for one in need.near):
            return Outcome("unknown", "layer-unrelated", None, need, need.hops, mode=REPLAY)
        return Outcome("ungated", "", None, need, need.hops, mode=REPLAY)


def _is_recorded(capture: Capture, gate: Gate) -> bool:
    """Whether a wait was made while the graph was recorded: that was before the load that the replay needs."""
    return any(one.function == capture.frame[0] and (one.line, one.column) in capture.read for one in gate.chain)


def _is_on(way: _Way, gate: Gate) -> bool:
    """Whether the way is one of those that a gate for some classes of an object is for."""
    assert gate.only is not None
    path, objects = gate.only
    return any(names == path.names and receiver in objects for names, receiver in way.called)


class _Spans:
    """The lines of functions, by file."""

    def __init__(self, codes: Iterable[Code]) -> None:
        self._lines: dict[str, list[tuple[int, int]]] = {}
        for code in codes:
            self._lines.setdefault(code.path, []).append((code.facts.at.line, code.facts.end_line))

    def hold(self, touch: Touch) -> bool:
        return any(first <= touch.line <= last for first, last in self._lines.get(touch.path, ()))
