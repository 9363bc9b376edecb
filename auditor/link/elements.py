"""Elements of containers: subscripts, iteration, unpacking, and the methods of lists, dicts, sets and queues."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.facts import Argument
from auditor.link.constraints import Node
from auditor.link.objects import ClassObject, Container, Function, Instance, Object, Super
from auditor.link.program import ANY, SOMEWHERE, Frame, Program

_PUTS = frozenset({"append", "add", "appendleft", "put", "put_nowait", "set"})
_TAKES = frozenset({"get", "pop", "popleft", "popitem", "get_nowait", "__getitem__", "peek", "result"})
_SHIFTS = frozenset({"appendleft", "insert", "pop", "popleft", "remove", "reverse", "rotate", "sort"})
METHODS = (
    _PUTS | _TAKES | _SHIFTS | {"setdefault", "extend", "update", "values", "copy", "items", "send", "__setitem__"}
)
"""Methods of containers that move elements."""
SENT = "[sent]"
"""The field of a generator for what is sent to it."""
RETURNED = "[returned]"
"""The field of a generator for what it returns."""
_STORES = {
    "builtins.dict": "dict",
    "builtins.list": "list",
    "builtins.set": "set",
    "collections.OrderedDict": "dict",
    "collections.UserDict": "dict",
    "collections.UserList": "list",
    "collections.defaultdict": "dict",
    "collections.deque": "list",
    "dict": "dict",
    "list": "list",
    "set": "set",
}
"""Out-of-tree classes that keep elements -> the kind of container that their objects are."""


_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})


def element(one: Object, program: Program, key: str | None, target: Node) -> None:
    """target ⊇ one[key]"""
    match one:
        case Container(kind=kind):
            if key is None or (kind != "dict" and key.startswith("[-")):
                program.graph.edge(program.field(one, ANY), target)
            else:
                program.graph.edge(program.field(one, key), target)
                program.graph.edge(program.field(one, SOMEWHERE), target)
        case Instance(cls=cls):
            for method in program.hierarchy.applicable(cls).get("__getitem__", ())[:1]:
                program.graph.edge(program.receiver_frame(method, one).result, target)
            if (store := store_of(one, program)) is not None:
                element(store, program, key, target)
            if not _NAMED_TUPLES.isdisjoint(program.hierarchy.mro(cls)):
                for place, name in enumerate(program.field_order(cls)):
                    if key in (None, f"[{place}]"):
                        program.graph.edge(program.field(one, name), target)
        case ClassObject(cls=cls):
            getter = program.method(cls, "__class_getitem__")
            if getter is None and not any(base.endswith(("Enum", "Flag")) for base in program.hierarchy.mro(cls)):
                program.graph.add(target, one)  # C[T] is the class C; of an enumeration it is a member
            elif getter is not None:
                program.graph.edge(program.frame(getter, None).result, target)
        case Function():
            program.graph.add(target, one)  # kernel[grid] is the kernel
        case Super(receiver=Instance() as receiver) if (store := store_of(receiver, program)) is not None:
            element(store, program, key, target)


def store_of(one: Instance, program: Program) -> Container | None:
    """The container that an object is itself, where its class derives from one."""
    kinds = (_STORES[base] for base in program.hierarchy.mro(one.cls) if base in _STORES)
    kind = next(kinds, None)
    return None if kind is None else Container(kind, one.cls, one.line, one.column, one)


def put(one: Object, program: Program, key: str | None, source: Node) -> None:
    """one[key] ⊇ source"""
    match one:
        case Container():
            program.put(one, key, source)
        case Instance():
            store = store_of(one, program)
            for method in program.hierarchy.applicable(one.cls).get("__setitem__", ())[:1]:
                frame = program.receiver_frame(method, one)
                if len(frame.code.facts.params) > 2:
                    program.graph.edge(source, frame.node(2))
            if store is not None:
                program.put(store, key, source)
        case Super(receiver=Instance() as receiver) if (store := store_of(receiver, program)) is not None:
            program.put(store, key, source)


def iteration(one: Object, frame: Frame, target: Node) -> None:
    """target ⊇ each element of one, where ``frame`` iterates over it"""
    program = frame.program
    if isinstance(one, Container):
        if one.kind != "dict":
            program.graph.edge(program.field(one, ANY), target)
    elif isinstance(one, Instance):
        if (store := store_of(one, program)) is not None:
            iteration(store, frame, target)
        if (iterator := program.implied(frame, one, "__iter__", "__aiter__")) is not None:
            program.graph.on(iterator.result, following, frame, target)
        elif (getter := program.implied(frame, one, "__getitem__")) is not None:
            program.graph.edge(getter.result, target)


def following(one: Object, frame: Frame, target: Node) -> None:
    """target ⊇ the next element of the iterator ``one``"""
    if not isinstance(one, Instance):
        iteration(one, frame, target)
    elif (advance := frame.program.implied(frame, one, "__next__", "__anext__")) is not None:
        frame.program.graph.edge(advance.result, target)


def part(one: Object, program: Program, bounds: tuple[int, int] | None, target: Node) -> None:
    """target ∋ the slice of one between ``bounds`` (None: not known)"""
    if not isinstance(one, Container):
        element(one, program, None, target)
    elif bounds is None:
        scattered(one, program, target)
    else:
        lower, upper = bounds
        made = Container(one.kind, one.path, one.line, -abs(one.column), one.owner, bounds, one.value)
        program.graph.add(target, made)
        for place in range(lower, upper):
            program.put(made, f"[{place - lower}]", program.field(one, f"[{place}]"))
        program.put(made, None, program.field(one, SOMEWHERE))


def scattered(one: Object, program: Program, target: Node) -> None:
    """target ∋ one with its elements at places that are not known; what is no container is as it was"""
    if isinstance(one, Container):
        view = _view(one, one.kind)
        program.graph.add(target, view)
        program.put(view, None, program.field(one, ANY))
    else:
        program.graph.add(target, one)


def shift(one: Object, program: Program) -> None:
    """one[?] ⊇ one[*]: the elements change places"""
    if isinstance(one, Container) and one.kind != "dict":
        program.graph.edge(program.field(one, ANY), program.field(one, SOMEWHERE))


def container_method(
    one: Object, program: Program, name: str, key: str | None, given: Sequence[tuple[Argument, Node]], target: Node
) -> None:
    """The effect of ``one.name(*given)``; ``key`` is the first argument where that is a literal."""
    held = one.receiver if isinstance(one, Super) else one
    if isinstance(held, Instance):
        inherited = isinstance(one, Super) or name not in program.hierarchy.applicable(held.cls)
        one = (store_of(held, program) if inherited else None) or one
    if not isinstance(one, Container):
        return
    values = [node for argument, node in given if argument.kind != "key"]
    if name in _SHIFTS:
        shift(one, program)
    if name in _PUTS and values:
        program.put(one, None, values[0])
    elif name in ("insert", "setdefault") and len(values) == 2:
        program.put(one, key if name == "setdefault" else None, values[1])
        element(one, program, key if name == "setdefault" else None, target)
    elif name == "__setitem__" and len(values) == 2:
        program.put(one, key, values[1])
    elif name in ("extend", "update"):
        for value in values[:1]:
            extend(one, program, value)
        for argument, value in given:
            if argument.kind == "key":
                program.put(one, f"[{argument.name!r}]", value)
    elif name == "send" and values:
        program.graph.edge(values[0], program.field(one, SENT))
        element(one, program, None, target)
    elif name == "popitem" and one.kind == "dict":
        pair = _view(one, "tuple")
        program.graph.add(target, pair)
        program.graph.edge(program.field(one, ANY), program.field(pair, "[1]"))
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
        program.hold(view, pair)
        program.graph.edge(program.field(one, ANY), program.field(pair, "[1]"))


def extend(one: Container, program: Program, source: Node) -> None:
    """one[?] ⊇ each element of what ``source`` holds; of pairs, where one is a dict, the second"""
    place = program.graph.new_nodes(1)
    if one.kind == "dict":
        program.graph.on(source, _paired, program, place)
    else:
        program.graph.on(source, element, program, None, place)
    program.put(one, None, place)


def _paired(one: Object, program: Program, target: Node) -> None:
    """target ⊇ each value of a dict, or of what a dict is made of"""
    if isinstance(one, Container) and one.kind != "dict":
        program.graph.on(program.field(one, ANY), element, program, "[1]", target)
    else:
        element(one, program, None, target)


def _view(one: Container, kind: str) -> Container:
    return Container(kind, one.path, one.line, -abs(one.column), one.owner, None, one.value)
