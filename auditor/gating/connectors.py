"""Connectors: plugins that load, of which one is chosen when the server starts. A gate that calls the plugin's wait
orders the read only if the plugin waits; the reads behind such gates are judged for each plugin of the tree.

A wait that does nothing is right where nothing is in flight: the plugin loads nothing, or loads between passes (its
offer says so; that requests are held back until then is an assumption of the pack), or is done when its load returns
(an assumption about something that the load calls).

A wait that does something is skipped by the replay of a captured graph, unless the plugin asks to be left out of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import NOTHING, Build, Call, Const, Instruction, Op, Return, Value
from auditor.gating.held import CONNECTOR, HeldGates, is_empty
from auditor.gating.needs import Needs
from auditor.gating.symbols import OWN
from auditor.gating.uses import called_name
from auditor.gating.values import Buffer, Gate, Hop, Near, Need, Outcome, Touch, defined_at
from auditor.link import Code, Instance, Linker
from auditor.spec import EngineSpec


class Connectors:
    """Judges the plugins; ``run`` adds what their waits mean to the outcomes of the reads behind them.

    ``awaited``: the objects of these reads; ``at_fault``: the waits that nobody may skip, for they have something to
    wait for, each with the method at fault if a graph does: its own, or the root's where plugins cannot ask to be left
    out; ``foreign``: those of them that ask another package by the same name, and it is not known whether that waits.
    """

    def __init__(self, linker: Linker, graph: CallGraph, spec: EngineSpec, held: HeldGates, needs: Needs) -> None:
        self._linker = linker
        self._graph = graph
        self._spec = spec.connectors
        self._held = held
        self._needs = needs
        self.awaited: tuple[Instance, ...] = ()
        self.at_fault: Mapping[FrameKey, FrameKey] = {}
        self.foreign: frozenset[FrameKey] = frozenset()

    def run(self) -> None:
        if not self._spec.wait:
            return
        behind = {
            touch: gated
            for touch, outcomes in self._needs.outcomes.items()
            if (gated := next((one for one in outcomes if _is_plugins(one.gate)), None)) is not None
        }
        at_fault: dict[FrameKey, FrameKey] = {}
        for cls in sorted(self._classes()):
            wait = self._method(cls, self._spec.wait)
            if wait is None:
                continue
            if self._waits(wait, frozenset()):
                if not (self._asks_to_be_left_out(cls) or self._loads_between_passes(cls) or self._is_done(cls)):
                    at_fault[wait] = self._root_that_does_not_ask(cls) or wait
                continue
            why = self._excuse(cls, wait)
            for touch, gated in behind.items():
                self._needs.outcomes[touch].append(why or self._noop(wait, touch, gated))
        self.awaited = tuple(dict.fromkeys(touch.object for touch in behind))
        self.at_fault = at_fault
        self.foreign = frozenset(filter(self._asks_another, at_fault))

    # ------------------------------------------------------------ the plugins

    def _classes(self) -> Iterator[str]:
        """The classes of the tree that derive from a root of the pack."""
        for cls in self._linker.hierarchy.classes:
            above = {base.rpartition(".")[2] for base in self._linker.hierarchy.mro(cls)[1:]}
            if above.intersection(self._spec.roots):
                yield cls

    def _method(self, cls: str, name: str) -> FrameKey | None:
        found = self._linker.hierarchy.applicable(cls, self._linker.functions).get(name, ())
        return next(((one, None) for one in found[:1] if (one, None) in self._graph.frames), None)

    def _waits(self, key: FrameKey, above: frozenset[FrameKey]) -> bool:
        """Whether a method does anything that can wait: a call that leaves the tree, or one of a method that waits."""
        code = self._graph.code(key)
        if is_empty(code.facts) or key in above:
            return False
        calls = [one for one in code.defined.values() if isinstance(one, Call)]
        inside = {site.value: site.callee for site in self._graph.calls[key]}
        return any(one.dst not in inside or self._waits(inside[one.dst], above | {key}) for one in calls)

    def _asks_another(self, wait: FrameKey) -> bool:
        """Whether all that can wait in a wait is a call of the same name that leaves the tree."""
        code = self._graph.code(wait)
        inside = {site.value: site.callee for site in self._graph.calls[wait]}
        calls = [one for one in code.defined.values() if isinstance(one, Call)]
        waiting = [one for one in calls if one.dst not in inside or self._waits(inside[one.dst], frozenset({wait}))]
        return all(one.dst not in inside and called_name(code, one) == self._spec.wait for one in waiting)

    def _is_done(self, cls: str) -> bool:
        """Whether all that is loaded in a pass is there when the load returns: an assumption about what it calls."""
        load = self._method(cls, self._spec.load)
        return load is not None and any(self._needs.assumption(name) for name, _ in self._graph.below((load,)))

    def _excuse(self, cls: str, wait: FrameKey) -> Outcome | None:
        """Why nothing is in flight when a wait that does nothing is called; None where something may be."""
        load = self._method(cls, self._spec.load)
        if load is None or is_empty(self._graph.code(load).facts):
            return Outcome("exempt", "not-loaded")
        below = (load,) if self._loads_in_pass(cls) else (wait,)
        functions = self._graph.below(below) if below == (load,) else below
        for name, _ in sorted(functions, key=repr):
            assumed = self._needs.assumption(name)
            if assumed is not None:
                return Outcome("exempt", assumed.verdict, assumption=assumed.id)
        return None if below == (load,) else Outcome("unknown", "guard-not-implied")

    def _loads_in_pass(self, cls: str) -> bool:
        """Whether some offer is (more than nothing, False): what is loaded is then loaded during the pass."""
        return False in self._offered(cls)

    def _loads_between_passes(self, cls: str) -> bool:
        """Whether every offer is (more than nothing, True)."""
        return set(self._offered(cls)) == {True}

    def _offered(self, cls: str) -> Iterator[bool | None]:
        """Of each offer of more than nothing, whether it is for between passes; None where that is not constant."""
        offer = self._method(cls, self._spec.offer)
        for key in self._graph.below((offer,)) if offer is not None else ():
            code = self._graph.code(key)
            if code.facts.name != self._spec.offer:
                continue
            for block in code.facts.blocks:
                made = code.defined.get(block.end.value) if isinstance(block.end, Return) else None
                if (
                    isinstance(made, Build)
                    and made.kind == "tuple"
                    and len(made.elements) == 2
                    and NOTHING not in made.elements
                ):
                    count, between = (code.defined.get(one) for one in made.elements)
                    if isinstance(count, Const) and not count.value:
                        continue
                    if isinstance(between, Const):
                        yield bool(between.value)
                    else:
                        yield True if _is_any(code, between, made.elements[0]) else None

    def _asks_to_be_left_out(self, cls: str) -> bool:
        """Whether a plugin answers something else than no when it is asked whether graphs have to leave it out."""
        asked = self._method(cls, self._spec.uncaptured) if self._spec.uncaptured else None
        if asked is None:
            return False
        code = self._graph.code(asked)
        ends = [block.end for block in code.facts.blocks]
        answers = [code.defined.get(end.value) for end in ends if isinstance(end, Return)]
        return not all(isinstance(one, Const) and not one.value for one in answers)

    def _root_that_does_not_ask(self, cls: str) -> FrameKey | None:
        """The wait of the root of a plugin, if the root has no method by which its plugins could ask to be left out."""
        for base in self._linker.hierarchy.mro(cls)[1:]:
            if base.rpartition(".")[2] in self._spec.roots and self._spec.uncaptured:
                return None if self._method(base, self._spec.uncaptured) else self._method(base, self._spec.wait)
        return None

    # ------------------------------------------------------------ what it means for a read

    def _noop(self, wait: FrameKey, touch: Touch, gated: Outcome) -> Outcome:
        code = self._graph.code(wait)
        place = defined_at(code)
        gate = Gate(None, CONNECTOR, OWN, noop=True, place=place, text=self._spec.wait, chain=(place,))
        last = gated.hops or ()
        hops = (Hop(wait, place, "returns at once: what the plugin has started to load may be on its way"), *last)
        buffer = gated.need.buffer if gated.need is not None else Buffer(touch.object, touch.name)
        need = Need(
            buffer, OWN, place, "reads", (touch,), hops=hops, near=(Near("noop", gate, ""),), culprit=-len(hops)
        )
        return Outcome("ungated", "", None, need, hops)


def _is_any(code: Code, test: Instruction | None, count: Value) -> bool:
    """Whether a value is ``count > 0``."""
    if not (isinstance(test, Op) and test.operator == ">" and test.operands[0] == count):
        return False
    zero = code.defined.get(test.operands[1])
    return isinstance(zero, Const) and zero.value == 0


def _is_plugins(gate: Gate | None) -> bool:
    return gate is not None and gate.through == CONNECTOR
