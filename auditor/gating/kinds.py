"""What the branches of a frame say of the class of an object: on each side of ``if isinstance(pool, X):``, which of the
objects that may be there are kept from it."""

from __future__ import annotations

from collections.abc import Mapping

from auditor.facts import Branch
from auditor.gating.symbols import Path, path_of
from auditor.gating.values import Held, Vacuous
from auditor.link import Frame, Instance, Linker, edge_condition, value_of_path


def kept_out(linker: Linker, frame: Frame) -> Mapping[tuple[int, int], Held]:
    """The edges on which an object is none of those that the test does not let through."""
    found: dict[tuple[int, int], Held] = {}
    code = frame.code
    for number, block in enumerate(code.facts.blocks):
        for target in (block.end.then, block.end.orelse) if isinstance(block.end, Branch) else ():
            condition = edge_condition(code.facts, code.defined, number, target)
            value = value_of_path(code.defined, condition.path) if condition is not None else None
            if condition is None or value is None:
                continue
            objects = (one for one in linker.graph.points_to(frame.node(value)) if isinstance(one, Instance))
            others = frozenset(one for one in objects if not linker.admits(frame, condition, one))
            if others:
                root = path_of(code.defined, condition.path[0])
                path = Path(root.root, (*root.names, *condition.path[1]))
                found[number, target] = frozenset({Vacuous(unless=(path, others))})
    return found
