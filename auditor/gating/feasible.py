"""Which paths control can take: the conditions of their steps, met with one another and with those of the storage.

A path is never taken that is reached under ``c`` and goes on, or leads to storage that is made, under ``not c`` alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditor.callgraph import CallGraph, FrameKey
from auditor.conditions import TRUE, Conditions, Formula
from auditor.link import Instance


class Feasible:
    """Answers for one step of a path after the other. In a recursive function every path is taken: what comes round
    the cycle is not known yet when it is asked for."""

    def __init__(self, graph: CallGraph, conditions: Conditions) -> None:
        self._graph = graph
        self._conditions = conditions
        self._recursive: set[FrameKey] = set()
        self._starts: dict[Instance, Formula] = {}

    def recur(self, frames: Iterable[FrameKey]) -> None:
        """Say that these frames can call themselves."""
        self._recursive.update(frames)

    def start(self, storage: Instance) -> Formula:
        """What is necessary for storage of ``storage`` to exist."""
        known = self._starts.get(storage)
        if known is None:
            known = self._starts[storage] = self._conditions.existing(storage)
        return known

    def through(self, when: Formula, key: FrameKey, block: int) -> Formula:
        """What is necessary for a path, ``when`` behind it, to go through a block of a frame; ``FALSE`` if it never
        does."""
        if key in self._recursive:
            return TRUE
        return self._conditions.passing(when, self._graph.frames[key], block)

    def against(self, when: Formula, key: FrameKey, block: int) -> str:
        """Why no path with ``when`` behind it goes through a block."""
        return self._conditions.parting(when, self._graph.frames[key], block)
