"""Which counters a loader completes, and whether layer after layer.

A counter is completed by a signal on it, or on what it is made of (an event of its own for each generation). Nobody
completes one that is made, registered on a pool and given to no one else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.callgraph import CallGraph
from auditor.facts import Attr, Branch, Call, Const, Declare, Op, SetAttr, Value
from auditor.gating.uses import called_name, users
from auditor.link import Code, Instance, Linker, Object
from auditor.loading import Loading
from auditor.spec import EngineSpec

_DEEPEST = 4
"""Fields and collections that lead from a counter to what is signalled."""


class Completing:
    """Answers for counters: as objects, and as values that are registered."""

    def __init__(self, linker: Linker, graph: CallGraph, loading: Loading, spec: EngineSpec) -> None:
        self._linker = linker
        self._graph = graph
        self._methods = frozenset(name for one in loading.counters for name in one.signals)
        self._apart = loading.apart
        self._counts = any(one.counts for one in loading.loaders.values())
        self._arming = frozenset(one.method for one in spec.arming)
        self._counters = frozenset(one.counter for one in spec.gates)
        self._asked = frozenset((*(one.method for one in spec.gates), *(one.attribute for one in spec.in_flight)))
        self._parts: dict[Object, list[int]] = {}
        for (owner, _), node in linker.fields.items() if self._apart else ():
            self._parts.setdefault(owner, []).append(node)
        self._signalled: Mapping[Object, bool] | None = None
        self._kept: dict[str, bool] = {}

    def never(self, code: Code, value: Value) -> bool:
        """Whether no loader completes a counter that a function registers, though some are completed; False also where
        that cannot be told.

        never(value) ⇐ it is made for the call, or for an attribute that is only ever registered and waited on; and what
        pools keep as their counter is only waited on.
        """
        return (
            self._counts
            and self._is_given_to_pools_alone(code, value)
            and not any(self._is_kept_elsewhere(name) for name in self._counters)
        )

    def _is_given_to_pools_alone(self, code: Code, value: Value) -> bool:
        one = code.defined.get(value)
        if isinstance(one, Attr):
            return code.is_method and one.base == 0 and not self._is_kept_elsewhere(one.name)
        return self._is_made_for(code, value)

    def _is_made_for(self, code: Code, value: Value) -> bool:
        """Whether a value is a new counter that is used once; or none."""
        one = code.defined.get(value)
        if isinstance(one, Const):
            return one.value is None
        return isinstance(one, Call) and len(users(code.facts).get(value, ())) == 1

    def _is_kept_elsewhere(self, name: str) -> bool:
        """Whether what an attribute of this name holds may be completed: by who set it, or by who reads it."""
        if name not in self._kept:
            self._kept[name] = any(not self._is_quiet(code, name) for code in self._linker.codes.values())
        return self._kept[name]

    def _is_quiet(self, code: Code, name: str) -> bool:
        read = [one.dst for one in code.defined.values() if type(one) is Attr and one.name == name]
        table = users(code.facts) if read else {}
        uses = (use.instruction for value in read for use in table.get(value, ()))
        stores = (
            one
            for block in code.facts.blocks
            for one in block.instructions
            if type(one) is SetAttr and one.name == name
        )
        return all(self._only_waits(code, one) for one in uses) and all(
            self._is_made_for(code, one.value) or code.facts.name in self._arming for one in stores
        )

    def _only_waits(self, code: Code, one: object) -> bool:
        """Whether a use of a counter waits on it, asks whether it is there or hands it on to a pool."""
        match one:
            case Attr(name=name):
                return name in self._asked
            case Call():
                return called_name(code, one) in self._arming
            case Op(operator="is" | "is not" | "not"):
                return True
        return isinstance(one, Branch | Declare)

    def apart(self, counter: Instance) -> bool:
        """Whether some loader signals each layer of a counter on a stream of its own."""
        signalled = self._find() if self._apart else {}
        return any(signalled.get(one, False) for one in self._within(counter)) if signalled else False

    def _find(self) -> Mapping[Object, bool]:
        """The objects that are signalled, each with whether it is so apart. A method that is handed on is called."""
        if self._signalled is None:
            found: dict[Object, bool] = {}
            names = {name.rpartition(".")[2] for name in self._methods}
            owners = {name.rpartition(".")[0] for name in self._methods}
            for key, frame in self._graph.frames.items():
                for one in frame.code.defined.values():
                    if type(one) is Attr and one.name in names:
                        objects = self._linker.graph.points_to(frame.node(one.base))
                        for each in objects:
                            if isinstance(each, Instance) and owners.intersection(self._linker.hierarchy.mro(each.cls)):
                                found[each] = found.get(each, False) or key[0] in self._apart
            self._signalled = found
        return self._signalled

    def _within(self, counter: Instance) -> Iterator[Object]:
        """A counter and what it is made of."""
        seen: set[Object] = {counter}
        level: list[Object] = [counter]
        for _ in range(_DEEPEST):
            yield from level
            nodes = [node for one in level for node in self._parts.get(one, ())]
            level = [one for node in nodes for one in self._linker.graph.points_to(node) if one not in seen]
            level = list(dict.fromkeys(level))
            seen.update(level)
