"""Conditions on classes as filters of objects: what a branch, an annotation or a cast lets through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from auditor.facts import Value
from auditor.link.constraints import Accept
from auditor.link.delegation import GETTERS, bound_once
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
        own = code.is_method and condition.path == (0, ())
        return None if name is None else _having(program, name, holds=condition.holds, own=own)
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


def _having(program: Program, name: str, *, holds: bool, own: bool) -> Accept:
    """The objects that may have an attribute, or may be without it; ``own``: they are asked by themselves, and so maybe
    before they set it."""
    hierarchy = program.hierarchy
    program.asked.add(name)

    def has(one: Object) -> bool:
        if not isinstance(one, Instance) or hierarchy.has_external_base(one.cls):
            return True
        if not hierarchy.applicable(one.cls).keys().isdisjoint(GETTERS) or "" in hierarchy.attributes(one.cls):
            return True
        if holds:
            known = name in hierarchy.attributes(one.cls) or (one.cls, name) in program.written
            return known or name in program.marked
        return not hierarchy.always(one.cls, name, made=not own)

    return has


def _of_class(
    program: Program, code: Code, operands: tuple[tuple[str, str], ...], *, exact: bool, holds: bool
) -> Accept:
    hierarchy = program.hierarchy

    def matches(one: Object) -> bool:
        if not isinstance(one, Instance):
            return not holds or not isinstance(one, Container | Function | Bound)
        classes = [cls for kind, name in operands for cls in _classes(program, code, kind, name)]
        if "" in classes or "__class__" in hierarchy.applicable(one.cls):
            return True
        if exact:
            return (one.cls in classes) == holds
        below = any(_is_kind(program, one.cls, cls) for cls in classes)
        if not below and (hierarchy.has_external_base(one.cls) or any(hierarchy.asks(cls) for cls in classes)):
            return not holds or not all(cls in hierarchy.classes and not hierarchy.asks(cls) for cls in classes)
        if one.anonymous and holds:
            return below or any(hierarchy.is_subclass(cls, one.cls) for cls in classes)
        return below == holds

    return matches


def _is_kind(program: Program, cls: str, base: str) -> bool:
    """Whether a class derives from another, or is registered as one that does."""
    found = (base, *program.virtual.get(base, ()))
    return any(program.hierarchy.is_subclass(cls, one) for one in found)


def _classes(program: Program, code: Code, kind: str, name: str) -> tuple[str, ...]:
    """The classes that an operand names, through variables of a module as well; "" stands for what is not told."""
    scopes, hierarchy = program.scopes, program.hierarchy
    if kind == "class":
        return (f"{code.module}.{name}",)
    if kind == "name":
        module, head = code.module, name.partition(".")[0]
        owner = scopes.owner(module, code.facts.qualname, head)
        dotted = scopes.dotted(module, code.facts.qualname, name)
    else:
        module, _, head = name.rpartition(".")
        owner = "" if module in scopes.modules else None
        dotted = scopes.dotted(module, "", head) if owner is not None else name
        name = head
    meanings = scopes.modules[module].bound.get(owner, {}).get(head, ()) if owner is not None else ()
    if len(meanings) > 1 or None in meanings:
        return _bound(program, module, name) if not owner and len(meanings) == 1 and name == head else ("",)
    if dotted in hierarchy.classes:
        return (dotted,)
    module, _, member = dotted.rpartition(".")
    if module in scopes.modules and scopes.binds(module, "", member):
        return _bound(program, module, member)
    return ("",) if module in hierarchy.classes else (dotted,)  # an attribute of a class may be a variable


def _bound(program: Program, module: str, name: str) -> tuple[str, ...]:
    """The classes of a variable of a module that is bound once, to classes by name."""
    body = program.codes.get(module)
    value = None if body is None else bound_once(body.facts, name)
    if body is None or value is None or (operands := class_operand(body.defined, value)) is None:
        return ("",)
    return tuple(
        cls for kind, one in operands for cls in (_classes(program, body, kind, one) if one != name else ("",))
    )


def subclass_filter(program: Program, cls: str) -> Accept:
    """The objects that an annotation with ``cls`` admits; what is no instance of an in-tree class is not judged."""
    hierarchy = program.hierarchy

    def admits(one: Object) -> bool:
        if not isinstance(one, Instance) or cls not in hierarchy.classes or hierarchy.asks(cls):
            return True
        return _is_kind(program, one.cls, cls) or (one.anonymous and hierarchy.is_subclass(cls, one.cls))

    return admits
