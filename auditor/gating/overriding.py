"""Which arming calls are overridden: another one follows on every way, before a load begins (DESIGN.md §2.5).

The calls that lead to them are expanded in place: a controller registers its counter where it is made, and who made it
takes the counter away in the next line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import Return
from auditor.gating.loads import goes_on

At: TypeAlias = tuple[int, int]
_START: At = (0, -1)


class Point(NamedTuple):
    """An instruction of a frame: its block, and its index there."""

    frame: FrameKey
    block: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nothing needs


class Overriding:
    """Answers for points. ``begins``: where a load may begin in a frame, or in what it calls."""

    def __init__(
        self, graph: CallGraph, begins: Callable[[FrameKey], Collection[At]], product: Callable[[str], bool]
    ) -> None:
        self._graph = graph
        self._begins = begins
        self._product = product

    def follow(self, others: Collection[Point], one: Point) -> bool:
        """Whether, wherever ``one`` has run, one of the ``others`` runs next, and no load begins before it does."""
        certain = self._certain(others)
        seen = {one}
        todo = [one]
        while todo:
            frame, *at = todo.pop()
            if self._passes(frame, (at[0], at[1]), certain.get(frame, frozenset())):
                continue
            above = list(self._callers(frame))
            if not above:
                return False
            todo += (each for each in above if each not in seen)
            seen.update(above)
        return True

    def _certain(self, points: Collection[Point]) -> Mapping[FrameKey, frozenset[At]]:
        """Frame -> where it comes to one of ``points``, itself or in a call that always does and begins no load."""
        found: dict[FrameKey, frozenset[At]] = defaultdict(frozenset)
        todo = list(points)
        while todo:
            frame, *at = todo.pop()
            if (at[0], at[1]) not in (*found[frame], *self._begins(frame)):
                found[frame] |= {(at[0], at[1])}
                if self._passes(frame, _START, found[frame]):
                    todo += self._callers(frame)
        return found

    def _callers(self, frame: FrameKey) -> Iterator[Point]:
        for caller, site in self._graph.callers.get(frame, ()):
            if self._product(self._graph.code(caller).path):
                yield Point(caller, site.block, site.index)

    def _passes(self, frame: FrameKey, start: At, goals: frozenset[At]) -> bool:
        """Whether every way on from a place to a return comes by one of ``goals``, and no load begins before."""
        if not goals:
            return False
        code = self._graph.code(frame)
        flow = code.flow
        loads = [each for each in self._begins(frame) if goes_on(flow, start, each)]
        if any(goes_on(flow, each, goal) for each in loads for goal in goals):
            return False
        if any(block == start[0] and index > start[1] for block, index in goals):
            return True
        stops = {block for block, _ in goals}
        seen, todo, met = {start[0]}, [start[0]], False
        while todo:
            block = todo.pop()
            if isinstance(code.facts.blocks[block].end, Return):
                return False
            targets = set(flow.successors[block])
            met |= not targets.isdisjoint(stops)
            todo += targets - stops - seen
            seen |= targets
        return met
