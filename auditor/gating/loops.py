"""Loops that wait for one layer a round: ``for layer in range(self.layer_num): wait(layer)``. Behind such a loop each
layer was waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from auditor.dataflow import Graph
from auditor.facts import Call, Choice, Iterate, Name
from auditor.gating.symbols import EVERY, Layer, Path, is_count, layer_of, without_first_layer
from auditor.gating.values import Gate, Held
from auditor.link import Code


def behind(code: Code, flow: Graph, at: Callable[[int, int], Held]) -> Mapping[tuple[int, int], Held]:
    """The gates that are held on the edges by which such loops end. ``at``: what is held at a point."""
    # held(every layer, end of a loop) ⇐ the loop counts all layers, each way through its body waits for the counted one
    found: dict[tuple[int, int], Held] = {}
    for head, body, end, one in _loops(code):
        ends = [block for block in _round(flow, head, body) if head in flow.successors[block]]
        rounds = [at(block, len(code.facts.blocks[block].instructions)) for block in ends]
        counted = Layer(((Path(f"%{one.dst}"), 1),))
        waits = [gate for gate in frozenset.intersection(*rounds) if isinstance(gate, Gate)] if rounds else []
        held = frozenset(replace(gate, layer=EVERY) for gate in waits if _is_for(gate, counted))
        if held:
            found[head, end] = held
    return found


def _loops(code: Code) -> Iterator[tuple[int, int, int, Iterate]]:
    """Head, body and end of the loops over all layers, with what makes their variable."""
    for number, block in enumerate(code.facts.blocks):
        if isinstance(block.end, Choice) and len(block.end.targets) == 2:
            body, end = block.end.targets
            first = code.facts.blocks[body].instructions[:1]
            if first and isinstance(first[0], Iterate) and _counts_layers(code, first[0]):
                yield number, body, end, first[0]


def _round(flow: Graph, head: int, body: int) -> frozenset[int]:
    """The blocks that run behind the start of a round before the next one."""
    found, todo = {body}, [body]
    while todo:
        for block in flow.successors[todo.pop()]:
            if block != head and block not in found:
                found.add(block)
                todo.append(block)
    return frozenset(found)


def _counts_layers(code: Code, one: Iterate) -> bool:
    made = code.defined.get(one.iterable)
    func = code.defined.get(made.func) if isinstance(made, Call) and len(made.arguments) == 1 else None
    counts = isinstance(func, Name) and func.name == "range"
    return counts and isinstance(made, Call) and is_count(layer_of(code.defined, made.arguments[0].value))


def _is_for(gate: Gate, counted: Layer) -> bool:
    """Whether a gate is for the layer that a loop counts, on what is the same in each round."""
    same = gate.through is None or not gate.through.root.startswith("%")
    return same and not gate.given and gate.only is None and without_first_layer(gate.layer) == counted
