"""What is assumed where no assignment tells.

``self`` of a method that nobody constructs an object for is some instance of its class; an annotated parameter that
nobody passes is some instance of its annotation; a tracked class that nobody builds has an object all the same. A cast
that would let nothing through contradicts the flow, and the flow is right.
"""

from __future__ import annotations

from auditor.facts import TypeExpr
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
        if program.graph.sets[source] and not program.graph.sets[target]:
            program.graph.edge(source, target)
    program.graph.solve()


def assume_uncalled(program: Program) -> None:
    """Give an annotated parameter of a function that nobody calls the objects of its tracked class: it is an entry point.
    Who is called gets what callers pass, and an annotation adds nothing to that."""
    called = {callee for callees in program.calls.values() for callee, _ in callees}
    for frame in list(program.frames.values()):
        code = frame.code
        for position, param in enumerate(code.facts.params if code.name not in called else ()):
            if param.annotation is None or (position == 0 and code.owner) or program.graph.sets[frame.node(position)]:
                continue
            cls = annotated_class(program.scopes, code.module, code.facts.scope, param.annotation)
            if cls is not None and program.tracked(cls):
                program.assume(cls, frame.node(position))
    program.graph.solve()


def assume_unbuilt(program: Program) -> None:
    """Give a tracked class without subclasses that nobody builds an object: what it does is shown all the same."""
    hierarchy = program.hierarchy
    for cls in sorted(hierarchy.classes):
        if program.tracked(cls) and not program.instances.get(cls) and len(hierarchy.subclasses(cls)) == 1:
            program.register(program.some(cls))
    program.graph.solve()
