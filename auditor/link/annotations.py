"""What is assumed where no assignment tells.

``self`` of a method that nobody constructs an object for is some instance of its class; an annotated parameter that
nobody passes is some instance of its annotation; a tracked class that nobody builds has an object all the same. A cast
that would let nothing through contradicts the flow, and the flow is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from auditor.facts import Declare, ParamFacts, TypeExpr
from auditor.link.constraints import Node
from auditor.link.objects import ClassObject, Instance
from auditor.link.program import Program
from auditor.link.scopes import Scopes


def annotated_class(scopes: Scopes, module: str, scope: str, annotation: TypeExpr | None) -> str | None:
    """The class that an annotation names, without ``Optional``, ``Union`` with None, quotes."""
    if annotation is None:
        return None
    if annotation.name.rpartition(".")[2] in ("Optional", "Union", "|", "Annotated", "Final", "ClassVar"):
        inner = [one for one in annotation.args if one.name != "None"]
        return (
            annotated_class(scopes, module, scope, inner[0])
            if len(inner) == 1 or annotation.name.endswith("Annotated")
            else None
        )
    return scopes.dotted(module, scope, annotation.name)


def assume(program: Program) -> None:
    """Give receivers and annotated parameters that nothing flows into an object of their class."""
    for frame in list(program.frames.values()):
        code = frame.code
        if code.is_method and not program.graph.sets[frame.node(0)] and not program.tracked(code.owner):
            program.assume(code.owner, frame.node(0))
    program.graph.solve()
    for frame in list(program.frames.values()):
        code = frame.code
        for position, param in enumerate(code.facts.params):
            if param.annotation is None or (position == 0 and code.owner) or program.graph.sets[frame.node(position)]:
                continue
            cls = annotated_class(program.scopes, code.module, code.facts.scope, param.annotation)
            if cls is not None and not program.tracked(cls):
                program.assume(cls, frame.node(position))
    for source, target in program.casts:
        if _holds_instance(program, source) and not _holds_instance(program, target):
            program.graph.edge(source, target)
    program.graph.solve()


def _holds_instance(program: Program, node: Node) -> bool:
    return any(isinstance(program.graph.objects[number], Instance) for number in program.graph.sets[node] or ())


def assume_uncalled(program: Program, wanted: frozenset[Node]) -> None:
    """Give an annotated parameter of an entry point the objects of its tracked class.

    Only for ``wanted``, the parameters that unknown receivers come from: an assumed object must not flow into what is
    known. Who is called gets what callers pass, and an annotation adds nothing to that.
    """
    called = {callee for callees in program.calls.values() for callee, _ in callees}
    _assume_tracked(program, wanted, lambda name, param: name not in called)
    _assume_tracked(program, wanted, lambda name, param: not param.has_default)  # called with what nobody knows


def _assume_tracked(program: Program, wanted: frozenset[Node], applies: Callable[[str, ParamFacts], bool]) -> None:
    for frame in list(program.frames.values()):
        code = frame.code
        for position, param in enumerate(code.facts.params):
            if frame.node(position) not in wanted or param.annotation is None or (position == 0 and code.owner):
                continue
            if program.graph.sets[frame.node(position)]:
                continue
            cls = annotated_class(program.scopes, code.module, code.facts.scope, param.annotation)
            if cls is not None and program.tracked(cls) and applies(code.name, param):
                program.assume(cls, frame.node(position))
    program.graph.solve()


def assume_declared(program: Program, asked: Iterable[Node]) -> None:
    """A receiver that nobody knows, of a variable declared with tracked classes, is some object of them."""
    empty = {node for node in asked if not program.graph.sets[node]}
    for frame in list(program.frames.values()):
        code = frame.code
        for value, one in code.defined.items():
            if isinstance(one, Declare) and frame.node(value) in empty:
                for annotation in _members(one.type):
                    cls = annotated_class(program.scopes, code.module, code.facts.scope, annotation)
                    if cls is not None and program.tracked(cls):
                        program.assume(cls, frame.node(value))
    program.graph.solve()


def _members(annotation: TypeExpr) -> Iterable[TypeExpr]:
    """The parts of a union, else the annotation itself."""
    return annotation.args if annotation.name.rpartition(".")[2] in ("Union", "|") else (annotation,)


def assume_by_method(program: Program, asked: Iterable[tuple[Node, str]]) -> None:
    """A receiver that nobody knows, of a method that one place of the tree defines for tracked classes, is an object
    that has it: any other would raise AttributeError."""
    owners: dict[str, dict[str, list[Instance]]] = {}
    for cls, made in sorted(program.instances.items()):
        if program.tracked(cls):
            for name, methods in program.hierarchy.applicable(cls).items():
                owners.setdefault(name, {}).setdefault(methods[0], []).extend(made)
    for node, name in asked:
        definitions = owners.get(name, {})
        if not program.graph.sets[node] and len(definitions) == 1:
            for one in next(iter(definitions.values())):
                program.graph.add(node, one)
    program.graph.solve()


def assume_unbuilt(program: Program) -> None:
    """Give a tracked class that nobody builds an object, if it has no subclasses or a function hands it out as a class:
    what it does is shown all the same."""
    hierarchy = program.hierarchy
    handed_out = {
        one.cls
        for frame in program.frames.values()
        for one in program.graph.points_to(frame.result)
        if isinstance(one, ClassObject)
    }
    for cls in sorted(hierarchy.classes):
        shown = cls in handed_out or len(hierarchy.subclasses(cls)) == 1
        if shown and program.tracked(cls) and not program.instances.get(cls):
            program.register(program.some(cls))
    program.graph.solve()
