"""Methods that no resolved call reaches: of which objects they are no entry points, and for whom they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import Attr
from auditor.link import Frame, Instance, Linker


class Uncalled:
    """Answers for frames that no resolved call reaches."""

    def __init__(self, linker: Linker, graph: CallGraph) -> None:
        self._linker = linker
        self._graph = graph
        self._called = frozenset(name for name, _ in graph.callers)
        self._read: dict[str, list[tuple[Frame, int, int]]] | None = None

    def why(self, key: FrameKey) -> str:
        """Why no path leads to a frame; "" where one may: from outside the tree, or by a receiver that is not known."""
        name, one = key
        method = name.rpartition(".")[2]
        if one is None:
            return ""
        if name in self._called or (_is_private(method) and self._is_not_for(method, one)):
            return f"nothing calls {method} on it"
        return ""

    def only_from(self, key: FrameKey, is_one: Callable[[str], bool]) -> bool:
        """Whether no resolved call reaches a method, but its name is read, and only in classes of some kind: they call
        it on an object that is not known."""
        if key[0] in self._called:
            return False
        owners = {frame.code.owner for frame, _, _ in self._reads(key[0].rpartition(".")[2])}
        return bool(owners) and all(owner and is_one(owner) for owner in owners)

    def _is_not_for(self, method: str, one: Instance) -> bool:
        """Whether a private name is read nowhere (it was left over), or of known objects that are not this one."""
        return all(
            self._linker.graph.points_to(frame.node(base)) and one not in self._linker.view(frame, base, block)
            for frame, block, base in self._reads(method)
        )

    def _reads(self, method: str) -> Sequence[tuple[Frame, int, int]]:
        """Where a name that is private, or of a function that is not called, is read: frame, block, of which value."""
        if self._read is None:
            self._read = {}
            asked = {name.rpartition(".")[2] for name, _ in self._graph.frames if name not in self._called}
            for frame in self._graph.frames.values():
                for number, block in enumerate(frame.code.facts.blocks):
                    for one in block.instructions:
                        if type(one) is Attr and (one.name in asked or _is_private(one.name)):
                            self._read.setdefault(one.name, []).append((frame, number, one.base))
        return self._read.get(method, ())


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")
