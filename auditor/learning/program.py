"""The files read so far as one program: functions, classes and what attributes hold, by name. Nothing is solved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from auditor.facts import (
    NOTHING,
    Attr,
    Bind,
    Build,
    Call,
    Const,
    Declare,
    Import,
    Item,
    ModuleFacts,
    Name,
    Param,
    Phi,
    Value,
)
from auditor.facts import SetAttr as Store
from auditor.learning.values import Evidence
from auditor.link import Code, Hierarchy, Scopes

SELF: Value = 0
"""The value of the first parameter of a method."""


class Program:
    """Functions and classes by qualified name. Grows; who asks again gets an answer of all that was read."""

    def __init__(self, existing: Collection[str]) -> None:
        self.hierarchy = Hierarchy(Scopes(existing))
        self.codes: dict[str, Code] = {}
        self.methods: dict[str, list[Code]] = {}
        """Name → the methods that have it."""
        self._stores: dict[tuple[str, str], list[tuple[Code, Store]]] = {}
        self._modules: set[str] = set()

    def add(self, modules: Iterable[ModuleFacts]) -> None:
        """Add files and what they define."""
        for facts in modules:
            if facts.module in self._modules:
                continue
            self._modules.add(facts.module)
            self.hierarchy.scopes.add(facts)
            self.hierarchy.add(facts.module, facts.path, facts.classes)
            for function in facts.functions:
                self._declare(facts, Code(_name(facts, function.qualname), facts.module, facts.path, function, ""))
        self.hierarchy.resolve()

    def _declare(self, facts: ModuleFacts, code: Code) -> None:
        owner = _name(facts, code.facts.scope) if code.facts.scope else ""
        code.owner = owner if owner in self.hierarchy.classes else ""
        self.codes.setdefault(code.name, code)
        self.hierarchy.functions.setdefault(code.name, code.facts)
        if code.is_method:
            self.methods.setdefault(code.facts.name, []).append(code)
            for block in code.facts.blocks:
                for one in block.instructions:
                    if type(one) is Store and one.base == SELF:
                        self._stores.setdefault((code.owner, one.name), []).append((code, one))

    def together(self, names: Collection[str]) -> bool:
        """Whether one file holds all of these names in its code."""
        found: dict[str, set[str]] = {}
        for code in self.codes.values():
            held = found.setdefault(code.path, set())
            held.update((code.facts.name, short(code.owner)))
            held.update(one.name for one in code.defined.values() if isinstance(one, Attr | Name | Import))
            held.update(name for (owner, name) in self._stores if owner == code.owner)
        return any(held.issuperset(names) for held in found.values())

    # ------------------------------------------------------------ classes

    def own(self, cls: str) -> Iterator[Code]:
        """The methods that the body of a class defines."""
        for method in self.hierarchy.classes[cls].facts.methods:
            code = self.codes.get(f"{cls}.{method}")
            if code is not None and code.is_method:
                yield code

    def lineage(self, cls: str) -> tuple[str, ...]:
        """A class and those of the tree that it derives from, as far as they were read."""
        return tuple(one for one in self.hierarchy.mro(cls) if one in self.hierarchy.classes)

    def unread(self, cls: str) -> tuple[str, ...]:
        """The classes of the tree that a class derives from and that were not read."""
        found = (one for one in self.hierarchy.mro(cls) if one not in self.hierarchy.classes)
        return tuple(one for one in found if any(self._in_tree(one)))

    def method(self, cls: str, name: str) -> Code | None:
        """The method that a name means on an instance of a class."""
        found = self.hierarchy.lookup(cls, name, self.hierarchy.functions)
        return self.codes.get(found) if found else None

    def stores(self, cls: str, attribute: str) -> Iterator[tuple[Code, Store]]:
        """Where a class or one that it derives from stores an attribute on its object."""
        for base in self.lineage(cls):
            yield from self._stores.get((base, attribute), ())

    def stored(self) -> Collection[tuple[str, str]]:
        """Each class with each attribute that its own methods store on their object."""
        return tuple(self._stores)

    def storing(self, attribute: str) -> list[tuple[Code, Store]]:
        """Where any class stores an attribute of this name on its object."""
        return [one for (_, name), stored in self._stores.items() if name == attribute for one in stored]

    def held(self, cls: str, attribute: str) -> frozenset[str]:
        """The classes of the tree whose objects an attribute holds, itself or in a list or dictionary: by what is
        called for it, and by annotations."""
        found: set[str] = set()
        for code, store in self.stores(cls, attribute):
            found.update(self.made(code, store.value))
        return frozenset(found)

    def constructed(self, code: Code, value: Value) -> Iterator[str]:
        """The classes of the tree that are called for a value or its elements; read or not."""
        for one in leaves(code, value):
            func = code.defined.get(one.func) if isinstance(one, Call) else None
            if isinstance(func, Name | Import | Attr):
                yield from self._class(code, func)

    def made(self, code: Code, value: Value) -> Iterator[str]:
        """The classes of the tree that a value is an object of, or that its elements are; read or not."""
        yield from self.constructed(code, value)
        for one in leaves(code, value):
            if isinstance(one, Param):
                annotation = next((p.annotation for p in code.facts.params if p.name == one.name), None)
                yield from self.named(code, annotation)

    def named(self, code: Code, annotation: object) -> Iterator[str]:
        """The classes of the tree that an annotation names, anywhere in it; read or not."""
        todo = [annotation] if annotation is not None else []
        while todo:
            one = todo.pop()
            name, args = one.name, one.args  # type: ignore[attr-defined]
            todo.extend(args)
            yield from self._in_tree(self.hierarchy.scopes.dotted(code.module, code.facts.scope, name))

    def _class(self, code: Code, func: Name | Import | Attr) -> Iterator[str]:
        if isinstance(func, Attr) and func.base == SELF:
            for cls in self.lineage(code.owner):
                yield from self._bound(cls, func.name)
        elif isinstance(func, Import):
            yield from self._in_tree(f"{func.module}.{func.name}" if func.name else func.module)
        else:
            base = code.defined.get(func.base) if isinstance(func, Attr) else None
            if base is None or isinstance(base, Name):
                name = f"{base.name}.{func.name}" if base else func.name
                yield from self._in_tree(self.hierarchy.scopes.dotted(code.module, code.facts.scope, name))

    def _bound(self, cls: str, name: str) -> Iterator[str]:
        """The class that a class attribute is: ``pool_cls = Pool``."""
        body = self.codes.get(cls)
        for block in body.facts.blocks if body is not None else ():
            for one in block.instructions:
                if body is not None and type(one) is Bind and one.name == name:
                    func = body.defined.get(one.value)
                    if isinstance(func, Name | Import):
                        yield from self._class(body, func)

    def _in_tree(self, dotted: str) -> Iterator[str]:
        """A class that was read, or something of a module that was not."""
        module = dotted.rpartition(".")[0]
        if not module:
            return
        if dotted in self.hierarchy.classes or (module not in self._modules and self.hierarchy.scopes.in_tree(module)):
            yield dotted


def _name(facts: ModuleFacts, qualname: str) -> str:
    return f"{facts.module}.{qualname}" if qualname else facts.module


def leaves(code: Code, value: Value) -> Iterator[object]:
    """What a value may be, through displays, branches and annotations."""
    seen: set[Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen or value == NOTHING:
            continue
        seen.add(value)
        match code.defined.get(value):
            case Build(elements=elements):
                todo.extend(elements)
            case Phi(choices=choices):
                todo.extend(choice for _, choice in choices)
            case Declare(source=source):
                todo.append(source)
            case one:
                yield one


# ---------------------------------------------------------------- values


def origin(defined: Mapping[Value, object], value: Value) -> tuple[str, ...]:
    """The attributes by which a value is reached from the object itself, outermost first: of ``self.a[i].b`` they are
    ``a`` and ``b``; none where it is not."""
    names: list[str] = []
    for _ in range(24):
        match defined.get(value):
            case Attr(base=base, name=name):
                names.append(name)
                value = base
            case Item(base=base):
                value = base
            case Declare(source=source):
                value = source
            case Call(func=func, arguments=arguments) if _is_name(defined, func, "getattr") and len(arguments) > 1:
                attribute = defined.get(arguments[1].value)
                if not isinstance(attribute, Const) or not isinstance(attribute.value, str):
                    return ()
                names.append(attribute.value)
                value = arguments[0].value
            case Call(func=func) if isinstance(method := defined.get(func), Attr) and method.name == "get":
                value = method.base
            case _:
                break
    return tuple(reversed(names)) if value == SELF else ()


def _is_name(defined: Mapping[Value, object], value: Value, name: str) -> bool:
    one = defined.get(value)
    return isinstance(one, Name) and one.name == name


def parameter(code: Code, value: Value) -> Param | None:
    """The parameter (not the object itself) that a value is, on some path."""
    for one in leaves(code, value):
        if isinstance(one, Param) and one.dst != SELF:
            return one
    return None


def calls(code: Code) -> Iterator[Call]:
    """The calls of a function, in the order of its text."""
    return (one for block in code.facts.blocks for one in block.instructions if type(one) is Call)


def at(code: Code, line: int, what: str) -> Evidence:
    """A place in a function."""
    return Evidence(code.path, line, what)


def short(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition(".")[2]


def label(code: Code) -> str:
    """A function as a reader calls it: with its class."""
    return f"{short(code.owner)}.{code.facts.name}" if code.owner else code.facts.name
