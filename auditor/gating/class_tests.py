"""Attributes that remember a class test: ``self.is_full = isinstance(self.backend, FullBackend)``."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import Call, FunctionFacts, Name, Param, Return, SetAttr
from auditor.gating.borrowed import is_replaced
from auditor.gating.symbols import path_of
from auditor.link import ClassObject, Instance, Linker


def class_test(
    linker: Linker, graph: CallGraph, cls: str, name: str
) -> tuple[tuple[str, ...], frozenset[Instance]] | None:
    """If attribute ``name`` of ``cls`` is only ever set to a class test of an attribute of the same object: the names
    that lead there, and the objects there that pass the test. A first value that its function replaces again counts for
    nothing."""
    found: set[tuple[tuple[str, ...], frozenset[Instance]] | None] = set()
    for key, block, index, one in _stores(linker, graph, cls, name):
        if not is_replaced(graph.code(key), block, index, one, (Return,)):
            found.add(_tested(linker, graph, key, one))
    return found.pop() if len(found) == 1 else None


def tested_names(linker: Linker) -> frozenset[str]:
    """The attributes that any code sets to a class test."""
    return frozenset(name for code in linker.codes.values() for name in _set_to_class_tests(code.facts))


def _set_to_class_tests(function: FunctionFacts) -> Iterator[str]:
    told = [one for block in function.blocks for one in block.instructions if type(one) in (Name, Call, SetAttr)]
    names = {one.dst for one in told if isinstance(one, Name) and one.name == "isinstance"}
    tests = {one.dst for one in told if isinstance(one, Call) and one.func in names} if names else set()
    return (one.name for one in told if isinstance(one, SetAttr) and one.value in tests)


def _stores(linker: Linker, graph: CallGraph, cls: str, name: str) -> Iterator[tuple[FrameKey, int, int, SetAttr]]:
    related = {cls, *linker.hierarchy.mro(cls)}
    for key, frame in graph.frames.items():
        if frame.code.owner in related or cls in linker.hierarchy.mro(frame.code.owner):
            for number, block in enumerate(frame.code.facts.blocks):
                for index, one in enumerate(block.instructions):
                    if isinstance(one, SetAttr) and one.name == name:
                        yield key, number, index, one


def _tested(
    linker: Linker, graph: CallGraph, key: FrameKey, store: SetAttr
) -> tuple[tuple[str, ...], frozenset[Instance]] | None:
    frame = graph.frames[key]
    code = frame.code
    test = code.defined.get(store.value)
    func = code.defined.get(test.func) if isinstance(test, Call) else None
    if not (
        isinstance(test, Call) and isinstance(func, Name) and func.name == "isinstance" and len(test.arguments) == 2
    ):
        return None
    tested, classes = (one.value for one in test.arguments)
    path = path_of(code.defined, tested)
    if not isinstance(code.defined.get(store.base), Param) or path.root != code.facts.params[0].name:
        return None
    wanted = {one.cls for one in linker.graph.points_to(frame.node(classes)) if isinstance(one, ClassObject)}
    holds = (one for one in linker.graph.points_to(frame.node(tested)) if isinstance(one, Instance))
    passed = frozenset(one for one in holds if wanted.intersection(linker.hierarchy.mro(one.cls)))
    return (path.names, passed) if wanted and path.names else None
