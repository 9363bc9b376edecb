"""What a name means before anything runs: modules, imports, re-exports and lexical scopes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from auditor.facts import Bind, Call, Class, Closure, FunctionFacts, Import, ModuleFacts, Value

Meaning: TypeAlias = Import | str | None
"""What was bound to a name: an import, the name (in the module) of a definition, or what only running tells."""

_Bound: TypeAlias = dict[str, dict[str, list[Meaning]]]


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names of one module: scope -> name -> what was bound to it, in order; and the modules of its star imports.

    ``certain`` are the names that are bound before its first branch; ``opening`` how many of the star imports stand in
    a row there, with nothing that runs in between, so that a later one hides what an earlier one brought.
    """

    bound: dict[str, dict[str, list[Meaning]]]
    stars: tuple[str, ...]
    certain: frozenset[str]
    opening: int


@dataclass(slots=True)
class Scopes:
    """Every module read so far, and the names of those that exist but were not read (``existing``)."""

    existing: Collection[str]
    modules: dict[str, ModuleNames] = field(default_factory=dict)
    _dotted: dict[tuple[str, str, str], str] = field(default_factory=dict)
    _folders: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._folders = frozenset(module.rpartition(".")[0] for module in self.existing)

    def add(self, facts: ModuleFacts) -> None:
        self.modules[facts.module] = _names(facts)
        self._dotted.clear()

    def in_tree(self, module: str) -> bool:
        """Whether ``module`` is a module of the tree, or a folder of modules (a namespace package)."""
        return module in self.modules or module in self.existing or module in self._folders

    def module_of(self, name: str) -> str:
        """The innermost module of the tree that a dotted name leads to, itself included; "" where none does."""
        while name and not self.in_tree(name):
            name = name.rpartition(".")[0]
        return name

    def binds(self, module: str, scope: str, name: str) -> bool:
        """Whether ``scope`` of ``module`` itself binds ``name``."""
        names = self.modules.get(module)
        return names is not None and name in names.bound.get(scope, ())

    def stars(self, module: str) -> Sequence[str]:
        """The modules that ``module`` imports everything from."""
        names = self.modules.get(module)
        return names.stars if names is not None else ()

    def visible_stars(self, module: str, name: str) -> Sequence[str]:
        """Those of them that may bring ``name``, when all modules are read."""
        stars = self.stars(module)
        for place in range(self.modules[module].opening - 1, 0, -1) if module in self.modules else ():
            if self._brings(stars[place], name, frozenset({module})):
                return stars[place:]
        return stars

    def _brings(self, module: str, name: str, seen: frozenset[str]) -> bool:
        """Whether a star import of ``module`` certainly binds ``name``."""
        names = self.modules.get(module)
        if names is None or module in seen or name.startswith("_") or "__all__" in names.bound.get("", ()):
            return False
        return name in names.certain or any(
            self._brings(star, name, seen | {module}) for star in names.stars[: names.opening]
        )

    def owner(self, module: str, scope: str, name: str) -> str | None:
        """The innermost scope around ``scope`` that binds ``name`` to one who reads it there; None where none does."""
        while scope:
            if self.binds(module, scope, name):
                return scope
            scope = scope.rpartition(".")[0]
        return "" if self.binds(module, "", name) else None

    def dotted(self, module: str, scope: str, name: str) -> str:
        """The qualified name of the class, function or module that ``name`` (dotted) means in ``scope`` of ``module``:
        of in-tree things ``module.qualname``, of the rest the dotted name it was imported by, or ``name`` itself."""
        key = (module, scope, name)
        known = self._dotted.get(key)
        if known is None:
            known = self._dotted[key] = self._resolve(module, scope, name)
        return known

    def _resolve(self, module: str, scope: str, name: str) -> str:
        head, _, rest = name.partition(".")
        while True:
            found = self.meaning(module, scope, head)
            if found is not None or not scope:
                break
            scope = scope.rpartition(".")[0]
        if found is None:
            return name
        return self.member(found, rest) if rest else found

    def meaning(self, module: str, scope: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> str | None:
        """The qualified name that ``scope`` of ``module`` itself gives ``name``, star imports included."""
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
                found = self.meaning(star, "", name, seen)
                if found is not None:
                    return found
        return None

    def _imported(self, one: Import, seen: frozenset[tuple[str, str]]) -> str:
        if not one.name:
            return one.module
        return self.meaning(one.module, "", one.name, seen) or f"{one.module}.{one.name}"

    def member(self, owner: str, rest: str) -> str:
        """The qualified name of ``rest`` (dotted) of ``owner``, which may be a package whose member is a re-export."""
        for part in rest.split("."):
            inside = self.meaning(owner, "", part) if owner in self.modules else None
            owner = inside or f"{owner}.{part}"
        return owner


def _names(facts: ModuleFacts) -> ModuleNames:
    bound: _Bound = {}
    stars: dict[str, None] = {}
    for function in facts.functions:
        _collect(function, bound, stars)
    certain, opening_stars = _opening(facts.functions[0]) if facts.functions else (frozenset(), 0)  # none: no syntax
    return ModuleNames(bound, tuple(stars), certain, opening_stars)


def _opening(body: FunctionFacts) -> tuple[frozenset[str], int]:
    """The names that the first block of a module binds, and how many star imports stand in a row in it."""
    certain: set[str] = set()
    stars: dict[str, None] = {}
    in_a_row = True
    for one in body.blocks[0].instructions:
        if isinstance(one, Bind):
            certain.add(one.name)
        elif isinstance(one, Import) and one.name != "*":
            certain.add(body.names.get(one.dst, ""))
        elif isinstance(one, Import) and in_a_row:
            stars[one.module] = None
        elif stars and not isinstance(one, Closure):
            in_a_row = False
    return frozenset(certain), len(stars)


def _collect(function: FunctionFacts, bound: _Bound, stars: dict[str, None]) -> None:
    defined: dict[Value, Meaning] = {}
    wrappers: set[Value] = set()
    for block in function.blocks:
        for one in block.instructions:
            kind = type(one)
            if kind not in _BINDING:
                continue
            match one:
                case Import(dst=dst, module=module, name=name):
                    defined[dst] = one
                    if name == "*":
                        stars[module] = None
                    elif function.names.get(dst):
                        _add(bound, function.qualname, function.names[dst], one)
                case Closure(dst=dst, function=qualname):
                    defined[dst] = qualname
                case Class(dst=dst, name=qualname):
                    defined[dst] = qualname
                case Call(dst=dst, arguments=arguments):
                    wrappers.add(dst)
                    wrapped = [defined.get(argument.value) for argument in arguments]
                    defined[dst] = next((value for value in wrapped if isinstance(value, str)), None)
                case Bind(scope=scope, name=name, value=source):
                    value = defined.get(source)
                    if isinstance(value, str) and _plain(value) != name and source in wrappers:
                        value = None
                    _add(bound, scope, name, value)


_BINDING = frozenset({Import, Closure, Class, Call, Bind})


def _add(bound: _Bound, scope: str, name: str, value: Meaning) -> None:
    values = bound.setdefault(scope, {}).setdefault(name, [])
    if value not in values:
        values.append(value)


def _plain(qualname: str) -> str:
    return qualname.rpartition(".")[2].partition("#")[0]
