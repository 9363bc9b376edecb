"""The loop between the linker and who reads files for it: ask, read, link, until nothing is needed.

After each round the linker assumes what no assignment can tell it; when nothing more is read, that classes which nobody
builds exist all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from auditor.facts import Attr, Build, Call, Import, Item, ModuleFacts, Name, Phi, Return, Unpack, Value
from auditor.link.annotations import assume, assume_by_method, assume_declared, assume_unbuilt, assume_uncalled
from auditor.link.constraints import Node
from auditor.link.linker import Linker
from auditor.link.narrowing import access_path
from auditor.link.needs import NO_NEEDS, Needs, callers_of, needs, tracked_objects, unknown_parameters
from auditor.link.objects import Instance
from auditor.link.program import Code, Frame
from auditor.link.tested import wanted_by_tests

Supply = Callable[[Needs], Iterable[ModuleFacts]]
"""Reads what is needed and was not read before; nothing when there is no more."""


def link_on_demand(
    linker: Linker,
    first: Iterable[ModuleFacts],
    supply: Supply,
    is_accessor: Callable[[str], object],
    is_storage: Callable[[str], object],
    others: Collection[str] = (),
    waits: Collection[str] = (),
) -> None:
    """Link ``first`` and whatever the answers for accessor calls turn out to depend on, who calls the methods that read
    storage, and the functions that storage is passed to. ``others``: methods of any class whose receivers are asked
    about as well; ``waits``: methods that wait.

    Receivers of reads of storage itself are too many to be followed to other files; they get what annotations say.
    Those of which that is nothing are followed where somebody waits for what is read.
    """
    asked, settled = NO_NEEDS, False
    consumers: list[tuple[Code, Value]] = []
    modules = list(first)
    while modules:
        linker.add(modules)
        linker.graph.solve()
        assume(linker)
        asked_about = receivers(linker, is_accessor) + method_receivers(linker, others)
        if settled:
            asked_about += awaited_receivers(linker, is_storage, waits)
        wanted = needs(linker, asked_about) | callers_of(readers(linker, is_storage) | asking(linker, is_accessor))
        wanted |= modules_of(linker, consumers)
        modules = list(supply(wanted - asked))
        asked |= wanted
        if not modules and not settled:
            wanted = wanted_by_tests(linker)
            modules = list(supply(wanted - asked))
            asked |= wanted
        if not modules and not settled:
            settled = True
            assume_unbuilt(linker)
            read = receivers(linker, is_accessor) + storage_receivers(linker, is_storage)
            assume_uncalled(linker, unknown_parameters(linker, read))
            assume_declared(linker, storage_receivers(linker, is_storage))
            assume_by_method(linker, unpassed_receivers(linker, is_accessor))
            assume(linker)
            consumers = list(passed_to(linker, lambda name: is_accessor(name) or is_storage(name)))
            asked_about = receivers(linker, is_accessor) + awaited_receivers(linker, is_storage, waits)
            wanted = needs(linker, asked_about) | modules_of(linker, consumers)
            modules = list(supply(wanted - asked))
            asked |= wanted
    linker.graph.settle()


def receivers(linker: Linker, is_accessor: Callable[[str], object]) -> list[Node]:
    """The receivers of all calls that could be an accessor of a tracked class, and whom they hand its name on to."""
    called = called_receivers(linker, is_accessor)
    return [node for node, _ in called] + list(_handed_to(linker, called))


def _handed_to(linker: Linker, called: Iterable[tuple[Node, str]]) -> Iterator[Node]:
    for node, name in called:
        for one in linker.graph.points_to(node):
            if isinstance(one, Instance):
                yield from linker.delegated(one, name).nodes


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


def asking(linker: Linker, is_accessor: Callable[[str], object]) -> frozenset[str]:
    """The names of functions that call an accessor on what is known to be a tracked object: what leads to them decides
    whether that happens. A name that is one common word is left out here as well."""
    sets, tracked = linker.graph.sets, tracked_objects(linker)
    return frozenset(
        frame.code.facts.name
        for frame, base, _ in _called(linker, is_accessor)
        if "_" in frame.code.facts.name.strip("_") and not tracked.isdisjoint(sets[frame.node(base)] or ())
    )


def passed_to(linker: Linker, gives_storage: Callable[[str], object]) -> Iterator[tuple[Code, Value]]:
    """The functions, known by a name, that storage is passed to as it was got."""
    for code in {frame.code: None for frame in linker.frames.values()}:
        for one in code.defined.values():
            if (
                isinstance(one, Call)
                and any(_is_part(linker, code, argument.value, gives_storage) for argument in one.arguments)
                and _named(linker, code, one.func)
            ):
                yield code, one.func


def _named(linker: Linker, code: Code, value: Value) -> str:
    """The qualified name of what a name means, or an attribute of a module or class; "" for all else."""
    match code.defined.get(value):
        case Import(module=module, name=name):
            return linker.scopes.member(module, name) if name else module
        case Name(name=name):
            around = (
                code.facts.scope.rpartition(".")[0] if code.is_method else code.facts.scope
            )  # a class hides no names
            return linker.scopes.dotted(code.module, around, name)
        case Attr(base=base, name=name):
            owner = _named(linker, code, base)
            return owner and linker.scopes.member(owner, name)
    return ""


def _is_part(
    linker: Linker, code: Code, value: Value, gives_storage: Callable[[str], object], deep: bool = True
) -> bool:
    """Whether a value is storage, an element of it or a view; on some path, or handed out by a method of its own."""
    seen: set[Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        match code.defined.get(value):
            case Attr(base=base, name=name):
                if gives_storage(name):
                    return True
                own = linker.codes.get(f"{code.owner}.{name}") if deep and base == 0 and code.is_method else None
                if own is not None and _hands_out(linker, own, gives_storage):
                    return True
                todo.append(base)
            case Call(func=source) | Item(base=source) | Unpack(source=source):
                todo.append(source)
            case Phi(choices=choices):
                todo.extend(choice for _, choice in choices)
    return False


def _hands_out(linker: Linker, code: Code, gives_storage: Callable[[str], object]) -> bool:
    """Whether a function returns storage, or several values of which one is."""
    for block in code.facts.blocks:
        if isinstance(block.end, Return):
            one = code.defined.get(block.end.value)
            values = one.elements if isinstance(one, Build) else (block.end.value,)
            if any(_is_part(linker, code, value, gives_storage, deep=False) for value in values):
                return True
    return False


def modules_of(linker: Linker, functions: Iterable[tuple[Code, Value]]) -> Needs:
    """The modules that define these functions, or pass their names on."""
    found = {linker.scopes.module_of(_named(linker, code, function)) for code, function in functions}
    return Needs(frozenset(found - {""}), frozenset(), frozenset(), frozenset())


def storage_receivers(linker: Linker, is_storage: Callable[[str], object]) -> list[Node]:
    """The receivers of all reads of an attribute that is named like storage."""
    return [
        frame.node(one.base)
        for frame in linker.frames.values()
        for one in frame.code.defined.values()
        if isinstance(one, Attr) and is_storage(one.name)
    ]


def awaited_receivers(linker: Linker, is_storage: Callable[[str], object], waits: Collection[str]) -> list[Node]:
    """The receivers that nothing is known of where storage is read by who waits, or by a function that it calls."""
    if not waits:
        return []
    waiting = [frame.code for frame in linker.frames.values() if any(name in waits for _, name in frame.code.called)]
    near = {code.facts.name for code in waiting}
    for code in waiting:
        calls = (code.defined.get(one.func) for one in code.defined.values() if isinstance(one, Call))
        near.update(one.name for one in calls if isinstance(one, (Name, Import, Attr)) and one.name)
    return [
        node
        for frame in linker.frames.values()
        if frame.code.facts.name in near
        for one in frame.code.defined.values()
        if isinstance(one, Attr) and is_storage(one.name) and not linker.graph.sets[node := frame.node(one.base)]
    ]


def method_receivers(linker: Linker, names: Collection[str]) -> list[Node]:
    """The receivers of all calls of methods of these names."""
    return [frame.node(base) for frame in linker.frames.values() for base, name in frame.code.called if name in names]


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
