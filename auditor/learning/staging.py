"""Staging: buffers that an object holds by layer and a loader fills: a generator, a layer a step, and another method
hands them out; or copies on a stream that the object waits for, which are handed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from auditor.facts import Item, Iterate, Param, SetItem, Value, expression
from auditor.learning.hints import Wanted, calling, defining, extending
from auditor.learning.loaders import Loaders
from auditor.learning.pools import returned
from auditor.learning.program import SELF, Program, at, calls, label, origin, short
from auditor.learning.steps import Step, copied
from auditor.learning.values import MEDIUM, Evidence, Named
from auditor.link import Code
from auditor.loading import called, sources


class Staged(NamedTuple):
    """An object of ``owner`` holds ``attribute``, as ``filled`` shows; ``accessor`` hands it out where ``handed`` says,
    if something does."""

    owner: str
    attribute: str
    filled: Evidence
    accessor: str = ""
    handed: Evidence | None = None


class Staging:
    """The staging buffers of a program."""

    def __init__(self, program: Program, loaders: Loaders, steps: Sequence[Step]) -> None:
        self._program = program
        self._copies = {
            (called(step.copies.defined, one), attribute): step
            for step in steps
            if step.copies is not None
            for one in copied(step.copies, step.attribute)
            for attribute in _given(step.copies, [argument.value for argument in one.arguments])
        }
        """A call that copies, and an attribute of which it is handed a layer."""
        stepping = (one for code in loaders.stepping if code.owner for one in self._staged(code))
        self.found = (*stepping, *self._handed_over())
        self.family = frozenset(
            cls for one in self.found for cls in program.hierarchy.subclasses(program.lineage(one.owner)[-1])
        )

    def wanted(self) -> Iterator[Wanted]:
        """The files with the classes that those derive from, what else derives from them, and who copies likewise."""
        if above := sorted({short(cls) for one in self.found for cls in self._program.unread(one.owner)}):
            yield defining("class", above)
        if self.family:
            yield extending(sorted(map(short, self.family)))
        for name in sorted({name for name, _ in self._copies if "_" in name.strip("_")}):
            yield calling(name)

    def _staged(self, loader: Code) -> Iterator[Staged]:
        for attribute, filled in _filled(loader):
            for code in self._program.own(loader.owner):
                for handed in _handed(code, attribute) if code is not loader else ():
                    yield Staged(loader.owner, attribute, filled, code.facts.name, handed)

    def _handed_over(self) -> Iterator[Staged]:
        """Every method that hands an attribute of its object to a call that copies."""
        names = {name for name, _ in self._copies}
        for code in sorted(self._program.codes.values(), key=lambda one: one.name) if names else ():
            for one in calls(code) if code.owner else ():
                name = called(code.defined, one)
                if name in names:
                    given = frozenset().union(*(sources(code.defined, part.value) for part in one.arguments))
                    for attribute in sorted(
                        {path[0] for value in given if len(path := origin(code.defined, value)) == 1}
                    ):
                        if (name, attribute) in self._copies:
                            what = f"{label(code)} hands {attribute} to {name}"
                            yield Staged(code.owner, attribute, at(code, one.at.line, what))

    # ------------------------------------------------------------ what is told

    def pools(self) -> tuple[Named, ...]:
        """The classes that the families start with."""
        return self._named(lambda one: short(self._program.lineage(one.owner)[-1]), lambda one: one.filled)

    def accessors(self) -> tuple[Named, ...]:
        """The methods that hand a staging buffer out."""
        return self._named(lambda one: one.accessor, lambda one: one.handed)

    def buffers(self) -> tuple[Named, ...]:
        """The attributes that hold the staging buffers."""
        return self._named(lambda one: one.attribute, lambda one: one.filled)

    def _named(self, name: Callable[[Staged], str], shown: Callable[[Staged], Evidence | None]) -> tuple[Named, ...]:
        found: dict[str, list[Evidence]] = {}
        for one in self.found:
            if (where := shown(one)) is not None:
                found.setdefault(name(one), []).append(where)
        return tuple(Named(key, MEDIUM, tuple(dict.fromkeys(where))) for key, where in sorted(found.items()))


def _given(code: Code, values: Sequence[Value]) -> Iterator[str]:
    """The attributes of its object of which a method hands over the element for its parameter; not one that only says
    which element of another that is."""
    given = sorted(frozenset().union(*(sources(code.defined, value) for value in values)))
    items = [one for value in given if isinstance(one := code.defined.get(value), Item)]
    indices = frozenset().union(*(sources(code.defined, one.index) for one in items))
    for one in items:
        path = origin(code.defined, one.base)
        if len(path) == 1 and one.dst not in indices and _comes_from(code, one.index, Param):
            yield path[0]


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
