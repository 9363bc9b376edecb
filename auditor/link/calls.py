"""Calls of functions, methods and classes of the tree: arguments into parameters, results out, objects made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from auditor.facts import Argument, At, Attr, Value
from auditor.link.annotations import annotated_class
from auditor.link.constraints import Accept, Node, steady
from auditor.link.elements import element
from auditor.link.filters import subclass_filter
from auditor.link.hierarchy import MODULE_LIKE
from auditor.link.objects import Bound, ClassObject, Container, ExternalInstance, Function, Instance, Object
from auditor.link.passing import passed
from auditor.link.program import ANY, Code, Frame, is_class_method


class Plan(NamedTuple):
    """A call as a function has it, in any context: its arguments, each with the filter of the place."""

    dst: Value
    at: At
    arguments: tuple[tuple[Argument, Accept | None], ...]

    def site(self, frame: Frame) -> Site:
        """The call in one context."""
        program = frame.program
        given = tuple((one, program.narrow(frame.node(one.value), accept)) for one, accept in self.arguments)
        return Site(frame, self.dst, self.at, given, frame.node(self.dst))


Given: TypeAlias = tuple[tuple[Argument, Node], ...]
"""Arguments, each with its node."""


class Site(NamedTuple):
    """A call in a context; ``target`` takes the result. Not ``runs``: it has another thread run it, or somebody later:
    what is held here is not held there."""

    frame: Frame
    dst: Value
    at: At
    arguments: Given
    target: Node
    runs: bool = True


def call(callee: Object, site: Site) -> None:
    """Call what is of the tree."""
    match callee:
        case Function(function=name):
            _call_function(site, name)
        case Bound(function=name, receiver=receiver):
            _call_bound(site, name, receiver)
        case ClassObject(cls=cls):
            construct(site, cls)
        case Instance():
            _call_instance(site, callee)


def _call_function(site: Site, name: str) -> None:
    program = site.frame.program
    code = program.codes.get(name)
    if code is None:
        return
    if code.is_method and program.tracked(code.owner) and site.arguments and not is_class_method(code.facts):
        first, node = site.arguments[0]
        if first.kind == "pos":
            # Base.method(self, …): an unbound call, once per receiver
            program.graph.on(node, _unbound, site, name)
            return
    _link(site, program.frame(name, None), site.arguments, skip=0)


def _unbound(one: Object, site: Site, name: str) -> None:
    if isinstance(one, Instance):
        _link(site, site.frame.program.receiver_frame(name, one), site.arguments[1:], skip=1)


def _call_bound(site: Site, name: str, receiver: Instance | ClassObject) -> None:
    program = site.frame.program
    if name not in program.codes:
        return
    if isinstance(receiver, Instance):
        callee = program.receiver_frame(name, receiver)
    else:
        callee = program.frame(name, None)
        program.graph.add(callee.node(0), receiver)
    _link(site, callee, site.arguments, skip=1)


def _call_instance(site: Site, one: Instance) -> None:
    program = site.frame.program
    is_module = not MODULE_LIKE.isdisjoint(program.hierarchy.mro(one.cls))
    method = program.method(one.cls, "__call__") or (program.method(one.cls, "forward") if is_module else None)
    if method is not None:
        _link(site, program.receiver_frame(method, one), site.arguments, skip=1)


def invoke(frame: Frame, at: Value, method: str, receiver: Instance, target: Node) -> None:
    """A call without arguments that the language makes: ``__enter__``."""
    callee = frame.program.receiver_frame(method, receiver)
    frame.program.record(frame, at, callee)
    frame.program.graph.edge(callee.result, target)


def entered(one: Object, frame: Frame, at: Value, target: Node) -> None:
    """target ⊇ what ``with one as target`` binds"""
    match one:
        case Container():
            frame.program.graph.edge(frame.program.field(one, ANY), target)
        case Instance(cls=cls):
            method = frame.program.method(cls, "__enter__") or frame.program.method(cls, "__aenter__")
            if method is not None:
                invoke(frame, at, method, one, target)
        case ExternalInstance():
            frame.program.graph.add(target, one)


def construct(site: Site, cls: str) -> None:
    """v ∋ a new instance named by the call"""
    program = site.frame.program
    if cls not in program.hierarchy.classes:
        return
    owner = program.owner_in(site.frame)
    if program.merged or (owner is None and not program.tracked(cls)):
        made = program.some(cls)
    else:
        made = Instance(cls, site.frame.code.path, site.at.line, site.at.column, owner)
    program.register(made)
    new = program.method(cls, "__new__")
    if new is None or _makes(program.codes[new]):
        program.graph.add(site.target, made)
    if new is not None:
        callee = program.frame(new, None)
        program.graph.add(callee.node(0), ClassObject(cls))
        _link(site, callee, site.arguments, skip=1)
    init = program.method(cls, "__init__")
    if init is not None:
        callee = program.receiver_frame(init, made)
        if site.runs:
            program.record(site.frame, site.dst, callee)
        _pass_arguments(callee, site.arguments, skip=1)
    else:
        _fields_from_arguments(site, made)
        foreign = program.hierarchy.foreign_base(cls)
        if foreign is not None:
            program.outside.add((site.frame.code.name, f"{foreign}.__init__"))


def _makes(code: Code) -> bool:
    """Whether a ``__new__`` makes an object of its class: it calls that of another."""
    return any(type(one) is Attr and one.name == "__new__" for one in code.defined.values())


def _fields_from_arguments(site: Site, made: Instance) -> None:
    """A class without ``__init__`` of its own (dataclass, NamedTuple, Struct): arguments become fields."""
    program = site.frame.program
    names = program.field_order(made.cls)
    positional = [node for one, node in site.arguments if one.kind == "pos"]
    for name, node in zip(names, positional, strict=False):
        program.graph.edge(node, program.field(made, name))
    for one, node in site.arguments:
        if one.kind == "key":
            program.graph.edge(node, program.field(made, one.name))
    hook = program.method(made.cls, "__post_init__")
    if hook is not None:
        callee = program.receiver_frame(hook, made)
        given = dict(zip(names, positional, strict=False)) | {
            one.name: node for one, node in site.arguments if one.kind == "key"
        }
        for index, param in enumerate(callee.code.facts.params):
            if index and param.name in given:  # dataclasses.InitVar
                program.graph.edge(given[param.name], callee.node(index))


def _link(site: Site, callee: Frame, arguments: Given, *, skip: int) -> None:
    if site.runs:
        site.frame.program.record(site.frame, site.dst, callee)
    _pass_arguments(callee, arguments, skip=skip)
    site.frame.program.graph.edge(callee.result, site.target)
    _hand_back(site, callee, arguments, skip=skip)


def _hand_back(site: Site, callee: Frame, arguments: Given, *, skip: int) -> None:
    """v ⊇ argument i  where g returns its parameter i; what is not given by place or name, whatever others give"""
    program = callee.program
    for position, accepts in passed(program, callee.code).items():
        given = [source for index, source in _placed(callee, arguments, skip) if index == position]
        cls = _tracked_annotation(callee, position)
        for source in given or [callee.node(position)]:
            admitted = source
            if cls is not None and given:
                program.casts.append((source, site.target))
                admitted = program.narrow(source, subclass_filter(program, cls))
            for accept in accepts:
                program.graph.edge(admitted, site.target, accept)


def _placed(callee: Frame, arguments: Given, skip: int) -> Iterator[tuple[int, Node]]:
    """The arguments that certainly are one parameter: (its position, node)."""
    params = callee.code.facts.params
    names = {one.name: index for index, one in enumerate(params)}
    positional = [index for index, one in enumerate(params) if one.kind in ("posonly", "pos")][skip:]
    place = 0
    for argument, source in arguments:
        if argument.kind == "pos" and place < len(positional):
            yield positional[place], source
            place += 1
        elif argument.kind == "*":
            place = len(positional)
        elif argument.kind == "key" and argument.name in names:
            yield names[argument.name], source


def _pass_arguments(callee: Frame, arguments: Given, *, skip: int) -> None:
    """parameter(g, i) ⊇ argument i"""
    if not callee.program.first_time((callee.base, skip, arguments)):
        return
    params = callee.code.facts.params
    names = {one.name: index for index, one in enumerate(params)}
    positional = [index for index, one in enumerate(params) if one.kind in ("posonly", "pos")][skip:]
    rest = next((index for index, one in enumerate(params) if one.kind == "*"), None)
    keywords = next((index for index, one in enumerate(params) if one.kind == "**"), None)
    place = 0
    for argument, source in arguments:
        if argument.kind == "pos":
            if place < len(positional):
                _pass(callee, positional[place], source)
            elif rest is not None:
                _collect(callee, rest, f"[{place - len(positional)}]", source)
            place += 1
        elif argument.kind == "key":
            if argument.name in names:
                _pass(callee, names[argument.name], source)
            elif keywords is not None:
                _collect(callee, keywords, f"[{argument.name!r}]", source)
        elif argument.kind == "*":
            _spread(callee, positional[place:], rest, source)
        else:
            _spread_keywords(callee, names, keywords, source)


def _pass(callee: Frame, index: int, source: Node) -> None:
    """parameter ⊇ what of the argument its annotation admits, if that names a tracked class"""
    program = callee.program
    cls = _tracked_annotation(callee, index)
    if cls is None:
        program.graph.edge(source, callee.node(index))
        return
    program.graph.edge(source, callee.node(index), subclass_filter(program, cls))
    program.casts.append((source, callee.node(index)))


def _tracked_annotation(callee: Frame, index: int) -> str | None:
    program, code = callee.program, callee.code
    cls = annotated_class(program.scopes, code.module, code.facts.scope, code.facts.params[index].annotation)
    return cls if cls is not None and cls in program.hierarchy.classes and program.tracked(cls) else None


def _spread(callee: Frame, positional: Sequence[int], rest: int | None, source: Node) -> None:
    program = callee.program
    for offset, index in enumerate(positional):
        program.graph.on(source, element, program, f"[{offset}]", callee.node(index))
    if rest is not None:
        program.graph.edge(source, callee.node(rest), is_container)


def _spread_keywords(callee: Frame, names: dict[str, int], keywords: int | None, source: Node) -> None:
    program = callee.program
    for name, index in names.items():
        if callee.code.facts.params[index].kind in ("pos", "key"):
            program.graph.on(source, element, program, f"[{name!r}]", callee.node(index))
    if keywords is not None:
        program.graph.edge(source, callee.node(keywords), is_container)


def _collect(callee: Frame, index: int, key: str, source: Node) -> None:
    callee.program.put(collected(callee, index), key, source)


def collected(callee: Frame, index: int) -> Container:
    """What ``*args`` or ``**kwargs`` is made of by the calls of a function."""
    at = callee.code.facts.at
    kind = "tuple" if callee.code.facts.params[index].kind == "*" else "dict"
    return Container(kind, callee.code.path, at.line, at.column + index, callee.context)


@steady
def is_container(one: Object) -> bool:
    return isinstance(one, Container)


@steady
def is_callable(one: Object) -> bool:
    return isinstance(one, Function | Bound | ClassObject)
