"""Where loads begin: what was waited for before is of an earlier load.

A load begins where all layers are signalled one after the other: in a function that counts them in a loop and signals
the counted one, itself or through functions that are handed it. It has begun behind the loop: a function that waits for
one layer and has the next one loaded, in one loop, reads what it has waited for.
"""

from __future__ import annotations

from collections.abc import Collection

from auditor.callgraph import CallGraph, CallSite, FrameKey
from auditor.dataflow import Graph
from auditor.facts import Choice, Iterate, Unpack
from auditor.gating.held import arguments_of, calling
from auditor.gating.symbols import Layer, Path, layer_of
from auditor.link import Code


class Loads:
    """Answers for a frame. ``signals``: the methods that say that a layer has arrived."""

    def __init__(self, graph: CallGraph, signals: frozenset[str]) -> None:
        self._graph = graph
        self._here: dict[FrameKey, set[tuple[int, int]]] = {}
        self._signalling(signals)
        self._beginning = graph.reaching(self._here)

    def begins(self, key: FrameKey) -> Collection[tuple[int, int]]:
        """Where a load may begin in a frame, or in what it calls: block and index, in order."""
        if key not in self._beginning:
            return ()
        calls = {(site.block, site.index) for site in self._graph.calls[key] if site.callee in self._beginning}
        return sorted(calls | self._here.get(key, set()))

    def _signalling(self, signals: frozenset[str]) -> None:
        # begins(end of a loop) ⇐ the loop counts the layer that a callee signals
        # signals(caller, parameter) ⇐ the caller hands it to a callee as the layer that this one signals
        todo = [
            (key, one.name)
            for key in sorted(self._graph.frames, key=repr)
            if key[0] in signals
            for one in self._graph.code(key).facts.params[1:2]
        ]
        seen = set(todo)
        while todo:
            key, name = todo.pop()
            for caller, site in self._graph.callers.get(key, ()):
                code = self._graph.code(caller)
                for one in self._layer(code, site, name).roots():
                    behind = _behind_loop(code, one)
                    if behind is not None:
                        self._here.setdefault(caller, set()).add((behind, -1))
                    elif not one.names and (caller, one.root) not in seen:
                        seen.add((caller, one.root))
                        todo.append((caller, one.root))

    def _layer(self, code: Code, site: CallSite, name: str) -> Layer:
        """What a call gives for the parameter ``name`` of its callee."""
        callee = self._graph.code(site.callee).facts
        value = arguments_of(code, calling(code, site), callee, implicit=site.implicit).get(name)
        return layer_of(code.defined, value) if isinstance(value, int) else Layer()


def _behind_loop(code: Code, path: Path) -> int | None:
    """The block behind the loop whose variable a path is. Inside, one layer is loaded while another is read."""
    one = code.defined.get(int(path.root[1:])) if path.root.startswith("%") else None
    counted = code.defined.get(one.source) if isinstance(one, Unpack) else one
    bodies = {number for number, block in enumerate(code.facts.blocks) if counted in block.instructions}
    ends = (block.end for block in code.facts.blocks)
    loops = (end.targets for end in ends if isinstance(end, Choice) and len(end.targets) == 2)
    return next((end for body, end in loops if isinstance(counted, Iterate) and body in bodies), None)


def goes_on(flow: Graph, start: tuple[int, int], goal: tuple[int, int], but: tuple[int, int] | None = None) -> bool:
    """Whether control can go on from one place to another; not by way of ``but``, where it comes to that again."""
    if start[0] == goal[0] and start[1] < goal[1]:
        return True
    seen: set[int] = set()
    todo = list(flow.successors[start[0]])
    while todo:
        block = todo.pop()
        if block == goal[0] and (but is None or block != but[0] or goal[1] <= but[1]):
            return True
        if block not in seen and (but is None or block != but[0]):
            seen.add(block)
            todo.extend(flow.successors[block])
    return False
