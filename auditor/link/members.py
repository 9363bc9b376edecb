"""Reading and writing attributes of objects."""

from __future__ import annotations

from functools import partial

from auditor.link.constraints import Node
from auditor.link.declared import field_filter
from auditor.link.delegation import GETTERS, SETTER, Answer, answers, own_path, stores
from auditor.link.elements import METHODS, element
from auditor.link.objects import (
    Bound,
    ClassObject,
    Container,
    ContainerMethod,
    External,
    ExternalInstance,
    Function,
    Instance,
    Module,
    Object,
    Super,
)
from auditor.link.program import SOMEWHERE, Frame, Program, has_decorator, is_class_method, is_property, is_static

OUTSIDE_METHODS = frozenset(
    {
        "concurrent.futures.ThreadPoolExecutor.map",
        "concurrent.futures.ThreadPoolExecutor.submit",
        "contextlib.AsyncExitStack.enter_async_context",
        "contextlib.AsyncExitStack.enter_context",
        "contextlib.ExitStack.enter_context",
    }
)
"""Methods of out-of-tree objects that hand objects on."""
_DEEPEST = 4
"""The most dots in the name of an out-of-tree object: a chain of reads of unknown things has an end."""


def read(one: Object, program: Program, name: str, target: Node) -> None:
    """target ⊇ one.name"""
    match one:
        case Instance():
            _read_instance(one, program, name, target)
        case ClassObject():
            _read_class(one, program, name, target)
        case Module(name=module):
            module_member(program, module, name, target)
        case External(name=dotted, member=False) if dotted.count(".") < _DEEPEST:
            program.graph.add(target, External(f"{dotted}.{name}"))
        case ExternalInstance(cls=cls):
            program.graph.edge(program.field(one, name), target)
            if program.closed or f"{cls}.{name}" in OUTSIDE_METHODS:
                program.graph.add(target, External(f"{cls}.{name}", member=True))
        case Function() | Bound():
            program.graph.edge(program.field(one, name), target)
        case Container() if name in METHODS:
            program.graph.add(target, ContainerMethod(one, name))
        case Super():
            _read_super(one, program, name, target)


def _read_instance(one: Instance, program: Program, name: str, target: Node) -> None:
    applicable = program.hierarchy.applicable(one.cls)
    methods = applicable.get(name, ())[:1]
    if program.is_assumed(one):
        methods = (*methods, *_overridden(program, one.cls, name))
    for method in methods:
        bind_method(program, method, one, target)
    program.graph.edge(program.field(one, name), target)
    if name == "__class__":
        program.graph.add(target, ClassObject(one.cls))
    if not methods and is_missing(one, program, name):
        # v ⊇ what a computed name, or a dict that became the object's own, may have put there
        program.graph.edge(program.field(one, SOMEWHERE), target, program.followed)
        program.graph.on(program.field(one, "__dict__"), element, program, f"[{name!r}]", target)
    if program.closed and not methods and is_missing(one, program, name):
        foreign = program.hierarchy.foreign_base(one.cls)
        if foreign is not None:
            program.graph.add(target, External(f"{foreign}.{name}", member=True))
    for getter in getters(program, one.cls, name):
        frame = program.receiver_frame(getter, one)
        _give(program, frame, one, answers_of(program, getter, name), target)


def getters(program: Program, cls: str, name: str) -> tuple[str, ...]:
    """The methods of the tree that give objects of ``cls`` an attribute ``name`` which nothing else gives them, or
    whatever gives it."""
    applicable = program.hierarchy.applicable(cls)
    special, always = (applicable.get(getter, ()) for getter in GETTERS)
    if not special or name in _OWN or program.hierarchy.gives(cls, name):
        return always
    return (*always, *special)


_OWN = frozenset({"__class__", "__dict__", "__init__", "__call__", "__iter__", "__next__", "__enter__", "__exit__"})
"""Names that every object has, or that the language looks up on the class."""


def answers_of(program: Program, getter: str, name: str) -> tuple[Answer, ...]:
    """What a ``__getattr__`` gives for a name."""
    known = program.answers.get((getter, name))
    if known is None:
        code = program.codes[getter]
        body = program.codes.get(code.module)
        known = program.answers[getter, name] = answers(code.facts, body.facts if body is not None else None, name)
    return known


def _give(program: Program, frame: Frame, one: Instance | None, given: tuple[Answer, ...], target: Node) -> None:
    # v ⊇ what o's __getattr__ returns, ∪ p.name for every p that it hands the name on to
    for answer in given:
        node = behind(program, frame, one, answer)
        if answer.is_itself:
            program.graph.edge(node, target)
        elif answer.is_element:
            found = program.graph.new_nodes(1)
            program.graph.edge(found, target, program.followed)
            program.graph.on(node, element, program, None if answer.name is None else f"[{answer.name!r}]", found)
        elif answer.name is not None:
            program.graph.on(node, read, program, answer.name, target)


def behind(program: Program, frame: Frame, one: Instance | None, answer: Answer) -> Node:
    """What an answer of ``one``, in the frame of its ``__getattr__``, is read from: its field where that is one."""
    own = None if one is None else own_path(frame.code.defined, answer.value)
    if one is None or own is None or own in program.hierarchy.applicable(one.cls):
        return frame.node(answer.value)
    return program.field(one, own)


def is_missing(one: Instance, program: Program, name: str) -> bool:
    """Whether nothing in the tree gives objects of the class an attribute ``name``."""
    return name not in program.hierarchy.attributes(one.cls)


def _overridden(program: Program, cls: str, name: str) -> tuple[str, ...]:
    found = (f"{sub}.{name}" for sub in sorted(program.hierarchy.subclasses(cls)) if sub != cls)
    return tuple(one for one in found if one in program.functions)


def bind_method(program: Program, method: str, one: Instance, target: Node) -> None:
    """target ⊇ what reading ``method`` through ``one`` gives"""
    facts = program.functions[method]
    if is_property(facts):
        program.graph.edge(program.receiver_frame(method, one).result, target)
    elif is_static(facts):
        program.graph.add(target, Function(method))
    elif is_class_method(facts):
        program.graph.add(target, Bound(method, ClassObject(one.cls)))
    else:
        program.graph.add(target, Bound(method, one))


def _read_class(one: ClassObject, program: Program, name: str, target: Node) -> None:
    hierarchy = program.hierarchy
    for cls in hierarchy.mro(one.cls):
        info = hierarchy.classes.get(cls)
        if info is None:
            continue
        method = f"{cls}.{name}"
        if method in program.functions and method not in hierarchy.classes:
            program.graph.add(
                target, Bound(method, one) if is_class_method(program.functions[method]) else Function(method)
            )
            return
        if method in hierarchy.classes:
            program.graph.add(target, ClassObject(method))
            return
        program.graph.edge(program.class_variable(cls, name), target)
        if program.scopes.binds(info.module, info.facts.qualname, name):
            return
    if name == "register":
        program.graph.add(target, Bound(REGISTER, one))
    for getter in hierarchy.applicable(hierarchy.metaclass(one.cls)).get(GETTERS[0], ()):
        frame = program.frame(getter, None)
        program.graph.add(frame.node(0), one)
        _give(program, frame, None, answers_of(program, getter, name), target)


REGISTER = "abc.ABCMeta.register"


def derive(program: Program, cls: str) -> None:
    """cls(g) ∋ the class  where a base of it has an ``__init_subclass__`` g, or its metaclass a constructor"""
    hierarchy = program.hierarchy
    method = hierarchy.lookup(cls, "__init_subclass__", program.functions, after=cls)
    if method is not None:
        program.graph.add(program.frame(method, None).node(0), ClassObject(cls))
    metaclass = hierarchy.metaclass(cls)
    for hook in ("__init__", "__new__"):
        for maker in hierarchy.applicable(metaclass).get(hook, ())[:1]:
            made = ClassObject(cls if hook == "__init__" else metaclass)
            program.graph.add(program.frame(maker, None).node(0), made)
            program.graph.add(program.made(metaclass), ClassObject(cls))
    if any(base not in hierarchy.classes for base in hierarchy.mro(cls)):
        program.later.append(partial(derive, program, cls))


def _read_super(one: Super, program: Program, name: str, target: Node) -> None:
    receiver = one.receiver
    method = program.hierarchy.lookup(receiver.cls, name, program.functions, after=one.cls)
    if method is None and name == "__new__":
        program.graph.add(target, External("builtins.object.__new__"))
    if method is None:
        program.later.append(partial(_read_super, one, program, name, target))
        return
    if isinstance(receiver, Instance):
        bind_method(program, method, receiver, target)
    elif has_decorator(program.functions[method], "classmethod") or name == "__new__":
        program.graph.add(target, Bound(method, receiver))
    else:
        program.graph.add(target, Function(method))


def module_member(program: Program, module: str, name: str, target: Node) -> None:
    """target ⊇ the module's variable, or ∋ its submodule"""
    submodule = f"{module}.{name}"
    if program.scopes.in_tree(submodule) and not program.scopes.binds(module, "", name):
        program.graph.add(target, Module(submodule))
    elif program.scopes.in_tree(module):
        program.graph.edge(program.variable(module, "", name), target)
        _read_lazily(program, module, name, target)
    else:
        program.graph.add(target, External(submodule))


def _read_lazily(program: Program, module: str, name: str, target: Node) -> None:
    # v ⊇ what the module's __getattr__ gives for a name that the module does not bind (PEP 562)
    getter = f"{module}.{GETTERS[0]}"
    if module not in program.scopes.modules:
        program.later.append(partial(_read_lazily, program, module, name, target))
    elif getter in program.codes and not program.scopes.binds(module, "", name) and not name.startswith("__"):
        _give(program, program.frame(getter, None), None, answers_of(program, getter, name), target)


def write(one: Object, program: Program, name: str, source: Node) -> None:
    """one.name ⊇ source"""
    match one:
        case Instance():
            setter = program.hierarchy.setter(one.cls, name) if name in program.hierarchy.applicable(one.cls) else None
            if setter is not None:
                # parameter(g, 1) ⊇ source  where a property sets it
                frame = program.receiver_frame(setter, one)
                if len(frame.code.facts.params) > 1:
                    program.graph.edge(source, frame.node(1))
                return
            stored = program.narrow(source, field_filter(program, one, name))
            if stored != source:
                program.casts.append((source, stored))
            program.graph.edge(stored, program.field(one, name))
            program.note_written(one.cls, name)
            for method in program.hierarchy.applicable(one.cls).get(SETTER, ()):
                frame = program.receiver_frame(method, one)
                for answer in stores(frame.code.facts, name):
                    if answer.name is not None:
                        holder = behind(program, frame, one, answer)
                        program.graph.on(holder, write, program, answer.name, source)
        case ExternalInstance() | Function() | Bound():
            program.graph.edge(source, program.field(one, name))
        case Super(receiver=Instance() as receiver):
            write(receiver, program, name, source)
        case ClassObject(cls=cls) if cls in program.hierarchy.classes:
            program.note_written(cls, name)
            program.store_on_class(cls, name, source)
            program.graph.on(source, _patched, program, cls, name)
        case Module(name=module):
            program.graph.edge(source, program.variable(module, "", name))


def _patched(value: Object, program: Program, cls: str, name: str) -> None:
    if isinstance(value, Function) and value.function != f"{cls}.{name}":
        program.hierarchy.patch(cls, name, value.function)
        for made in sorted(program.hierarchy.subclasses(cls)):
            for one in tuple(program.instances.get(made, ())):
                program.receiver_frame(value.function, one)
