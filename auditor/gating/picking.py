"""Which layer an object belongs to that was picked out of a table: ``self.states[layer_id]`` is one layer's, and so is
all that it stores."""

from __future__ import annotations

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import NOTHING, Attr, Call, Const, Declare, Item, Phi, Return, Value
from auditor.gating.held import Calling, arguments_of, layer_into
from auditor.gating.symbols import EVERY, OWN, Layer, layer_of

_DEEPEST = 4
"""Calls and attributes that are followed to where an object was picked."""


class Picking:
    """Answers for values of a frame, in its terms; ``EVERY`` for what was not picked, or in different ways."""

    def __init__(self, graph: CallGraph, *, own: bool = False) -> None:
        """``own``: each object belongs to one layer."""
        self._own = own
        self._graph = graph
        self._returned: dict[FrameKey, Layer] = {}

    def of_receiver(self, key: FrameKey, call: Calling) -> Layer:
        """The layer of the object that a method is called on."""
        func = self._graph.code(key).defined.get(call.func) if isinstance(call, Call) else call
        return self.layer(key, func.base) if isinstance(func, Attr) else EVERY

    def layer(self, key: FrameKey, value: Value, depth: int = 0) -> Layer:
        code = self._graph.code(key)
        if self._own:
            return OWN
        if depth > _DEEPEST:
            return EVERY
        match code.defined.get(value):
            case Item(index=index) if not isinstance(code.defined.get(index), Const):
                return layer_of(code.defined, index)
            case Attr(base=base):
                return self.layer(key, base, depth + 1)
            case Declare(source=source) if source != NOTHING:
                return self.layer(key, source, depth + 1)
            case Phi(dst=dst, choices=choices):
                return _one_of({self.layer(key, choice, depth + 1) for _, choice in choices if choice != dst})
            case Call() as call:
                return self._by_call(key, call, depth)
        return EVERY

    def _by_call(self, key: FrameKey, call: Call, depth: int) -> Layer:
        code = self._graph.code(key)
        found: set[Layer] = set()
        for site in self._graph.calls[key]:
            if site.value == call.dst:
                picked = self._by_callee(site.callee, depth)
                arguments = arguments_of(code, call, self._graph.code(site.callee).facts, implicit=site.implicit)
                found.add(picked if picked.every else layer_into(code, arguments, picked, f"{site.value}!"))
        return _one_of(found)

    def _by_callee(self, callee: FrameKey, depth: int) -> Layer:
        known = self._returned.get(callee)
        if known is None:
            self._returned[callee] = EVERY  # a recursive call picks nothing of its own
            ends = [block.end for block in self._graph.code(callee).facts.blocks]
            values = {end.value for end in ends if isinstance(end, Return)}
            known = self._returned[callee] = _one_of({self.layer(callee, value, depth + 1) for value in values})
        return known


def _one_of(layers: set[Layer]) -> Layer:
    return layers.pop() if len(layers) == 1 else EVERY
