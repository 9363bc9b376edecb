"""Which of the held gates covers a read, and why each of the others does not."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from auditor.callgraph import CallGraph, FrameKey
from auditor.dataflow import edge_dominators, reaches
from auditor.facts import NOTHING, Branch, Call, Name, Op, Value
from auditor.gating.armed import Armed
from auditor.gating.held import HeldGates
from auditor.gating.loads import goes_on
from auditor.gating.symbols import EVERY, Derived, Layer, covers, path_of, readable, without_first_layer
from auditor.gating.values import (
    EARLY,
    PASSED_ON,
    SWITCH,
    UNRELATED_ARGUMENT,
    UNRELATED_SWITCH,
    Bound,
    Gate,
    Held,
    Near,
    Place,
)
from auditor.link import Code, Instance

NOOP = "noop"
"""Why a wait that does nothing does not count."""
MEMO = "memo"
"""Why a wait does not count that a memo says to have been made, for a load that may be over."""
ORDER = "order"
"""Why a wait on an object does not count whose arming order cannot be told."""
OTHER = "other objects only"
"""Why a wait that only some receivers make does not count for this one."""


class Covering:
    """Answers for a point of a frame."""

    def __init__(self, graph: CallGraph, held: HeldGates, armed: Armed, first_layers: frozenset[str]) -> None:
        self._first_layers = first_layers
        self._graph = graph
        self._held = held
        self._armed = armed

    def judge(self, state: Held, layer: Layer, bound: Bound) -> tuple[tuple[Gate, str] | None, list[Near]]:
        """The held gate that covers ``layer``, with why; or why each of them does not."""
        near: list[Near] = []
        for gate in _in_order(state):
            verdict, why = self._covers(gate, layer, bound)
            if verdict and not gate.given:
                return (gate, why), []
            if gate.given and verdict is not False:
                if all(one.operator == PASSED_ON for one in gate.given):
                    near.append(Near("argument" if verdict else UNRELATED_ARGUMENT, gate, why))
                else:
                    near.append(Near(SWITCH if verdict else UNRELATED_SWITCH, gate, why))
            elif why != OTHER:
                near.append(Near(_kind(verdict, why), gate, why))
        return None, near

    def _covers(self, gate: Gate, layer: Layer, bound: Bound) -> tuple[bool | None, str]:
        path, receiver = bound
        owners = gate.owners
        if gate.noop:
            return False, NOOP
        if gate.only is not None and (path is None or gate.only[0] != path or receiver not in gate.only[1]):
            return None, OTHER
        if owners is not None and receiver is not None and receiver in owners and gate.through == path is not None:
            owners = frozenset({receiver})
        apart = owners is not None and any(map(self._armed.arrives_apart, owners))
        if owners is not None:
            states = [self._armed.state(one) for one in sorted(owners, key=repr)]
            if not states:
                return None, "it is not known on which object the wait is"
            dead = [one for one in states if one.kind not in ("armed", "unclear")]
            if dead:
                return False, dead[0].why
            if any(one.kind == "unclear" for one in states) and covers(gate.layer, layer, self._first_layers)[0]:
                return None, ORDER
        if owners and gate.layer.table and all(self._held.has(one, gate.layer.table) for one in owners):
            return self._by_place(gate.layer.table)
        verdict, why = covers(gate.layer, layer, self._first_layers, apart=apart)
        return (None, MEMO) if verdict and gate.memo else (verdict, why)

    def _by_place(self, table: str) -> tuple[bool | None, str]:
        """Of a wait for the place of a layer in a table that its owner keeps to make ids dense: whether its counter
        counts places instead of layers is known where the loader looks up what it signals."""
        if table in self._held.tables.signalled:
            return False, f"the wait is for the place of the layer in `{table}`, and its counter counts layers"
        return None, f"whether its counter counts the places of `{table}` is not known"

    def of_others(self, state: Held, layer: Layer) -> tuple[tuple[Place, ...], ...]:
        """The calls by which a gate is acquired that covers ``layer``, whatever object it is of."""
        covering = (gate for gate in _in_order(state) if covers(gate.layer, layer, self._first_layers)[0])
        return next((gate.chains for gate in covering), ())

    def elsewhere(self, key: FrameKey, layer: Layer, point: tuple[int, int], bound: Bound) -> Iterator[Near]:
        """Live gates of a function that are not held at a point (block, index): on some of the paths to it, later, or
        aside on paths that never meet it. One whose layer cannot be compared tells only where it is skipped because
        there is no layer to wait for."""
        block, index = point
        state = self._held.state(key).at(block, index)
        code = self._graph.code(key)
        flow = code.flow
        for event in self._held.state(key).events:
            for gate in event.gates:
                made_inside = bool(gate.given) and (event.block, event.index) == point
                verdict, why = self._covers(gate, layer, bound)
                if made_inside or verdict is False or gate in state:
                    continue  # what the call that reads waits for on some paths was near there
                before = (event.block == block and event.index < index) or (
                    reaches(flow.successors, event.block, block) and not _is_made_anew(code, gate.layer, block)
                )
                if verdict is None:
                    if before and not gate.given and self._is_of_some(key, gate, event.block, block):
                        yield Near("unrelated", gate, why)
                    continue
                if not before and (block == event.block or reaches(flow.successors, block, event.block)):
                    yield Near("after", gate, "only after the read")
                elif not before:
                    yield Near("aside", gate, "on other paths")
                elif self._is_early(key, (event.block, event.index), point):
                    yield Near(EARLY, gate, "before the load begins")
                elif self._guard_is_foreign(key, event.block, block):
                    yield Near("guard", gate, "whether it runs is decided outside the tree")
                else:
                    yield Near("branch", gate, "not on every path")

    def _is_of_some(self, key: FrameKey, gate: Gate, waits: int, read: int) -> bool:
        """Whether a wait is skipped where that is empty which its layer is picked from: ``if ids: wait(min(ids))``."""
        code = self._graph.code(key)
        picked = {path for atom, _ in gate.layer.terms if isinstance(atom, Derived) for path in atom.sources}
        return any(path_of(code.defined, test) in picked for test in self._tests(key, waits, read))

    def _is_early(self, key: FrameKey, gate: tuple[int, int], point: tuple[int, int]) -> bool:
        """Whether a load may begin between a gate and a point."""
        flow = self._graph.code(key).flow
        return any(goes_on(flow, gate, begin) and goes_on(flow, begin, point) for begin in self._held.begins(key))

    def _guard_is_foreign(self, key: FrameKey, gate: int, read: int) -> bool:
        """Whether the branch that leads to the gate and not to the read tests what no code of the tree says."""
        code = self._graph.code(key)
        return any(self._is_foreign(key, code, test) for test in self._tests(key, gate, read))

    def _tests(self, key: FrameKey, gate: int, read: int) -> Iterator[Value]:
        """What the branches test that lead to one block and not to another."""
        code = self._graph.code(key)
        edges = edge_dominators(code.flow)
        for source, target in edges[gate]:
            end = code.facts.blocks[source].end
            if (source, target) not in edges[read] and isinstance(end, Branch):
                yield end.test

    def _is_foreign(self, key: FrameKey, code: Code, test: Value) -> bool:
        one = code.defined.get(test)
        if isinstance(one, Op):
            return any(self._is_foreign(key, code, value) for value in one.operands)
        if not isinstance(one, Call) or _is_builtin(code, one):
            return False
        return not any(site.value == one.dst for site in self._graph.calls[key])


def _is_made_anew(code: Code, layer: Layer, block: int) -> bool:
    """Whether a block makes a value anew that a layer is computed from, as each round of a loop does its variable."""
    made = {f"%{getattr(one, 'dst', NOTHING)}" for one in code.facts.blocks[block].instructions}
    return any(str(atom) in made for atom, _ in layer.terms)


def covering_all(armed: Armed, gate: Gate, pool: Instance) -> tuple[bool | None, str]:
    """Whether a gate covers every layer of what the loads of ``pool`` fill: True, False, None (cannot tell), with why.
    The owner of its counter may be another pool that the same loads fill."""
    if gate.noop:
        return False, NOOP
    owners = gate.owners if gate.owners is None or pool not in gate.owners else frozenset({pool})
    states = [armed.state(one) for one in sorted(owners or (), key=repr)]
    if owners is not None and all(one.kind not in ("armed", "unclear") for one in states):
        return (False, states[0].why) if states else (None, "it is not known on which object the wait is")
    verdict, why = covers(gate.layer, EVERY)
    if verdict and owners is not None and not any(one.kind == "armed" for one in states):
        return None, ORDER
    if verdict and gate.memo:
        return None, MEMO
    if verdict is None and not without_first_layer(gate.layer).terms:
        return False, f"the wait is for layer {readable(gate.layer)} alone"
    return verdict, why


def _is_builtin(code: Code, one: Call) -> bool:
    """Whether a call is one of a function of the language itself, such as isinstance."""
    func = code.defined.get(one.func)
    return isinstance(func, Name) and hasattr(builtins, func.name)


def _kind(verdict: bool | None, why: str) -> str:
    """Why a gate did not do, in one word (``Near.why``)."""
    if why in (NOOP, ORDER, MEMO):
        return why
    if why.startswith("the wait"):
        return "layer"
    return "unrelated" if verdict is None else "dead"


def _in_order(held: Held) -> list[Gate]:
    return sorted((one for one in held if isinstance(one, Gate)), key=lambda one: (one.place, one.chain))
