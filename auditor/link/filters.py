"""Conditions on classes as filters of objects: what a branch, an annotation or a cast lets through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from auditor.facts import Value
from auditor.link.constraints import Accept
from auditor.link.narrowing import Condition, access_path, attribute_operand, class_operand
from auditor.link.objects import Bound, Container, Function, Instance, Object
from auditor.link.program import Code, Program


def filter_of(
    program: Program, code: Code, defined: Mapping[Value, object], value: Value, held: Iterable[Condition]
) -> Accept | None:
    """What ``value`` can be where ``held`` holds; None where that says nothing of it."""
    relevant = list(held)
    if not relevant:
        return None
    path = access_path(defined, value)
    accepts = [
        accept
        for one in relevant
        if one.path == path and (accept := condition_filter(program, code, defined, one)) is not None
    ]
    if not accepts:
        return None
    return accepts[0] if len(accepts) == 1 else lambda one: all(accept(one) for accept in accepts)


def condition_filter(
    program: Program, code: Code, defined: Mapping[Value, object], condition: Condition
) -> Accept | None:
    """The objects for which ``condition`` can hold."""
    if condition.kind == "any":
        return _any_of([_all_of(program, code, defined, way) for way in condition.ways])
    if condition.kind == "hasattr":
        name = attribute_operand(defined, condition.operand)
        return None if name is None else _having(program, name, holds=condition.holds)
    operands = class_operand(defined, condition.operand)
    if operands is None:
        return None
    return _of_class(program, code, operands, exact=condition.kind == "type", holds=condition.holds)


def _all_of(
    program: Program, code: Code, defined: Mapping[Value, object], conditions: Iterable[Condition]
) -> list[Accept]:
    accepts = (condition_filter(program, code, defined, one) for one in conditions)
    return [accept for accept in accepts if accept is not None]


def _any_of(ways: list[list[Accept]]) -> Accept | None:
    if not all(ways):
        return None  # one way in says nothing
    return lambda one: any(all(accept(one) for accept in way) for way in ways)


def _having(program: Program, name: str, *, holds: bool) -> Accept:
    hierarchy = program.hierarchy

    def has(one: Object) -> bool:
        if not isinstance(one, Instance) or hierarchy.has_external_base(one.cls):
            return True
        return (name in hierarchy.attributes(one.cls)) == holds

    return has


def _of_class(
    program: Program, code: Code, operands: tuple[tuple[str, str], ...], *, exact: bool, holds: bool
) -> Accept:
    hierarchy = program.hierarchy

    def matches(one: Object) -> bool:
        if not isinstance(one, Instance):
            return not holds or not isinstance(one, Container | Function | Bound)
        classes = [_class_name(program, code, kind, name) for kind, name in operands]
        if exact:
            return (one.cls in classes) == holds
        below = any(hierarchy.is_subclass(one.cls, cls) for cls in classes)
        if not below and hierarchy.has_external_base(one.cls):
            return not holds or not all(cls in hierarchy.classes for cls in classes)
        if one.anonymous and holds:
            return below or any(hierarchy.is_subclass(cls, one.cls) for cls in classes)
        return below == holds

    return matches


def _class_name(program: Program, code: Code, kind: str, name: str) -> str:
    if kind == "name":
        return program.scopes.dotted(code.module, code.facts.qualname, name)
    owner, _, member = name.rpartition(".")
    return program.scopes.dotted(owner, "", member) if owner in program.scopes.modules else name


def subclass_filter(program: Program, cls: str) -> Accept:
    """The objects that an annotation with ``cls`` admits; what is no instance of an in-tree class is not judged."""
    hierarchy = program.hierarchy

    def admits(one: Object) -> bool:
        if not isinstance(one, Instance) or cls not in hierarchy.classes:
            return True
        return hierarchy.is_subclass(one.cls, cls) or (one.anonymous and hierarchy.is_subclass(cls, one.cls))

    return admits
