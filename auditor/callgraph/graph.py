"""The call graph of a linked program, frozen: which frame calls which, where; who is never called."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

from auditor.callgraph.decorated import handed_back
from auditor.facts import Attr, Call, Enter, Item, Value
from auditor.link import Bound, ClassObject, Code, Frame, Function, Instance, Linker, Partial

FrameKey: TypeAlias = tuple[str, Instance | None]
"""A function (qualified name) in a context (the tracked object it runs on, or None)."""

T = TypeVar("T")


class CallSite(NamedTuple):
    """One call of ``callee`` in a frame: ``value`` is that of the call, ``block`` and ``index`` where it stands,
    ``receiver`` the object the callee is bound to. ``implicit``: what the callee is given is not written as the
    arguments of a call: of properties, context managers, subscripts and partials."""

    block: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nothing needs
    value: Value
    callee: FrameKey
    receiver: Instance | None
    implicit: bool


@dataclass(frozen=True, slots=True)
class CallGraph:
    """``calls``: frame -> its resolved call sites in evaluation order. ``callers``: the same turned round."""

    frames: Mapping[FrameKey, Frame]
    calls: Mapping[FrameKey, tuple[CallSite, ...]]
    callers: Mapping[FrameKey, tuple[tuple[FrameKey, CallSite], ...]]

    def code(self, key: FrameKey) -> Code:
        return self.frames[key].code

    def entries(self) -> Iterable[FrameKey]:
        """Frames that no resolved call reaches."""
        return (key for key in self.frames if key not in self.callers)

    def within(self, frames: frozenset[FrameKey]) -> dict[FrameKey, list[FrameKey]]:
        """Caller → callees among ``frames``, in an order that does not depend on hashes."""
        return {
            key: [site.callee for site in self.calls[key] if site.callee in frames] for key in sorted(frames, key=repr)
        }

    def reaching(self, start: Iterable[FrameKey]) -> frozenset[FrameKey]:
        """``start`` and every frame that can call into it, at any distance."""
        return _closure(start, lambda key: (caller for caller, _ in self.callers.get(key, ())))

    def below(self, start: Iterable[FrameKey]) -> frozenset[FrameKey]:
        """``start`` and every frame that it can call into, at any distance."""
        return _closure(start, lambda key: (site.callee for site in self.calls[key]))


def _closure(start: Iterable[FrameKey], step: Callable[[FrameKey], Iterable[FrameKey]]) -> frozenset[FrameKey]:
    seen = set(start)
    todo = list(seen)
    while todo:
        for key in step(todo.pop()):
            if key not in seen:
                seen.add(key)
                todo.append(key)
    return frozenset(seen)


def freeze(linker: Linker) -> CallGraph:
    """Read the call graph off the solved program."""
    properties = frozenset(facts.name for name, facts in linker.functions.items() if linker.is_property(name))
    calls = {key: tuple(_calls(linker, frame, properties)) for key, frame in linker.frames.items()}
    callers: dict[FrameKey, list[tuple[FrameKey, CallSite]]] = {}
    for key, sites in calls.items():
        for site in sites:
            callers.setdefault(site.callee, []).append((key, site))
    return CallGraph(dict(linker.frames), calls, {key: tuple(found) for key, found in callers.items()})


def _calls(linker: Linker, frame: Frame, properties: frozenset[str]) -> Iterable[CallSite]:
    for block, content in enumerate(frame.code.facts.blocks):
        for index, one in enumerate(content.instructions):
            if type(one) is Call:
                for callee, (receiver, implicit) in _callees(linker, frame, one, block).items():
                    if callee in linker.frames:
                        yield CallSite(block, index, one.dst, callee, receiver, implicit)
                begun = entered(frame.code, one)
                for callee, receiver in _methods(linker, frame, begun.manager, block, "__enter__") if begun else ():
                    yield CallSite(block, index, one.dst, callee, receiver, implicit=True)
            elif type(one) is Attr and one.name in properties and linker.graph.sets[frame.node(one.base)]:
                for callee, receiver in _properties(linker, frame, one, block):
                    yield CallSite(block, index, one.dst, callee, receiver, implicit=True)
            elif type(one) is Enter:
                for callee, receiver in _methods(linker, frame, one.manager, block, "__enter__"):
                    yield CallSite(block, index, one.dst, callee, receiver, implicit=True)
            elif type(one) is Item and linker.graph.sets[frame.node(one.base)]:
                for callee, receiver in _methods(linker, frame, one.base, block, "__getitem__"):
                    yield CallSite(block, index, one.dst, callee, receiver, implicit=True)


def entered(code: Code, one: object) -> Enter | None:
    """The ``with`` that a call begins, by way of a stack of them: ``stack.enter_context(manager)``."""
    func = code.defined.get(one.func) if isinstance(one, Call) else None
    if not isinstance(one, Call) or not isinstance(func, Attr) or func.name not in _ENTERING:
        return None
    return Enter(one.dst, one.arguments[0].value, one.at) if len(one.arguments) == 1 else None


_ENTERING = frozenset({"enter_context", "enter_async_context"})
"""What stacks of context managers of the library call it."""


def _callees(linker: Linker, frame: Frame, one: Call, block: int) -> dict[FrameKey, tuple[Instance | None, bool]]:
    """Whom a call may run, each with its receiver and whether it is given something else than what is written here."""
    found: dict[FrameKey, tuple[Instance | None, bool]] = {}
    targets = _ordered(linker.view(frame, one.func, block))
    others = handed_back(linker, frame, one, targets)
    for target in targets:
        if isinstance(target, Function) and target.function in others:
            continue
        if isinstance(target, Bound) and isinstance(target.receiver, Instance):
            found.setdefault(_bound(linker, target.function, target.receiver), (target.receiver, False))
        elif isinstance(target, Bound | Function):
            for key in _unbound(linker, frame, one, target.function, block):
                found.setdefault(key, (key[1], False))
        elif isinstance(target, ClassObject):
            for key, made in _constructors(linker, frame, one, target.cls):
                found.setdefault(key, (made, False))
        elif isinstance(target, Partial):
            for held in _ordered(linker.held_by(target)):
                if isinstance(held, Bound) and isinstance(held.receiver, Instance):
                    found.setdefault(_bound(linker, held.function, held.receiver), (held.receiver, True))
                elif isinstance(held, Function):
                    found.setdefault((held.function, None), (None, True))
        elif isinstance(target, Instance):
            methods = linker.hierarchy.applicable(target.cls, linker.functions)
            for method in (methods.get("__call__") or methods.get("forward") or ())[:1]:
                found.setdefault(_bound(linker, method, target), (target, False))
    for name, context in _ordered(linker.calls.get((frame.code.name, one.dst), ())):
        if name in others:
            continue
        known = context is not None or any(known == name for known, _ in found)
        if not known and (name, None) in linker.frames and not _bound_elsewhere(linker, frame, one, name):
            found.setdefault((name, None), (None, False))
    return found


def _bound(linker: Linker, method: str, receiver: Instance) -> FrameKey:
    return method, receiver if linker.context_of(receiver) else None


def _bound_elsewhere(linker: Linker, frame: Frame, one: Call, function: str) -> bool:
    """Whether ``function`` is called here as the method of an object that comes here in other contexts only: calls are
    noted by their place in the text."""
    others = (other for other in linker.frames_of(frame.code.name) if other is not frame)
    targets = (target for other in others for target in linker.graph.points_to(other.node(one.func)))
    return any(isinstance(target, Bound) and target.function == function for target in targets)


def _ordered(found: Collection[T]) -> Iterable[T]:
    """In an order that does not depend on hashes; most sets have at most one element."""
    return sorted(found, key=_written) if len(found) > 1 else found


_written = lru_cache(maxsize=1 << 16)(repr)


def _unbound(linker: Linker, frame: Frame, one: Call, function: str, block: int) -> Iterable[FrameKey]:
    if (function, None) in linker.frames:
        yield function, None
    elif one.arguments:
        for target in _ordered(linker.view(frame, one.arguments[0].value, block)):
            if isinstance(target, Instance) and (function, target) in linker.frames:
                yield function, target


def _constructors(linker: Linker, frame: Frame, one: Call, cls: str) -> Iterable[tuple[FrameKey, Instance]]:
    for made in _ordered(linker.graph.points_to(frame.node(one.dst))):
        if isinstance(made, Instance) and made.cls == cls and (made.line, made.column) == (one.at.line, one.at.column):
            for method in linker.hierarchy.applicable(cls, linker.functions).get("__init__", ())[:1]:
                yield (method, made if linker.context_of(made) else None), made


def _properties(linker: Linker, frame: Frame, one: Attr, block: int) -> Iterable[tuple[FrameKey, Instance]]:
    found: dict[FrameKey, Instance] = {}
    for target, name in _ordered(linker.reached(frame, one.base, block, one.name)):
        for method in linker.hierarchy.applicable(target.cls, linker.functions).get(name, ())[:1]:
            if linker.is_property(method):
                found.setdefault(_bound(linker, method, target), target)
    return ((key, receiver) for key, receiver in found.items() if key in linker.frames)


def _methods(linker: Linker, frame: Frame, value: Value, block: int, name: str) -> Iterable[tuple[FrameKey, Instance]]:
    """The methods by which the language asks what a value points to."""
    for target in _ordered(linker.view(frame, value, block)):
        if isinstance(target, Instance):
            for method in linker.hierarchy.applicable(target.cls, linker.functions).get(name, ())[:1]:
                key = _bound(linker, method, target)
                if key in linker.frames:
                    yield key, target
