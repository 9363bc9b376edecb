"""What a tested value is called: the same *subject* wherever the same configuration is tested.

A value is followed back through what cannot change it. Where that ends without a name that means the same as long as
the process runs, it has no subject, and a test of it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from auditor.conditions.origins import Origins
from auditor.facts import (
    NOTHING,
    Attr,
    Bind,
    Call,
    Const,
    Declare,
    Delete,
    FunctionFacts,
    Name,
    Op,
    Param,
    Phi,
    SetAttr,
    SetItem,
    Value,
    Yield,
)
from auditor.link import ClassObject, Frame, Instance, Object

_COMPUTING = frozenset({"__getattr__", "__getattribute__"})
"""Methods that give attributes nobody names."""
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__"})
_CACHING = frozenset({"lru_cache", "cache", "cached_property"})
_READING = frozenset(
    {"lower", "upper", "get", "startswith", "endswith", "split", "strip", "items", "keys", "values", "getenv"}
)
"""Methods that change nothing, whatever they are called on."""
_DEEPEST = 6


class Subjects:
    """Names what is tested. ``is_configuration`` tells the classes whose fields keep their value once a run begins."""

    def __init__(self, origins: Origins, is_configuration: Callable[[str], bool]) -> None:
        self._origins = origins
        self._linker = origins.linker
        self._graph = origins.graph
        self._is_configuration = is_configuration
        self._constants: dict[tuple[int, Value], str | None] = {}
        self._subjects: dict[tuple[int, Value], str | None] = {}
        self._compared: dict[str, set[str]] = {}
        self._decidable: dict[tuple[int, Value], bool] = {}
        self._reading: dict[str, bool] = {}

    def compared(self, subject: str) -> frozenset[str]:
        """The constants that tests have compared a subject with so far."""
        return frozenset(self._compared.get(subject, ()))

    def note(self, subject: str, value: str) -> None:
        """Remember that a test compares a subject with a constant."""
        self._compared.setdefault(subject, set()).add(value)

    # ------------------------------------------------------------ constants

    def constant(self, frame: Frame, value: Value) -> str | None:
        """The source text of the one constant that ``value`` can be."""
        key = (frame.base, value)
        if key not in self._constants:
            self._constants[key] = None  # while it is being asked
            self._constants[key] = self._constant(frame, value)
        return self._constants[key]

    def _constant(self, frame: Frame, value: Value) -> str | None:
        if value == NOTHING:
            return "None"
        one = frame.code.defined.get(value)
        if isinstance(one, Const):
            return repr(one.value)
        outside = frame.code.externals.get(value)
        if outside is not None:
            return outside
        if isinstance(one, Attr):
            for owner in self._linker.graph.points_to(frame.node(one.base)):
                if isinstance(owner, ClassObject) and self._is_enum(owner.cls):
                    return f"{owner.cls.rpartition('.')[2]}.{one.name}"
            return None  # a field may be set by who uses the tree
        return self._agreed(frame, value, self.constant)

    def _is_enum(self, cls: str) -> bool:
        return any(base.rpartition(".")[2].endswith(("Enum", "Flag")) for base in self._linker.hierarchy.mro(cls)[1:])

    def _agreed(self, frame: Frame, value: Value, ask: Callable[[Frame, Value], str | None]) -> str | None:
        """What ``ask`` says of everything that ``value`` can be, if that is one thing."""
        behind = self._origins.behind(frame, value)
        if not behind:
            return None
        first = ask(behind[0].frame, behind[0].value)
        if first is None or any(ask(one.frame, one.value) != first for one in behind[1:]):
            return None
        return first

    # ------------------------------------------------------------ subjects

    def subject(self, frame: Frame, value: Value) -> str | None:
        """The name of what ``value`` is, if it keeps its value."""
        key = (frame.base, value)
        if key not in self._subjects:
            self._subjects[key] = None  # while it is being asked
            own = self.own(frame, value)
            if own is None or not self.is_configured(frame, value):
                own = self._agreed(frame, value, self.subject) or own
            self._subjects[key] = own
        return self._subjects[key]

    def is_configured(self, frame: Frame, value: Value) -> bool:
        """Whether ``value`` is a field of configuration."""
        one = frame.code.defined.get(value)
        if not isinstance(one, Attr):
            return False
        owners = [
            owner
            for owner in self._origins.owners(frame, one.base)
            if not isinstance(owner, Instance) or self._may_have(owner, one.name)
        ]
        return bool(owners) and all(
            isinstance(owner, Instance) and self._is_configuration(owner.cls) for owner in owners
        )

    def decidable(self, frame: Frame, value: Value) -> bool:
        """Whether a test of ``value`` says something."""
        key = (frame.base, value)
        if key not in self._decidable:
            self._decidable[key] = False  # while it is being asked
            self._decidable[key] = self._decides(frame, value)
        return self._decidable[key]

    def _decides(self, frame: Frame, value: Value) -> bool:
        if self.constant(frame, value) is not None or self.subject(frame, value) is not None:
            return True
        one = frame.code.defined.get(value)
        if isinstance(one, Op):
            return any(
                self.subject(frame, operand) is not None or self.decidable(frame, operand) for operand in one.operands
            )
        return self.looks_behind(frame, value)

    def looks_behind(self, frame: Frame, value: Value) -> bool:
        """Whether what ``value`` can be says something: where paths join, one of the ways is enough."""
        behind = self._origins.behind(frame, value) or ()
        told = [self.decidable(one.frame, one.value) for one in behind]
        return any(told) if isinstance(frame.code.defined.get(value), Phi) else bool(told) and all(told)

    def own(self, frame: Frame, value: Value) -> str | None:
        """The same without looking behind it."""
        one = frame.code.defined.get(value)
        if isinstance(one, Attr):
            return self._field(frame, one)
        if isinstance(one, Call):
            return self._call(frame, one)
        return None

    def _field(self, frame: Frame, one: Attr) -> str | None:
        owners = [owner for owner in self._origins.owners(frame, one.base) if self._may_have(owner, one.name)]
        names = {self._field_of(owner, one.name) for owner in owners}
        if len(names) == 1 and None not in names:
            return names.pop()
        if not owners or all(self._is_configuration(owner.cls) for owner in owners):
            base = self.own(frame, one.base) or self._accessor(frame, one.base)
            return f"{base}.{one.name}" if base is not None else None
        return None

    def _may_have(self, owner: Object, name: str) -> TypeGuard[Instance]:
        """Whether an object can have an attribute: else what is read is not read off it."""
        if not isinstance(owner, Instance):
            return False
        hierarchy = self._linker.hierarchy
        known = hierarchy.attributes(owner.cls)
        computed = "" in known or not hierarchy.applicable(owner.cls).keys().isdisjoint(_COMPUTING)
        return (
            name in known
            or computed
            or hierarchy.has_external_base(owner.cls)
            or bool(self._origins.stored(owner, name))
        )

    def _field_of(self, owner: Instance, name: str) -> str | None:
        if self._is_configuration(owner.cls):
            # a bag is told apart by how it was come by: get_exec().kernel
            hands_on = "__getattr__" in self._linker.hierarchy.applicable(owner.cls)
            return None if hands_on else f"{owner.cls.rpartition('.')[2]}.{name}"
        stores = self._origins.stored(owner, name)
        if not stores or any(one.frame.code.facts.name not in _CONSTRUCTORS for one in stores):
            return None
        if len({text for one in stores for text in self._given(one.frame, one.value, 0)}) > 1:
            return None  # objects of this class differ
        place = str(owner) if self._linker.context_of(owner) else stores[0].frame.code.owner.rpartition(".")[2]
        return f"{place}.{name}"

    def _given(self, frame: Frame, value: Value, depth: int) -> Iterator[str]:
        """The constants that a parameter is given, through other parameters as well."""
        one = frame.code.defined.get(value)
        if isinstance(one, Const):
            yield repr(one.value)
        elif isinstance(one, Param | Declare) and depth < _DEEPEST:
            for origin in self._origins.behind(frame, value) or ():
                yield from self._given(origin.frame, origin.value, depth + 1)

    def _accessor(self, frame: Frame, value: Value) -> str | None:
        """``get_x()`` where that gives an object of configuration."""
        call = frame.code.defined.get(value)
        if not isinstance(call, Call) or call.arguments:
            return None
        given = self._linker.graph.points_to(frame.node(value))
        if given and all(isinstance(one, Instance) and self._is_configuration(one.cls) for one in given):
            names = {site.callee[0].rpartition(".")[2] for site in self._origins.sites(frame, value)}
            return f"{names.pop()}()" if len(names) == 1 else None
        return None

    def _call(self, frame: Frame, call: Call) -> str | None:
        outside = frame.code.externals.get(call.func)
        if outside in ("builtins.isinstance", "builtins.hasattr") and len(call.arguments) == 2:
            name: str | None = outside.rpartition(".")[2]
        elif outside is None:
            callees = {site.callee for site in self._origins.sites(frame, call.dst)}
            functions = {name for name, _ in callees}
            name = (
                functions.pop().rpartition(".")[2]
                if len(functions) == 1 and all(map(self._only_reads, functions))
                else None
            )
        else:
            name = None
        if name is None:
            return None
        given: list[str] = []
        for one in call.arguments:
            what = (
                self.constant(frame, one.value) or self.subject(frame, one.value) or self._class_name(frame, one.value)
            )
            if what is None or one.kind in ("*", "**"):
                return None
            given.append(what)
        func = frame.code.defined.get(call.func)
        if isinstance(func, Attr) and any(site.receiver is not None for site in self._origins.sites(frame, call.dst)):
            receiver = self.subject(frame, func.base)
            if receiver is None:
                return None
            name = f"{receiver}.{name}"
        return f"{name}({', '.join(given)})"

    def _class_name(self, frame: Frame, value: Value) -> str | None:
        classes = self._linker.graph.points_to(frame.node(value))
        if len(classes) == 1:
            one = next(iter(classes))
            if isinstance(one, ClassObject):
                return one.cls.rpartition(".")[2]
        return None

    # ------------------------------------------------------------ functions that only read

    def _only_reads(self, function: str, depth: int = 0) -> bool:
        """Whether a function gives the same for the same arguments as long as the process runs, as far as is seen."""
        known = self._reading.get(function)
        if known is None:
            self._reading[function] = depth < _DEEPEST  # while it is being asked
            known = self._reading[function] = self._reads(function, depth)
        return known

    def _reads(self, function: str, depth: int) -> bool:
        code = self._linker.codes.get(function)
        if code is None or code.facts.is_async or code.facts.is_generator or depth >= _DEEPEST:
            return False
        if any(one.rpartition(".")[2] in _CACHING for one in code.facts.decorators):
            return True
        return all(
            self._harmless(code.facts, code.module, function, one, depth)
            for block in code.facts.blocks
            for one in block.instructions
        )

    def _harmless(self, facts: FunctionFacts, module: str, function: str, one: object, depth: int) -> bool:
        match one:
            case SetAttr() | SetItem() | Delete() | Yield():
                return False
            case Bind(scope=scope):
                return scope == facts.qualname
            case Name(name=name):
                binds = self._origins.binds(module, self._linker.scopes.owner(module, facts.qualname, name) or "", name)
                return all(bind.frame.code.facts.kind in ("module", "class") for bind in binds)
            case Call(func=func, dst=dst):
                code = self._linker.codes[function]
                outside = code.externals.get(func)
                if outside is not None:
                    return outside.startswith("builtins.") or outside.rpartition(".")[2] in _READING
                frame = self._graph.frames.get((function, None))
                sites = self._origins.sites(frame, dst) if frame is not None else []
                if sites:
                    return all(self._only_reads(site.callee[0], depth + 1) for site in sites)
                called = code.defined.get(func)
                return isinstance(called, Attr) and called.name in _READING
        return True
