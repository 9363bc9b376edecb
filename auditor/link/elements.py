"""Elements of containers: subscripts, iteration, unpacking, and the methods of lists, dicts, sets and queues."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.link.constraints import Node
from auditor.link.objects import Container, Function, Instance, Object
from auditor.link.program import ANY, SOMEWHERE, Program

_PUTS = frozenset({"append", "add", "appendleft", "put", "put_nowait", "set"})
_TAKES = frozenset({"get", "pop", "popleft", "popitem", "get_nowait", "__getitem__", "peek"})
METHODS = _PUTS | _TAKES | {"insert", "setdefault", "extend", "update", "values", "copy", "items"}
"""Methods of containers that move elements."""


def element(one: Object, program: Program, key: str | None, target: Node) -> None:
    """target ⊇ one[key]"""
    match one:
        case Container():
            if key is None:
                program.graph.edge(program.field(one, ANY), target)
            else:
                program.graph.edge(program.field(one, key), target)
                program.graph.edge(program.field(one, SOMEWHERE), target)
        case Instance():
            for method in program.hierarchy.applicable(one.cls).get("__getitem__", ())[:1]:
                program.graph.edge(program.receiver_frame(method, one).result, target)
        case Function():
            program.graph.add(target, one)  # kernel[grid] is the kernel


def iteration(one: Object, program: Program, target: Node) -> None:
    """target ⊇ each element of one"""
    if isinstance(one, Container):
        if one.kind != "dict":
            program.graph.edge(program.field(one, ANY), target)
    elif isinstance(one, Instance):
        for method in program.hierarchy.applicable(one.cls).get("__iter__", ())[:1]:
            program.graph.on(program.receiver_frame(method, one).result, iteration, program, target)
        for method in program.hierarchy.applicable(one.cls).get("__next__", ())[:1]:
            program.graph.edge(program.receiver_frame(method, one).result, target)


def put(one: Object, program: Program, key: str | None, source: Node) -> None:
    """one[key] ⊇ source"""
    if isinstance(one, Container):
        program.put(one, key, source)


def container_method(
    one: Object, program: Program, name: str, key: str | None, values: Sequence[Node], target: Node
) -> None:
    """The effect of ``one.name(*values)``; ``key`` is the first argument where that is a literal."""
    if not isinstance(one, Container):
        return
    if name in _PUTS and values:
        program.put(one, None, values[0])
    elif name in ("insert", "setdefault") and len(values) == 2:
        program.put(one, key if name == "setdefault" else None, values[1])
        element(one, program, key if name == "setdefault" else None, target)
    elif name in ("extend", "update") and values:
        _extend(one, program, values[0])
    elif name in _TAKES:
        element(one, program, key if one.kind == "dict" else None, target)
        for value in values[1:]:
            program.graph.edge(value, target)
    elif name == "copy" or (name == "values" and one.kind == "dict"):
        view = _view(one, "list" if name == "values" else one.kind)
        program.graph.add(target, view)
        program.put(view, None, program.field(one, ANY))
    elif name == "items":
        view, pair = _view(one, "list"), _view(one, "tuple")
        program.graph.add(target, view)
        program.graph.add(program.field(view, ANY), pair)
        program.graph.edge(program.field(one, ANY), program.field(pair, "[1]"))


def _extend(one: Container, program: Program, source: Node) -> None:
    place = program.graph.new_nodes(1)
    program.graph.on(source, element, program, None, place)
    program.put(one, None, place)


def _view(one: Container, kind: str) -> Container:
    return Container(kind, one.path, one.line, -abs(one.column), one.owner)
