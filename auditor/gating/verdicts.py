"""From outcomes to verdicts: one verdict for each site and object it is bound to, with what proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from auditor.callgraph import CallGraph, FrameKey
from auditor.conditions import Conditions, Meeting
from auditor.facts import Attr, Call, Item, Value, expression
from auditor.gating.armed import Armed
from auditor.gating.completing import Completing
from auditor.gating.connectors import Connectors
from auditor.gating.contradictions import Contradiction, contradictions
from auditor.gating.held import HeldGates
from auditor.gating.loads import Loads
from auditor.gating.needs import Needs
from auditor.gating.overriding import Overriding
from auditor.gating.remarks import Repeat, outsiders, repeats
from auditor.gating.remedies import Remedies
from auditor.gating.replays import Replays
from auditor.gating.storage import first_layers
from auditor.gating.uses import attribute_read, called_name
from auditor.gating.values import EAGER, KEPT, PASSED, REPLAY, Gate, Need, Outcome, Place, Touch, by_length
from auditor.link import (
    ClassObject,
    External,
    ExternalInstance,
    Frame,
    Hierarchy,
    Instance,
    Linker,
    Module,
    Object,
    Step,
    Super,
)
from auditor.loading import Loading
from auditor.spec import EngineSpec, matcher

Site: TypeAlias = Call | Attr | Item
"""The instruction at a site."""
ORDER = ("ungated", "unknown", "latent", "gated", "exempt")
"""Worst first."""
UNREAD = ("store", "address", "metadata")
"""Reasons of ``exempt`` for uses that read no element: what is said of those that do comes before them."""


@dataclass(frozen=True, slots=True)
class BindingVerdict:
    """One object that a site can be bound to. ``object`` None: what it is, is said by ``classes`` (not a pool) or not
    known. ``meeting``: under which conditions the object comes here."""

    object: Instance | None
    classes: tuple[str, ...]
    method: str
    verdict: str
    reason: str
    outcomes: tuple[Outcome, ...]
    derivation: tuple[tuple[str, int, str], ...]
    mode: str = EAGER
    meeting: Meeting | None = None

    @property
    def proved(self) -> bool:
        """Whether assignments lead from where the object is made to here, under conditions that can hold together."""
        return self.meeting is not None and self.meeting.proved

    @property
    def gates(self) -> tuple[tuple[Gate, str], ...]:
        """The gates that it stands on, each with why its layer covers."""
        found = {one.gate: one.why for one in self.outcomes if one.verdict == "gated" and one.gate is not None}
        return tuple(found.items())

    @property
    def need(self) -> Need | None:
        """The read that is not covered, by the shortest path."""
        found = [one.need for one in self.outcomes if one.verdict == self.verdict and one.need is not None]
        return min(found, key=lambda need: by_length(need.hops)) if found else None


@dataclass(frozen=True, slots=True)
class Excluded:
    """An object that flows to a site but cannot come there, and why."""

    object: Instance
    why: str
    derivation: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True, slots=True)
class SiteVerdict:
    """A site with its bindings, worst first, and what conditions keep from it."""

    path: str
    line: int
    column: int
    kind: str
    name: str
    receiver: str
    function: str
    open: tuple[str, ...]
    bindings: tuple[BindingVerdict, ...]
    excluded: tuple[Excluded, ...] = ()

    @property
    def verdict(self) -> str:
        return self.bindings[0].verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything gating found. ``waits``: functions that have waited when they return, with the first gate;
    ``remedies``: what a function on a witness would have to wait for; ``repeats``: waits that were made already;
    ``outsiders``: classes that take a counter and are no pools; ``contradictions``: annotations that what flows there
    contradicts."""

    sites: tuple[SiteVerdict, ...]
    armed: Armed
    waits: Mapping[str, Gate]
    hierarchy: Hierarchy
    remedies: Remedies
    repeats: tuple[Repeat, ...]
    outsiders: tuple[tuple[str, Place], ...]
    contradictions: tuple[Contradiction, ...]


def judge(
    linker: Linker,
    graph: CallGraph,
    spec: EngineSpec,
    product: Callable[[str], bool],
    loading: Loading,
    assumed: Sequence[str] = (),
) -> Judgement:
    """Give a verdict for every site of the files that ``product`` admits, where the conditions ``assumed`` hold.
    ``loading`` is what is known of the other side.

    Raises:
        UsageError: nothing mentions one of them.
    """
    conditions = Conditions(linker, graph, spec, assumed)
    signals = frozenset(name for one in loading.counters for name in one.signals)
    loads = Loads(graph, signals)
    completing, overriding = Completing(linker, graph, loading, spec), Overriding(graph, loads.begins, product)
    armed = Armed(linker, graph, spec, product, conditions, completing, overriding)
    held = HeldGates(linker, graph, spec, signals, loads.begins)
    needs = Needs(linker, graph, spec, held, armed, conditions)
    needs.run()
    connectors = Connectors(linker, graph, spec, held, needs)
    connectors.run()
    replays = Replays(linker, graph, spec, held, armed, needs, connectors)
    replays.run()
    sites = _Sites(linker, graph, needs, spec, replays, conditions).verdicts(product)
    waits = held.waits()
    remedies = Remedies(linker, graph, armed, waits, first_layers(linker))
    return Judgement(
        tuple(sites),
        armed,
        waits,
        linker.hierarchy,
        remedies,
        tuple(repeats(graph, held, product)),
        tuple(outsiders(linker, spec, needs.is_buffer, product)),
        tuple(contradictions(linker, graph, conditions, product)),
    )


class _Way(NamedTuple):
    """How an object comes to a site: a value of a block, and its use; ``behind``: the class whose ``super()`` it is.
    Where another object, ``holder``, hands the name on to it, by these ``steps``."""

    frame: Frame
    value: Value
    block: int
    use: Value
    holder: Instance
    behind: str = ""
    steps: tuple[Step, ...] = ()


class _Sites:
    def __init__(
        self,
        linker: Linker,
        graph: CallGraph,
        needs: Needs,
        spec: EngineSpec,
        replays: Replays,
        conditions: Conditions,
    ) -> None:
        self._conditions = conditions
        self._is_stand_in = matcher(spec.not_pools)
        self._linker = linker
        self._graph = graph
        self._needs = needs
        self._touches: dict[tuple[str, int, int, str], list[Touch]] = {}
        known = {touch: outcomes for touch, outcomes in needs.outcomes.items() if touch.kind in (PASSED, KEPT)}
        self._direct = known | replays.outcomes
        """Sites that no receiver tells the object of."""
        for touch in dict.fromkeys((*needs.outcomes, *replays.outcomes, *needs.cut)):
            self._touches.setdefault((touch.path, touch.line, touch.column, touch.name), []).append(touch)
        self._direct_at: dict[tuple[str, int, int], set[str]] = {}
        for touch in self._direct:
            self._direct_at.setdefault((touch.path, touch.line, touch.column), set()).add(touch.name)
        self._pool_methods = _pool_methods(linker)
        self._reaching = frozenset(name for name, _ in needs.relevant)

    def verdicts(self, product: Callable[[str], bool]) -> list[SiteVerdict]:
        places: dict[tuple[str, int, int, str], list[tuple[FrameKey, int, Site]]] = {}
        for key, frame in self._graph.frames.items():
            if product(frame.code.path):
                for block, one, name in self._candidates(frame):
                    places.setdefault((frame.code.path, one.at.line, one.at.column, name), []).append((key, block, one))
        return [self._site(place, places[place]) for place in sorted(places)]

    def _candidates(self, frame: Frame) -> Iterator[tuple[int, Site, str]]:
        """Accessor calls and raw reads of guarded storage, by name; and whatever turned out to touch storage."""
        code = frame.code
        for block, content in enumerate(code.facts.blocks):
            for one in content.instructions:
                if isinstance(one, Call):
                    name = called_name(code, one)
                    if self._needs.is_accessor(name) and isinstance(code.defined.get(one.func), Attr | Call):
                        yield block, one, name
                if isinstance(one, (Call, Item)):
                    for name in self._direct_at.get((code.path, one.at.line, one.at.column), ()):
                        yield block, one, name
                read = attribute_read(code, one)
                if read is not None and self._read_at(code.path, read):
                    yield block, read, read.name

    def _read_at(self, path: str, one: Attr) -> bool:
        touches = self._touches.get((path, one.at.line, one.at.column, one.name), ())
        return any(touch.kind in ("attribute", KEPT) for touch in touches)

    def _site(self, place: tuple[str, int, int, str], found: list[tuple[FrameKey, int, Site]]) -> SiteVerdict:
        path, line, column, name = place
        key, _, one = found[0]
        frame = self._graph.frames[key]
        base = _base(frame, one)
        direct = [touch for touch in self._touches.get(place, ()) if touch in self._direct]
        excluded: list[Excluded] = []
        bindings = list(map(self._direct_binding, direct)) or list(self._bindings(place, found, name, excluded))
        bindings.sort(
            key=lambda binding: (ORDER.index(binding.verdict), binding.classes, repr(binding.object), binding.mode)
        )
        kind = "call" if isinstance(one, Call) else "attribute"
        receiver = expression(frame.code.facts, base, frame.code.defined) if base is not None else ""
        opened = tuple(sorted(self._open(found)))
        return SiteVerdict(
            path, line, column, kind, name, receiver, frame.code.name, opened, tuple(bindings), tuple(excluded)
        )

    def _direct_binding(self, touch: Touch) -> BindingVerdict:
        outcomes = tuple(self._direct[touch])
        worst = min(outcomes, key=_gravity)
        reason = worst.why if worst.verdict != "gated" else ""
        one = touch.object
        made = self._conditions.made(one)
        return BindingVerdict(one, (one.cls,), touch.method, worst.verdict, reason, outcomes, (), worst.mode, made)

    def _open(self, found: list[tuple[FrameKey, int, Site]]) -> set[str]:
        result: set[str] = set()
        for key, block, one in found:
            frame = self._graph.frames[key]
            base = _base(frame, one)
            for target in self._linker.view(frame, base, block) if base is not None else ():
                if isinstance(target, ExternalInstance):
                    result.add(f"{target.cls} at {target.path}:{target.line} is not in the tree")
        return result

    def _bindings(
        self,
        place: tuple[str, int, int, str],
        found: list[tuple[FrameKey, int, Site]],
        name: str,
        excluded: list[Excluded],
    ) -> Iterator[BindingVerdict]:
        touched = {touch.object: touch for touch in self._touches.get(place, ())}
        others: set[str] = set()
        ends: dict[tuple[str, int, str], str] = {}
        objects: dict[tuple[Instance, str], list[_Way]] = {}
        for key, block, one in found:
            frame = self._graph.frames[key]
            base = _base(frame, one)
            if base is None:
                continue
            use = _use(frame, one)
            for target in self._linker.view(frame, base, block):
                if isinstance(target, Instance):
                    delegation = self._linker.delegated(target, name)
                    ends.update(dict.fromkeys(delegation.ends, target.cls))
                    for answer in delegation.ways:
                        way = _Way(frame, base, block, use, target, steps=answer.steps)
                        objects.setdefault((answer.one, answer.name), []).append(way)
                    if not delegation.ways:
                        objects.setdefault((target, name), [])
                elif isinstance(target, Super) and isinstance(target.receiver, Instance):
                    receiver = target.receiver
                    objects.setdefault((receiver, name), []).append(_Way(frame, 0, block, use, receiver, target.cls))
                elif isinstance(target, Module | ClassObject | External | ExternalInstance):
                    others.add(_name(target))
        pools = [one for one, _ in objects if self._linker.context_of(one)]
        known = {(one, name) for one, name in objects if self._has(one, name)}
        tracked = {one.cls for one, _ in known if self._linker.context_of(one)}
        told = False
        for target, called in sorted(known, key=lambda one: (one[0].cls, one[0].path, one[0].line, repr(one))):
            if pools and self._is_stand_in(target.cls.rpartition(".")[2]) is not None:
                continue
            if target.cls in tracked and not self._linker.context_of(target):
                continue  # what stands for an object of this class; the objects themselves are here
            ways = sorted(objects[target, called], key=lambda way: len(way.steps))
            first, *further = (self._meeting(way, target) for way in ways)
            meeting = first.joined(further)
            derivation = self._derivation(ways[0])
            against = meeting.against if not meeting.possible else self._cut_off(touched.get(target))
            if against:
                excluded.append(Excluded(target, against, derivation))
            else:
                told = True
                yield from self._object(target, ways[0], touched.get(target), called, derivation, meeting)
        if ends and name in self._pool_methods:
            classes = tuple(sorted(set(ends.values())))
            yield BindingVerdict(None, classes, "", "unknown", "receiver-dynamic", (), (min(ends),))
        elif known and not told and excluded:
            yield BindingVerdict(None, (), "", "unknown", "unreached", (), ())  # conditions keep everything from here
        elif others and not told:
            yield BindingVerdict(None, tuple(sorted(others)), "", "exempt", "not-a-pool", (), ())
        elif known and not told:  # stand-ins alone
            yield BindingVerdict(None, tuple(sorted({one.cls for one, _ in known})), "", "exempt", "not-a-pool", (), ())
        elif not known:
            classes = tuple(sorted({one.cls for one, _ in objects}))
            if objects and all(self._is_foreign(one) for one, _ in objects):
                yield BindingVerdict(None, classes, "", "exempt", "not-a-pool", (), ())
            else:
                yield self._unresolved(found, name, classes)

    def _has(self, one: Instance, name: str) -> bool:
        """Whether its class gives an object the attribute: else the call would raise AttributeError."""
        return name in self._linker.hierarchy.attributes(one.cls, self._linker.functions)

    def _meeting(self, way: _Way, target: Instance) -> Meeting:
        """Under which conditions an object comes to a site: its holder comes there, and it to each who hands it on."""
        meeting = self._conditions.meeting(way.frame, way.value, way.block, way.use, way.holder)
        for step in way.steps:
            meeting = self._conditions.handed_on(meeting, step.node, step.one)
        return meeting

    def _derivation(self, way: _Way) -> tuple[tuple[str, int, str], ...]:
        """How an object comes to a site, through those who hand the name on to it."""
        found = self._linker.derivation(way.frame, way.value, way.holder)
        for step in way.steps:
            path, line, what = step.place
            handed = (path, line, f"{what} in {step.frame.code.name.rpartition('.')[2]}")
            found = [*self._linker.derivation(step.frame, step.value, step.one), handed, *found]
        return tuple(found)

    def _is_foreign(self, one: Instance) -> bool:
        """Whether it is no pool and has its methods from a class that is not in the tree."""
        return not self._linker.context_of(one) and self._linker.hierarchy.has_external_base(one.cls)

    def _cut_off(self, touch: Touch | None) -> str:
        """Why no path leads from a touch to a read; "" where one does, or where there is none."""
        return "" if touch is None or touch in self._needs.outcomes else self._needs.cut.get(touch, "")

    def _object(
        self,
        one: Instance,
        way: _Way,
        touch: Touch | None,
        name: str,
        derivation: tuple[tuple[str, int, str], ...],
        meeting: Meeting,
    ) -> Iterator[BindingVerdict]:
        linker = self._linker
        method = (linker.hierarchy.applicable(one.cls, linker.functions).get(name) or ("",))[0]
        if way.behind:  # super() in that class
            method = linker.hierarchy.lookup(one.cls, name, linker.functions, after=way.behind) or ""
        outcomes = self._needs.outcomes.get(touch, []) if touch is not None else []
        if not outcomes or not linker.context_of(one):
            reason = self._nothing_read(way.frame, method) if linker.context_of(one) else "not-a-pool"
            yield BindingVerdict(one, (one.cls,), method, "exempt", reason, (), derivation, meeting=meeting)
            return
        runs = method or (touch.method if touch else "")
        for mode in (EAGER, REPLAY):
            there = tuple(outcome for outcome in outcomes if outcome.mode == mode)
            if there:
                worst = min(there, key=_gravity)
                reason = worst.why if worst.verdict != "gated" else ""
                yield BindingVerdict(one, (one.cls,), runs, worst.verdict, reason, there, derivation, mode, meeting)

    def _nothing_read(self, frame: Frame, method: str) -> str:
        """Why a call of a pool's method needs no gate in which no storage is read that a load fills."""
        if method in self._reaching:
            return "metadata"
        return "transfer-side" if self._needs.is_transfer_side(frame.code) else "not-loaded"

    def _unresolved(
        self, found: list[tuple[FrameKey, int, Site]], name: str, classes: tuple[str, ...]
    ) -> BindingVerdict:
        """A receiver that nothing is known of, or only ``classes`` that have no such method."""
        if name not in self._pool_methods:
            return BindingVerdict(None, (), "", "exempt", "not-a-pool", (), ())
        for key, _, one in found:
            frame = self._graph.frames[key]
            base = _base(frame, one)
            place = self._conditions.dynamic(frame, base) if base is not None else None
            if place is not None:
                return BindingVerdict(None, classes, "", "unknown", "receiver-dynamic", (), (place,))
        return BindingVerdict(None, classes, "", "unknown", "receiver-unresolved", (), ())


def _base(frame: Frame, one: Site) -> Value | None:
    if isinstance(one, Attr | Item):
        return one.base
    func = frame.code.defined.get(one.func)
    if isinstance(func, Attr):
        return func.base
    return func.arguments[0].value if isinstance(func, Call) and func.arguments else None


def _gravity(outcome: Outcome) -> tuple[int, int]:
    """Orders outcomes: the worst verdict first; of exempt uses those of elements."""
    return ORDER.index(outcome.verdict), 1 + UNREAD.index(outcome.why) if outcome.why in UNREAD else 0


def _use(frame: Frame, one: Site) -> Value:
    """What is read off the receiver: the attribute, or the method of a call."""
    return one.func if isinstance(one, Call) and isinstance(frame.code.defined.get(one.func), Attr) else one.dst


def _name(one: Object) -> str:
    if isinstance(one, Module):
        return f"module {one.name}"
    if isinstance(one, ClassObject):
        return f"class {one.cls}"
    return one.cls if isinstance(one, ExternalInstance) else getattr(one, "name", "")


def _pool_methods(linker: Linker) -> frozenset[str]:
    found: set[str] = set()
    for cls, made in linker.instances.items():
        if linker.tracked(cls) or any(one.owner is not None for one in made):
            found.update(linker.hierarchy.attributes(cls, linker.functions))
    for cls in linker.hierarchy.classes:
        if linker.tracked(cls):
            found.update(linker.hierarchy.attributes(cls, linker.functions))
    return frozenset(found)
