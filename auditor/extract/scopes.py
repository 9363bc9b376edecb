"""Lexical scopes of one file, and where each name of them lives.

A *host* scope becomes a function of the facts (module, class, function, lambda); an *inline* scope (a comprehension,
the type parameters of a definition) is lowered inside its host and only keeps its names apart.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class Home(Enum):
    """How a name is kept."""

    PLAIN = auto()
    """A value of the function alone."""
    CELL = auto()
    """A value of the function that nested functions read."""
    OWN = auto()
    """A module global or class attribute: a value where it is certainly bound, else looked up."""
    ELSEWHERE = auto()
    """Looked up each time."""


class Place(NamedTuple):
    """Where a name lives: ``key`` is its variable in the host's flow, ``owner`` the owning scope's qualified name."""

    home: Home
    key: str
    owner: str


class Scope:
    """One scope while a file is read. ``kind``: module, class, function, lambda or inline."""

    def __init__(self, kind: str, parent: Scope | None, name: str, qualname: str, order: int) -> None:
        self.kind = kind
        self.parent = parent
        self.name = name
        self.qualname = qualname
        self.order = order
        self.bound: set[str] = set()
        self.reads: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: set[str] = set()
        self.shared: set[str] = set()
        self.is_generator = False
        self.lambdas = 0
        self.last_offset = 0
        self._places: dict[str, Place] = {}

    @property
    def host(self) -> Scope:
        """The scope that becomes a function: this one, or the one around an inline one."""
        return self.parent.host if self.kind == "inline" and self.parent else self

    def place(self, name: str) -> Place:
        """Tell where ``name`` lives when it is used in this scope."""
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = self._place(name)
        return place

    def _place(self, name: str) -> Place:
        if name in self.globals:
            return Place(Home.ELSEWHERE, name, "")
        if name in self.nonlocals or name not in self.bound:
            parent = self.parent
            if self.kind == "inline" and parent is not None and parent.kind != "class":
                return parent.place(name)
            owner = self.owner(name)
            return Place(Home.ELSEWHERE, name, owner.function_name() if owner else "")
        if name in self.shared:
            return Place(Home.ELSEWHERE, name, self.function_name())
        if self.kind in ("module", "class"):
            return Place(Home.OWN, name, self.qualname)
        key = f"{name}@{self.order}" if self.kind == "inline" else name
        return Place(Home.CELL if name in self.captured else Home.PLAIN, key, self.function_name())

    def function_name(self) -> str:
        """Give the qualified name of the host, not of a class if names of it are meant for nested functions."""
        host = self.host
        while self.kind == "inline" and host.kind == "class" and host.parent is not None:
            host = host.parent.host
        return host.qualname

    def owner(self, name: str) -> Scope | None:
        """Find the enclosing function that binds ``name``; None where it is a global or a builtin."""
        scope = self.parent
        while scope is not None and scope.kind != "module":
            if scope.kind != "class":
                if name in scope.globals:
                    return None
                if name in scope.bound and name not in scope.nonlocals:
                    return scope
            scope = scope.parent
        return None


def resolve(scopes: list[Scope]) -> None:
    """Mark, in every scope, the names that nested functions read (captured) or write (shared)."""
    module = scopes[0]
    for scope in scopes:
        if scope is not module:
            module.shared |= scope.globals
        for name in sorted(scope.nonlocals | (scope.reads - scope.bound - scope.globals)):
            owner = scope.owner(name)
            if owner is not None and owner.host is not scope.host:
                owner.captured.add(name)
                if name in scope.nonlocals:
                    owner.shared.add(name)
