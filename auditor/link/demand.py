"""The loop between the linker and who reads files for it: ask, read, link, until nothing is needed.

After each round the linker assumes what no assignment can tell it: ``self`` of a method that nobody constructs an object for
is some instance of its class, an annotated parameter that nobody passes is some instance of its annotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from auditor.facts import Attr, Call, ModuleFacts
from auditor.link.constraints import Node
from auditor.link.linker import Linker, annotated_class
from auditor.link.needs import NO_NEEDS, Needs, needs

Supply = Callable[[Needs], Iterable[ModuleFacts]]
"""Reads what is needed and was not read before; nothing when there is no more."""


def link_on_demand(linker: Linker, first: Iterable[ModuleFacts], supply: Supply, is_accessor: Callable[[str], object]) -> None:
    """Link ``first`` and whatever the answers for accessor calls turn out to depend on."""
    asked = NO_NEEDS
    modules = list(first)
    while modules:
        linker.add(modules)
        linker.graph.solve()
        assume(linker)
        wanted = needs(linker, receivers(linker, is_accessor))
        modules = list(supply(wanted - asked))
        asked |= wanted


def receivers(linker: Linker, is_accessor: Callable[[str], object]) -> list[Node]:
    """The receivers of all calls that could be an accessor of a tracked class."""
    names: set[str] = set()
    for cls in linker.hierarchy.classes:
        if linker.tracked(cls):
            names.update(linker.hierarchy.applicable(cls, linker.functions))
    found: list[Node] = []
    for frame in linker.frames.values():
        for one in frame.code.defined.values():
            func = frame.code.defined.get(one.func) if type(one) is Call else None
            if type(func) is Attr and func.name in names and is_accessor(func.name):
                found.append(frame.node(func.base))
    return found


def assume(linker: Linker) -> None:
    """Give receivers and annotated parameters that nothing flows into an object of their class."""
    for frame in list(linker.frames.values()):
        code = frame.code
        static = any(one.rpartition(".")[2] == "staticmethod" for one in code.facts.decorators)
        if code.owner and code.facts.kind == "function" and code.facts.params and not static:
            if not linker.graph.sets[frame.node(0)] and not linker.tracked(code.owner):
                linker.assume(code.owner, frame.node(0))
    linker.graph.solve()
    for frame in list(linker.frames.values()):
        code = frame.code
        for position, param in enumerate(code.facts.params):
            if param.annotation is None or (position == 0 and code.owner) or linker.graph.sets[frame.node(position)]:
                continue
            cls = annotated_class(linker.scopes, code.module, code.facts.scope, param.annotation)
            if cls is not None:
                linker.assume(cls, frame.node(position))
    linker.graph.solve()
