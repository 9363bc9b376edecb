"""What the few out-of-tree functions do that move objects about: builtins, typing, functools, dataclasses, containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.facts import Argument, Call, Const
from auditor.link.constraints import Node
from auditor.link.narrowing import Condition
from auditor.link.objects import (
    Bound,
    ClassObject,
    Container,
    ContainerMethod,
    External,
    ExternalInstance,
    Function,
    Instance,
    Object,
    Partial,
    Super,
)

if TYPE_CHECKING:
    from auditor.link.linker import Frame, Linker

COPIES = frozenset({"copy.copy", "copy.deepcopy", "dataclasses.replace", "msgspec.structs.replace", "attr.evolve", "attrs.evolve"})
SEQUENCES = frozenset(f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter"))
CASTS = frozenset({"typing.cast", "typing_extensions.cast"})
ELEMENTS = frozenset({"builtins.next", "builtins.min", "builtins.max"})


def call(
    linker: Linker, callee: Object, frame: Frame, one: Call, held: tuple[Condition, ...], target: Node
) -> None:
    """target ⊇ the result of an out-of-tree callee."""
    values = [linker._use(frame, argument.value, held) for argument in one.arguments]
    if isinstance(callee, ContainerMethod):
        _container_method(linker, callee, one, values, target)
    elif isinstance(callee, Partial):
        _call_partial(linker, callee, frame, one, values, target)
    elif isinstance(callee, External):
        linker.external_calls.setdefault((frame.code.name, one.dst), set()).add(callee.name)
        _external(linker, callee.name, frame, one, values, target)


def _external(linker: Linker, name: str, frame: Frame, one: Call, values: list[Node], target: Node) -> None:
    graph = linker.graph
    if name == "builtins.super":
        _super(linker, frame, one, values, target)
    elif name == "builtins.getattr" and len(values) >= 2:
        attribute = frame.code.defined.get(one.arguments[1].value)
        if type(attribute) is Const and isinstance(attribute.value, str):
            graph.on(values[0], linker._read, attribute.value, target)
        for value in values[2:]:
            graph.edge(value, target)
    elif name == "builtins.setattr" and len(values) == 3:
        attribute = frame.code.defined.get(one.arguments[1].value)
        if type(attribute) is Const and isinstance(attribute.value, str):
            graph.on(values[0], linker._write, attribute.value, values[2])
    elif name == "builtins.type" and len(values) == 1:
        graph.on(values[0], _type_of, linker, target)
    elif name in CASTS and len(values) == 2:
        graph.edge(values[1], target)
    elif name == "functools.partial" and values:
        made = Partial(frame.code.path, one.at.line, one.at.column)
        graph.add(target, made)
        linker.graph.edge(values[0], linker.field(made, "function"))
        linker.partials[made] = list(zip(one.arguments[1:], values[1:], strict=True))
    elif name in COPIES and values:
        graph.edge(values[0], target)
        for argument, value in zip(one.arguments, values, strict=True):
            if argument.kind == "key":
                graph.on(values[0], linker._write, argument.name, value)
    elif name in SEQUENCES and values:
        graph.edge(values[-1] if name.endswith("filter") else values[0], target)
    elif name in ELEMENTS:
        for value in values:
            graph.on(value, linker._element_of_iteration, target)
    elif name == "builtins.enumerate" and values:
        _pairs(linker, frame, one, values, target, first=1)
    elif name == "builtins.zip":
        _pairs(linker, frame, one, values, target, first=0)
    elif name == "builtins.dict":
        made_dict = Container("dict", frame.code.path, one.at.line, one.at.column, frame.context)
        graph.add(target, made_dict)
        for argument, value in zip(one.arguments, values, strict=True):
            if argument.kind == "key":
                linker._put(made_dict, f"[{argument.name!r}]", value)
    else:
        _unknown_call(linker, name, frame, one, values, target)


def _unknown_call(linker: Linker, name: str, frame: Frame, one: Call, values: list[Node], target: Node) -> None:
    """Decorators keep what they decorate; a name that looks like a class gives an instance of it."""
    for argument, value in zip(one.arguments, values, strict=True):
        if argument.kind == "pos":
            linker.graph.edge(value, target, _is_callable)
    last = name.rpartition(".")[2]
    if last[:1].isupper() and not last.isupper():
        linker.graph.add(target, ExternalInstance(name, frame.code.path, one.at.line, one.at.column))


def _is_callable(one: Object) -> bool:
    return isinstance(one, Function | Bound | ClassObject)


def _type_of(one: Object, linker: Linker, target: Node) -> None:
    if isinstance(one, Instance):
        linker.graph.add(target, ClassObject(one.cls))


def _super(linker: Linker, frame: Frame, one: Call, values: list[Node], target: Node) -> None:
    if values:
        if len(values) == 2:
            linker.graph.on(values[0], _super_explicit, linker, values[1], target)
        return
    code = frame.code
    while not code.owner and code.facts.scope:
        outer = linker.codes.get(f"{code.module}.{code.facts.scope}")
        if outer is None:
            return
        code = outer
    if code.owner and code.facts.params:
        source = frame if code is frame.code else linker.frames.get((code.name, None))
        if source is not None:
            linker.graph.on(source.node(0), _super_of, linker, code.owner, target)


def _super_explicit(cls: Object, linker: Linker, receiver: Node, target: Node) -> None:
    if isinstance(cls, ClassObject):
        linker.graph.on(receiver, _super_of, linker, cls.cls, target)


def _super_of(one: Object, linker: Linker, cls: str, target: Node) -> None:
    if isinstance(one, Instance | ClassObject):
        linker.graph.add(target, Super(cls, one))


def _pairs(linker: Linker, frame: Frame, one: Call, values: list[Node], target: Node, *, first: int) -> None:
    outer = Container("list", frame.code.path, one.at.line, one.at.column, frame.context)
    inner = Container("tuple", frame.code.path, one.at.line, one.at.column, frame.context)
    linker.graph.add(target, outer)
    linker.graph.add(linker.field(outer, "[*]"), inner)
    for position, value in enumerate(values):
        place = linker.graph.new_nodes(1)
        linker.graph.on(value, linker._element_of_iteration, place)
        linker._put(inner, f"[{position + first}]", place)


def _container_method(linker: Linker, callee: ContainerMethod, one: Call, values: list[Node], target: Node) -> None:
    container, name = callee.container, callee.name
    if name in ("append", "add", "appendleft", "put") and values:
        linker._put(container, None, values[0])
    elif name in ("insert", "setdefault") and len(values) == 2:
        linker._put(container, None, values[1])
        linker.graph.edge(linker.field(container, "[*]"), target)
    elif name in ("extend", "update") and values:
        place = linker.graph.new_nodes(1)
        linker.graph.on(values[0], linker._element, None, place)
        linker._put(container, None, place)
    elif name in ("get", "pop", "popleft", "popitem", "__getitem__"):
        linker.graph.edge(linker.field(container, "[*]"), target)
        for value in values[1:]:
            linker.graph.edge(value, target)
    elif name in ("values", "copy"):
        if name == "copy" or container.kind == "dict":
            view = Container("list" if name == "values" else container.kind, container.path, container.line, -container.column, container.owner)
            linker.graph.add(target, view)
            linker.graph.edge(linker.field(container, "[*]"), linker.field(view, "[*]"))
            linker.graph.edge(linker.field(container, "[*]"), linker.field(view, "[?]"))
    elif name == "items":
        view = Container("list", container.path, container.line, -container.column, container.owner)
        pair = Container("tuple", container.path, container.line, -container.column, container.owner)
        linker.graph.add(target, view)
        linker.graph.add(linker.field(view, "[*]"), pair)
        linker.graph.edge(linker.field(container, "[*]"), linker.field(pair, "[1]"))


def _call_partial(linker: Linker, callee: Partial, frame: Frame, one: Call, values: list[Node], target: Node) -> None:
    stored = linker.partials.get(callee, [])
    given = (*stored, *zip(one.arguments, values, strict=True))
    linker.graph.on(linker.field(callee, "function"), _apply, linker, frame, one, given, target)


def _apply(
    function: Object, linker: Linker, frame: Frame, one: Call, given: tuple[tuple[Argument, Node], ...], target: Node
) -> None:
    if isinstance(function, Function) and function.function in linker.codes:
        callee = linker.frame(function.function, None)
    elif isinstance(function, Bound) and isinstance(function.receiver, Instance) and function.function in linker.codes:
        callee = linker.receiver_frame(function.function, function.receiver)
    elif isinstance(function, ClassObject) and function.cls in linker.hierarchy.classes:
        linker._construct(frame, Call(one.dst, one.func, (), one.at), function.cls, (), target)
        return
    else:
        return
    linker._record(frame, one.dst, callee)
    linker.pass_arguments(callee, list(given), skip=1 if isinstance(function, Bound) else 0)
    linker.graph.edge(callee.result, target)


__all__ = ["call"]
