"""Staging: buffers that a generator fills, a layer a step, and that another method of its object hands out by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from auditor.facts import Item, Iterate, Param, SetItem, Value, expression
from auditor.learning.hints import Wanted, defining, extending
from auditor.learning.loaders import Loaders
from auditor.learning.pools import returned
from auditor.learning.program import SELF, Program, at, label, origin, short
from auditor.learning.values import MEDIUM, Evidence, Named
from auditor.link import Code
from auditor.loading import sources


class Staged(NamedTuple):
    """``accessor`` hands out what ``filled`` says that a generator has put into ``attribute``."""

    accessor: Code
    attribute: str
    filled: Evidence
    handed: Evidence


class Staging:
    """The staging buffers of a program."""

    def __init__(self, program: Program, loaders: Loaders) -> None:
        self._program = program
        self.found = tuple(one for code in loaders.stepping if code.owner for one in self._staged(code))
        self.roots = {short(root): root for one in self.found if (root := program.lineage(one.accessor.owner)[-1])}
        self.family = frozenset(cls for root in self.roots.values() for cls in program.hierarchy.subclasses(root))

    def wanted(self) -> Iterator[Wanted]:
        """The files with the classes that those derive from, and with what else derives from them."""
        if above := sorted({short(cls) for one in self.found for cls in self._program.unread(one.accessor.owner)}):
            yield defining("class", above)
        if self.roots:
            yield extending(sorted(map(short, self.family)))

    def _staged(self, loader: Code) -> Iterator[Staged]:
        for attribute, filled in _filled(loader):
            for code in self._program.own(loader.owner):
                for handed in _handed(code, attribute) if code is not loader else ():
                    yield Staged(code, attribute, filled, handed)

    # ------------------------------------------------------------ what is told

    def pools(self) -> tuple[Named, ...]:
        """The classes that the families start with."""
        return self._named(lambda one: short(self._program.lineage(one.accessor.owner)[-1]), lambda one: one.filled)

    def accessors(self) -> tuple[Named, ...]:
        """The methods that hand a staging buffer out."""
        return self._named(lambda one: one.accessor.facts.name, lambda one: one.handed)

    def buffers(self) -> tuple[Named, ...]:
        """The attributes that hold the staging buffers."""
        return self._named(lambda one: one.attribute, lambda one: one.filled)

    def _named(self, name: Callable[[Staged], str], shown: Callable[[Staged], Evidence]) -> tuple[Named, ...]:
        found: dict[str, list[Evidence]] = {}
        for one in self.found:
            found.setdefault(name(one), []).append(shown(one))
        return tuple(Named(key, MEDIUM, tuple(dict.fromkeys(where))) for key, where in sorted(found.items()))


def _filled(loader: Code) -> Iterator[tuple[str, Evidence]]:
    """The attributes of its object that a generator puts something into under the layer of its loop."""
    for block in loader.facts.blocks:
        for one in block.instructions:
            path = origin(loader.defined, one.base) if isinstance(one, SetItem) else ()
            if isinstance(one, SetItem) and len(path) == 1 and _comes_from(loader, one.index, Iterate):
                text = expression(loader.facts, one.base, loader.defined)
                yield path[0], at(loader, one.at.line, f"{label(loader)} fills {text}, a layer a step")


def _handed(code: Code, attribute: str) -> Iterator[Evidence]:
    """Where a method returns the element of an attribute that its parameter picks, or a part of it."""
    for value in returned(code):
        for part in sorted(sources(code.defined, value)):
            one = code.defined.get(part)
            picks = isinstance(one, Item) and origin(code.defined, one.base) == (attribute,)
            if isinstance(one, Item) and picks and _comes_from(code, one.index, Param):
                yield at(code, one.at.line, f"{label(code)} hands out {expression(code.facts, part, code.defined)}")


def _comes_from(code: Code, value: Value, kind: type[Iterate] | type[Param]) -> bool:
    found = (source for source in sources(code.defined, value) if source != SELF)
    return any(isinstance(code.defined.get(source), kind) for source in found)
