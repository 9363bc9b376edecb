"""Classes of the tree, their linearisation, and the methods and attributes that apply to an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from auditor.facts import Attr, Call, ClassFacts, Const, FunctionFacts, Name, SetAttr, SetItem, Value
from auditor.link.mro import linearize
from auditor.link.scopes import Scopes

MODULE_LIKE = frozenset({"torch.nn.Module", "nn.Module"})
"""Out-of-tree bases whose instances run ``forward`` when called (documented behaviour of torch.nn.Module.__call__)."""


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """One class of the tree: ``name`` is qualified; ``bases`` are in-tree names or dotted out-of-tree names."""

    name: str
    module: str
    path: str
    facts: ClassFacts
    bases: tuple[str, ...]


@dataclass(slots=True)
class Hierarchy:
    """All classes seen so far. Grows with the tree; a linearisation is remembered until a class is added."""

    scopes: Scopes
    functions: dict[str, FunctionFacts] = field(default_factory=dict)
    classes: dict[str, ClassInfo] = field(default_factory=dict)
    _mro: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _attributes: dict[str, frozenset[str]] = field(default_factory=dict)
    _subclasses: dict[str, set[str]] = field(default_factory=dict)
    _supers: dict[str, frozenset[str]] = field(default_factory=dict)
    _applicable: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    _patches: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    _set: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    """Module -> method -> what it sets of its object."""
    _made: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, module: str, path: str, facts: Iterable[ClassFacts]) -> None:
        """Add the classes of one module; their bases may be still unknown."""
        for one in facts:
            name = f"{module}.{one.qualname}"
            if name not in self.classes:
                self.classes[name] = ClassInfo(name, module, path, one, ())
        self._forget()

    def resolve(self) -> None:
        """Name the bases of every class with what is known now."""
        for info in list(self.classes.values()):
            bases = tuple(
                self.scopes.dotted(info.module, info.facts.scope, base.name)
                for base in info.facts.bases
                if base.name not in "?"
            )
            if bases != info.bases:
                self.classes[info.name] = ClassInfo(info.name, info.module, info.path, info.facts, bases)
        self._forget()

    def patch(self, name: str, attribute: str, function: str) -> None:
        """Note that ``Class.attribute = function`` runs somewhere."""
        known = self._patches.setdefault(name, {})
        if function not in known.get(attribute, ()):
            known[attribute] = tuple(sorted((*known.get(attribute, ()), function)))
            self._attributes.clear()
            self._applicable.clear()

    def _forget(self) -> None:
        self._mro.clear()
        self._made.clear()
        self._attributes.clear()
        self._subclasses.clear()
        self._applicable.clear()

    def mro(self, name: str) -> tuple[str, ...]:
        """The C3 linearisation, out-of-tree bases included as leaves; contradictory bases: see ``linearize``."""
        known = self._mro.get(name)
        if known is None:
            known = self._mro[name] = linearize(
                name, lambda cls: self.classes[cls].bases if cls in self.classes else ()
            )
        return known

    def subclasses(self, name: str) -> frozenset[str]:
        """``name`` and every class that derives from it."""
        if not self._subclasses:
            for cls in self.classes:
                for base in self.mro(cls):
                    self._subclasses.setdefault(base, set()).add(cls)
        return frozenset(self._subclasses.get(name, {name}))

    def is_subclass(self, name: str, base: str) -> bool:
        return base in self.mro(name)

    def is_kind_of(self, name: str, matches: Callable[[str], object]) -> bool:
        """Whether ``matches`` knows the bare name of the class or of one that it derives from."""
        return any(matches(base.rpartition(".")[2]) is not None for base in self.mro(name))

    def lookup(
        self, name: str, attribute: str, functions: Mapping[str, FunctionFacts], after: str | None = None
    ) -> str | None:
        """The function that ``attribute`` means on an instance of ``name``; for ``super()`` behind class ``after``."""
        order = self.mro(name)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else ()
        for cls in order:
            patched = self._patches.get(cls, {}).get(attribute)
            if patched:
                return patched[0]
            candidate = f"{cls}.{attribute}"
            if cls in self.classes and candidate in functions:
                return candidate
        return None

    def foreign_base(self, name: str) -> str | None:
        """The first out-of-tree class in the MRO whose attributes nobody here knows; None where there is none."""
        return next((base for base in self.mro(name) if base not in self.classes and base not in _PLAIN_BASES), None)

    def has_external_base(self, name: str) -> bool:
        return self.foreign_base(name) is not None

    def attributes(self, name: str, functions: Mapping[str, FunctionFacts] | None = None) -> frozenset[str]:
        """Every attribute name that the class or its bases define: methods, class fields, ``self.x = …`` anywhere; with
        "" where a name is computed."""
        known = self._attributes.get(name)
        if known is None:
            functions = functions or self.functions
            names: set[str] = set()
            for cls in self.mro(name):
                info = self.classes.get(cls)
                if info is not None:
                    names.update(info.facts.methods)
                    names.update(one.name for one in info.facts.fields)
                    names.update(self._assigned(info, functions))
                    names.update(self._patches.get(cls, ()))
            known = self._attributes[name] = frozenset(names)
        return known

    def asks(self, name: str) -> bool:
        """Whether what is an instance of the class is not told by who derives from it: a protocol, an abstract class or
        a metaclass that looks for itself."""
        info = self.classes.get(name)
        if info is None:
            return False
        return (
            not _PROTOCOLS.isdisjoint(info.bases)
            or "__subclasshook__" in self.applicable(name)
            or "__instancecheck__" in self.applicable(self.metaclass(name))
        )

    def setter(self, name: str, attribute: str) -> str | None:
        """The function that sets the property ``attribute`` of objects of the class."""
        for cls in self.mro(name):
            number = 2
            while (found := f"{cls}.{attribute}#{number}") in self.functions:
                if any(one.endswith(".setter") for one in self.functions[found].decorators):
                    return found
                number += 1
        return None

    def metaclass(self, name: str) -> str:
        """The class of a class, as it is written in it or in one that it derives from; "" where it is the usual one."""
        for info in (self.classes[cls] for cls in self.mro(name) if cls in self.classes):
            for key, one in info.facts.keywords:
                if key == "metaclass":
                    return self.scopes.dotted(info.module, info.facts.scope, one)
        return ""

    def always(self, name: str, attribute: str, *, made: bool) -> bool:
        """Whether objects of the class certainly have ``attribute``: from the class, or, where they are ``made``, from
        their constructor."""
        if attribute in self.applicable(name):
            return True
        known = [self.classes[cls] for cls in self.mro(name) if cls in self.classes]
        if any(one.name == attribute and one.has_default for info in known for one in info.facts.fields):
            return True
        if not made or attribute not in self.attributes(name):
            return False
        if "__init__" in self.applicable(name):
            return attribute in self._constructed(name)
        return self.has_external_base(name) or any(info.facts.decorators for info in known)

    def _constructed(self, name: str) -> frozenset[str]:
        """What the constructor of a class sets of its object, with the methods of it that it calls."""
        known = self._made.get(name)
        if known is None:
            applicable, found = self.applicable(name), set[str]()
            todo, seen = ["__init__"], {"__init__"}
            while todo:
                for method in applicable.get(todo.pop(), ()):
                    function = self.functions[method]
                    info = self.classes[method.rpartition(".")[0]]
                    found |= self._sets(info, method.rpartition(".")[2], self.functions)
                    called = set(_own_calls(function)) - seen
                    seen |= called
                    todo.extend(called)
            known = self._made[name] = frozenset(found)
        return known

    def gives(self, name: str, attribute: str) -> bool:
        """Whether objects of the class get ``attribute`` otherwise than from a ``__getattr__``: a bare annotation gives
        none, unless the constructor is made of the annotations."""
        if attribute not in self.attributes(name):
            return False
        if "__init__" not in self.applicable(name) or attribute in self.applicable(name):
            return True
        known = [self.classes[cls] for cls in self.mro(name) if cls in self.classes]
        declared = [one for info in known for one in info.facts.fields if one.name == attribute]
        return any(one.has_default for one in declared) or any(
            attribute in self._assigned(info, self.functions) for info in known
        )

    def stored(self, name: str) -> frozenset[str]:
        """Attributes that the methods of the class itself store on ``self``."""
        info = self.classes.get(name)
        return frozenset(self._assigned(info, self.functions)) if info is not None else frozenset()

    def stored_in_all(self, name: str) -> frozenset[str]:
        """Attributes that the methods of the class or of one of its bases store on ``self``."""
        return frozenset().union(*map(self.stored, self.mro(name)))

    def _assigned(self, info: ClassInfo, functions: Mapping[str, FunctionFacts]) -> Iterable[str]:
        for method in info.facts.methods:
            yield from self._sets(info, method, functions)

    def _sets(self, info: ClassInfo, method: str, functions: Mapping[str, FunctionFacts]) -> frozenset[str]:
        """What a method sets of its object."""
        function = functions.get(f"{info.name}.{method}")
        if function is None or not function.params:
            return frozenset()
        known = self._set.setdefault(info.module, {})
        if function.qualname not in known:
            known[function.qualname] = frozenset(_set_in(function))
        return known[function.qualname]

    def applicable(self, name: str, functions: Mapping[str, FunctionFacts] | None = None) -> dict[str, tuple[str, ...]]:
        """For an instance of ``name``: attribute -> functions that can run under that name, most derived first; an
        overridden one counts only where one above it calls ``super()`` (or the base by name)."""
        known = self._applicable.get(name)
        if known is None:
            known = self._applicable[name] = self._applicable_of(name, functions or self.functions)
        return known

    def _applicable_of(self, name: str, functions: Mapping[str, FunctionFacts]) -> dict[str, tuple[str, ...]]:
        chains: dict[str, list[str]] = {}
        open_chain: dict[str, bool] = {}
        order = [cls for cls in self.mro(name) if cls in self.classes]
        called: set[str] = set()
        for cls in order:
            for patched, methods in self._patches.get(cls, {}).items():
                if patched not in chains:
                    chains[patched] = list(methods)
                    open_chain[patched] = False
            for method in self.classes[cls].facts.methods:
                qualified = f"{cls}.{method}"
                if qualified not in functions or is_stub(functions[qualified]):
                    continue
                plain = method.partition("#")[0]
                if plain not in chains or open_chain[plain] or plain in called:
                    chains.setdefault(plain, []).append(qualified)
                    supers = self._super_calls(functions[qualified], qualified)
                    open_chain[plain] = plain in supers or "*" in supers
                    called |= supers
        return {method: tuple(chain) for method, chain in chains.items()}

    def _super_calls(self, function: FunctionFacts, qualified: str) -> frozenset[str]:
        known = self._supers.get(qualified)
        if known is None:
            known = self._supers[qualified] = frozenset(super_calls(function))
        return known


_PLAIN_BASES = frozenset(
    {
        "object",
        "builtins.object",
        "abc.ABC",
        "ABC",
        "typing.Protocol",
        "Protocol",
        "typing.Generic",
        "Generic",
        "typing_extensions.Protocol",
    }
)


_PROTOCOLS = frozenset({"typing.Protocol", "Protocol", "typing_extensions.Protocol"})


def is_stub(function: FunctionFacts) -> bool:
    """Whether a definition is not what its name means: an overload, or the setter of a property."""
    return any(one.rpartition(".")[2] in ("overload", "setter", "deleter", "getter") for one in function.decorators)


def _own_calls(function: FunctionFacts) -> Iterable[str]:
    """The methods that a method calls on its object."""
    own = {
        one.dst: one.name
        for block in function.blocks
        for one in block.instructions
        if isinstance(one, Attr) and one.base == 0
    }
    for block in function.blocks:
        for one in block.instructions:
            if isinstance(one, Call) and one.func in own:
                yield own[one.func]


def _set_in(function: FunctionFacts) -> Iterable[str]:
    """The attributes of its object that a method sets, by a text as well: ``setattr(self, "x", v)``,
    ``super().__setattr__("x", v)``, ``self.__dict__["x"] = v``; "" stands for what only running tells."""
    texts: dict[Value, str] = {}
    setters: set[Value] = set()
    spaces: set[Value] = set()
    updates: set[Value] = set()
    for block in function.blocks:
        for one in block.instructions:
            match one:
                case SetAttr(base=0, name=name):
                    yield name
                case Const(dst=dst, value=str(text)):
                    texts[dst] = text
                case Name(dst=dst, name="setattr") | Attr(dst=dst, name="__setattr__"):
                    setters.add(dst)
                case Attr(dst=dst, base=0, name="__dict__"):
                    spaces.add(dst)
                case Attr(dst=dst, base=base, name="update") if base in spaces:
                    updates.add(dst)
                case Call(func=func) if func in updates:
                    yield ""
                case Call(func=func, arguments=arguments) if func in setters:
                    if len(arguments) == 2 or (len(arguments) == 3 and arguments[0].value == 0):
                        yield texts.get(arguments[-2].value, "")
                case SetItem(base=base) if base in spaces:
                    yield texts.get(one.index, "")


def super_calls(function: FunctionFacts) -> Iterable[str]:
    """Names that ``function`` calls on ``super()`` or on a class with ``self``: ``super().f()``, ``Base.f(self)``."""
    defined: dict[Value, object] = {}
    for block in function.blocks:
        for one in block.instructions:
            match one:
                case Call():
                    defined[one.dst] = one
                    func = defined.get(one.func)
                    if isinstance(func, Attr) and _on_super(defined.get(func.base), one, function, defined):
                        yield func.name
                case Attr() | Name() | Const():
                    defined[one.dst] = one


def _on_super(base: object, call: Call, function: FunctionFacts, defined: Mapping[Value, object]) -> bool:
    if isinstance(base, Call):
        func = defined.get(base.func)
        if isinstance(func, Name) and func.name == "super":
            return True
    return (
        bool(call.arguments) and call.arguments[0].value == 0 and bool(function.params) and not isinstance(base, Const)
    )
