"""Accessors and the storage behind them: methods of pools that wait and hand out, and siblings that do not wait."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from auditor.facts import Attr, Call, Item, Param, Raise, Value, expression
from auditor.learning.gates import Gates
from auditor.learning.pools import Pools, returned, returns
from auditor.learning.program import SELF, Program, calls, label, leaves, origin, short
from auditor.learning.values import HIGH, MEDIUM, Evidence, Named
from auditor.learning.waits import from_parameters
from auditor.link import Code
from auditor.loading import called, receiver, sources

_DEEPEST = 3
"""Calls from an accessor down to the method that picks the layer."""


class Accessors:
    """What the pools of a program hand out, and by which methods."""

    def __init__(self, program: Program, gates: Gates, pools: Pools, views: Collection[str]) -> None:
        self._program = program
        self._gates = gates
        self._pools = pools
        self._views = views
        self._methods = [code for cls in sorted(pools.family) for code in program.own(cls)]
        self._gated = {code.name: code for code in self._methods if self._is_gated(code)}
        self._names = {code.facts.name for code in self._gated.values()}
        self.storage = self._storage()
        """Attribute → where an accessor picks a layer of it."""

    def _is_gated(self, code: Code) -> bool:
        """A method that waits and does something with what it waited for: it returns it, or hands it on."""
        if code.name not in self._pools.waiting or code.facts.name.startswith("_"):
            return False
        if returns(code):
            return self._is_direct(code) or self._hands_on(code)
        own = [use for use in self._gates.uses if use.code is code]
        acts = (origin(code.defined, receiver(code.defined, one)) for one in calls(code))
        return bool(own) and any(path and path[-1] not in self._gates.counters() for path in acts)

    def _is_direct(self, code: Code) -> bool:
        """Whether a method calls a gate or a method that does nothing else."""
        if any(use.code is code for use in self._gates.uses):
            return True
        for one in calls(code):
            func = code.defined.get(one.func)
            if isinstance(func, Attr) and func.base == SELF:
                method = self._program.method(code.owner, func.name)
                if method is not None and method.name in self._pools.waiting and not returns(method):
                    return True
        return False

    def _hands_on(self, code: Code) -> bool:
        """Whether a method returns what a waiting method of its object has returned for its own parameter."""
        for value in returned(code):
            for one in sources(code.defined, value):
                call = code.defined.get(one)
                if isinstance(call, Call) and from_parameters(code, call):
                    method = self._own_method(code, call)
                    if method is not None and method.name in self._pools.waiting:
                        return True
        return False

    def _own_method(self, code: Code, call: Call) -> Code | None:
        func = code.defined.get(call.func)
        if isinstance(func, Attr) and func.base == SELF:
            return self._program.method(code.owner, func.name)
        return None

    # ------------------------------------------------------------ storage

    def _handed(self, code: Code, depth: int = 0) -> Iterator[tuple[Code, Item]]:
        """The elements picked by a parameter out of the object's attributes that a method returns, as they are or as
        views, also by a method of its own that it calls for them."""
        for value in returned(code):
            for one in self._seen(code, value):
                if isinstance(one, Item):
                    yield code, one
                elif depth < _DEEPEST:
                    method = self._own_method(code, one)
                    if method is not None and method.name not in self._gated and method is not code:
                        yield from self._handed(method, depth + 1)

    def _seen(self, code: Code, value: Value) -> Iterator[Item | Call]:
        """What a value shows storage of: itself, what it is a view or an element of."""
        seen: set[Value] = set()
        todo = [value]
        while todo:
            for one in leaves(code, todo.pop()):
                func = code.defined.get(one.func) if isinstance(one, Call) else None
                behind = func if isinstance(func, Attr) else one
                if isinstance(behind, Attr) and behind.name in self._views:
                    base = behind.base
                elif isinstance(one, Item) and not _is_pick(code, one):
                    base = one.base
                else:
                    if isinstance(one, Item | Call):
                        yield one
                    continue
                if base not in seen:
                    seen.add(base)
                    todo.append(base)

    def _storage(self) -> dict[str, list[Evidence]]:
        """storage(a) ← accessor(m), returns(m, self.a[…layer…]);  storage(a) ← returns(m, self.a[layer of a gate])"""
        found: dict[str, list[Evidence]] = {}
        layers = self._gates.layers()
        for method in self._methods:
            for code, one in self._handed(method) if _hands_tensors(method, self._program) else ():
                if method.name in self._gated or expression(code.facts, one.index, code.defined) in layers:
                    text = expression(code.facts, one.dst, code.defined)
                    where = Evidence(code.path, one.at.line, f"{label(method)} hands out {text}")
                    found.setdefault(origin(code.defined, one.base)[-1], []).append(where)
        return found

    # ------------------------------------------------------------ what is told

    def accessors(self) -> tuple[Named, ...]:
        """The names of the methods that wait and hand out."""
        return tuple(self._accessor(name) for name in sorted(self._names))

    def _accessor(self, name: str) -> Named:
        gated = [code for code in self._gated.values() if code.facts.name == name]
        shown = [self._pools.waiting[code.name] for code in gated]
        without = [code for code in self._methods if code.facts.name == name and code.name not in self._gated]
        for code in without[:1]:
            what = f"{len(without)} of {len(gated) + len(without)} do not wait, {label(code)} for one"
            shown.append(Evidence(code.path, code.facts.at.line, what))
        return Named(name, HIGH if any(map(self._is_direct, gated)) else MEDIUM, tuple(shown))

    def siblings(self) -> tuple[Named, ...]:
        """The methods that hand out a layer of the same storage, or what another object's accessor hands out for a
        layer, and do not wait themselves: perhaps the bug."""
        found: dict[str, list[Evidence]] = {}
        others = [code for code in self._methods if not code.facts.name.startswith("_")]
        others = [code for code in others if code.facts.name not in self._names]
        for code in others:
            for where, one in self._handed(code):
                if origin(where.defined, one.base)[-1] in self.storage:
                    what = (
                        f"{label(code)} hands out {expression(where.facts, one.dst, where.defined)} and does not wait"
                    )
                    found.setdefault(code.facts.name, []).append(Evidence(where.path, one.at.line, what))
        known = self._names | found.keys()
        for code in others:
            for value in returned(code):
                for call in self._seen(code, value):
                    if isinstance(call, Call) and self._delegates(code, call, known):
                        what = f"{label(code)} hands on {expression(code.facts, call.dst, code.defined)}"
                        found.setdefault(code.facts.name, []).append(Evidence(code.path, call.at.line, what))
        return tuple(Named(name, MEDIUM, tuple(shown)) for name, shown in sorted(found.items()))

    def _delegates(self, code: Code, one: Call, known: Collection[str]) -> bool:
        """Whether a call asks what an attribute of the object holds for a layer, by the name of an accessor."""
        through = origin(code.defined, receiver(code.defined, one))
        return bool(through) and called(code.defined, one) in known and from_parameters(code, one)

    def stand_ins(self) -> tuple[Named, ...]:
        """The pools that nothing derives from and whose accessors only raise: they hold no storage."""
        found = []
        for cls in sorted(self._pools.family - set(self._pools.roots)):
            own = [code for code in self._program.own(cls) if code.facts.name in self._names]
            alone = self._program.hierarchy.subclasses(cls) == {cls}
            waiting = any(code.name in self._pools.waiting for code in self._program.own(cls))
            if len(own) > 1 and alone and not waiting and all(map(_only_raises, own)):
                where = Evidence(
                    own[0].path, own[0].facts.at.line, f"{label(own[0])} and {len(own) - 1} more only raise"
                )
                found.append(Named(short(cls), MEDIUM, (where,)))
        return tuple(found)

    def buffers(self) -> tuple[Named, ...]:
        """The attributes that hold the storage."""
        return tuple(
            Named(name, HIGH if len(shown) > 1 else MEDIUM, tuple(shown))
            for name, shown in sorted(self.storage.items())
        )


def _only_raises(code: Code) -> bool:
    return all(isinstance(block.end, Raise) for block in code.facts.blocks)


def _hands_tensors(code: Code, program: Program) -> bool:
    """Whether nothing says that what a method returns is something else: a number, an object of the tree."""
    kind = code.facts.returns
    return kind is None or not (kind.name in ("int", "str", "bool") or any(program.named(code, kind)))


def _is_pick(code: Code, one: Item) -> bool:
    """Whether a parameter picks an element of what an attribute of the object holds."""
    picked = any(
        isinstance(code.defined.get(part), Param) and part != SELF for part in sources(code.defined, one.index)
    )
    return picked and bool(origin(code.defined, one.base))
