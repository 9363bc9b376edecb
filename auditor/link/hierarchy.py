"""Classes of the tree, their C3 linearisation and the methods that apply to an instance.

C3: Barrett et al., "A Monotonic Superclass Linearization for Dylan", OOPSLA 1996; the order Python itself uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from auditor.facts import Attr, Call, ClassFacts, Const, FunctionFacts, Name, SetAttr
from auditor.link.scopes import Scopes

MODULE_LIKE = frozenset({"torch.nn.Module", "nn.Module"})
"""Out-of-tree bases whose instances, when called, run ``forward`` (documented behaviour of torch.nn.Module.__call__)."""


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """One class of the tree: ``name`` is qualified; ``bases`` are qualified in-tree names or dotted out-of-tree names."""

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
                self.scopes.dotted(info.module, info.facts.scope, base.name) for base in info.facts.bases if base.name not in "?"
            )
            if bases != info.bases:
                self.classes[info.name] = ClassInfo(info.name, info.module, info.path, info.facts, bases)
        self._forget()

    def _forget(self) -> None:
        self._mro.clear()
        self._attributes.clear()
        self._subclasses.clear()
        self._applicable.clear()

    def mro(self, name: str) -> tuple[str, ...]:
        """The C3 linearisation, out-of-tree bases included as leaves; a class whose bases contradict each other falls back
        to depth-first order without repeats."""
        known = self._mro.get(name)
        if known is None:
            known = self._mro[name] = linearize(name, lambda cls: self.classes[cls].bases if cls in self.classes else ())
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

    def lookup(self, name: str, attribute: str, functions: Mapping[str, FunctionFacts], after: str | None = None) -> str | None:
        """The function that ``attribute`` means on an instance of ``name`` (``after`` a class of its MRO for ``super()``)."""
        order = self.mro(name)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else ()
        for cls in order:
            candidate = f"{cls}.{attribute}"
            if cls in self.classes and candidate in functions:
                return candidate
        return None

    def has_external_base(self, name: str) -> bool:
        return any(base not in self.classes and base not in _PLAIN_BASES for base in self.mro(name))

    def attributes(self, name: str, functions: Mapping[str, FunctionFacts]) -> frozenset[str]:
        """Every attribute name that the class or its bases define: methods, class fields, ``self.x = …`` anywhere."""
        known = self._attributes.get(name)
        if known is None:
            names: set[str] = set()
            for cls in self.mro(name):
                info = self.classes.get(cls)
                if info is not None:
                    names.update(info.facts.methods)
                    names.update(one.name for one in info.facts.fields)
                    names.update(self._assigned(info, functions))
            known = self._attributes[name] = frozenset(names)
        return known

    def stored(self, name: str) -> frozenset[str]:
        """Attributes that the methods of the class itself store on ``self``."""
        info = self.classes.get(name)
        return frozenset(self._assigned(info, self.functions)) if info is not None else frozenset()

    def _assigned(self, info: ClassInfo, functions: Mapping[str, FunctionFacts]) -> Iterable[str]:
        for method in info.facts.methods:
            function = functions.get(f"{info.name}.{method}")
            if function is None or not function.params:
                continue
            for block in function.blocks:
                for one in block.instructions:
                    if type(one) is SetAttr and one.base == 0:
                        yield one.name

    def applicable(self, name: str, functions: Mapping[str, FunctionFacts]) -> dict[str, tuple[str, ...]]:
        """For an instance of ``name``: attribute -> functions that can run on it under that name, most derived first; an
        overridden one counts only where an overriding one calls ``super()`` (or the base by name)."""
        known = self._applicable.get(name)
        if known is None:
            known = self._applicable[name] = self._applicable_of(name, functions)
        return known

    def _applicable_of(self, name: str, functions: Mapping[str, FunctionFacts]) -> dict[str, tuple[str, ...]]:
        chains: dict[str, list[str]] = {}
        open_chain: dict[str, bool] = {}
        order = [cls for cls in self.mro(name) if cls in self.classes]
        called: set[str] = set()
        for cls in order:
            for method in self.classes[cls].facts.methods:
                qualified = f"{cls}.{method}"
                if qualified not in functions:
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
    {"object", "builtins.object", "abc.ABC", "ABC", "typing.Protocol", "Protocol", "typing.Generic", "Generic", "typing_extensions.Protocol"}
)


def linearize(name: str, bases: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    """C3 over ``bases``; cyclic or contradictory hierarchies give depth-first order without repeats."""
    try:
        return tuple(_c3(name, bases, ()))
    except _Contradiction:
        order: list[str] = []
        _depth_first(name, bases, order)
        return tuple(order)


class _Contradiction(Exception):
    """Indicates that a hierarchy has no consistent linearisation."""


def _c3(name: str, bases: Callable[[str], tuple[str, ...]], above: tuple[str, ...]) -> list[str]:
    if name in above:
        raise _Contradiction
    direct = bases(name)
    sequences = [_c3(base, bases, (*above, name)) for base in direct] + [list(direct)]
    order = [name]
    while sequences := [one for one in sequences if one]:
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            raise _Contradiction
        order.append(head)
        sequences = [one[1:] if one[0] == head else one for one in sequences]
    return order


def _depth_first(name: str, bases: Callable[[str], tuple[str, ...]], order: list[str]) -> None:
    if name in order:
        return
    order.append(name)
    for base in bases(name):
        _depth_first(base, bases, order)


def super_calls(function: FunctionFacts) -> Iterable[str]:
    """Names that ``function`` calls on ``super()`` or on a class with ``self``: ``super().f(…)``, ``Base.f(self, …)``."""
    defined = {one.dst: one for block in function.blocks for one in block.instructions if hasattr(one, "dst")}
    for one in defined.values():
        if type(one) is not Call:
            continue
        func = defined.get(one.func)
        if type(func) is not Attr:
            continue
        base = defined.get(func.base)
        if type(base) is Call and type(defined.get(base.func)) is Name and defined[base.func].name == "super":  # type: ignore[union-attr]
            yield func.name
        elif one.arguments and one.arguments[0].value == 0 and function.params and type(base) is not Const:
            yield func.name
