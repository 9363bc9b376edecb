"""Readers that are passed the storage of their layer: methods that call a function which only waits, and hand one of
their parameters to a function beside it. Their classes are the pools, that parameter is the storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from auditor.facts import Call, Param
from auditor.learning.hints import Wanted, defining, mentioning
from auditor.learning.hooks import PLAIN, Plugins
from auditor.learning.program import SELF, Program, at, calls, label, short
from auditor.learning.values import MEDIUM, Evidence, Named
from auditor.link import Code
from auditor.loading import called, sources


class Reader(NamedTuple):
    """A method that waits by ``waiter``, then gives ``parameter`` to the function ``handover`` of the same file."""

    code: Code
    waiter: Code
    handover: str
    parameter: str
    line: int


class Readers:
    """The readers of a program."""

    def __init__(self, program: Program, plugins: Plugins) -> None:
        self._program = program
        self._waiters = {code.facts.name: code for code in plugins.waiters()}
        self.found = tuple(
            reader for named in program.methods.values() for code in named for reader in self._readers(code)
        )

    def wanted(self) -> Iterator[Wanted]:
        """The files that call what waits."""
        if self._waiters:
            yield mentioning(sorted(self._waiters))
        if above := sorted({short(one) for reader in self.found for one in self._program.unread(reader.code.owner)}):
            yield defining("class", above)

    def _readers(self, code: Code) -> Iterator[Reader]:
        waiter: Code | None = None
        for one in calls(code):
            name = called(code.defined, one)
            if waiter is None:
                waiter = self._waiters.get(name)
            elif f"{waiter.module}.{name}" in self._program.codes:
                for parameter in _given(code, one):
                    yield Reader(code, waiter, name, parameter, one.at.line)

    # ------------------------------------------------------------ what is told

    def parameters(self) -> tuple[Named, ...]:
        """The parameters by which storage is passed."""
        found: dict[str, list[Evidence]] = {}
        for reader in self.found:
            given = f"gives {reader.parameter} to {reader.handover}"
            what = f"{label(reader.code)} {given} after {reader.waiter.facts.name}"
            found.setdefault(reader.parameter, []).append(at(reader.code, reader.line, what))
        return tuple(Named(name, MEDIUM, tuple(shown)) for name, shown in sorted(found.items()))

    def pools(self) -> tuple[Named, ...]:
        """The classes that readers derive from, be they of the tree or not."""
        found: dict[str, list[Evidence]] = {}
        for reader in self.found:
            what = f"{label(reader.code)} waits by {reader.waiter.facts.name}"
            found.setdefault(short(self._root(reader.code.owner)), []).append(at(reader.code, reader.line, what))
        return tuple(Named(name, MEDIUM, tuple(shown)) for name, shown in sorted(found.items()))

    def _root(self, cls: str) -> str:
        order = [one for one in self._program.hierarchy.mro(cls) if one not in PLAIN]
        return next((one for one in order if one not in self._program.hierarchy.classes), order[-1])

    def telling(self) -> list[tuple[str, ...]]:
        """Names that stand together where the wait is."""
        return sorted({(reader.waiter.facts.name, reader.handover) for reader in self.found})


def _given(code: Code, one: Call) -> Iterator[str]:
    """The parameters that a call is given, as they are or as a list; not the name of the layer, which comes first."""
    for argument in one.arguments[1:]:
        for value in sorted(sources(code.defined, argument.value)):
            given = code.defined.get(value)
            if isinstance(given, Param) and value != SELF:
                yield given.name
