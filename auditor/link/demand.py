"""The loop between the linker and who reads files for it: ask, read, link, until nothing is needed.

After each round the linker assumes what no assignment can tell it; when nothing more is read, that classes which nobody
builds exist all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from auditor.facts import Attr, ModuleFacts, Value
from auditor.link.annotations import assume, assume_by_method, assume_unbuilt, assume_uncalled
from auditor.link.constraints import Node
from auditor.link.linker import Linker
from auditor.link.narrowing import access_path
from auditor.link.needs import NO_NEEDS, Needs, callers_of, needs, unknown_parameters
from auditor.link.program import Frame
from auditor.link.tested import tested

Supply = Callable[[Needs], Iterable[ModuleFacts]]
"""Reads what is needed and was not read before; nothing when there is no more."""


def link_on_demand(
    linker: Linker,
    first: Iterable[ModuleFacts],
    supply: Supply,
    is_accessor: Callable[[str], object],
    is_storage: Callable[[str], object],
) -> None:
    """Link ``first`` and whatever the answers for accessor calls turn out to depend on, and who calls the methods that
    read storage.

    Receivers of reads of storage itself are too many to be followed to other files; they get what annotations say.
    """
    asked, settled = NO_NEEDS, False
    modules = list(first)
    while modules:
        linker.add(modules)
        linker.graph.solve()
        assume(linker)
        wanted = needs(linker, receivers(linker, is_accessor)) | callers_of(readers(linker, is_storage))
        modules = list(supply(wanted - asked))
        asked |= wanted
        if not modules and not settled:
            wanted = tested(linker, is_accessor)
            modules = list(supply(wanted - asked))
            asked |= wanted
        if not modules and not settled:
            settled = True
            assume_unbuilt(linker)
            read = receivers(linker, is_accessor) + storage_receivers(linker, is_storage)
            assume_uncalled(linker, unknown_parameters(linker, read))
            assume_by_method(linker, unpassed_receivers(linker, is_accessor))
            assume(linker)
            wanted = needs(linker, receivers(linker, is_accessor))
            modules = list(supply(wanted - asked))
            asked |= wanted


def receivers(linker: Linker, is_accessor: Callable[[str], object]) -> list[Node]:
    """The receivers of all calls that could be an accessor of a tracked class."""
    return [node for node, _ in called_receivers(linker, is_accessor)]


def readers(linker: Linker, is_storage: Callable[[str], object]) -> frozenset[str]:
    """The names of methods of tracked objects, and of what they build, that read storage or call one that does. A name
    that is one common word is left out: who calls it cannot be told by name."""
    called: dict[str, set[str]] = {}
    found: set[str] = set()
    for code in {frame.code for frame in linker.frames.values() if frame.context is not None}:
        name = code.facts.name
        read = {one.name for one in code.defined.values() if isinstance(one, Attr)}
        if "_" in name.strip("_"):
            called.setdefault(name, set()).update(read)
            if any(map(is_storage, read)):
                found.add(name)
    todo = list(found)
    while todo:
        name = todo.pop()
        new = [caller for caller, names in called.items() if caller not in found and name in names]
        found.update(new)
        todo.extend(new)
    return frozenset(found)


def storage_receivers(linker: Linker, is_storage: Callable[[str], object]) -> list[Node]:
    """The receivers of all reads of an attribute that is named like storage."""
    return [
        frame.node(one.base)
        for frame in linker.frames.values()
        for one in frame.code.defined.values()
        if isinstance(one, Attr) and is_storage(one.name)
    ]


def unpassed_receivers(linker: Linker, is_accessor: Callable[[str], object]) -> list[tuple[Node, str]]:
    """Those of them that are a parameter, or read off one: what nobody passes, not what comes from outside the tree."""
    found: list[tuple[Node, str]] = []
    for frame, base, name in _called(linker, is_accessor):
        root, _ = access_path(frame.code.defined, base)
        if root < len(frame.code.facts.params) and not linker.graph.sets[frame.node(root)]:
            found.append((frame.node(base), name))
    return found


def called_receivers(linker: Linker, is_accessor: Callable[[str], object]) -> list[tuple[Node, str]]:
    """The same with the name that is called on each."""
    return [(frame.node(base), name) for frame, base, name in _called(linker, is_accessor)]


def _called(linker: Linker, is_accessor: Callable[[str], object]) -> Iterator[tuple[Frame, Value, str]]:
    names: set[str] = set()
    for cls in linker.hierarchy.classes:
        if linker.tracked(cls):
            names.update(linker.hierarchy.applicable(cls))
    names = {name for name in names if is_accessor(name)}
    for frame in linker.frames.values():
        for base, name in frame.code.called:
            if name in names:
                yield frame, base, name
