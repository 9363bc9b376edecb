"""What a name means before anything runs: modules, imports, re-exports and lexical scopes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from auditor.facts import Bind, Call, Class, Closure, FunctionFacts, Import, ModuleFacts


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names of one module: scope -> name -> what was bound to it, in order. Imports are ``Import`` facts, definitions
    the qualified names of what they define, everything else None (only known when run)."""

    facts: ModuleFacts
    bound: dict[str, dict[str, tuple[Import | str | None, ...]]]
    stars: tuple[str, ...]


@dataclass(slots=True)
class Scopes:
    """Every module read so far, and the names of those that exist but were not read (``existing``)."""

    existing: Collection[str]
    modules: dict[str, ModuleNames] = field(default_factory=dict)
    _dotted: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def add(self, facts: ModuleFacts) -> None:
        self.modules[facts.module] = _names(facts)
        self._dotted.clear()

    def in_tree(self, module: str) -> bool:
        return module in self.modules or module in self.existing

    def dotted(self, module: str, scope: str, name: str) -> str:
        """The qualified name of the class, function or module that ``name`` (dotted) means in ``scope`` of ``module``:
        of in-tree things ``module.qualname``, of the rest the dotted name it was imported by; unbound names stay as they are."""
        key = (module, scope, name)
        known = self._dotted.get(key)
        if known is None:
            known = self._dotted[key] = self._resolve(module, scope, name)
        return known

    def _resolve(self, module: str, scope: str, name: str) -> str:
        head, _, rest = name.partition(".")
        while True:
            found = self._bound(module, scope, head)
            if found is not None or not scope:
                break
            scope = scope.rpartition(".")[0]
        if found is None:
            return name
        return self._member(found, rest) if rest else found

    def _bound(self, module: str, scope: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> str | None:
        if (module, name) in seen or module not in self.modules:
            return None
        seen |= {(module, name)}
        names = self.modules[module]
        for one in names.bound.get(scope, {}).get(name, ()):
            if isinstance(one, str):
                return f"{module}.{one}"
            if one is not None:
                return self._imported(one, seen)
        if not scope:
            for star in names.stars:
                found = self._bound(star, "", name, seen)
                if found is not None:
                    return found
        return None

    def _imported(self, one: Import, seen: frozenset[tuple[str, str]]) -> str:
        if not one.name:
            return one.module
        return self._bound(one.module, "", one.name, seen) or f"{one.module}.{one.name}"

    def _member(self, owner: str, rest: str) -> str:
        """``rest`` looked up in ``owner``, which may be a package whose member is a re-export."""
        for part in rest.split("."):
            inside = self._bound(owner, "", part) if owner in self.modules else None
            owner = inside or f"{owner}.{part}"
        return owner


def _names(facts: ModuleFacts) -> ModuleNames:
    bound: dict[str, dict[str, list[Import | str | None]]] = {}
    stars: list[str] = []
    for function in facts.functions:
        _collect(function, bound, stars)
    frozen = {scope: {name: tuple(values) for name, values in names.items()} for scope, names in bound.items()}
    return ModuleNames(facts, frozen, tuple(dict.fromkeys(stars)))


def _collect(function: FunctionFacts, bound: dict[str, dict[str, list[Import | str | None]]], stars: list[str]) -> None:
    defined: dict[int, Import | str | None] = {}
    wrappers: set[int] = set()
    for block in function.blocks:
        for one in block.instructions:
            kind = type(one)
            if kind is Import:
                defined[one.dst] = one  # type: ignore[union-attr]
                if one.name == "*":  # type: ignore[union-attr]
                    stars.append(one.module)  # type: ignore[union-attr]
                elif function.names.get(one.dst):  # type: ignore[union-attr]
                    _add(bound, function.qualname, function.names[one.dst], one)  # type: ignore[union-attr,arg-type]
            elif kind is Closure:
                defined[one.dst] = one.function  # type: ignore[union-attr]
            elif kind is Class:
                defined[one.dst] = one.name  # type: ignore[union-attr]
            elif kind is Call:
                wrappers.add(one.dst)  # type: ignore[union-attr]
                wrapped = [defined.get(argument.value) for argument in one.arguments]  # type: ignore[union-attr]
                defined[one.dst] = next((value for value in wrapped if isinstance(value, str)), None)  # type: ignore[union-attr]
            elif kind is Bind:
                value = defined.get(one.value)  # type: ignore[union-attr]
                if isinstance(value, str) and _plain(value) != one.name and one.value in wrappers:  # type: ignore[union-attr]
                    value = None
                _add(bound, one.scope, one.name, value)  # type: ignore[union-attr]


def _add(bound: dict[str, dict[str, list[Import | str | None]]], scope: str, name: str, value: Import | str | None) -> None:
    values = bound.setdefault(scope, {}).setdefault(name, [])
    if value not in values:
        values.append(value)


def _plain(qualname: str) -> str:
    return qualname.rpartition(".")[2].partition("#")[0]
