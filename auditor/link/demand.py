"""The loop between the linker and who reads files for it: ask, read, link, until nothing is needed.

After each round the linker assumes what no assignment can tell it; when nothing more is read, that classes which nobody
builds exist all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from auditor.facts import Attr, Call, ModuleFacts, Value
from auditor.link.annotations import assume, assume_by_method, assume_unbuilt, assume_uncalled
from auditor.link.constraints import Node
from auditor.link.linker import Linker
from auditor.link.needs import NO_NEEDS, Needs, needs, unknown_parameters
from auditor.link.program import Code

Supply = Callable[[Needs], Iterable[ModuleFacts]]
"""Reads what is needed and was not read before; nothing when there is no more."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is asked about: names of methods that hand out storage, and of attributes that are storage."""

    is_accessor: Callable[[str], object]
    is_storage: Callable[[str], object]


def link_on_demand(linker: Linker, first: Iterable[ModuleFacts], supply: Supply, words: Words) -> None:
    """Link ``first`` and whatever the answers for accessor calls and reads of storage turn out to depend on."""
    asked, settled = NO_NEEDS, False
    modules = list(first)
    while modules:
        linker.add(modules)
        linker.graph.solve()
        assume(linker)
        wanted = needs(linker, receivers(linker, words))
        modules = list(supply(wanted - asked))
        asked |= wanted
        if not modules and not settled:
            settled = True
            assume_unbuilt(linker)
            assume_uncalled(linker, unknown_parameters(linker, receivers(linker, words)))
            assume_by_method(linker, _unpassed(linker, words))
            assume(linker)
            wanted = needs(linker, receivers(linker, words))
            modules = list(supply(wanted - asked))
            asked |= wanted


def receivers(linker: Linker, words: Words) -> list[Node]:
    """The receivers of all calls and reads that could be an accessor or the storage of a tracked class."""
    return [node for node, _ in _asked(linker, words)]


def _unpassed(linker: Linker, words: Words) -> list[tuple[Node, str]]:
    """Those of them that are a parameter: what nobody passes, not what comes from outside the tree."""
    params = {frame.node(index) for frame in linker.frames.values() for index in range(len(frame.code.facts.params))}
    return [(node, name) for node, name in _asked(linker, words) if node in params]


def _asked(linker: Linker, words: Words) -> list[tuple[Node, str]]:
    methods: set[str] = set()
    attributes: set[str] = set()
    for cls in linker.hierarchy.classes:
        if linker.tracked(cls):
            methods.update(linker.hierarchy.applicable(cls))
            attributes.update(linker.hierarchy.attributes(cls))
    called = {name for name in methods if words.is_accessor(name)}
    stored = {name for name in attributes - methods if words.is_storage(name)}
    bases: dict[Code, list[tuple[Value, str]]] = {}
    for frame in linker.frames.values():
        if frame.code not in bases:
            bases[frame.code] = list(_bases(frame.code, called, stored))
    return [(frame.node(base), name) for frame in linker.frames.values() for base, name in bases[frame.code]]


def _bases(code: Code, called: set[str], stored: set[str]) -> Iterator[tuple[Value, str]]:
    """The values that a name of ``called`` is called on, or a name of ``stored`` read from."""
    read: dict[Value, tuple[Value, str]] = {}
    for block in code.facts.blocks:
        for one in block.instructions:
            if isinstance(one, Attr):
                if one.name in called:
                    read[one.dst] = (one.base, one.name)
                elif one.name in stored:
                    yield one.base, one.name
            elif isinstance(one, Call) and one.func in read:
                yield read[one.func]
