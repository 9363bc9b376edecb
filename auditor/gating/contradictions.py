"""Annotations that what really flows contradicts: each object that comes there is of a class that they exclude.

Readers and type checkers believe an annotation, and so do parts of this analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from auditor.callgraph import CallGraph, FrameKey
from auditor.conditions import Conditions
from auditor.facts import NOTHING, Call, Declare, Param, Phi, TypeExpr, Value
from auditor.gating.held import arguments_of
from auditor.gating.values import Place
from auditor.link import ClassObject, Code, Frame, Instance, Linker, annotated_class


@dataclass(frozen=True, slots=True)
class Contradiction:
    """At ``place`` a name is annotated with the class ``declared``, and objects of ``classes`` come; ``given`` is where
    one of them is handed over."""

    place: Place
    name: str
    declared: str
    classes: tuple[str, ...]
    given: Place


class _Flow(NamedTuple):
    """A value that is given for an annotated name."""

    frame: Frame
    value: Value
    block: int
    use: Value
    place: Place


class _Annotated(NamedTuple):
    """An annotated name of a function: where, with which class, and what is given for it in a frame."""

    place: Place
    name: str
    declared: str
    given: Callable[[FrameKey], Iterator[_Flow]]


def contradictions(
    linker: Linker, graph: CallGraph, conditions: Conditions, product: Callable[[str], bool]
) -> Iterator[Contradiction]:
    """contradicted(annotation) ⇐ in some frame of its function objects come, and it admits none of them; one comes by
    assignments from where it is made, under conditions that can hold together."""
    frames: dict[str, list[FrameKey]] = {}
    for key, frame in graph.frames.items():
        if product(frame.code.path):
            frames.setdefault(key[0], []).append(key)
    for name in sorted(frames):
        for one in _annotated(linker, graph, graph.code(frames[name][0])):
            found = [each for key in frames[name] for each in _excluded(linker, graph, conditions, one, key)]
            if found:
                classes = tuple(sorted({cls for cls, _ in found}))
                yield Contradiction(one.place, one.name, one.declared, classes, min(place for _, place in found))


def _annotated(linker: Linker, graph: CallGraph, code: Code) -> Iterator[_Annotated]:
    for position, param in enumerate(code.facts.params):
        declared = _tracked(linker, code, code.facts.scope, param.annotation)
        if declared is not None and not (position == 0 and code.owner):
            at = getattr(code.defined.get(position), "at", code.facts.at)
            place = Place(code.path, at.line, at.column, code.name)
            yield _Annotated(place, param.name, declared, partial(_passed, graph, param.name))
    for number, block in enumerate(code.facts.blocks):
        for one in block.instructions:
            if isinstance(one, Declare) and one.source != NOTHING:
                declared = _tracked(linker, code, code.facts.qualname, one.type)
                if declared is not None:
                    place = Place(code.path, one.at.line, one.at.column, code.name)
                    name = code.facts.names.get(one.dst, "") or _stored(code, one.dst)
                    yield _Annotated(place, name, declared, _source(graph, number, one, place))


def _tracked(linker: Linker, code: Code, scope: str, annotation: TypeExpr | None) -> str | None:
    cls = annotated_class(linker.scopes, code.module, scope, annotation)
    return cls if cls is not None and cls in linker.hierarchy.classes and linker.tracked(cls) else None


def _source(graph: CallGraph, block: int, one: Declare, place: Place) -> Callable[[FrameKey], Iterator[_Flow]]:
    return lambda key: iter([_Flow(graph.frames[key], one.source, block, one.dst, place)])


def _stored(code: Code, value: Value) -> str:
    """The attribute that a value is stored in."""
    stores = (one for block in code.facts.blocks for one in block.instructions if getattr(one, "value", None) == value)
    return next((name for one in stores if (name := getattr(one, "name", ""))), "")


def _passed(graph: CallGraph, name: str, key: FrameKey) -> Iterator[_Flow]:
    for caller, site in graph.callers.get(key, ()):
        code = graph.code(caller)
        call = code.defined[site.value]
        if isinstance(call, Call):
            given = arguments_of(code, call, graph.code(key).facts, implicit=site.implicit).get(name)
            if isinstance(given, Value):
                place = Place(code.path, call.at.line, call.at.column, code.name)
                yield _Flow(graph.frames[caller], given, site.block, call.dst, place)


def _excluded(
    linker: Linker, graph: CallGraph, conditions: Conditions, one: _Annotated, key: FrameKey
) -> Iterator[tuple[str, Place]]:
    """The classes of the objects that come in a frame, with where, if the annotation admits none of them."""
    found: list[tuple[Instance, _Flow]] = []
    for flow in one.given(key):
        for target in linker.view(flow.frame, flow.value, flow.block):
            if isinstance(target, Instance) and _is_left_out(linker, graph, flow, target):
                continue
            if not isinstance(target, Instance) or target.anonymous or _may_be(linker, target.cls, one.declared):
                return
            found.append((target, flow))
    for target, flow in found:
        if conditions.meeting(flow.frame, flow.value, flow.block, flow.use, target).proved:
            yield target.cls, flow.place


def _is_left_out(linker: Linker, graph: CallGraph, flow: _Flow, target: Instance) -> bool:
    """Whether an object is of a class that a parameter has by default, and that each caller gives another for."""
    code = flow.frame.code
    one = code.defined.get(flow.value)
    choices = [choice for _, choice in one.choices] if isinstance(one, Phi) else [flow.value]
    for call in (code.defined.get(choice) for choice in choices):
        made = code.defined.get(call.func) if isinstance(call, Call) else None
        if isinstance(made, Param) and isinstance(call, Call) and (target.line, target.column) == tuple(call.at):
            given = _classes_given(linker, graph, (code.name, flow.frame.context), made.name)
            return given is not None and target.cls not in given
    return False


def _classes_given(linker: Linker, graph: CallGraph, key: FrameKey, name: str) -> frozenset[str] | None:
    """The classes that the callers of a frame give for a parameter; None if one of them leaves it out, or what it gives
    is not known."""
    found: set[str] = set()
    for caller, site in graph.callers.get(key, ()):
        code = graph.code(caller)
        call = code.defined[site.value]
        passed = arguments_of(code, call, graph.code(key).facts, implicit=False) if isinstance(call, Call) else {}
        given = passed.get(name)
        seen = linker.view(graph.frames[caller], given, site.block) if isinstance(given, int) else frozenset()
        if not seen or not all(isinstance(each, ClassObject) for each in seen):
            return None
        found.update(each.cls for each in seen if isinstance(each, ClassObject))
    return frozenset(found) if key in graph.callers else None


def _may_be(linker: Linker, cls: str, declared: str) -> bool:
    return linker.hierarchy.is_subclass(cls, declared) or linker.hierarchy.has_external_base(cls)
