"""Methods that no code calls on one of the objects that they could run on: they are no entry points of it."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import Attr
from auditor.link import Frame, Instance, Linker


class Uncalled:
    """Answers for frames that no resolved call reaches."""

    def __init__(self, linker: Linker, graph: CallGraph) -> None:
        self._linker = linker
        self._graph = graph
        self._called = frozenset(name for name, _ in graph.callers)
        self._private: dict[str, list[tuple[Frame, int, int]]] | None = None

    def why(self, key: FrameKey) -> str:
        """Why no path leads to a frame; "" where one may: from outside the tree, or by a receiver that is not known."""
        name, one = key
        method = name.rpartition(".")[2]
        if one is None:
            return ""
        if name in self._called or (_is_private(method) and self._is_for_others(method, one)):
            return f"nothing calls {method} on it"
        return ""

    def _is_for_others(self, method: str, one: Instance) -> bool:
        """Whether a private name is read somewhere, and wherever that is, of known objects that are not this one."""
        found = False
        for frame, block, base in self._reads(method):
            receivers = self._linker.graph.points_to(frame.node(base))
            if not receivers or one in self._linker.view(frame, base, block):
                return False
            found = True
        return found

    def _reads(self, method: str) -> Sequence[tuple[Frame, int, int]]:
        """Where a private name is read: frame, block, and of which value."""
        if self._private is None:
            self._private = {}
            for frame in self._graph.frames.values():
                for number, block in enumerate(frame.code.facts.blocks):
                    for one in block.instructions:
                        if type(one) is Attr and _is_private(one.name):
                            self._private.setdefault(one.name, []).append((frame, number, one.base))
        return self._private.get(method, ())


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")
