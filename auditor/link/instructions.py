"""What each instruction of a function adds to the constraint graph: compiled once, whatever the contexts.

An instruction becomes *flows* (what an object does that reaches one of its operands, the same in every context) or a
*source* (run once per frame: it makes an object, or joins the frame to something outside). Values that nothing carries
on get neither. Out-of-tree names are resolved here, so that ``torch.x.y(…)`` costs no object. Each rule stands behind
one Datalog-like line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from auditor.facts import (
    NOTHING,
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
    Delete,
    Enter,
    Exit,
    Import,
    Instruction,
    Item,
    Iterate,
    Name,
    Op,
    Phi,
    Raise,
    Return,
    SetAttr,
    SetItem,
    Unpack,
    Value,
    Yield,
)
from auditor.link.annotations import annotated_class
from auditor.link.calls import Plan, Site, call, collected, construct, entered, is_callable, is_container
from auditor.link.constraints import Accept, Flow
from auditor.link.delegation import SETTER
from auditor.link.elements import (
    METHODS,
    RETURNED,
    SENT,
    container_method,
    element,
    extend,
    iteration,
    part,
    put,
    scattered,
    shift,
)
from auditor.link.externals import ATTRIBUTE, CASTS, GETATTR, call_external, call_object, matters, names_class
from auditor.link.filters import filter_of, subclass_filter
from auditor.link.forwarding import forwarded
from auditor.link.members import derive, is_missing, module_member, read, write
from auditor.link.narrowing import Condition, edge_condition
from auditor.link.objects import ClassObject, Container, External, Function, Instance, Module, Object, Super
from auditor.link.passing import passed, returned
from auditor.link.program import SOMEWHERE, Code, Frame, Program


def fill(frame: Frame) -> None:
    """Give a new frame the constraints of its function."""
    code, program = frame.code, frame.program
    if not code.compiled:
        code.compiled = True
        _Compiler(program, code).run()
    program.graph.own(frame, code.size)
    for index, param in enumerate(code.facts.params):
        if param.kind in _COLLECTING:
            program.graph.add(frame.node(index), collected(frame, index))
    for source in code.sources:
        source(frame)
    if code.facts.is_generator:
        program.graph.add(frame.result, program.generated(frame))


_COLLECTING = frozenset({"*", "**"})


class _Read(NamedTuple):
    name: str
    dst: Value
    only_called: bool


class _Keyed(NamedTuple):
    key: str | None
    value: Value
    accept: Accept | None


class _Method(NamedTuple):
    name: str
    key: str | None
    plan: Plan


class _Compiler:
    """One function."""

    def __init__(self, program: Program, code: Code) -> None:
        self.program = program
        self.code = code
        self.defined = code.defined
        self.conditions = code.conditions
        self.flows: dict[Value, list[Flow]] = {}
        self.sources: list[Callable[[Frame], None]] = []
        self.externals = code.externals
        self.uses = _Uses(code, self.defined)
        self.held: tuple[Condition, ...] = ()
        self.forwarded: Mapping[Value, Value] = {}

    def run(self) -> None:
        facts = self.code.facts
        self.find_externals()
        given_back = passed(self.program, self.code)
        for index, block in enumerate(facts.blocks):
            self.held = self.conditions.get(index, ())
            self.forwarded = forwarded(block, self.key)
            for one in block.instructions:
                rule = _RULES.get(type(one))
                if rule is not None:
                    rule(self, one)
            if isinstance(block.end, Raise):
                self.flow(block.end.value, _raised, block.end)
            elif not isinstance(block.end, Return) or block.end.value == NOTHING:
                pass
            elif facts.is_generator:
                self.sources.append(_returns(block.end.value))
            elif not given_back:
                # result(f) ⊇ v  where f returns v, and callers do not take it from what they give
                self.copy(block.end.value, self.code.size)
        self.held = ()
        for value, accept in returned(self.program, self.code) or () if given_back else ():
            if value not in given_back:
                self.copy(value, self.code.size, accept)
        for value, name in self.externals.items():
            if self.uses.as_value(value, name, module_level=facts.kind in ("module", "class")):
                self.sources.append(_adds(value, External(name)))
        self.code.flows.update((value, tuple(flows)) for value, flows in self.flows.items())
        self.code.sources = tuple(self.sources)
        self.code.forget()

    def find_externals(self) -> None:
        """Name the values that are certainly something out of the tree."""
        chains: list[Attr] = []
        for block in self.code.facts.blocks:
            for one in block.instructions:
                outside = None
                match one:
                    case Name(name=name):
                        outside = self.outside(name)
                    case Import(module=module, name=name) if name != "*" and not self.program.scopes.in_tree(module):
                        outside = f"{module}.{name}" if name else module
                    case Attr():
                        chains.append(one)
                if outside is not None and isinstance(one, Name | Import):
                    self.externals[one.dst] = outside
        known = -1
        while known != len(self.externals):
            known = len(self.externals)
            for link in chains:
                if link.base in self.externals:
                    self.externals[link.dst] = f"{self.externals[link.base]}.{link.name}"

    # ------------------------------------------------------------ building blocks

    def accept(self, value: Value) -> Accept | None:
        return filter_of(self.program, self.code, self.defined, value, self.held) if self.held else None

    def copy(self, source: Value, dst: Value, accept: Accept | None = None) -> None:
        self.flow(source, None, dst, accept)

    def flow(
        self,
        source: Value,
        rule: Callable[[Object, Any, Any], None] | None,
        payload: object,
        accept: Accept | None = None,
    ) -> None:
        if not self.may_carry(source):
            return
        held = self.accept(source)
        both = held if accept is None else accept if held is None else _both(held, accept)
        self.flows.setdefault(source, []).append(Flow(both, rule, payload))

    def may_carry(self, value: Value) -> bool:
        """Whether a value can be an object at all; in a closed program literals are followed too."""
        if self.program.closed:
            return True
        one = self.defined.get(value)
        return not isinstance(one, Const) and not (isinstance(one, Op) and one.operator not in _JOINING)

    def key(self, index: Value) -> str | None:
        one = self.defined.get(index)
        return f"[{one.value!r}]" if isinstance(one, Const) and isinstance(one.value, str | int) else None

    def text(self, value: Value) -> str | None:
        one = self.defined.get(value)
        if isinstance(one, Name) and one.name == "__name__":
            return self.code.module
        return one.value if isinstance(one, Const) and isinstance(one.value, str) else None

    def texts(self, value: Value) -> tuple[str, ...]:
        """The texts that a value can be, where a display or branches of the function tell them all."""
        found: dict[str, None] = {}
        seen: set[Value] = set()
        todo = [value]
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            match self.defined.get(value):
                case Const(value=str(text)):
                    found[text] = None
                case Phi(choices=choices):
                    todo.extend(choice for _, choice in choices if choice != NOTHING)
                case Iterate(iterable=iterable) if isinstance(display := self.defined.get(iterable), Build):
                    if display.kind not in ("tuple", "list", "set"):
                        return ()
                    todo.extend(display.elements)
                case _:
                    return ()
        return tuple(found)

    # ------------------------------------------------------------ names and definitions

    def name(self, one: Name) -> None:
        if one.dst not in self.externals and (one.dst in self.uses.carried or self.program.closed):
            # v ⊇ variable that the name means
            dst, name, code = one.dst, one.name, self.code

            def source(frame: Frame) -> None:
                node = frame.program.code_variable(code, name)
                if node is not None:
                    frame.program.graph.edge(node, frame.node(dst))

            self.sources.append(source)

    def outside(self, name: str) -> str | None:
        """The dotted name of what is certainly not of the tree."""
        scopes, module = self.program.scopes, self.code.module
        scope: str | None = self.code.facts.qualname
        owner = scopes.owner(module, scope or "", name)
        if owner is None:
            return None if self.program.star_bound(module, name) else f"builtins.{name}"
        meanings = scopes.modules[module].bound[owner][name]
        one = meanings[0]
        if len(meanings) == 1 and isinstance(one, Import) and not scopes.in_tree(one.module):
            return f"{one.module}.{one.name}" if one.name else one.module
        return None

    def imports(self, one: Import) -> None:
        # v ∋ the module, or ⊇ the module's variable
        dst, module, name = one.dst, one.module, one.name
        if name == "*" or dst in self.externals:
            return
        if not name:
            self.sources.append(_adds(dst, Module(module)))
        else:
            self.sources.append(lambda frame: module_member(frame.program, module, name, frame.node(dst)))

    def closure(self, one: Closure) -> None:
        # v ∋ the function; parameter(g, p) ⊇ the default of p
        name = f"{self.code.module}.{one.function}"
        self.sources.append(_adds(one.dst, Function(name)))
        facts = self.program.functions.get(name)
        positions = {param.name: index for index, param in enumerate(facts.params)} if facts else {}
        for param, value in one.defaults:
            if param in positions and self.may_carry(value):
                self.sources.append(_defaults(name, positions[param], value))

    def class_(self, one: Class) -> None:
        name = f"{self.code.module}.{one.name}"
        self.sources.append(_adds(one.dst, ClassObject(name)))
        if one.bases or one.keywords:
            self.sources.append(lambda frame: derive(frame.program, name))

    def bind(self, one: Bind) -> None:
        # variable ⊇ v
        if not self.may_carry(one.value):
            return
        accept = self.accept(one.value)

        def source(frame: Frame) -> None:
            node = frame.program.variable(frame.code.module, one.scope, one.name)
            frame.program.graph.edge(frame.node(one.value), node, accept)

        self.sources.append(source)

    # ------------------------------------------------------------ copies

    def phi(self, one: Phi) -> None:
        # v ⊇ each choice, as its edge sees it
        held = self.held
        for block, value in one.choices:
            if value in (NOTHING, one.dst):
                continue
            self.held = self.conditions.get(block, ())
            if self.conditions and isinstance(self.code.facts.blocks[block].end, Branch):
                extra = edge_condition(self.code.facts, self.defined, block, self.uses.block_of(one))
                self.held = (*self.held, extra) if extra is not None else self.held
            self.copy(value, one.dst)
        self.held = held

    def declare(self, one: Declare) -> None:
        # v ⊇ what of the source the annotation admits, if it names a tracked class
        if one.source == NOTHING:
            return
        program, source = self.program, one.source
        cls = annotated_class(program.scopes, self.code.module, self.code.facts.qualname, one.type)
        if cls is None or cls not in program.hierarchy.classes or not program.tracked(cls):
            self.copy(source, one.dst)
            return
        self.copy(source, one.dst, subclass_filter(program, cls))
        self.sources.append(lambda frame: frame.program.casts.append((frame.node(source), frame.node(one.dst))))

    def await_(self, one: Await) -> None:
        self.copy(one.value, one.dst)

    def op(self, one: Op) -> None:
        # v ⊇ the containers that are joined; what stands behind another, or is repeated, is at no known place
        if one.operator in _JOINING:
            for place, operand in enumerate(one.operands):
                if (one.operator == "+" and place) or (one.operator == "*" and len(one.operands) == 2):
                    self.flow(operand, _scattered, one.dst, is_container)
                else:
                    self.copy(operand, one.dst, is_container)

    # ------------------------------------------------------------ attributes and elements

    def attr(self, one: Attr) -> None:
        # v ⊇ o.name  for every o in base
        if one.dst not in self.externals and (one.dst in self.uses.carried or self.program.closed):
            only_called = one.name in METHODS and one.dst not in self.uses.beside_called
            self.flow(one.base, _read, _Read(one.name, one.dst, only_called))

    def set_attr(self, one: SetAttr) -> None:
        # o.name ⊇ v  for every o in base
        if self.may_carry(one.value):
            self.flow(one.base, _write, _Keyed(one.name, one.value, self.accept(one.value)))
        elif one.base != 0:
            self.program.note_marked(one.name)

    def item(self, one: Item) -> None:
        if one.dst not in self.uses.carried:
            return
        index, key = self.defined.get(one.index), self.key(one.index)
        owner, text = self.namespace(one.base), self.text(one.index)
        if owner is not None and text is not None:
            self.flow(owner, _read, _Read(text, one.dst, only_called=False))
        elif text is not None and self.externals.get(one.base) == "sys.modules":
            self.sources.append(_adds(one.dst, Module(text)))
        elif text is not None and self.is_globals(one.base):
            self.sources.append(
                lambda frame: module_member(frame.program, frame.code.module, text, frame.node(one.dst))
            )
        elif one.dst in self.forwarded:
            self.copy(self.forwarded[one.dst], one.dst)
        elif isinstance(index, Build) and index.kind == "slice":
            self.flow(one.base, _part, (self.bounds(index), one.dst))
        elif key is None and self.program.closed:
            self.flow(one.base, _element_at, (one.index, one.dst))
        else:
            self.flow(one.base, _element, (key, one.dst))

    def namespace(self, value: Value) -> Value | None:
        """The object whose attributes a value is the dict of: ``o.__dict__``, ``vars(o)``."""
        match self.defined.get(value):
            case Attr(base=base, name="__dict__"):
                return base
            case Call(func=func, arguments=(argument,)) if self.externals.get(func) == "builtins.vars":
                return argument.value
        return None

    def is_globals(self, value: Value) -> bool:
        one = self.defined.get(value)
        return isinstance(one, Call) and self.externals.get(one.func) == "builtins.globals"

    def bounds(self, one: Build) -> tuple[int, int] | None:
        """The constant bounds of a slice without a step."""
        lower, upper, step = (self.defined.get(value) for value in one.elements)
        first = 0 if lower is None else _number(lower)
        last = _number(upper)
        if step is not None or first is None or last is None or not 0 <= first <= last <= first + _LONGEST_PART:
            return None
        return first, last

    def set_item(self, one: SetItem) -> None:
        index = self.defined.get(one.index)
        owner, text = self.namespace(one.base), self.text(one.index)
        if owner is not None and text is not None and self.may_carry(one.value):
            self.flow(owner, _write, _Keyed(text, one.value, self.accept(one.value)))
        elif isinstance(index, Build) and index.kind == "slice":
            self.flow(one.base, _replaced, one.value)
        elif self.may_carry(one.value):
            self.flow(one.base, _put, _Keyed(self.key(one.index), one.value, self.accept(one.value)))

    def delete(self, one: Delete) -> None:
        if not one.name:
            self.flow(one.base, _shifted, None)

    def iterate(self, one: Iterate) -> None:
        if one.dst in self.uses.carried or self.program.closed:
            self.flow(one.iterable, _iteration, one.dst)

    def unpack(self, one: Unpack) -> None:
        if one.dst not in self.uses.carried:
            return
        if one.index == -1:  # the starred target: a list of the rest
            self.flow(one.source, _scattered, one.dst, is_container)
        else:
            self.flow(one.source, _element, (f"[{one.index}]" if one.index >= 0 else None, one.dst))

    def build(self, one: Build) -> None:
        # v ∋ a new container whose elements ⊇ the values
        if one.kind in ("slice", "string") or one.dst not in self.uses.carried:
            return
        entries: list[_Keyed] = []
        spread: list[Value] = []
        if one.kind == "dict":
            for key, value in zip(one.elements[::2], one.elements[1::2], strict=False):
                if key == NOTHING:
                    spread.append(value)
                else:
                    entries.append(_Keyed(self.key(key), value, self.accept(value)))
        else:
            for position, value in enumerate(one.elements):
                starred = self.defined.get(value)
                if isinstance(starred, Op) and starred.operator == "*" and len(starred.operands) == 1:
                    spread.append(value)
                elif value != NOTHING:
                    placed = one.kind in ("tuple", "list") and not spread and NOTHING not in one.elements
                    entries.append(_Keyed(f"[{position}]" if placed else None, value, self.accept(value)))
        entries = [entry for entry in entries if self.may_carry(entry.value)]
        if not entries and not spread and one.kind in ("tuple", "generator"):
            return
        self.sources.append(_builds(one, tuple(entries), tuple(spread)))

    def yield_(self, one: Yield) -> None:
        accept = self.accept(one.value)

        def source(frame: Frame) -> None:
            program = frame.program
            made = program.generated(frame)
            # v ⊇ what is sent
            program.graph.edge(program.field(made, SENT), frame.node(one.dst))
            if one.value != NOTHING:
                program.put(made, None, program.narrow(frame.node(one.value), accept))

        def delegate(frame: Frame) -> None:
            # v ⊇ what the generator returns that this one goes through
            program = frame.program
            out = program.graph.new_nodes(1)
            program.put(program.generated(frame), None, out)
            program.graph.on(frame.node(one.value), iteration, frame, out)
            program.graph.on(frame.node(one.value), _result, frame, one.dst)

        self.sources.append(delegate if one.delegate else source)

    def enter(self, one: Enter) -> None:
        if one.manager not in self.externals:
            self.flow(one.manager, _entered, one.dst)

    def exit(self, one: Exit) -> None:
        self.flow(one.manager, _left, None)

    # ------------------------------------------------------------ calls

    def call(self, one: Call) -> None:
        plan = Plan(one.dst, one.at, tuple((argument, self.accept(argument.value)) for argument in one.arguments))
        outside = self.externals.get(one.func)
        if outside is not None:
            self.external(one, plan, outside)
            return
        func = self.defined.get(one.func)
        if self.uses.decorates(one) and self.from_outside(func):
            self.copy(one.arguments[0].value, one.dst)
        if isinstance(func, Attr) and func.name in METHODS:
            key = self.key(one.arguments[0].value) if one.arguments else None
            self.flow(func.base, _container_method, _Method(func.name, key, plan))
        if isinstance(func, Attr) and func.name == "update" and (owner := self.namespace(func.base)) is not None:
            # o.__dict__ ∋ the dict
            for argument in one.arguments:
                field = argument.name if argument.kind == "key" else "__dict__"
                self.flow(owner, _write, _Keyed(field, argument.value, None))
        if isinstance(func, Attr) and func.name == SETTER and len(one.arguments) == 2:
            # o.name ⊇ v  where super() or the object itself sets it
            name, value = (argument.value for argument in one.arguments)
            if (text := self.text(name)) is not None and self.may_carry(value):
                self.flow(func.base, _write, _Keyed(text, value, self.accept(value)))
        # v ⊇ result(g) for every g in func
        self.flow(one.func, _called, plan)

    def external(self, one: Call, plan: Plan, name: str) -> None:
        self.program.outside.add((self.code.name, name))
        arguments = [argument.value for argument in one.arguments]
        if name in ATTRIBUTE:
            self.attribute(name, one, arguments)
        elif name in CASTS and len(arguments) == 2:
            self.cast(one, *arguments)
        elif name == "importlib.import_module" and arguments:
            text = self.text(arguments[0])
            if text is not None and self.program.scopes.in_tree(text):
                self.sources.append(_adds(one.dst, Module(text)))
        elif matters(name) and (one.dst in self.uses.carried or name not in _PURE):
            self.sources.append(lambda frame: call_external(name, plan.site(frame)))
        elif one.dst in self.uses.carried:
            for argument in one.arguments:
                if argument.kind == "pos" and argument.value not in self.externals:
                    self.copy(argument.value, one.dst, is_callable)
            if one.dst in self.uses.called and not self.uses.decorates(one):
                self.sources.append(_adds(one.dst, External(f"{name}()")))

    def from_outside(self, func: object) -> bool:
        """Whether a decorator is certainly no function of the tree."""
        names: list[str] = []
        while isinstance(func, Call | Attr):
            if isinstance(func, Attr):
                names.append(func.name)
            func = self.defined.get(func.func if isinstance(func, Call) else func.base)
        if isinstance(func, Closure | Class):
            return False
        if isinstance(func, Import):  # of a module that was not read nothing is certain
            return ".".join(filter(None, (func.module, func.name, *names[::-1]))) not in self.program.functions
        if not isinstance(func, Name):
            return True
        name = ".".join([func.name, *names[::-1]])
        return self.program.scopes.dotted(self.code.module, self.code.facts.scope, name) not in self.program.functions

    def attribute(self, name: str, one: Call, arguments: list[Value]) -> None:
        names = self.texts(arguments[1]) if len(arguments) >= 2 else ()
        if name in GETATTR:
            # v ⊇ o.name for every name that it can be ∪ default
            for text in names:
                self.flow(arguments[0], _read, _Read(text, one.dst, only_called=False))
            for value in arguments[2:]:
                self.copy(value, one.dst)
        elif len(arguments) == 3:
            for field in names or (SOMEWHERE,):
                self.flow(arguments[0], _write, _Keyed(field, arguments[2], self.accept(arguments[2])))

    def cast(self, one: Call, wanted: Value, source: Value) -> None:
        # v ⊇ what of the source the class admits
        cls = self.class_named(wanted)
        if cls is None:
            self.copy(source, one.dst)
            return
        self.copy(source, one.dst, subclass_filter(self.program, cls))
        self.sources.append(lambda frame: frame.program.casts.append((frame.node(source), frame.node(one.dst))))

    def class_named(self, value: Value) -> str | None:
        one = self.defined.get(value)
        match one:
            case Name(name=name):
                return self.program.scopes.dotted(self.code.module, self.code.facts.qualname, name)
            case Const(value=str(text)) if text.isidentifier():
                return self.program.scopes.dotted(self.code.module, self.code.facts.qualname, text)
            case Class(name=name):
                return f"{self.code.module}.{name}"
            case Import(module=module, name=name) if name:
                return self.program.scopes.meaning(module, "", name) or f"{module}.{name}"
        return None


class _Uses:
    """How the values of a function are used. ``carried``: by something that may take an object on; ``called``: as the
    function of a call, as it is or through a variable; ``beside_called``: not only as the function of a call."""

    def __init__(self, code: Code, defined: Any) -> None:
        self.defined = defined
        self.names = {one.value for block in code.facts.blocks for one in block.instructions if isinstance(one, Bind)}
        self.names.update(code.facts.names)
        self.carried: set[Value] = set()
        self.beside_called: set[Value] = set()
        self.kept: set[Value] = set()
        self.called: set[Value] = set()
        self._blocks: dict[Value, int] = {}
        for index, block in enumerate(code.facts.blocks):
            for one in block.instructions:
                self._note(one)
                if isinstance(one, Phi):
                    self._blocks[one.dst] = index
            if isinstance(block.end, Return):
                self.beside_called.add(block.end.value)
            elif isinstance(block.end, Raise):
                self.carried.add(block.end.value)
        self.carried |= self.beside_called
        self.carried |= self.called
        self._spread_called()

    def _note(self, one: Instruction) -> None:
        match one:
            case Call(func=func, arguments=arguments):
                (self.carried if self.decorates(one) else self.called).add(func)
                self.beside_called.update(argument.value for argument in arguments)
            case Attr(base=base) | Item(base=base):
                self.carried.add(base)
            case Bind(value=value) | Await(value=value) | Yield(value=value):
                self.beside_called.add(value)
            case SetAttr(base=base, value=value) | SetItem(base=base, value=value):
                self.carried.add(base)
                self.beside_called.add(value)
            case Build(kind=kind, elements=elements) if kind not in ("string", "slice"):
                self.beside_called.update(elements)
            case Op(operator=operator, operands=operands) if operator in _JOINING:
                self.beside_called.update(operands)
            case Phi(choices=choices):
                self.beside_called.update(value for _, value in choices)
            case Iterate(iterable=source) | Unpack(source=source) | Declare(source=source) | Enter(manager=source):
                self.beside_called.add(source)
            case Closure(defaults=defaults):
                self.beside_called.update(value for _, value in defaults)
            case Class(bases=bases):
                self.beside_called.update(bases)

    def _spread_called(self) -> None:
        todo = list(self.called)
        while todo:
            match self.defined.get(todo.pop()):
                case Phi(choices=choices):
                    behind: Iterable[Value] = [value for _, value in choices]
                case Declare(source=source):
                    behind = [source]
                case _:
                    behind = ()
            for value in behind:
                if value not in self.called:
                    self.called.add(value)
                    todo.append(value)

    def as_value(self, value: Value, name: str, *, module_level: bool) -> bool:
        """Whether the out-of-tree ``name`` has to be an object: a class, what is called later, what others import."""
        return value in self.beside_called and (
            module_level or names_class(name) or value in self.called or name in _PASSED
        )

    def block_of(self, one: Phi) -> int:
        return self._blocks[one.dst]

    def decorates(self, one: Call) -> bool:
        """Whether a call applies a decorator to a definition."""
        if len(one.arguments) != 1:
            return False
        value = one.arguments[0].value
        decorated = self.defined.get(value)
        while isinstance(decorated, Call) and len(decorated.arguments) == 1:
            value = decorated.arguments[0].value
            decorated = self.defined.get(value)
        plain = isinstance(decorated, Class) or (isinstance(decorated, Closure) and "<lambda" not in decorated.function)
        return plain and value not in self.names


_JOINING = ("+", "|", "*")
"""Operators that give a container with the elements of their operands."""
_LONGEST_PART = 64
"""The most places of a slice that are told apart."""
_PASSED = frozenset({"builtins.getattr", "builtins.super", "functools.partial"})
_PURE = frozenset({"builtins.type", "builtins.super"})


def _both(first: Accept, second: Accept) -> Accept:
    return lambda one: first(one) and second(one)


def _number(one: Instruction | None) -> int | None:
    return one.value if isinstance(one, Const) and type(one.value) is int else None


def _adds(dst: Value, made: Object) -> Callable[[Frame], None]:
    return lambda frame: frame.program.graph.add(frame.node(dst), made)


def _defaults(function: str, position: int, value: Value) -> Callable[[Frame], None]:
    return lambda frame: frame.program.default(function, position, frame.node(value))


def _returns(value: Value) -> Callable[[Frame], None]:
    def source(frame: Frame) -> None:
        program = frame.program
        program.graph.edge(frame.node(value), program.field(program.generated(frame), RETURNED))

    return source


def _builds(one: Build, entries: tuple[_Keyed, ...], spread: tuple[Value, ...]) -> Callable[[Frame], None]:
    def source(frame: Frame) -> None:
        program = frame.program
        at = one.at
        made = Container(one.kind, frame.code.path, at.line, at.column, frame.context, value=one.dst)
        program.graph.add(frame.node(one.dst), made)
        for entry in entries:
            program.put(made, entry.key, program.narrow(frame.node(entry.value), entry.accept))
        for value in spread:
            extend(made, program, frame.node(value))

    return source


# ---------------------------------------------------------------- flows


def _read(one: Object, frame: Frame, payload: _Read) -> None:
    if not (payload.only_called and isinstance(one, Container)):
        read(one, frame.program, payload.name, frame.node(payload.dst))
        if frame.program.closed and isinstance(one, Instance) and is_missing(one, frame.program, payload.name):
            frame.program.implied(frame, one, "__getattr__")


def _write(one: Object, frame: Frame, payload: _Keyed) -> None:
    write(one, frame.program, payload.key or "", frame.program.narrow(frame.node(payload.value), payload.accept))


def _element(one: Object, frame: Frame, payload: tuple[str | None, Value]) -> None:
    element(one, frame.program, payload[0], frame.node(payload[1]))


def _element_at(one: Object, frame: Frame, payload: tuple[Value, Value]) -> None:
    index, dst = payload
    if isinstance(one, Container):
        frame.program.subscripts.append((one, frame.node(index), frame.node(dst)))
    else:
        element(one, frame.program, None, frame.node(dst))


def _part(one: Object, frame: Frame, payload: tuple[tuple[int, int] | None, Value]) -> None:
    part(one, frame.program, payload[0], frame.node(payload[1]))


def _scattered(one: Object, frame: Frame, dst: Value) -> None:
    scattered(one, frame.program, frame.node(dst))


def _replaced(one: Object, frame: Frame, value: Value) -> None:
    # o[?] ⊇ each element of v  where a slice of o is replaced by v
    if isinstance(one, Container):
        shift(one, frame.program)
        extend(one, frame.program, frame.node(value))


def _shifted(one: Object, frame: Frame, _: None) -> None:
    shift(one, frame.program)


def _put(one: Object, frame: Frame, payload: _Keyed) -> None:
    put(one, frame.program, payload.key, frame.program.narrow(frame.node(payload.value), payload.accept))


def _iteration(one: Object, frame: Frame, dst: Value) -> None:
    iteration(one, frame, frame.node(dst))


def _result(one: Object, frame: Frame, dst: Value) -> None:
    if isinstance(one, Container):
        frame.program.graph.edge(frame.program.field(one, RETURNED), frame.node(dst))


def _entered(one: Object, frame: Frame, dst: Value) -> None:
    # v ⊇ result(o.__enter__)
    entered(one, frame, dst, frame.node(dst))


def _left(one: Object, frame: Frame, _: None) -> None:
    if isinstance(one, Instance):
        frame.program.implied(frame, one, "__exit__", "__aexit__")


def _raised(one: Object, frame: Frame, end: Raise) -> None:
    # v ∋ a new instance  where a class is raised
    if isinstance(one, ClassObject):
        construct(Site(frame, end.value, end.at, (), frame.node(end.value)), one.cls)


def _container_method(one: Object, frame: Frame, payload: _Method) -> None:
    if isinstance(one, Container | Instance | Super):
        site = payload.plan.site(frame)
        container_method(one, frame.program, payload.name, payload.key, site.arguments, site.target)


def _called(callee: Object, frame: Frame, plan: Plan) -> None:
    site = plan.site(frame)
    call(callee, site)
    call_object(callee, site)


_RULES: dict[type, Callable[[_Compiler, Any], None]] = {
    Name: _Compiler.name,
    Import: _Compiler.imports,
    Closure: _Compiler.closure,
    Class: _Compiler.class_,
    Bind: _Compiler.bind,
    Phi: _Compiler.phi,
    Attr: _Compiler.attr,
    SetAttr: _Compiler.set_attr,
    Item: _Compiler.item,
    SetItem: _Compiler.set_item,
    Delete: _Compiler.delete,
    Iterate: _Compiler.iterate,
    Unpack: _Compiler.unpack,
    Build: _Compiler.build,
    Op: _Compiler.op,
    Declare: _Compiler.declare,
    Await: _Compiler.await_,
    Yield: _Compiler.yield_,
    Enter: _Compiler.enter,
    Exit: _Compiler.exit,
    Call: _Compiler.call,
}
