"""What device graphs record, and where they are replayed (DESIGN.md §2.8).

A graph is recorded by a ``with`` block whose context manager is made with the graph object: its kernels are kept, the
Python around them is not. ``graph.replay()`` runs the kernels again. Which graph is replayed is a matter of points-to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import Attr, Call, Enter, Exit, Value
from auditor.gating.symbols import path_of
from auditor.gating.values import Place
from auditor.link import Code, ExternalInstance, Frame, Linker, successors
from auditor.spec import EngineSpec


@dataclass(frozen=True, slots=True)
class Capture:
    """A ``with`` block that records ``graphs``. ``called``: the frames that it calls; ``read``: the positions (line,
    column) of the instructions in the block itself; ``forwards``: whether the block calls the network as a whole."""

    frame: FrameKey
    graphs: frozenset[ExternalInstance]
    called: frozenset[FrameKey]
    read: frozenset[tuple[int, int]]
    forwards: bool


@dataclass(frozen=True, slots=True)
class ReplayCall:
    """``graph.replay()``: where, and on which graphs."""

    frame: FrameKey
    block: int
    position: int
    value: Value
    place: Place
    graphs: frozenset[ExternalInstance]


class Graphs:
    """Finds captures and replay calls; empty for a pack that names no graph class."""

    def __init__(self, linker: Linker, graph: CallGraph, spec: EngineSpec) -> None:
        self._linker = linker
        self._graph = graph
        self._spec = spec.graphs
        self._forwarding: dict[str, bool] = {}

    def captures(self) -> Iterator[Capture]:
        """Every recording ``with`` block."""
        for key, frame in self._frames():
            for number, block in enumerate(frame.code.facts.blocks):
                for index, one in enumerate(block.instructions):
                    graphs = self._recorded_by(frame, one, number) if isinstance(one, Enter) else frozenset()
                    if isinstance(one, Enter) and graphs:
                        yield self._capture(key, frame, one, (number, index + 1), graphs)

    def replays(self) -> Iterator[ReplayCall]:
        """Every call that replays a graph."""
        for key, frame in self._frames():
            code = frame.code
            for number, block in enumerate(code.facts.blocks):
                for index, one in enumerate(block.instructions):
                    func = code.defined.get(one.func) if isinstance(one, Call) else None
                    if isinstance(one, Call) and isinstance(func, Attr) and func.name == self._spec.replay:
                        graphs = self._graphs(frame, func.base, number)
                        if graphs:
                            place = Place(code.path, one.at.line, one.at.column, code.name)
                            yield ReplayCall(key, number, index, one.dst, place, graphs)

    def runs_network(self, code: Code) -> bool:
        """Whether a function calls the network as a whole, as the pack spells it."""
        if code.name not in self._forwarding:
            calls = (one for one in code.defined.values() if isinstance(one, Call))
            self._forwarding[code.name] = any(self._is_forward(code, one) for one in calls)
        return self._forwarding[code.name]

    def _frames(self) -> Iterator[tuple[FrameKey, Frame]]:
        if self._spec.classes:
            yield from self._graph.frames.items()

    def _graphs(self, frame: Frame, value: Value, block: int) -> frozenset[ExternalInstance]:
        found = (one for one in self._linker.view(frame, value, block) if isinstance(one, ExternalInstance))
        return frozenset(one for one in found if one.cls.rpartition(".")[2] in self._spec.classes)

    def _recorded_by(self, frame: Frame, one: Enter, block: int) -> frozenset[ExternalInstance]:
        manager = frame.code.defined.get(one.manager)
        given = manager.arguments if isinstance(manager, Call) else ()
        return frozenset().union(*(self._graphs(frame, argument.value, block) for argument in given))

    def _capture(
        self, key: FrameKey, frame: Frame, one: Enter, start: tuple[int, int], graphs: frozenset[ExternalInstance]
    ) -> Capture:
        recorded = tuple(_inside(frame.code, one.manager, start))
        values = {each.dst for each in recorded}
        called = frozenset(site.callee for site in self._graph.calls[key] if site.value in values)
        forwards = any(isinstance(each, Call) and self._is_forward(frame.code, each) for each in recorded)
        return Capture(key, graphs, called, frozenset((each.at.line, each.at.column) for each in recorded), forwards)

    def _is_forward(self, code: Code, call: Call) -> bool:
        spelled = f".{path_of(code.defined, call.func)}"
        return any(spelled.endswith(f".{one}") for one in self._spec.forwards)


def _inside(code: Code, manager: Value, start: tuple[int, int]) -> Iterator[Call | Attr]:
    """The calls and attributes read between the start of a ``with`` block and its end on each path."""
    blocks = code.facts.blocks
    todo, seen = [start], {start[0]}
    while todo:
        number, first = todo.pop()
        for one in blocks[number].instructions[first:]:
            if isinstance(one, Exit) and one.manager == manager:
                break
            if isinstance(one, Call | Attr):
                yield one
        else:
            for target in successors(blocks[number]):
                if target not in seen:
                    seen.add(target)
                    todo.append((target, 0))
