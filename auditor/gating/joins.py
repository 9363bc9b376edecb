"""Reads behind a join of paths: what one gate does not cover for all paths may be covered on each by a gate of its own.

A receiver or a layer that paths join (a phi) is taken apart again: on each path that the object can have come by, the
read is judged with the values that it has there and the gates that are held there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import NOTHING, Phi, Value
from auditor.gating.covering import Covering
from auditor.gating.held import HeldGates, instances
from auditor.gating.symbols import Derived, Layer, Path, layer_of, path_of, replaced
from auditor.gating.values import Bound, Gate, Place, Vacuous
from auditor.link import Code, Linker

_DEEPEST = 4
"""Joins before joins that are taken apart."""


class Joins:
    """Answers for a frame: the gate of the first path, with the others beside it, where each has one or needs none. A
    path that the object does not come by needs none; where it has one for the objects that do, that is beside it too,
    so that nobody has to know which object comes by which path to see that a wait comes first on each."""

    def __init__(self, linker: Linker, graph: CallGraph, held: HeldGates, covering: Covering) -> None:
        self._linker = linker
        self._graph = graph
        self._held = held
        self._covering = covering

    def gate(self, key: FrameKey, layer: Layer, bound: Bound, depth: int = 0) -> tuple[Gate, str] | None:
        """The gate (with why it covers) of a read of ``layer`` on ``bound``, both in the terms of ``key``."""
        code = self._graph.code(key)
        for join, phis in _joins(code, layer, bound[0]):
            found = self._on_each_path(key, join, phis, layer, bound, depth)
            if found is not None:
                return found
        return None

    def _on_each_path(
        self, key: FrameKey, join: int, phis: list[Phi], layer: Layer, bound: Bound, depth: int
    ) -> tuple[Gate, str] | None:
        code = self._graph.code(key)
        path, receiver = bound
        found: list[tuple[Gate, str]] = []
        others: dict[tuple[Place, ...], None] = {}
        for source in sorted({block for phi in phis for block, _ in phi.choices}):
            values = {phi.dst: dict(phi.choices).get(source, NOTHING) for phi in phis}
            layer_there = replaced(layer, {f"%{dst}": layer_of(code.defined, value) for dst, value in values.items()})
            state = self._held.along(key, source, join)
            if not self._comes_by(key, source, values, bound):
                others.update(dict.fromkeys(self._covering.of_others(state, layer_there)))
                continue
            there = (_path_there(code, path, values), receiver)
            gate, _ = self._covering.judge(state, layer_there, there)
            if gate is None and depth < _DEEPEST:
                gate = self.gate(key, layer_there, there, depth + 1)
            if gate is None and (there[0] is None or Vacuous(frozenset({there[0]})) not in state):
                return None
            found += [gate] if gate is not None else []
        if not found:
            return None
        (first, why), chains = found[0], dict.fromkeys(each for one, _ in found for each in one.chains) | others
        return replace(first, beside=tuple(chains) if len(chains) > 1 else ()), why

    def _comes_by(self, key: FrameKey, block: int, values: Mapping[Value, Value], bound: Bound) -> bool:
        """Whether the object can be what the receiver is at the end of ``block``."""
        path, receiver = bound
        for dst, value in values.items():
            if path == Path(f"%{dst}") and receiver is not None:
                return receiver in instances(self._linker, self._graph.frames[key], value, block)
        return True


def _joins(code: Code, layer: Layer, path: Path | None) -> Iterator[tuple[int, list[Phi]]]:
    """The blocks where paths join a value that the layer or the receiver is named by, the last first."""
    named = {atom.text if isinstance(atom, Derived) else atom.root for atom, _ in layer.terms}
    named |= {one.root for one in layer.roots()}
    if path is not None:
        named.add(path.root)
    if not any(name.startswith("%") for name in named):
        return
    for number in reversed(range(len(code.facts.blocks))):
        phis = [one for one in code.facts.blocks[number].instructions if isinstance(one, Phi)]
        if any(f"%{one.dst}" in named for one in phis):
            yield number, phis


def _path_there(code: Code, path: Path | None, values: Mapping[Value, Value]) -> Path | None:
    for dst, value in values.items():
        if path is not None and path.root == f"%{dst}":
            base = path_of(code.defined, value)
            return Path(base.root, base.names + path.names)
    return path
