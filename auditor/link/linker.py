"""Points-to by rules over facts: what each instruction adds to the constraint graph.

Contexts: methods of *tracked* objects (pools, and the helpers that they build) are analysed once per object, all other
functions once (selective object sensitivity, Milanova, Rountev, Ryder 2005; Smaragdakis, Bravenboer, Lhoták 2011). Each rule
stands behind one Datalog-like line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from auditor.facts import (
    NOTHING,
    Argument,
    Attr,
    Await,
    Bind,
    Branch,
    Build,
    Call,
    Class,
    Closure,
    Const,
    Declare,
    Enter,
    FunctionFacts,
    Import,
    Item,
    Iterate,
    ModuleFacts,
    Name,
    Op,
    Param,
    Phi,
    Return,
    SetAttr,
    SetItem,
    TypeExpr,
    Unpack,
    Value,
    Yield,
    expression,
)
from auditor.link import externals
from auditor.link.constraints import Accept, ConstraintGraph, Node
from auditor.link.hierarchy import MODULE_LIKE, Hierarchy
from auditor.link.narrowing import (
    Condition,
    access_path,
    attribute_operand,
    class_operand,
    conditions,
    definitions,
    edge_condition,
    value_of_path,
)
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
    Partial,
    Super,
)
from auditor.link.scopes import Scopes

ANY = "[*]"
"""The field of a container that every element is in; an element at a known place is in ``[place]`` as well."""

BUILTINS = frozenset(
    "getattr setattr hasattr isinstance super type next iter list tuple set frozenset sorted reversed enumerate zip map "
    "filter dict property staticmethod classmethod len min max print range vars sum any all id callable issubclass".split()
)


@dataclass(frozen=True, slots=True)
class Code:
    """A function of the tree with where it is. ``name`` is qualified."""

    name: str
    module: str
    path: str
    facts: FunctionFacts
    defined: dict[Value, object]
    conditions: dict[int, tuple[Condition, ...]]
    owner: str
    """The qualified class whose body defines it, or ""."""


class Frame:
    """One function in one context: a run of nodes, one a value, and one for the result."""

    __slots__ = ("base", "code", "context", "result")

    def __init__(self, code: Code, context: Instance | None, base: Node, size: int) -> None:
        self.code = code
        self.context = context
        self.base = base
        self.result = base + size

    def node(self, value: Value) -> Node:
        return self.base + value


class Linker:
    """The solver. Modules are added, ``solve`` runs to the fixpoint, then the answers are read."""

    def __init__(self, existing: dict[str, str], tracked: Callable[[str, Hierarchy], bool]) -> None:
        self.scopes = Scopes(existing)
        self.hierarchy = Hierarchy(self.scopes)
        self.graph = ConstraintGraph()
        self.functions = self.hierarchy.functions
        self.codes: dict[str, Code] = {}
        self.frames: dict[tuple[str, Instance | None], Frame] = {}
        self.fields: dict[tuple[Object, str], Node] = {}
        self.variables: dict[tuple[str, str, str], Node] = {}
        self.instances: dict[str, list[Instance]] = {}
        self.calls: dict[tuple[str, Value], set[tuple[str, Instance | None]]] = {}
        self.callers: dict[str, set[tuple[str, Value]]] = {}
        self.external_calls: dict[tuple[str, Value], set[str]] = {}
        self._linked: set[tuple[int, Value, str, object]] = set()
        self._anonymous: dict[str, list[tuple[Instance, Node]]] = {}
        self._field_objects: dict[str, list[Object]] = {}
        self._fields_of: dict[Object, list[str]] = {}
        self._assumed: set[str] = set()
        self._is_tracked = tracked
        self._tracked: dict[str, bool] = {}
        self._defaults: dict[str, list[tuple[int, Node]]] = {}
        self._located: list[Frame] = []
        self._bases: list[Node] = []
        self.partials: dict[Partial, list[tuple[Argument, Node]]] = {}

    # ------------------------------------------------------------ modules

    def add(self, modules: Iterable[ModuleFacts]) -> None:
        """Add modules and everything that they say."""
        self._located = []
        added = [one for one in modules if one.module not in self.scopes.modules]
        for facts in added:
            self.scopes.add(facts)
        for facts in added:
            self.hierarchy.add(facts.module, facts.path, facts.classes)
        self.hierarchy.resolve()
        self._tracked.clear()
        classes = self.hierarchy.classes
        for facts in added:
            for function in facts.functions:
                name = f"{facts.module}.{function.qualname}" if function.qualname else facts.module
                owner = f"{facts.module}.{function.scope}" if function.scope else ""
                defined = definitions(function)
                held = conditions(function, defined)
                code = Code(name, facts.module, facts.path, function, defined, held, owner if owner in classes else "")
                self.codes.setdefault(name, code)
                self.functions.setdefault(name, function)
        for facts in added:
            for function in facts.functions:
                name = f"{facts.module}.{function.qualname}" if function.qualname else facts.module
                code = self.codes[name]
                if code.owner and self.tracked(code.owner) and function.kind == "function":
                    continue  # analysed once per object
                self.frame(name, None)
        for facts in added:
            for cls in facts.classes:
                for base in self.hierarchy.mro(f"{facts.module}.{cls.qualname}"):
                    for one in tuple(self.instances.get(base, ())):
                        self._seed(one)

    def tracked(self, cls: str) -> bool:
        """Whether instances of ``cls`` are told apart by context."""
        known = self._tracked.get(cls)
        if known is None:
            known = self._tracked[cls] = self._is_tracked(cls, self.hierarchy)
        return known

    def frame(self, function: str, context: Instance | None) -> Frame:
        """The frame of ``function`` in ``context``; made and filled on first use."""
        key = (function, context)
        known = self.frames.get(key)
        if known is None:
            code = self.codes[function]
            size = 1 + max(code.defined, default=-1)
            known = self.frames[key] = Frame(code, context, self.graph.new_nodes(size + 1), size)
            self._fill(known)
        return known

    def field(self, one: Object, name: str) -> Node:
        key = (one, name)
        node = self.fields.get(key)
        if node is None:
            node = self.fields[key] = self.graph.new_nodes(1)
            self._field_objects.setdefault(name, []).append(one)
            self._fields_of.setdefault(one, []).append(name)
            if isinstance(one, Instance):
                # field(anonymous C, f) ⊇ field(o, f) for every o of C
                for some, reader in self._anonymous.get(name, ()):
                    if one != some and self.hierarchy.is_subclass(one.cls, some.cls):
                        self.graph.edge(node, reader)
                if one.anonymous and one.cls in self._assumed:
                    self._widen_field(one, name, node)
        return node

    def variable(self, module: str, scope: str, name: str) -> Node:
        key = (module, scope, name)
        node = self.variables.get(key)
        if node is None:
            node = self.variables[key] = self.graph.new_nodes(1)
        return node

    # ------------------------------------------------------------ instructions

    def _fill(self, frame: Frame) -> None:
        facts, code = frame.code.facts, frame.code
        if facts.is_generator:
            made = Container("generator", code.path, facts.at.line, facts.at.column, frame.context)
            self.graph.add(frame.result, made)
        for index, block in enumerate(facts.blocks):
            held = code.conditions.get(index, ())
            for one in block.instructions:
                rule = _RULES.get(type(one))
                if rule is not None:
                    rule(self, frame, one, held)
            if type(block.end) is Return and not facts.is_generator and block.end.value != NOTHING:
                # result(f) ⊇ v  where f returns v
                self.graph.edge(self._use(frame, block.end.value, held), frame.result)
        if code.owner and facts.kind == "function" and facts.params:
            self._class_receiver(frame)

    def _class_receiver(self, frame: Frame) -> None:
        if _has_decorator(frame.code.facts, "classmethod"):
            self.graph.add(frame.node(0), ClassObject(frame.code.owner))

    def _use(self, frame: Frame, value: Value, held: tuple[Condition, ...]) -> Node:
        """The node of ``value`` as a use under ``held`` sees it."""
        node = frame.node(value)
        if not held:
            return node
        path = access_path(frame.code.defined, value)
        accepts = [accept for one in held if one.path == path and (accept := self._accept(frame.code, one)) is not None]
        if not accepts:
            return node
        narrowed = self.graph.new_nodes(1)
        self.graph.edge(node, narrowed, accepts[0] if len(accepts) == 1 else lambda one: all(f(one) for f in accepts))
        return narrowed

    def _accept(self, code: Code, condition: Condition) -> Accept | None:
        hierarchy, holds = self.hierarchy, condition.holds
        if condition.kind == "hasattr":
            name = attribute_operand(code.defined, condition.operand)
            if name is None:
                return None

            def has(one: Object) -> bool:
                if not isinstance(one, Instance) or hierarchy.has_external_base(one.cls):
                    return True
                return (name in hierarchy.attributes(one.cls, self.functions)) == holds

            return has
        operands = class_operand(code.defined, condition.operand)
        if operands is None:
            return None
        classes = [self._class_name(code, kind, name) for kind, name in operands]
        exact = condition.kind == "type"

        def matches(one: Object) -> bool:
            if not isinstance(one, Instance):
                return not holds or not isinstance(one, Container | Function | Bound)
            if exact:
                return (one.cls in classes) == holds
            if hierarchy.has_external_base(one.cls) and not any(hierarchy.is_subclass(one.cls, cls) for cls in classes):
                return not holds or not all(cls in hierarchy.classes for cls in classes)
            if one.anonymous and holds:
                return any(hierarchy.is_subclass(one.cls, cls) or hierarchy.is_subclass(cls, one.cls) for cls in classes)
            return any(hierarchy.is_subclass(one.cls, cls) for cls in classes) == holds

        return matches

    def _class_name(self, code: Code, kind: str, name: str) -> str:
        if kind == "name":
            return self.scopes.dotted(code.module, code.facts.qualname, name)
        owner, _, member = name.rpartition(".")
        return self.scopes.dotted(owner, "", member) if owner in self.scopes.modules else name

    def _name(self, frame: Frame, one: Name, held: tuple[Condition, ...]) -> None:
        # v ∋ what the innermost scope that binds the name holds
        node = self._scope_node(frame.code, one.name)
        if node is not None:
            self.graph.edge(node, frame.node(one.dst))
        elif one.name in BUILTINS:
            self.graph.add(frame.node(one.dst), External(f"builtins.{one.name}"))

    def _scope_node(self, code: Code, name: str) -> Node | None:
        names = self.scopes.modules[code.module]
        scope = code.facts.scope if code.facts.kind != "class" else code.facts.qualname
        while scope:
            if name in names.bound.get(scope, {}) and (f"{code.module}.{scope}" not in self.hierarchy.classes or code.facts.kind == "class"):
                return self.variable(code.module, scope, name)
            scope = scope.rpartition(".")[0]
        if name in names.bound.get("", {}):
            return self.variable(code.module, "", name)
        for star in names.stars:
            if star in self.scopes.modules and self.scopes._bound(star, "", name) is not None:
                return self.variable(star, "", name)
        return None

    def _import(self, frame: Frame, one: Import, held: tuple[Condition, ...]) -> None:
        # v ∋ the module, or ⊇ the module's variable
        if one.name == "*":
            return
        node = frame.node(one.dst)
        if not one.name:
            self.graph.add(node, Module(one.module) if self.scopes.in_tree(one.module) else External(one.module))
        else:
            self._module_member(one.module, one.name, node)

    def _module_member(self, module: str, name: str, target: Node) -> None:
        submodule = f"{module}.{name}"
        if self.scopes.in_tree(submodule) and not self._binds(module, name):
            self.graph.add(target, Module(submodule))
        elif self.scopes.in_tree(module):
            self.graph.edge(self.variable(module, "", name), target)
            for star in self.scopes.modules[module].stars if module in self.scopes.modules else ():
                if not self._binds(module, name):
                    self.graph.edge(self.variable(star, "", name), target)
        else:
            self.graph.add(target, External(submodule))

    def _binds(self, module: str, name: str) -> bool:
        return module in self.scopes.modules and name in self.scopes.modules[module].bound.get("", {})

    def _closure(self, frame: Frame, one: Closure, held: tuple[Condition, ...]) -> None:
        name = f"{frame.code.module}.{one.function}"
        self.graph.add(frame.node(one.dst), Function(name))
        if name in self.functions:
            # parameter(g, p) ⊇ the default of p
            positions = {param.name: index for index, param in enumerate(self.functions[name].params)}
            for param, value in one.defaults:
                if param in positions:
                    self._default(name, positions[param], frame.node(value))

    def _default(self, function: str, position: int, source: Node) -> None:
        self._defaults.setdefault(function, []).append((position, source))
        for (name, _), frame in tuple(self.frames.items()):
            if name == function:
                self.graph.edge(source, frame.node(position))

    def _class(self, frame: Frame, one: Class, held: tuple[Condition, ...]) -> None:
        self.graph.add(frame.node(one.dst), ClassObject(f"{frame.code.module}.{one.name}"))

    def _bind(self, frame: Frame, one: Bind, held: tuple[Condition, ...]) -> None:
        # variable ⊇ v
        self.graph.edge(self._use(frame, one.value, held), self.variable(frame.code.module, one.scope, one.name))

    def _param(self, frame: Frame, one: Param, held: tuple[Condition, ...]) -> None:
        for position, source in self._defaults.get(frame.code.name, ()):
            if position == one.dst:
                self.graph.edge(source, frame.node(one.dst))

    def _phi(self, frame: Frame, one: Phi, held: tuple[Condition, ...]) -> None:
        # v ⊇ each choice, as its edge sees it
        code = frame.code
        for block, value in one.choices:
            if value == NOTHING:
                continue
            before = code.conditions.get(block, ())
            if code.conditions and type(code.facts.blocks[block].end) is Branch:
                index = self._block_of(code, one)
                extra = edge_condition(code.facts, code.defined, block, index) if index is not None else None
                before = (*before, extra) if extra is not None else before
            self.graph.edge(self._use(frame, value, before), frame.node(one.dst))

    @staticmethod
    def _block_of(code: Code, one: Phi) -> int | None:
        return next((index for index, block in enumerate(code.facts.blocks) if one in block.instructions), None)

    def _attr(self, frame: Frame, one: Attr, held: tuple[Condition, ...]) -> None:
        self.graph.on(self._use(frame, one.base, held), self._read, one.name, frame.node(one.dst))

    def _set_attr(self, frame: Frame, one: SetAttr, held: tuple[Condition, ...]) -> None:
        self.graph.on(self._use(frame, one.base, held), self._write, one.name, self._use(frame, one.value, held))

    def _item(self, frame: Frame, one: Item, held: tuple[Condition, ...]) -> None:
        key = self._key(frame.code, one.index)
        self.graph.on(self._use(frame, one.base, held), self._element, key, frame.node(one.dst))

    def _set_item(self, frame: Frame, one: SetItem, held: tuple[Condition, ...]) -> None:
        key = self._key(frame.code, one.index)
        self.graph.on(self._use(frame, one.base, held), self._put, key, self._use(frame, one.value, held))

    def _iterate(self, frame: Frame, one: Iterate, held: tuple[Condition, ...]) -> None:
        self.graph.on(self._use(frame, one.iterable, held), self._element_of_iteration, frame.node(one.dst))

    def _unpack(self, frame: Frame, one: Unpack, held: tuple[Condition, ...]) -> None:
        key = f"[{one.index}]" if one.index >= 0 else None
        self.graph.on(self._use(frame, one.source, held), self._element, key, frame.node(one.dst))

    @staticmethod
    def _key(code: Code, index: Value) -> str | None:
        one = code.defined.get(index)
        return f"[{one.value!r}]" if type(one) is Const and isinstance(one.value, str | int) else None

    def _build(self, frame: Frame, one: Build, held: tuple[Condition, ...]) -> None:
        # v ∋ a new container whose elements ⊇ the values
        if one.kind in ("slice", "string"):
            return
        made = Container(one.kind, frame.code.path, one.at.line, one.at.column, frame.context)
        elements = one.elements
        interesting = False
        if one.kind == "dict":
            for key, value in zip(elements[::2], elements[1::2], strict=False):
                place = self._key(frame.code, key) if key != NOTHING else None
                self._put(made, place, self._use(frame, value, held))
                interesting = True
        else:
            for position, value in enumerate(elements):
                self._put(made, f"[{position}]" if one.kind == "tuple" else None, self._use(frame, value, held))
                interesting = True
        if interesting or one.kind in ("dict", "list", "set"):
            self.graph.add(frame.node(one.dst), made)

    def _op(self, frame: Frame, one: Op, held: tuple[Condition, ...]) -> None:
        if one.operator in ("+", "|"):
            for operand in one.operands:
                self.graph.edge(self._use(frame, operand, held), frame.node(one.dst), _is_container)

    def _declare(self, frame: Frame, one: Declare, held: tuple[Condition, ...]) -> None:
        if one.source != NOTHING:
            self.graph.edge(self._use(frame, one.source, held), frame.node(one.dst))

    def _await(self, frame: Frame, one: Await, held: tuple[Condition, ...]) -> None:
        self.graph.edge(self._use(frame, one.value, held), frame.node(one.dst))

    def _yield(self, frame: Frame, one: Yield, held: tuple[Condition, ...]) -> None:
        if one.value == NOTHING:
            return
        source = self._use(frame, one.value, held)
        if one.delegate:
            self.graph.on(source, self._element_of_iteration, self._generated(frame))
            self.graph.edge(source, self._generated(frame), _is_not_container)
        else:
            self.graph.edge(source, self._generated(frame))

    def _generated(self, frame: Frame) -> Node:
        at = frame.code.facts.at
        return self.field(Container("generator", frame.code.path, at.line, at.column, frame.context), ANY)

    def _enter(self, frame: Frame, one: Enter, held: tuple[Condition, ...]) -> None:
        self.graph.on(self._use(frame, one.manager, held), self._entered, frame, one.dst)

    def _entered(self, one: Object, frame: Frame, dst: Value) -> None:
        target = frame.node(dst)
        if isinstance(one, Container):
            self.graph.edge(self.field(one, ANY), target)
        elif isinstance(one, Instance):
            for method in self.hierarchy.applicable(one.cls, self.functions).get("__enter__", ())[:1]:
                self._invoke(frame, dst, method, one, (), target)
        elif isinstance(one, ExternalInstance):
            self.graph.add(target, one)

    def _call(self, frame: Frame, one: Call, held: tuple[Condition, ...]) -> None:
        self.graph.on(self._use(frame, one.func, held), self._called, frame, one, held)

    # ------------------------------------------------------------ reading and writing

    def _read(self, one: Object, name: str, target: Node) -> None:
        """target ⊇ one.name"""
        if isinstance(one, Instance):
            self._read_instance(one, name, target)
        elif isinstance(one, ClassObject):
            self._read_class(one, name, target)
        elif isinstance(one, Module):
            self._module_member(one.name, name, target)
        elif isinstance(one, External):
            if one.name.count(".") < 4:
                self.graph.add(target, External(f"{one.name}.{name}"))
        elif isinstance(one, Container):
            self.graph.add(target, ContainerMethod(one, name))
        elif isinstance(one, Super):
            self._read_super(one, name, target)

    def _read_instance(self, one: Instance, name: str, target: Node) -> None:
        methods = self.hierarchy.applicable(one.cls, self.functions).get(name, ())[:1]
        if one.cls in self._assumed and one.anonymous:
            methods = (*methods, *self._overridden(one.cls, name))
        for method in methods:
            self._bind_method(method, one, name, target)
        self.graph.edge(self.field(one, name), target)
        for cls in self.hierarchy.mro(one.cls):
            info = self.hierarchy.classes.get(cls)
            if info is None:
                continue
            if name not in info.facts.methods or (info.module, info.facts.qualname, name) in self.variables:
                if any(field.name == name for field in info.facts.fields) or (info.module, info.facts.qualname, name) in self.variables:
                    self.graph.on(self.variable(info.module, info.facts.qualname, name), self._class_value, one, target)
        if name == "__class__":
            self.graph.add(target, ClassObject(one.cls))
        if not methods and "__getattr__" in self.hierarchy.applicable(one.cls, self.functions):
            self._forwarded(one, name, target)

    def _overridden(self, cls: str, name: str) -> tuple[str, ...]:
        found = (f"{sub}.{name}" for sub in sorted(self.hierarchy.subclasses(cls)) if sub != cls)
        return tuple(one for one in found if one in self.functions)

    def _class_value(self, value: Object, one: Instance, target: Node) -> None:
        if isinstance(value, Function):
            code = self.codes.get(value.function)
            if code is None or code.owner and self.hierarchy.is_subclass(one.cls, code.owner):
                return  # a method: found through the hierarchy
            self.graph.add(target, Bound(value.function, one))
        else:
            self.graph.add(target, value)

    def _bind_method(self, method: str, one: Instance, name: str, target: Node) -> None:
        facts = self.functions[method]
        if _is_property(facts):
            receiver = self.receiver_frame(method, one)
            self.graph.edge(receiver.result, target)
        elif _has_decorator(facts, "staticmethod"):
            self.graph.add(target, Function(method))
        elif _has_decorator(facts, "classmethod"):
            self.graph.add(target, Bound(method, ClassObject(one.cls)))
        else:
            self.graph.add(target, Bound(method, one))

    def receiver_frame(self, method: str, one: Instance) -> Frame:
        """The frame of ``method`` on ``one``, its first parameter bound."""
        frame = self.frame(method, one if self.context_of(one) else None)
        if frame.code.facts.params and not _has_decorator(frame.code.facts, "staticmethod"):
            self.graph.add(frame.node(0), one)
        return frame

    def view(self, frame: Frame, value: Value, block: int) -> frozenset[Object]:
        """What ``value`` points to as a use in ``block`` sees it. Reads only."""
        found = self.graph.points_to(frame.node(value))
        held = frame.code.conditions.get(block, ())
        if held and found:
            path = access_path(frame.code.defined, value)
            for one in held:
                accept = self._accept(frame.code, one) if one.path == path else None
                if accept is not None:
                    found = frozenset(filter(accept, found))
        return found

    def admits(self, frame: Frame, condition: Condition, one: Instance) -> bool:
        """Whether ``condition`` can hold for ``one``; True where it is not about what may be ``one``."""
        accept = self._accept(frame.code, condition)
        value = value_of_path(frame.code.defined, condition.path)
        if accept is None or value is None or one not in self.graph.points_to(frame.node(value)):
            return True
        return accept(one)

    def derivation(self, frame: Frame, value: Value, one: Object) -> list[tuple[str, int, str]]:
        """How ``one`` came to ``value``: (path, line, what) from its allocation to here, the first way found."""
        if not self._located:
            self._located = sorted(self.frames.values(), key=lambda known: known.base)
            self._bases = [known.base for known in self._located]
        steps: list[tuple[str, int, str]] = []
        if isinstance(one, Instance) and not one.anonymous:
            steps.append((one.path, one.line, f"{one.cls.rpartition('.')[2]} is made here"))
        for node in self.graph.chain(frame.node(value), one):
            step = self._step(node)
            if step is not None and (not steps or steps[-1] != step):
                steps.append(step)
        return steps

    def _step(self, node: Node) -> tuple[str, int, str] | None:
        place = bisect_right(self._bases, node) - 1
        frame = self._located[place] if place >= 0 else None
        if frame is None or node >= frame.result:
            return None
        one = frame.code.defined.get(node - frame.base)
        at = getattr(one, "at", None)
        if at is None or type(one) is Name:
            return None
        what = f"parameter {one.name}" if type(one) is Param else expression(frame.code.facts, node - frame.base)
        return frame.code.path, at.line, f"{what} in {frame.code.name.rpartition('.')[2]}"

    def is_property(self, function: str) -> bool:
        return _is_property(self.functions[function])

    def context_of(self, one: Instance) -> bool:
        return one.owner is not None or self.tracked(one.cls)

    def _forwarded(self, one: Instance, name: str, target: Node) -> None:
        for method in self.hierarchy.applicable(one.cls, self.functions)["__getattr__"][:1]:
            for inner in _forward_targets(self.codes[method]):
                self.graph.on(self.field(one, inner), self._read, name, target)

    def _read_class(self, one: ClassObject, name: str, target: Node) -> None:
        for cls in self.hierarchy.mro(one.cls):
            info = self.hierarchy.classes.get(cls)
            if info is None:
                continue
            method = f"{cls}.{name}"
            if method in self.functions:
                if _has_decorator(self.functions[method], "classmethod"):
                    self.graph.add(target, Bound(method, one))
                else:
                    self.graph.add(target, Function(method))
                return
            if any(field.name == name for field in info.facts.fields) or (info.module, info.facts.qualname, name) in self.variables:
                self.graph.edge(self.variable(info.module, info.facts.qualname, name), target)
                return
            nested = f"{cls}.{name}"
            if nested in self.hierarchy.classes:
                self.graph.add(target, ClassObject(nested))
                return

    def _read_super(self, one: Super, name: str, target: Node) -> None:
        receiver = one.receiver
        method = self.hierarchy.lookup(receiver.cls, name, self.functions, after=one.cls)
        if method is None:
            return
        facts = self.functions[method]
        if isinstance(receiver, Instance):
            self._bind_method(method, receiver, name, target)
        elif _has_decorator(facts, "classmethod") or name == "__new__":
            self.graph.add(target, Bound(method, receiver))
        else:
            self.graph.add(target, Function(method))

    def _write(self, one: Object, name: str, source: Node) -> None:
        """one.name ⊇ source"""
        if isinstance(one, Instance):
            self.graph.edge(source, self.field(one, name))
        elif isinstance(one, ClassObject) and one.cls in self.hierarchy.classes:
            info = self.hierarchy.classes[one.cls]
            self.graph.edge(source, self.variable(info.module, info.facts.qualname, name))
        elif isinstance(one, Module):
            self.graph.edge(source, self.variable(one.name, "", name))

    def _element(self, one: Object, key: str | None, target: Node) -> None:
        """target ⊇ one[key]"""
        if isinstance(one, Container):
            if key is None:
                self.graph.edge(self.field(one, ANY), target)
            else:
                self.graph.edge(self.field(one, key), target)
                self.graph.edge(self.field(one, "[?]"), target)
        elif isinstance(one, Instance):
            for method in self.hierarchy.applicable(one.cls, self.functions).get("__getitem__", ())[:1]:
                self.graph.edge(self.receiver_frame(method, one).result, target)
        elif isinstance(one, Function):
            self.graph.add(target, one)  # kernel[grid] is the kernel

    def _element_of_iteration(self, one: Object, target: Node) -> None:
        if isinstance(one, Container) and one.kind != "dict":
            self.graph.edge(self.field(one, ANY), target)
        elif isinstance(one, Instance):
            for method in self.hierarchy.applicable(one.cls, self.functions).get("__iter__", ())[:1]:
                self.graph.on(self.receiver_frame(method, one).result, self._element_of_iteration, target)

    def _put(self, one: Object, key: str | None, source: Node) -> None:
        """one[key] ⊇ source"""
        if isinstance(one, Container):
            self.graph.edge(source, self.field(one, ANY))
            self.graph.edge(source, self.field(one, key if key is not None else "[?]"))

    # ------------------------------------------------------------ calls

    def _called(self, callee: Object, frame: Frame, call: Call, held: tuple[Condition, ...]) -> None:
        target = frame.node(call.dst)
        if isinstance(callee, Function):
            self._call_function(frame, call, callee.function, held, target)
        elif isinstance(callee, Bound):
            self._invoke_call(frame, call, callee.function, callee.receiver, held, target)
        elif isinstance(callee, ClassObject):
            self._construct(frame, call, callee.cls, held, target)
        elif isinstance(callee, Instance):
            self._call_instance(frame, call, callee, held, target)
        elif isinstance(callee, External | ExternalInstance | ContainerMethod | Partial):
            externals.call(self, callee, frame, call, held, target)

    def _call_function(self, frame: Frame, call: Call, name: str, held: tuple[Condition, ...], target: Node) -> None:
        if name not in self.codes:
            return
        code = self.codes[name]
        if code.owner and self.tracked(code.owner) and code.facts.kind == "function" and not _is_static(code.facts) and call.arguments:
            # Base.method(self, …): an unbound call, once per receiver
            first = call.arguments[0]
            if first.kind == "pos":
                self.graph.on(self._use(frame, first.value, held), self._unbound, frame, call, name, held, target)
                return
        self._link(frame, call, self.frame(name, None), None, call.arguments, held, target)

    def _unbound(self, one: Object, frame: Frame, call: Call, name: str, held: tuple[Condition, ...], target: Node) -> None:
        if isinstance(one, Instance):
            self._link(frame, call, self.receiver_frame(name, one), one, call.arguments[1:], held, target)

    def _invoke_call(
        self, frame: Frame, call: Call, function: str, receiver: Instance | ClassObject, held: tuple[Condition, ...], target: Node
    ) -> None:
        if function not in self.codes:
            return
        if isinstance(receiver, Instance):
            self._link(frame, call, self.receiver_frame(function, receiver), receiver, call.arguments, held, target)
        else:
            callee = self.frame(function, None)
            self.graph.add(callee.node(0), receiver)
            self._link(frame, call, callee, receiver, call.arguments, held, target)

    def _invoke(
        self, frame: Frame, at: Value, method: str, receiver: Instance, arguments: tuple[Argument, ...], target: Node
    ) -> None:
        """A call that the language makes: ``__enter__``, ``__call__``…"""
        callee = self.receiver_frame(method, receiver)
        self._record(frame, at, callee)
        self.graph.edge(callee.result, target)

    def _call_instance(self, frame: Frame, call: Call, one: Instance, held: tuple[Condition, ...], target: Node) -> None:
        methods = self.hierarchy.applicable(one.cls, self.functions)
        name = "__call__" if "__call__" in methods else "forward" if self._is_module(one.cls) else ""
        for method in methods.get(name, ())[:1]:
            self._link(frame, call, self.receiver_frame(method, one), one, call.arguments, held, target)

    def _is_module(self, cls: str) -> bool:
        return not MODULE_LIKE.isdisjoint(self.hierarchy.mro(cls))

    def _construct(self, frame: Frame, call: Call, cls: str, held: tuple[Condition, ...], target: Node) -> None:
        # v ∋ a new instance named by the call
        if cls not in self.hierarchy.classes:
            return
        owner = _owner(frame.context)
        if owner is None and not self.tracked(cls):
            made = self.some(cls)
        else:
            made = Instance(cls, frame.code.path, call.at.line, call.at.column, owner)
        self.graph.add(target, made)
        self._register(made)
        methods = self.hierarchy.applicable(cls, self.functions)
        if methods.get("__init__"):
            callee = self.receiver_frame(methods["__init__"][0], made)
            self._link(frame, call, callee, made, call.arguments, held, None)
        else:
            self._fields_from_arguments(frame, call, made, held)

    def _fields_from_arguments(self, frame: Frame, call: Call, made: Instance, held: tuple[Condition, ...]) -> None:
        """A class without ``__init__`` of its own (dataclass, NamedTuple, Struct): arguments become fields."""
        names: list[str] = []
        for cls in reversed(self.hierarchy.mro(made.cls)):
            info = self.hierarchy.classes.get(cls)
            names.extend(one.name for one in info.facts.fields if one.name not in names) if info else None
        positional = [one for one in call.arguments if one.kind == "pos"]
        for name, argument in zip(names, positional, strict=False):
            self.graph.edge(self._use(frame, argument.value, held), self.field(made, name))
        for argument in call.arguments:
            if argument.kind == "key":
                self.graph.edge(self._use(frame, argument.value, held), self.field(made, argument.name))
        for method in self.hierarchy.applicable(made.cls, self.functions).get("__post_init__", ())[:1]:
            self.receiver_frame(method, made)

    def _register(self, made: Instance) -> None:
        known = self.instances.setdefault(made.cls, [])
        if made not in known:
            known.append(made)
            self._seed(made)

    def _seed(self, one: Instance) -> None:
        """Every method that can run on an instance may run on it: who calls it may be out of sight."""
        for name, methods in self.hierarchy.applicable(one.cls, self.functions).items():
            if name == "__new__":
                continue
            for method in methods:
                facts = self.functions[method]
                if facts.kind == "function" and facts.params and not _is_static(facts):
                    self.receiver_frame(method, one)

    def assume(self, cls: str, node: Node) -> bool:
        """``node`` holds some instance of ``cls``: known ones of a tracked class, else an anonymous one."""
        if cls not in self.hierarchy.classes:
            return False
        if self.tracked(cls):
            known = [one for sub in sorted(self.hierarchy.subclasses(cls)) for one in self.instances.get(sub, ()) if not one.anonymous]
            for one in known:
                self.graph.add(node, one)
            if known:
                return True
        made = self.some(cls)
        self._register(made)
        if cls not in self._assumed:
            self._assumed.add(cls)
            self._widen(made)
        self.graph.add(node, made)
        return True

    def some(self, cls: str) -> Instance:
        """The object that stands for every instance of an untracked class."""
        return Instance(cls, self.hierarchy.classes[cls].path, 0, 0)

    def _widen(self, one: Instance) -> None:
        """What is only known by its annotation may be an instance of any subclass."""
        for name in tuple(self._fields_of.get(one, ())):
            self._widen_field(one, name, self.fields[one, name])

    def _widen_field(self, one: Instance, name: str, node: Node) -> None:
        # field(some C, f) ⊇ field(o, f) for every o of a subclass of C
        self._anonymous.setdefault(name, []).append((one, node))
        for other in tuple(self._field_objects[name]):
            if isinstance(other, Instance) and other != one and self.hierarchy.is_subclass(other.cls, one.cls):
                self.graph.edge(self.fields[other, name], node)

    def _link(
        self,
        frame: Frame,
        call: Call,
        callee: Frame,
        receiver: Instance | ClassObject | None,
        arguments: tuple[Argument, ...],
        held: tuple[Condition, ...],
        target: Node | None,
    ) -> None:
        """Arguments into parameters, the result out."""
        key = (frame.base, call.dst, callee.code.name, callee.context or receiver)
        if key in self._linked:
            return
        self._linked.add(key)
        self._record(frame, call.dst, callee)
        sources = [(one, self._use(frame, one.value, held)) for one in arguments]
        self.pass_arguments(callee, sources, skip=1 if receiver is not None else 0)
        if target is not None:
            self.graph.edge(callee.result, target)

    def _record(self, frame: Frame, at: Value, callee: Frame) -> None:
        self.calls.setdefault((frame.code.name, at), set()).add((callee.code.name, callee.context))
        self.callers.setdefault(callee.code.name, set()).add((frame.code.name, at))

    def pass_arguments(self, callee: Frame, arguments: list[tuple[Argument, Node]], *, skip: int) -> None:
        """parameter(g, i) ⊇ argument i"""
        params = callee.code.facts.params
        names = {one.name: index for index, one in enumerate(params)}
        positional = [index for index, one in enumerate(params) if one.kind in ("posonly", "pos")][skip:]
        rest = next((index for index, one in enumerate(params) if one.kind == "*"), None)
        keywords = next((index for index, one in enumerate(params) if one.kind == "**"), None)
        place = 0
        for argument, source in arguments:
            if argument.kind == "pos":
                if place < len(positional):
                    self.graph.edge(source, callee.node(positional[place]))
                elif rest is not None:
                    self._collect(callee, rest, "tuple", f"[{place - len(positional)}]", source)
                place += 1
            elif argument.kind == "key":
                if argument.name in names:
                    self.graph.edge(source, callee.node(names[argument.name]))
                elif keywords is not None:
                    self._collect(callee, keywords, "dict", f"[{argument.name!r}]", source)
            elif argument.kind == "*":
                self._spread(callee, positional[place:], rest, source)
            else:
                self._spread_keywords(callee, names, keywords, source)

    def _spread(self, callee: Frame, positional: list[int], rest: int | None, source: Node) -> None:
        for offset, index in enumerate(positional):
            self.graph.on(source, self._element, f"[{offset}]", callee.node(index))
        if rest is not None:
            self.graph.edge(source, callee.node(rest), _is_container)

    def _spread_keywords(self, callee: Frame, names: dict[str, int], keywords: int | None, source: Node) -> None:
        for name, index in names.items():
            if callee.code.facts.params[index].kind in ("pos", "key"):
                self.graph.on(source, self._element, f"[{name!r}]", callee.node(index))
        if keywords is not None:
            self.graph.edge(source, callee.node(keywords), _is_container)

    def _collect(self, callee: Frame, index: int, kind: str, key: str, source: Node) -> None:
        at = callee.code.facts.at
        made = Container(kind, callee.code.path, at.line, at.column + index, callee.context)
        self.graph.add(callee.node(index), made)
        self._put(made, key, source)


def _owner(context: Instance | None) -> Instance | None:
    """The context as owner of what is allocated in it, at most two levels deep."""
    deep = context is not None and context.owner is not None and context.owner.owner is not None
    return None if deep else context


def _is_container(one: Object) -> bool:
    return isinstance(one, Container)


def _is_not_container(one: Object) -> bool:
    return not isinstance(one, Container)


def _has_decorator(facts: FunctionFacts, name: str) -> bool:
    return any(one == name or one.endswith(f".{name}") for one in facts.decorators)


def _is_static(facts: FunctionFacts) -> bool:
    return _has_decorator(facts, "staticmethod")


def _is_property(facts: FunctionFacts) -> bool:
    return any(one.rpartition(".")[2] in ("property", "cached_property", "abstractproperty") for one in facts.decorators)


def _forward_targets(code: Code) -> tuple[str, ...]:
    """Attributes that a ``__getattr__`` forwards to: ``return getattr(self.inner, name)``."""
    found = []
    for one in code.defined.values():
        if type(one) is Call and len(one.arguments) >= 2 and one.arguments[1].value == 1:
            func, base = code.defined.get(one.func), code.defined.get(one.arguments[0].value)
            if type(func) is Name and func.name == "getattr" and type(base) is Attr and base.base == 0:
                found.append(base.name)
    return tuple(found)


_RULES: dict[type, Callable[..., None]] = {
    Name: Linker._name,
    Import: Linker._import,
    Closure: Linker._closure,
    Class: Linker._class,
    Bind: Linker._bind,
    Param: Linker._param,
    Phi: Linker._phi,
    Attr: Linker._attr,
    SetAttr: Linker._set_attr,
    Item: Linker._item,
    SetItem: Linker._set_item,
    Iterate: Linker._iterate,
    Unpack: Linker._unpack,
    Build: Linker._build,
    Op: Linker._op,
    Declare: Linker._declare,
    Await: Linker._await,
    Yield: Linker._yield,
    Enter: Linker._enter,
    Call: Linker._call,
}


def annotated_class(scopes: Scopes, module: str, scope: str, annotation: TypeExpr | None) -> str | None:
    """The class that an annotation names, without ``Optional``, ``Union`` with None, quotes."""
    if annotation is None:
        return None
    if annotation.name.rpartition(".")[2] in ("Optional", "Union", "|", "Annotated", "Final", "ClassVar"):
        inner = [one for one in annotation.args if one.name != "None"]
        return annotated_class(scopes, module, scope, inner[0]) if len(inner) == 1 or annotation.name.endswith("Annotated") else None
    return scopes.dotted(module, scope, annotation.name)
