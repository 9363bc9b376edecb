"""Linking a whole tree as one closed program: what only a second look can tell.

A subscript by an index that only literals flow into reads the elements of those keys, any other reads all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from auditor.facts import Attr, Call, Const, Declare, Import, ModuleFacts, Name, Param, Phi, Value
from auditor.link.constraints import Node
from auditor.link.derivation import Reverse
from auditor.link.elements import element
from auditor.link.linker import Linker
from auditor.link.objects import Bound, Container, Function, Instance, Module
from auditor.link.program import Frame

_Read: TypeAlias = tuple[Container, str | None, Node]
"""A container, the field that is read of it (None: any), and where the element goes."""


def link_whole(linker: Linker, modules: Iterable[ModuleFacts]) -> None:
    """Link the modules of a closed program."""
    linker.add(modules)
    linker.graph.solve()
    known: set[_Read] = set()
    while fresh := [one for one in dict.fromkeys(_reads(linker)) if one not in known]:
        known.update(fresh)
        for container, field, target in fresh:
            element(container, linker, field, target)
        linker.graph.solve()


def _reads(linker: Linker) -> Iterator[_Read]:
    literals = _Literals(linker)
    for container, index, target in tuple(linker.subscripts):
        for field in sorted(literals.fields(index)) or (None,):
            yield container, field, target


class _Literals:
    """The literals that a node can hold, found by going back from it."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self._reverse = Reverse(linker)

    def fields(self, node: Node) -> frozenset[str]:
        """The fields that an index at ``node`` names; none where something else than a literal may come to it."""
        found: set[str] = set()
        seen = {node}
        todo = [node]
        while todo:
            behind = self._behind(todo.pop(), found)
            if behind is None:
                return frozenset()
            todo.extend(one for one in behind if one not in seen)
            seen.update(behind)
        return frozenset(found)

    def _behind(self, node: Node, found: set[str]) -> list[Node] | None:
        """The nodes that ``node`` has its value from; None where that is not told."""
        located = self._reverse.locate(node)
        if located is not None:
            frame, value = located
            match frame.code.defined.get(value):
                case Const(value=literal) if isinstance(literal, str | int):
                    found.add(f"[{literal!r}]")
                    return []
                case Phi(choices=choices):
                    return [frame.node(choice) for _, choice in choices if choice >= 0]
                case Call(func=func) if not self._only(frame, func, (Function, Bound)):
                    return None
                case Attr(base=base) if not self._only(frame, base, (Instance, Module)):
                    return None
                case Const():
                    return None
                case Call() | Attr() | Param() | Name() | Import() | Declare() | None:
                    pass
                case _:
                    return None
        return [source for source, _ in self._reverse.sources(node)] or None

    def _only(self, frame: Frame, value: Value, kinds: tuple[type, ...]) -> bool:
        """Whether ``value`` is certainly of the tree."""
        held = self._linker.graph.points_to(frame.node(value))
        return value not in frame.code.externals and bool(held) and all(isinstance(one, kinds) for one in held)
