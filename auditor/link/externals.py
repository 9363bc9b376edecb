"""What the few out-of-tree functions do that move objects about: builtins, typing, functools, copies, containers."""

from __future__ import annotations

from auditor.facts import Value
from auditor.link.calls import Site, call, is_callable
from auditor.link.constraints import Node
from auditor.link.elements import container_method, following, iteration, scattered, shift
from auditor.link.library import HANDLERS, dereference
from auditor.link.members import REGISTER, write
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
    Property,
    Super,
)
from auditor.link.program import Frame, Program

COPIES = frozenset(
    {"copy.copy", "copy.deepcopy", "dataclasses.replace", "msgspec.structs.replace", "attr.evolve", "attrs.evolve"}
)
CASTS = frozenset({"typing.cast", "typing_extensions.cast"})
GETATTR = frozenset({"builtins.getattr", "builtins.object.__getattribute__"})
SETATTR = frozenset({"builtins.setattr", "builtins.object.__setattr__"})
ATTRIBUTE = GETATTR | SETATTR
_SEQUENCES = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter")
)
_ORDERED = frozenset(f"builtins.{name}" for name in ("list", "tuple", "iter"))
_SHUFFLES = frozenset(
    {"random.shuffle", "heapq.heapify", "heapq.heappush", "heapq.heappop", "bisect.insort", "bisect.insort_left"}
)
_ELEMENTS = frozenset({"builtins.next", "builtins.min", "builtins.max"})
_MAKERS = {
    "builtins.list": "list",
    "builtins.set": "set",
    "queue.Queue": "list",
    "queue.SimpleQueue": "list",
    "contextvars.ContextVar": "variable",
    "weakref.WeakKeyDictionary": "dict",
    "weakref.WeakValueDictionary": "dict",
}
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
_FIELDS = frozenset({"dataclasses.field", "attr.ib", "attr.field", "attrs.field", "msgspec.field"})
_WRAPPERS = frozenset({"functools.wraps", "functools.update_wrapper"})
_HANDLED = (
    frozenset(f"builtins.{name}" for name in ("super", "type", "enumerate", "zip", "map"))
    | {"functools.partial"}
    | COPIES
    | CASTS
    | ATTRIBUTE
    | _SEQUENCES
    | _SHUFFLES
    | _ELEMENTS
    | _MAKERS.keys()
    | _PROPERTIES
    | _WRAPPERS
    | _FIELDS
    | HANDLERS.keys()
)


def matters(name: str) -> bool:
    """Whether a call of ``name`` does more than hand callables on."""
    return name in _HANDLED or names_class(name)


def names_class(name: str) -> bool:
    """Whether ``name`` looks like a class, or is what an out-of-tree function gave."""
    last = name.rpartition(".")[2]
    return (last[:1].isupper() and not last.isupper() and not name.startswith("builtins.")) or name.endswith("()")


def call_external(name: str, site: Site) -> None:
    """target ⊇ the result of the out-of-tree function ``name``"""
    graph = site.frame.program.graph
    values = [node for _, node in site.arguments]
    target = site.target
    handler = HANDLERS.get(name)
    if handler is not None:
        handler(site, _apply)
    elif name == "builtins.super":
        _super(site, values)
    elif name == "builtins.type" and len(values) == 1:
        graph.on(values[0], _type_of, site.frame.program, target)
    elif name in CASTS and len(values) == 2:
        graph.edge(values[1], target)
    elif name == "functools.partial" and values:
        _partial(site)
    elif name in COPIES and values:
        graph.edge(values[0], target)
        for argument, value in site.arguments:
            if argument.kind == "key":
                graph.on(values[0], write, site.frame.program, argument.name, value)
    elif name in _SEQUENCES and values:
        source = values[-1] if name.endswith("filter") else values[0]
        if name in _ORDERED:
            graph.edge(source, target)
        else:
            graph.on(source, scattered, site.frame.program, target)
    elif name in _SHUFFLES and values:
        graph.on(values[0], shift, site.frame.program)
    elif name in _ELEMENTS:
        advances = name == "builtins.next"
        for value in values[:1] if advances else values:
            graph.on(value, following if advances else iteration, site.frame, target)
        for value in values[1:] if advances else ():
            graph.edge(value, target)  # its default
    elif name == "builtins.enumerate" and values:
        _pairs(site, values, first=1)
    elif name == "builtins.zip":
        _pairs(site, values, first=0)
    elif name == "builtins.map" and len(values) > 1:
        _map(site, values)
    elif name in _MAKERS:
        _make(_MAKERS[name], site)
    elif name in _PROPERTIES and values:
        graph.on(values[0], _property, site.frame.program, target)
    elif name in _FIELDS:
        # v ⊇ default ∪ call(default_factory)
        for argument, value in site.arguments:
            if argument.name in ("default_factory", "factory"):
                graph.on(value, _apply, site._replace(arguments=()))
            elif argument.name == "default":
                graph.edge(value, target)
    elif name in _WRAPPERS:
        graph.add(target, External(f"{name}()"))
    else:
        _unknown(name, site)


def _unknown(name: str, site: Site) -> None:
    """Decorators keep what they decorate; a name that looks like a class gives an instance of it."""
    graph = site.frame.program.graph
    for argument, value in site.arguments:
        if argument.kind == "pos":
            graph.edge(value, site.target, is_callable)
    if names_class(name) and not name.startswith("functools."):
        graph.add(site.target, ExternalInstance(name, site.frame.code.path, site.at.line, site.at.column))


def call_object(callee: Object, site: Site) -> None:
    """Call an out-of-tree or made-up callable."""
    match callee:
        case External(name=name):
            site.frame.program.outside.add((site.frame.code.name, name))
            call_external(name, site)
        case Bound(function=name, receiver=ClassObject(cls=cls)) if name == REGISTER and site.arguments:
            # v ⊇ the class, which counts as derived from now on
            graph = site.frame.program.graph
            graph.on(site.arguments[0][1], _registered, site.frame.program, cls)
            graph.edge(site.arguments[0][1], site.target)
        case ContainerMethod(container=container, name=name):
            container_method(container, site.frame.program, name, None, site.arguments, site.target)
        case Container(kind="reference"):
            dereference(callee, site.frame.program, site.target)
        case Partial():
            # v ⊇ call(f, stored + given)  where the partial holds f
            program = site.frame.program
            if program.first_time((callee, site.target)):  # a partial of itself has no end
                given = (*program.partials.get(callee, ()), *site.arguments)
                program.graph.on(program.field(callee, "function"), _apply, site._replace(arguments=given))


def _registered(one: Object, program: Program, abstract: str) -> None:
    if isinstance(one, ClassObject):
        program.note_registered(abstract, one.cls)


def _apply(function: Object, site: Site) -> None:
    call(function, site)
    call_object(function, site)


def _partial(site: Site) -> None:
    # v ∋ a partial that holds f and the arguments
    program = site.frame.program
    made = Partial(site.frame.code.path, site.at.line, site.at.column)
    program.partials.setdefault(made, list(site.arguments[1:]))
    program.graph.add(site.target, made)
    program.graph.edge(site.arguments[0][1], program.field(made, "function"))


def type_of(one: Object, frame: Frame, dst: Value) -> None:
    """v ∋ the class of one"""
    _type_of(one, frame.program, frame.node(dst))


def _type_of(one: Object, program: Program, target: Node) -> None:
    if isinstance(one, Instance):
        program.graph.add(target, ClassObject(one.cls))


def _property(one: Object, program: Program, target: Node) -> None:
    if isinstance(one, Function):
        program.graph.add(target, Property(one.function))


def _super(site: Site, values: list[Node]) -> None:
    program, frame = site.frame.program, site.frame
    if len(values) == 2:
        program.graph.on(values[0], _super_explicit, program, values[1], site.target)
    if values:
        return
    code = frame.code
    while not code.owner and code.facts.scope:
        outer = program.codes.get(f"{code.module}.{code.facts.scope}")
        if outer is None:
            return
        code = outer
    source = frame if code is frame.code else program.frames.get((code.name, None))
    if code.owner and code.facts.params and source is not None:
        program.graph.on(source.node(0), _super_of, program, code.owner, site.target)


def _super_explicit(cls: Object, program: Program, receiver: Node, target: Node) -> None:
    if isinstance(cls, ClassObject):
        program.graph.on(receiver, _super_of, program, cls.cls, target)


def _super_of(one: Object, program: Program, cls: str, target: Node) -> None:
    if isinstance(one, Instance | ClassObject):
        program.graph.add(target, Super(cls, one))


def _container(kind: str, site: Site) -> Container:
    return Container(kind, site.frame.code.path, site.at.line, site.at.column, site.frame.context)


def _make(kind: str, site: Site) -> None:
    program = site.frame.program
    made = _container(kind, site)
    program.graph.add(site.target, made)
    for argument, value in site.arguments:
        if argument.kind == "key":
            program.put(made, None if argument.name == "default" else f"[{argument.name!r}]", value)


def _pairs(site: Site, values: list[Node], *, first: int) -> None:
    program = site.frame.program
    outer, inner = _container("list", site), _container("tuple", site)
    program.graph.add(site.target, outer)
    program.hold(outer, inner)
    for position, value in enumerate(values):
        place = program.graph.new_nodes(1)
        program.graph.on(value, iteration, site.frame, place)
        program.put(inner, f"[{position + first}]", place)


def _map(site: Site, values: list[Node]) -> None:
    # v ∋ a list of call(f, element of each iterable)
    program = site.frame.program
    made = _container("list", site)
    program.graph.add(site.target, made)
    given, result = [], program.graph.new_nodes(1)
    program.put(made, None, result)
    for argument, value in site.arguments[1:]:
        place = program.graph.new_nodes(1)
        program.graph.on(value, iteration, site.frame, place)
        given.append((argument, place))
    program.graph.on(values[0], _apply, site._replace(arguments=tuple(given), target=result))
