"""What the linker would have to read next: demand that grows with what is asked, never with the tree.

Starting from the receivers somebody asked about, go back over what they are made of. Where knowledge ends at a name,
that name is needed: the files that mention it may hold the missing assignment, caller or class. Names that are known to
carry tracked objects are needed as well, since another file may put another class there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.facts import Attr, Call, Import, Item, Iterate, Param, Unpack
from auditor.link.annotations import annotated_class
from auditor.link.constraints import Node
from auditor.link.derivation import Reverse
from auditor.link.linker import Linker
from auditor.link.objects import Instance
from auditor.link.program import Frame


@dataclass(frozen=True, slots=True)
class Needs:
    """``modules`` to read whole; files that store to one of ``attributes``, call one of ``functions``, or use one of
    ``classes`` as a value."""

    modules: frozenset[str]
    attributes: frozenset[str]
    functions: frozenset[str]
    classes: frozenset[str]

    def identifiers(self) -> frozenset[str]:
        return self.attributes | self.functions | self.classes

    def __sub__(self, other: Needs) -> Needs:
        return Needs(
            self.modules - other.modules,
            self.attributes - other.attributes,
            self.functions - other.functions,
            self.classes - other.classes,
        )

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            self.modules | other.modules,
            self.attributes | other.attributes,
            self.functions | other.functions,
            self.classes | other.classes,
        )


NO_NEEDS = Needs(frozenset(), frozenset(), frozenset(), frozenset())


def callers_of(functions: frozenset[str]) -> Needs:
    """Whoever calls a function by one of these names."""
    return Needs(frozenset(), frozenset(), functions, frozenset())


def needs(linker: Linker, asked: Iterable[Node]) -> Needs:
    """The names that the answers for ``asked`` still depend on."""
    search = _Search(linker)
    search.go(asked)
    return search.found() | _carriers(linker, search.tracked)


def unknown_parameters(linker: Linker, asked: Iterable[Node]) -> frozenset[Node]:
    """The parameters that receivers nobody knows come from: where an annotation is all there is."""
    search = _Search(linker)
    search.go((node for node in asked if not linker.graph.sets[node]), through_known=False)
    return frozenset(search.parameters)


class _Search:
    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self.reverse = Reverse(linker)
        self.tracked = tracked_objects(linker)
        self.modules: set[str] = set()
        self.attributes: set[str] = set()
        self.functions: set[str] = set()
        self.classes: set[str] = set()
        self.parameters: set[Node] = set()

    def found(self) -> Needs:
        return Needs(
            frozenset(self.modules | _unread_bases(self.linker, self.tracked)),
            frozenset(self.attributes),
            frozenset(self.functions),
            frozenset(self.classes),
        )

    def go(self, asked: Iterable[Node], *, through_known: bool = True) -> None:
        """Go back from ``asked``; through nodes that hold a tracked object too, or through empty ones alone."""
        seen: set[Node] = set()
        todo = list(asked)
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            empty = not self.linker.graph.sets[node]
            if empty or (through_known and not self.tracked.isdisjoint(self.linker.graph.sets[node] or ())):
                todo.extend(source for source, _ in self.reverse.sources(node))
            if empty:
                todo.extend(self._behind(node))

    def _behind(self, node: Node) -> Iterable[Node]:
        located = self.reverse.locate(node)
        if located is None:
            return ()
        frame, value = located
        one = frame.code.defined.get(value)
        match one:
            case Attr(base=base, name=name):
                self.attributes.add(name)
                return (frame.node(base),)
            case Call(func=func):
                return (frame.node(func),)
            case Param():
                self.parameters.add(node)
                self._callers(frame, value)
            case Import(module=module) if self.linker.scopes.in_tree(module):
                self.modules.add(module)
            case Item(base=source) | Iterate(iterable=source) | Unpack(source=source):
                return (frame.node(source),)
        return ()

    def _callers(self, frame: Frame, position: int) -> None:
        """Who gives a parameter its value; an annotation with an ordinary class of the tree answers instead."""
        code = frame.code
        if position == 0 and code.owner:
            return
        cls = annotated_class(self.linker.scopes, code.module, code.facts.scope, code.facts.params[position].annotation)
        if cls is not None and "." in cls and not self.linker.tracked(cls):
            module = cls.rpartition(".")[0]
            if self.linker.scopes.in_tree(module):
                self.modules.add(module)
                return
        name = code.facts.name
        if name == "__init__":
            self.classes.add(code.owner.rpartition(".")[2])
        else:
            self.functions.add(name)


def _carriers(linker: Linker, tracked: frozenset[int]) -> Needs:
    """Names of fields, variables and functions that hold a tracked object, and of the tracked classes; of a merged
    program none, for no file can put another object there."""
    if linker.merged:
        return NO_NEEDS
    sets = linker.graph.sets
    fields = {
        name
        for (_, name), node in linker.fields.items()
        if not name.startswith("[") and not tracked.isdisjoint(sets[node] or ())
    }
    variables = {
        name
        for (module, scope, name), node in linker.variables.items()
        if _is_seen_outside(linker, module, scope) and not tracked.isdisjoint(sets[node] or ())
    }
    classes = {info.facts.name for name, info in linker.hierarchy.classes.items() if linker.tracked(name)}
    return Needs(frozenset(), frozenset(fields | variables), frozenset(), frozenset(classes))


def _is_seen_outside(linker: Linker, module: str, scope: str) -> bool:
    """Whether another file can put something into a variable of this scope: it is that of the module or of a class."""
    return not scope or f"{module}.{scope}" in linker.hierarchy.classes


def tracked_objects(linker: Linker) -> frozenset[int]:
    """The numbers of the tracked objects."""
    known = {cls for cls in linker.hierarchy.classes if linker.tracked(cls)}
    objects = enumerate(linker.graph.objects)
    return frozenset(number for number, one in objects if isinstance(one, Instance) and one.cls in known)


def _unread_bases(linker: Linker, tracked: frozenset[int]) -> set[str]:
    """The modules that the bases of some classes come from, where they were not read: of those whose methods handle a
    tracked object, and of all that bear the name of a class that was read, since such a module only passes it on."""
    classes = linker.hierarchy.classes
    known = {name.rpartition(".")[2] for name in classes}
    handling = _handling(linker, tracked)
    modules = {
        linker.scopes.module_of(base.rpartition(".")[0])
        for name, info in classes.items()
        for base in info.bases
        if base not in classes and (name in handling or base.rpartition(".")[2] in known)
    }
    return modules - {""} - linker.scopes.modules.keys()


def _handling(linker: Linker, tracked: frozenset[int]) -> set[str]:
    """The classes whose methods hold a tracked object, in a value or an attribute, and their bases."""
    sets = linker.graph.sets
    found = {name for name in linker.hierarchy.classes if linker.tracked(name)}
    for frame in linker.frames.values():
        code = frame.code
        if (
            code.owner
            and code.owner not in found
            and any(not tracked.isdisjoint(sets[frame.node(value)] or ()) for value in code.defined)
        ):
            found.add(code.owner)
    return {base for name in found for base in linker.hierarchy.mro(name)}
