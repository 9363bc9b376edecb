"""The program as far as it is linked: its functions in their contexts, and where attributes and variables are kept.

Contexts: methods of *tracked* objects (pools, and the helpers that they build) are analysed once per object, all other
functions once (selective object sensitivity, Milanova, Rountev, Ryder 2005; Smaragdakis, Bravenboer, Lhoták 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from auditor.dataflow import Graph
from auditor.facts import Argument, Attr, Call, FunctionFacts, Instruction, ModuleFacts, Value, definitions
from auditor.link.constraints import Accept, ConstraintGraph, Flow, Node
from auditor.link.delegation import Answer
from auditor.link.hierarchy import Hierarchy, is_stub
from auditor.link.narrowing import Condition, conditions, flow_of
from auditor.link.objects import Bound, ClassObject, Container, Function, Instance, Object, Partial, Property
from auditor.link.scopes import Scopes

ANY = "[*]"
"""The field of a container that every element is in; an element at a known place is in ``[place]`` as well."""

SOMEWHERE = "[?]"
"""The field of a container for elements whose place is not known."""


class Code:
    """A function of the tree with where it is. ``name`` is qualified; ``owner`` the qualified class whose body defines
    it, or "". ``flows`` and ``sources`` are its instructions as constraints, ``passed`` the parameters that it hands
    back; they are filled in on first use."""

    __slots__ = (
        "_called",
        "_conditions",
        "_defined",
        "_flow",
        "compiled",
        "externals",
        "facts",
        "flows",
        "module",
        "name",
        "owner",
        "passed",
        "path",
        "size",
        "sources",
    )

    def __init__(self, name: str, module: str, path: str, facts: FunctionFacts, owner: str) -> None:
        self.name = name
        self.module = module
        self.path = path
        self.facts = facts
        self.owner = owner
        self.size = -1
        self.compiled = False
        self.flows: dict[Value, tuple[Flow, ...]] = {}
        self.sources: tuple[Callable[[Frame], None], ...] = ()
        self.externals: dict[Value, str] = {}
        self.passed: Mapping[int, tuple[Accept | None, ...]] | None = None
        self._called: tuple[tuple[Value, str], ...] | None = None
        self._defined: dict[Value, Instruction] | None = None
        self._conditions: dict[int, tuple[Condition, ...]] | None = None
        self._flow: Graph | None = None

    @property
    def defined(self) -> Mapping[Value, Instruction]:
        """Value -> the instruction that defines it."""
        if self._defined is None:
            self._defined = definitions(self.facts)
        return self._defined

    @property
    def flow(self) -> Graph:
        """Its control flow: block -> the blocks that come next."""
        if self._flow is None:
            self._flow = flow_of(self.facts)
        return self._flow

    @property
    def conditions(self) -> Mapping[int, tuple[Condition, ...]]:
        """Block -> what holds in it of classes; empty for a function that tests none."""
        if self._conditions is None:
            self._conditions = conditions(self.facts, self.defined)
        return self._conditions

    @property
    def called(self) -> tuple[tuple[Value, str], ...]:
        """(base, name) of the attributes that are called."""
        if self._called is None:
            read = {one.dst: one for block in self.facts.blocks for one in block.instructions if type(one) is Attr}
            funcs = (one.func for block in self.facts.blocks for one in block.instructions if type(one) is Call)
            self._called = tuple((read[func].base, read[func].name) for func in funcs if func in read)
        return self._called

    def forget(self) -> None:
        """Drop what can be computed again."""
        self._defined = None

    @property
    def is_method(self) -> bool:
        """Whether its first parameter is the object or class that it is called on."""
        return (
            bool(self.owner) and self.facts.kind == "function" and bool(self.facts.params) and not is_static(self.facts)
        )


class Frame:
    """One function in one context: a run of nodes, one a value, and one for the result."""

    __slots__ = ("base", "code", "context", "flows", "program", "result")

    def __init__(self, program: Program, code: Code, context: Instance | None, base: Node, size: int) -> None:
        self.program = program
        self.code = code
        self.context = context
        self.base = base
        self.result = base + size
        self.flows: Mapping[Value, Sequence[Flow]] = code.flows

    def node(self, value: Value) -> Node:
        return self.base + value


class Program:
    """Functions, classes, frames, fields and variables; the constraint graph over them.

    A *closed* program is read whole: nobody calls its functions but itself, and what it calls outside is named. In a
    *merged* one all objects of a class are one, wherever they are made.
    ``calls`` are those that a place in the text makes (caller, value of the call), ``implicit`` those that the language
    makes (caller, callee), ``outside`` those of out-of-tree functions (caller, dotted name). ``subscripts``
    are the reads of a closed program by an index that is no literal where it stands: (container, index, result).
    """

    def __init__(
        self,
        existing: dict[str, str],
        tracked: Callable[[str, Hierarchy], bool],
        fill: Callable[[Frame], None],
        *,
        closed: bool,
        merged: bool,
    ) -> None:
        self.closed = closed
        self.merged = merged
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
        self.implicit: set[tuple[str, str]] = set()
        self.outside: set[tuple[str, str]] = set()
        self.subscripts: list[tuple[Container, Node, Node]] = []
        self.partials: dict[Partial, list[tuple[Argument, Node]]] = {}
        self.casts: list[tuple[Node, Node]] = []
        self.asked: set[str] = set()
        """Names that a ``hasattr`` asks for."""
        self.written: set[tuple[str, str]] = set()
        """(class, such a name that its objects are given from outside)."""
        self.marked: set[str] = set()
        """Names of attributes that some object is given from outside, with a value that nothing carries on."""
        self.virtual: dict[str, set[str]] = {}
        """Abstract class -> the classes that are registered with it."""
        self.answers: dict[tuple[str, str], tuple[Answer, ...]] = {}
        """(``__getattr__``, name) -> what it gives for the name."""
        self.declared: dict[str, dict[str, tuple[str, ...]]] = {}
        self.later: list[Callable[[], None]] = []
        """Look-ups behind a base class that was not read: they are made again when more is."""
        self._passed: set[tuple[object, ...]] = set()
        self._globals: dict[str, list[str]] = {}
        self._fill = fill
        self._is_tracked = tracked
        self.followed: Accept = self._is_followed
        self._tracked: dict[str, bool] = {}
        self._defaults: dict[str, list[tuple[int, Node]]] = {}
        self._frames_of: dict[str, list[Frame]] = {}
        self._widened: dict[str, list[tuple[Instance, Node]]] = {}
        self._made: dict[str, Node] = {}
        self._having: dict[str, list[Instance]] = {}
        self._fields_of: dict[Instance, list[str]] = {}
        self._stored: dict[str, list[str]] = {}
        self._narrowed: dict[tuple[Node, Accept], Node] = {}
        self._assumed: set[str] = set()

    # ------------------------------------------------------------ modules

    def add(self, modules: Iterable[ModuleFacts]) -> None:
        """Add modules and everything that they say."""
        added = [one for one in modules if one.module not in self.scopes.modules]
        for facts in added:
            self.scopes.add(facts)
            self.hierarchy.add(facts.module, facts.path, facts.classes)
        self.hierarchy.resolve()
        self._tracked.clear()
        self.declared.clear()
        for facts in added:
            for function in facts.functions:
                self._declare(facts, function)
        for facts in added:
            self._stars(facts.module)
            for function in facts.functions:
                code = self.codes[f"{facts.module}.{function.qualname}" if function.qualname else facts.module]
                if not (
                    code.owner and function.kind == "function" and self.tracked(code.owner)
                ):  # else once per object
                    self.frame(code.name, None)
        for facts in added:
            for cls in facts.classes:
                for base in self.hierarchy.mro(f"{facts.module}.{cls.qualname}"):
                    for one in tuple(self.instances.get(base, ())):
                        self._seed(one)
        self.graph.again()
        later, self.later = self.later, []
        for look_up in later:
            look_up()

    def _declare(self, facts: ModuleFacts, function: FunctionFacts) -> None:
        name = f"{facts.module}.{function.qualname}" if function.qualname else facts.module
        owner = f"{facts.module}.{function.scope}" if function.scope else ""
        owner = owner if owner in self.hierarchy.classes else ""
        self.codes.setdefault(name, Code(name, facts.module, facts.path, function, owner))
        self.functions.setdefault(name, function)

    def _stars(self, module: str) -> None:
        """Names that others asked for before the module was read may come to it by a star import."""
        for name in tuple(self._globals.get(module, ())):
            self._star(module, name)

    def tracked(self, cls: str) -> bool:
        """Whether instances of ``cls`` are told apart by context."""
        known = self._tracked.get(cls)
        if known is None:
            known = self._tracked[cls] = self._is_tracked(cls, self.hierarchy)
        return known

    def _is_followed(self, one: Object) -> bool:
        """Whether an object is followed where a name is computed: any that might be meant would be too many."""
        return self.closed or (isinstance(one, Instance | ClassObject) and self.tracked(one.cls))

    # ------------------------------------------------------------ nodes

    def frame(self, function: str, context: Instance | None) -> Frame:
        """The frame of ``function`` in ``context``; made on first use, filled while solving."""
        key = (function, context)
        known = self.frames.get(key)
        if known is None:
            code = self.codes[function]
            if code.size < 0:
                code.size = 1 + max(
                    (getattr(one, "dst", -1) for block in code.facts.blocks for one in block.instructions), default=-1
                )
            base = self.graph.new_nodes(code.size + 1)
            known = self.frames[key] = Frame(self, code, context, base, code.size)
            self._frames_of.setdefault(function, []).append(known)
            for position, source in self._defaults.get(function, ()):
                self.graph.edge(source, known.node(position))
            self.graph.later(self._fill, known)
        return known

    def frames_of(self, function: str) -> Sequence[Frame]:
        """The frames of ``function`` in all contexts."""
        return self._frames_of.get(function, ())

    def default(self, function: str, position: int, source: Node) -> None:
        """parameter(g, p) ⊇ the default of p"""
        self._defaults.setdefault(function, []).append((position, source))
        for frame in self.frames_of(function):
            self.graph.edge(source, frame.node(position))

    def receiver_frame(self, method: str, one: Instance) -> Frame:
        """The frame of ``method`` on ``one``, its first parameter bound."""
        frame = self.frame(method, one if self.context_of(one) else None)
        if frame.code.facts.params and not is_static(frame.code.facts):
            self.graph.add(frame.node(0), one)
        return frame

    def context_of(self, one: Instance) -> bool:
        """Whether methods are analysed on ``one`` alone."""
        return one.owner is not None or self.tracked(one.cls)

    def field(self, one: Object, name: str) -> Node:
        """The node of what ``one.name`` holds."""
        key = (one, name)
        node = self.fields.get(key)
        if node is None:
            node = self.fields[key] = self.graph.new_nodes(1)
            if isinstance(one, Instance):
                self._having.setdefault(name, []).append(one)
                self._fields_of.setdefault(one, []).append(name)
                # field(some C, f) ⊇ field(o, f) for every o of C
                for some, reader in self._widened.get(name, ()):
                    if one != some and self.hierarchy.is_subclass(one.cls, some.cls):
                        self.graph.edge(node, reader)
                if one.anonymous and one.cls in self._assumed:
                    self._widen(one, name, node)
                self._inherit(one, name, node)
        return node

    def _inherit(self, one: Instance, name: str, node: Node) -> None:
        # field(o, f) ⊇ variable(c, f)  where c is the first class of o's MRO whose body binds f
        for cls in self.hierarchy.mro(one.cls):
            info = self.hierarchy.classes.get(cls)
            if info is not None and self.scopes.binds(info.module, info.facts.qualname, name):
                self.graph.on(
                    self.variable(info.module, info.facts.qualname, name), _class_value, self, one, name, node
                )
                break
        for cls in self._stored.get(name, ()):
            self._inherit_stored(one, cls, name, node)

    def _inherit_stored(self, one: Instance, cls: str, name: str, node: Node) -> None:
        if self.hierarchy.is_subclass(one.cls, cls):
            self.graph.on(self.class_variable(cls, name), _class_value, self, one, name, node)

    def class_variable(self, cls: str, name: str) -> Node:
        """The variable of an attribute of a class."""
        info = self.hierarchy.classes[cls]
        return self.variable(info.module, info.facts.qualname, name)

    def store_on_class(self, cls: str, name: str, source: Node) -> None:
        """variable(c, f) ⊇ source  where something runs ``c.f = source``"""
        self.graph.edge(source, self.class_variable(cls, name))
        known = self._stored.setdefault(name, [])
        if cls not in known:
            known.append(cls)
            for one in tuple(self._having.get(name, ())):
                self._inherit_stored(one, cls, name, self.fields[one, name])

    def variable(self, module: str, scope: str, name: str) -> Node:
        """The node of a variable that more than its function can see, of a module global or of a class attribute."""
        key = (module, scope, name)
        node = self.variables.get(key)
        if node is None:
            node = self.variables[key] = self.graph.new_nodes(1)
            if not scope:
                self._globals.setdefault(module, []).append(name)
                self._star(module, name)
        return node

    def narrow(self, node: Node, accept: Accept | None) -> Node:
        """The node of what ``accept`` lets through of ``node``."""
        if accept is None:
            return node
        known = self._narrowed.get((node, accept))
        if known is None:
            known = self._narrowed[node, accept] = self.graph.new_nodes(1)
            self.graph.edge(node, known, accept)
        return known

    def _star(self, module: str, name: str) -> None:
        # variable(m, x) ⊇ variable(n, x)  where m imports * from n and does not bind x
        if not self.scopes.binds(module, "", name):
            for star in self.scopes.visible_stars(module, name) if self.closed else self.scopes.stars(module):
                if star != module and self.scopes.in_tree(star):
                    self.graph.edge(self.variable(star, "", name), self.variables[module, "", name])

    def code_variable(self, code: Code, name: str) -> Node | None:
        """The variable that ``name`` means in ``code``; None for a builtin or an unbound name."""
        scope: str | None = code.facts.qualname
        while scope:
            visible = scope == code.facts.qualname or f"{code.module}.{scope}" not in self.hierarchy.classes
            if visible and self.scopes.binds(code.module, scope, name):
                return self.variable(code.module, scope, name)
            scope = scope.rpartition(".")[0]
        if self.scopes.binds(code.module, "", name) or self.star_bound(code.module, name):
            return self.variable(code.module, "", name)
        return None

    def star_bound(self, module: str, name: str) -> bool:
        """Whether ``name`` may come to ``module`` by a star import."""
        return any(
            self.scopes.in_tree(star)
            and (
                star not in self.scopes.modules
                or self.scopes.meaning(star, "", name) is not None
                or self.scopes.binds(star, "", name)
            )
            for star in self.scopes.stars(module)
        )

    # ------------------------------------------------------------ instances

    def some(self, cls: str) -> Instance:
        """The object that stands for every instance of an untracked class."""
        return Instance(cls, self.hierarchy.classes[cls].path, 0, 0)

    def register(self, made: Instance) -> None:
        """Note that ``made`` exists."""
        known = self.instances.setdefault(made.cls, [])
        if made not in known:
            known.append(made)
            self.graph.add(self.made(made.cls), made)
            self._seed(made)

    def made(self, cls: str) -> Node:
        """The node of all objects of exactly this class."""
        if cls not in self._made:
            self._made[cls] = self.graph.new_nodes(1)
        return self._made[cls]

    def _seed(self, one: Instance) -> None:
        """Every method that can run on an instance may run on it: who calls it may be out of sight."""
        for name, methods in self.hierarchy.applicable(one.cls).items():
            if name == "__new__":
                continue
            for method in methods:
                facts = self.functions[method]
                if facts.kind != "function" or not facts.params or is_static(facts):
                    continue
                if is_class_method(facts):
                    self.graph.add(self.frame(method, None).node(0), ClassObject(one.cls))
                else:
                    self.receiver_frame(method, one)

    def parts(self) -> frozenset[Object]:
        """Tracked objects that are a field of another tracked object."""
        found: set[Object] = set()
        for (owner, _), node in self.fields.items():
            if isinstance(owner, Instance) and self.tracked(owner.cls):
                found.update(one for one in self.graph.points_to(node) if isinstance(one, Instance) and one != owner)
        return frozenset(found)

    def assume(self, cls: str, node: Node) -> bool:
        """``node`` holds some instance of ``cls``: known ones of a tracked class, else an anonymous one."""
        if cls not in self.hierarchy.classes:
            return False
        if self.tracked(cls):
            owned = self.parts()  # what another object is made of is not handed out
            known = [
                one
                for sub in sorted(self.hierarchy.subclasses(cls))
                for one in self.instances.get(sub, ())
                if not one.anonymous and one.owner is None and one not in owned
            ]
            for one in known:
                self.graph.add(node, one)
            if known:
                return True
        made = self.some(cls)
        self.register(made)
        if cls not in self._assumed:
            self._assumed.add(cls)
            for name in tuple(self._fields_of.get(made, ())):
                self._widen(made, name, self.fields[made, name])
        self.graph.add(node, made)
        return True

    def is_assumed(self, one: Instance) -> bool:
        """Whether ``one`` stands for instances of subclasses as well: its class is all that is known."""
        return one.anonymous and one.cls in self._assumed

    def _widen(self, one: Instance, name: str, node: Node) -> None:
        # field(some C, f) ⊇ field(o, f) for every o of a subclass of C
        self._widened.setdefault(name, []).append((one, node))
        for other in tuple(self._having[name]):
            if other != one and self.hierarchy.is_subclass(other.cls, one.cls):
                self.graph.edge(self.fields[other, name], node)

    def note_written(self, cls: str, name: str) -> None:
        """Note that something gives objects of a class an attribute: who asks for it is asked again."""
        if name in self.asked and (cls, name) not in self.written and name not in self.hierarchy.attributes(cls):
            self.written.update((sub, name) for sub in self.hierarchy.subclasses(cls))
            self.graph.again()

    def note_marked(self, name: str) -> None:
        """Note that some object is given an attribute: who asks for it is asked again."""
        if name not in self.marked:
            self.marked.add(name)
            if name in self.asked:
                self.graph.again()

    def note_registered(self, abstract: str, cls: str) -> None:
        """Note that a class counts as derived from an abstract one: who asks for that is asked again."""
        known = self.virtual.setdefault(abstract, set())
        if cls not in known:
            known.add(cls)
            self.graph.again()

    # ------------------------------------------------------------ containers

    def put(self, one: Container, key: str | None, source: Node) -> None:
        """one[key] ⊇ source"""
        self.graph.edge(source, self.field(one, ANY))
        self.graph.edge(source, self.field(one, key if key is not None else SOMEWHERE))

    def hold(self, one: Container, made: Object) -> None:
        """one[?] ∋ made"""
        self.graph.add(self.field(one, ANY), made)
        self.graph.add(self.field(one, SOMEWHERE), made)

    def generated(self, frame: Frame) -> Container:
        """What a generator function returns."""
        at = frame.code.facts.at
        return Container("generator", frame.code.path, at.line, at.column, frame.context)

    def record(self, frame: Frame, at: Value, callee: Frame) -> None:
        """Note that ``frame`` calls ``callee`` at ``at``."""
        self.calls.setdefault((frame.code.name, at), set()).add((callee.code.name, callee.context))

    def implied(self, frame: Frame, one: Instance, *names: str) -> Frame | None:
        """The frame of the first of the methods ``names`` that ``one`` has: the language calls it from ``frame``."""
        applicable = self.hierarchy.applicable(one.cls)
        method = next((applicable[name][0] for name in names if name in applicable), None)
        if method is None:
            return None
        self.implicit.add((frame.code.name, method))
        return self.receiver_frame(method, one)

    def first_time(self, what: tuple[object, ...]) -> bool:
        """Whether this was not asked before: joins that are made once."""
        if what in self._passed:
            return False
        self._passed.add(what)
        return True

    def field_order(self, cls: str) -> tuple[str, ...]:
        """The declared fields of a class, those of its bases first: the order of its arguments."""
        known = (self.hierarchy.classes.get(base) for base in reversed(self.hierarchy.mro(cls)))
        return tuple(dict.fromkeys(one.name for info in known if info is not None for one in info.facts.fields))

    def method(self, cls: str, name: str) -> str | None:
        """The function that ``name`` means on an instance of ``cls``."""
        found = self.hierarchy.applicable(cls).get(name)
        return found[0] if found else None

    def owner_in(self, frame: Frame) -> Instance | None:
        """The context as owner of what is allocated in it, at most two levels deep."""
        context = frame.context
        deep = context is not None and context.owner is not None and context.owner.owner is not None
        return None if deep else context


def has_decorator(facts: FunctionFacts, name: str) -> bool:
    return any(one == name or one.endswith(f".{name}") for one in facts.decorators)


def is_static(facts: FunctionFacts) -> bool:
    return has_decorator(facts, "staticmethod")


def is_class_method(facts: FunctionFacts) -> bool:
    return has_decorator(facts, "classmethod") or facts.name in ("__init_subclass__", "__class_getitem__")


def is_property(facts: FunctionFacts) -> bool:
    return any(
        one.rpartition(".")[2] in ("property", "cached_property", "abstractproperty") for one in facts.decorators
    )


def _class_value(value: Object, program: Program, one: Instance, name: str, node: Node) -> None:
    """What an attribute of a class is when it is read through an instance."""
    if isinstance(value, Function):
        if value.function in program.codes and not _is_method_of(program, value.function, one, name):
            program.graph.add(node, Bound(value.function, one))
    elif isinstance(value, Property):
        found = value.function in program.codes and is_property(program.functions[value.function])
        if value.function in program.codes and not (found and _is_method_of(program, value.function, one, name)):
            program.graph.edge(program.receiver_frame(value.function, one).result, node)
    elif isinstance(value, Instance) and (getter := program.method(value.cls, "__get__")):
        frame = program.receiver_frame(getter, value)
        if len(frame.code.facts.params) > 1:
            program.graph.add(frame.node(1), one)
        program.graph.edge(frame.result, node)
    else:
        program.graph.add(node, value)


def _is_method_of(program: Program, function: str, one: Instance, name: str) -> bool:
    """Whether reading ``name`` finds ``function`` through the hierarchy, or it is not meant; a later definition of the
    name, as in another branch, is found in the class alone."""
    code = program.codes[function]
    if is_stub(code.facts):
        return True
    return (
        bool(code.owner)
        and "#" not in code.name.rpartition(".")[2]
        and code.facts.name == name
        and program.hierarchy.is_subclass(one.cls, code.owner)
    )
