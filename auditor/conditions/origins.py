"""Where values come from: all that one value can be, each with the place where it became that.

The answers are exhaustive or None: a value whose callers, stores or callees are not all known has no origins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from auditor.callgraph import CallGraph, CallSite, FrameKey
from auditor.facts import (
    NOTHING,
    Attr,
    Bind,
    Call,
    Const,
    Declare,
    Import,
    Name,
    Param,
    Phi,
    Return,
    SetAttr,
    Value,
    places,
)
from auditor.link import ClassObject, External, Frame, Function, Instance, Linker, Module, Object, Reverse

_SETS = frozenset({"builtins.setattr", "builtins.object.__setattr__"})
"""Functions that store an attribute by its name."""


class Origin(NamedTuple):
    """A value of ``frame`` that another value can be, if control comes to ``block``, and from there to ``target`` (-1:
    anywhere). What callers give is not tied to a block: that they call is a condition of its own."""

    frame: Frame
    value: Value
    block: int = 0
    target: int = -1


class Store(NamedTuple):
    """``base.name = value`` in a block of a frame."""

    frame: Frame
    block: int
    base: Value
    value: Value


class Origins:
    """Looks one step behind a value."""

    def __init__(self, linker: Linker, graph: CallGraph) -> None:
        self.linker = linker
        self.graph = graph
        self.reverse = Reverse(linker)
        self._stores: dict[str, list[Store]] | None = None
        self._stored: dict[str, dict[Instance, list[Store]]] = {}
        self._binds: dict[tuple[str, str, str], list[Store]] | None = None
        self._sites: dict[FrameKey, dict[Value, list[CallSite]]] = {}
        self._blocks: dict[str, dict[Value, int]] = {}
        self._known: dict[tuple[int, Value], tuple[Origin, ...] | None] = {}

    # ------------------------------------------------------------ indices

    def block_of(self, frame: Frame, value: Value) -> int:
        """The block that defines a value."""
        known = self._blocks.get(frame.code.name)
        if known is None:
            known = self._blocks[frame.code.name] = {
                value: block for value, (block, _) in places(frame.code.facts).items()
            }
        return known.get(value, 0)

    def stores(self, name: str) -> list[Store]:
        """Everything that is stored into an attribute ``name``."""
        if self._stores is None:
            self._index()
        assert self._stores is not None
        return self._stores.get(name, [])

    def binds(self, module: str, scope: str, name: str) -> list[Store]:
        """Everything that is bound to a variable that others can see."""
        if self._binds is None:
            self._index()
        assert self._binds is not None
        return self._binds.get((module, scope, name), [])

    def _index(self) -> None:
        self._stores, self._binds = {}, {}
        for frame in self.graph.frames.values():
            for index, block in enumerate(frame.code.facts.blocks):
                for one in block.instructions:
                    if type(one) is SetAttr:
                        self._stores.setdefault(one.name, []).append(Store(frame, index, one.base, one.value))
                    elif type(one) is Call and len(one.arguments) == 3 and frame.code.externals.get(one.func) in _SETS:
                        base, name, value = (argument.value for argument in one.arguments)
                        text = frame.code.defined.get(name)
                        if isinstance(text, Const) and isinstance(text.value, str):
                            self._stores.setdefault(text.value, []).append(Store(frame, index, base, value))
                    elif type(one) is Bind:
                        key = (frame.code.module, one.scope, one.name)
                        self._binds.setdefault(key, []).append(Store(frame, index, NOTHING, one.value))

    def sites(self, frame: Frame, value: Value) -> list[CallSite]:
        """The resolved callees of a call."""
        key = (frame.code.name, frame.context)
        known = self._sites.get(key)
        if known is None:
            known = self._sites[key] = {}
            for site in self.graph.calls.get(key, ()):
                known.setdefault(site.value, []).append(site)
        return known.get(value, [])

    # ------------------------------------------------------------ one step back

    def behind(self, frame: Frame, value: Value) -> tuple[Origin, ...] | None:
        """All that ``value`` can be, one step back; None where it is what it is, or where that is not known."""
        key = (frame.base, value)
        if key not in self._known:
            found = self._behind(frame, value)
            self._known[key] = None if found is None else tuple(found)
        return self._known[key]

    def _behind(self, frame: Frame, value: Value) -> list[Origin] | None:
        match frame.code.defined.get(value):
            case Declare(source=source) if source != NOTHING:
                return [Origin(frame, source, self.block_of(frame, value))]
            case Phi(dst=dst, choices=choices):
                here = self.block_of(frame, dst)
                return [Origin(frame, chosen, block, here) for block, chosen in choices if chosen not in (NOTHING, dst)]
            case Param(name=name):
                return self._arguments(frame, value)
            case Name(name=name):
                return self._variable(frame, name)
            case Import(module=module, name=name) if name:
                return self._global(module, name)
            case Attr(base=base, name=name):
                return self._attribute(frame, base, name)
            case Call() as call:
                return self._returned(frame, call)
        return None

    def _arguments(self, frame: Frame, position: Value) -> list[Origin] | None:
        callers = self.callers(frame)
        if not callers:
            return None
        found: list[Origin] = []
        for key, site in callers:
            caller = self.graph.frames[key]
            given = self.argument(caller, site, frame, position)
            if given is None:
                return None
            found.extend(given)
        return found

    def callers(self, frame: Frame) -> Sequence[tuple[FrameKey, CallSite]]:
        """Who calls a function, if all of them are in sight: a public method may be called from anywhere."""
        name = frame.code.facts.name
        if frame.code.is_method and not name.startswith("_"):
            return ()
        return self.graph.callers.get((frame.code.name, frame.context), ())

    def argument(self, caller: Frame, site: CallSite, callee: Frame, position: int) -> list[Origin] | None:
        """What one call gives a parameter. A default is not known to be all that can be given: None."""
        call = caller.code.defined.get(site.value)
        params = callee.code.facts.params
        if not isinstance(call, Call) or site.implicit:
            return None
        param = params[position]
        skip = 1 if callee.code.is_method and not self._unbound(caller, call, callee) else 0
        if position < skip or param.kind in ("*", "**"):
            return None
        positional = [index for index, one in enumerate(params) if one.kind in ("posonly", "pos")][skip:]
        place = 0
        for one in call.arguments:
            if one.kind == "key" and one.name == param.name:
                return [Origin(caller, one.value)]
            if one.kind == "*":
                place = len(params)  # what comes behind it stands at no known place
            if one.kind == "pos":
                if place < len(positional) and positional[place] == position:
                    return [Origin(caller, one.value)]
                place += 1
        spread = [one.value for one in call.arguments if one.kind in ("*", "**")]
        return self._forwarded(caller, spread, param.name) if spread else None

    def _forwarded(self, caller: Frame, spread: list[Value], name: str) -> list[Origin] | None:
        """What callers of a function give it by name to hand on in ``**kwargs``."""
        params = caller.code.facts.params
        if not all(value < len(params) and params[value].kind in ("*", "**") for value in spread):
            return None
        found: list[Origin] = []
        for key, site in self.graph.callers.get((caller.code.name, caller.context), ()):
            call = self.graph.frames[key].code.defined.get(site.value)
            arguments = call.arguments if isinstance(call, Call) else ()
            named = [one.value for one in arguments if one.kind == "key" and one.name == name]
            if not named:
                return None
            found.append(Origin(self.graph.frames[key], named[0]))
        return found or None

    def _unbound(self, caller: Frame, call: Call, callee: Frame) -> bool:
        return Function(callee.code.name) in self.linker.graph.points_to(caller.node(call.func))

    def _variable(self, frame: Frame, name: str) -> list[Origin] | None:
        scopes, module = self.linker.scopes, frame.code.module
        owner = scopes.owner(module, frame.code.facts.qualname, name)
        if owner is None:
            return None
        return self._bound(module, owner, name)

    def _global(self, module: str, name: str) -> list[Origin] | None:
        return self._bound(module, "", name) if self.linker.scopes.binds(module, "", name) else None

    def _bound(self, module: str, scope: str, name: str) -> list[Origin] | None:
        binds = self.binds(module, scope, name)
        if binds:
            return [Origin(one.frame, one.value, one.block) for one in binds]
        body = self.graph.frames.get((f"{module}.{scope}" if scope else module, None))
        if body is None:
            return None
        imports = [
            one
            for one in body.code.defined.values()
            if isinstance(one, Import) and body.code.facts.names.get(one.dst) == name
        ]
        return [Origin(body, one.dst, self.block_of(body, one.dst)) for one in imports] or None

    def _attribute(self, frame: Frame, base: Value, name: str) -> list[Origin] | None:
        found: list[Origin] = []
        for owner in sorted(self.owners(frame, base), key=repr):
            if isinstance(owner, Instance):
                more = self._field(owner, name)
            elif isinstance(owner, Module):
                more = self._global(owner.name, name)
            else:
                more = None
            if more is None:
                return None
            found.extend(more)
        return list(dict.fromkeys(found)) or None

    def owners(self, frame: Frame, value: Value) -> frozenset[Object]:
        """What ``value`` points to; the receiver of a method without what only stands for an object of its class."""
        found = self.linker.graph.points_to(frame.node(value))
        if value != 0 or not frame.code.is_method:
            return found
        instances = {one for one in found if isinstance(one, Instance)}
        if any(not self._is(one.cls, frame.code.owner) for one in instances):
            below = self.linker.hierarchy.subclasses(frame.code.owner)
            instances |= {
                one for cls in below for one in self.linker.instances.get(cls, ()) if not self.linker.context_of(one)
            }
        own = {one for one in instances if self._runs_on(frame, one)}
        return frozenset(own) or found

    def _runs_on(self, frame: Frame, one: Instance) -> bool:
        name = frame.code.facts.name
        return self._is(one.cls, frame.code.owner) and frame.code.name in self.linker.hierarchy.applicable(one.cls).get(
            name, ()
        )

    def _is(self, cls: str, base: str) -> bool:
        return self.linker.hierarchy.is_subclass(cls, base)

    def stored(self, owner: Instance, name: str) -> list[Store]:
        """What is stored into ``name`` of an object, or of those that it stands for."""
        known = self._stored.get(name)
        if known is None:
            known = self._stored[name] = {}
            for one in self.stores(name):
                for other in self.linker.graph.points_to(one.frame.node(one.base)):
                    if isinstance(other, Instance):
                        known.setdefault(other, []).append(one)
        if not (owner.anonymous and self.linker.is_assumed(owner)):
            return known.get(owner, [])
        below = [stores for other, stores in known.items() if self._is(other.cls, owner.cls)]
        return list(dict.fromkeys(one for stores in below for one in stores))

    def _field(self, owner: Instance, name: str) -> list[Origin] | None:
        linker = self.linker
        methods = linker.hierarchy.applicable(owner.cls).get(name, ())
        if methods:
            frame = self.graph.frames.get((methods[0], owner if linker.context_of(owner) else None))
            return self._returns(frame) if frame is not None and linker.is_property(methods[0]) else None
        found = [Origin(one.frame, one.value, one.block) for one in self.stored(owner, name)]
        given = self._given(owner, name)
        if given is None:
            return None
        return [*found, *given] or None

    def _given(self, owner: Instance, name: str) -> list[Origin] | None:
        """What constructions give a declared field, and its default; None where that is not known."""
        hierarchy, linker = self.linker.hierarchy, self.linker
        bodies = [
            (info.module, info.facts.qualname)
            for cls in hierarchy.mro(owner.cls)
            if (info := hierarchy.classes.get(cls)) is not None
        ]
        default = next(
            (
                [Origin(one.frame, one.value, one.block) for one in self.binds(module, scope, name)]
                for module, scope in bodies
                if linker.scopes.binds(module, scope, name)
            ),
            [],
        )
        if linker.method(owner.cls, "__init__") is not None or name not in linker.field_order(owner.cls):
            return default
        place = linker.field_order(owner.cls).index(name)
        found: list[Origin] = []
        for frame, call in self.constructions(owner):
            if any(one.kind in ("*", "**") for one in call.arguments):
                return None
            positional = [one.value for one in call.arguments if one.kind == "pos"]
            keys = [one.value for one in call.arguments if one.kind == "key" and one.name == name]
            block = self.block_of(frame, call.dst)
            if not keys and place >= len(positional):
                return None
            found.append(Origin(frame, keys[0] if keys else positional[place], block))
        return found or None

    def constructions(self, one: Instance) -> Iterator[tuple[Frame, Call]]:
        """The calls that make an object."""
        for node in self.linker.graph.made(one):
            located = self.reverse.locate(node)
            if located is not None:
                call = located[0].code.defined.get(located[1])
                if isinstance(call, Call):
                    yield located[0], call

    def _returned(self, frame: Frame, call: Call) -> list[Origin] | None:
        sites = self.sites(frame, call.dst)
        callees = self.linker.graph.points_to(frame.node(call.func))
        if not sites or any(isinstance(one, ClassObject | External) for one in callees):
            return None
        found: list[Origin] = []
        for site in sites:
            more = self._returns(self.graph.frames[site.callee])
            if more is None:
                return None
            found.extend(more)
        return found

    def _returns(self, frame: Frame) -> list[Origin] | None:
        facts = frame.code.facts
        if facts.is_generator or facts.is_async:
            return None
        ends = [(index, block.end) for index, block in enumerate(facts.blocks)]
        return [Origin(frame, end.value, index) for index, end in ends if isinstance(end, Return)]
