"""Lower what stands left of an assignment: names, attributes, items, and the unpacking of nested targets."""

from __future__ import annotations

from typing import Any

import libcst as cst

from auditor.extract.annotations import type_expression
from auditor.extract.context import STATEMENTS, Lowering
from auditor.extract.lower_expressions import OPERATORS, index
from auditor.facts import NOTHING, Attr, Declare, Delete, FieldFacts, Item, Op, SetAttr, SetItem, Unpack, Value


def store(f: Lowering, target: Any, value: Value) -> None:
    """Store ``value`` into a target; the parts of the target are evaluated now, after the value."""
    kind = target.__class__
    if kind is cst.Name:
        f.store(target.value, value, f.offset(target))
    elif kind is cst.Attribute:
        base = f.value(target.value)
        f.flow.effect(SetAttr, f.offset(target.attr), base, target.attr.value, value)
    elif kind is cst.Subscript:
        base = f.value(target.value)
        f.flow.effect(SetItem, f.offset(target), base, index(f, target), value)
    elif kind is cst.StarredElement:
        store(f, target.value, value)
    else:
        _unpack(f, target, value)


def _unpack(f: Lowering, target: cst.Tuple | cst.List, value: Value) -> None:
    elements = target.elements
    starred = [number for number, element in enumerate(elements) if isinstance(element, cst.StarredElement)]
    star = starred[0] if starred else len(elements)
    parts = []
    for number, element in enumerate(elements):
        place = number if number < star else -1 if number == star else number - len(elements) - 1
        parts.append(f.flow.value(Unpack, f.offset(element.value), value, place))
    for element, part in zip(elements, parts, strict=True):
        store(f, element.value, part)


def assign(f: Lowering, node: cst.Assign) -> None:
    value = f.value(node.value)
    for target in node.targets:
        store(f, target.target, value)
        if f.host.kind == "class" and isinstance(target.target, cst.Name):
            field(f, target.target, None, has_default=True)


def annotated(f: Lowering, node: cst.AnnAssign) -> None:
    """``target: T = value``; without a value nothing is stored but the type is told."""
    offset = f.offset(node)
    target = node.target
    kind = type_expression(node.annotation.annotation)
    if f.host.kind == "class" and isinstance(target, cst.Name):
        field(f, target, node)
    source = NOTHING if node.value is None else f.value(node.value)
    declared = f.flow.value(Declare, offset, source, kind)
    if node.value is not None or isinstance(target, cst.Attribute):
        store(f, target, declared)
    elif isinstance(target, cst.Name):
        f.flow.names[declared] = target.value


def field(f: Lowering, target: cst.Name, node: cst.AnnAssign | None, *, has_default: bool = False) -> None:
    """Note a declaration of the class whose body this is."""
    annotation = None if node is None else type_expression(node.annotation.annotation)
    has_default = has_default or (node is not None and node.value is not None)
    offset = f.offset(target)
    f.fields[offset] = FieldFacts(target.value, annotation, has_default, f.file.at(offset))


def augmented(f: Lowering, node: cst.AugAssign) -> None:
    """``target op= value``: read the target, evaluate the value, write the target; its parts are evaluated once."""
    flow = f.flow
    target: Any = node.target
    operator = OPERATORS[node.operator.__class__]
    offset = f.offset(node)
    if isinstance(target, cst.Attribute):
        base = f.value(target.value)
        at = f.offset(target.attr)
        old = flow.value(Attr, at, base, target.attr.value)
        flow.effect(SetAttr, at, base, target.attr.value, flow.value(Op, offset, operator, (old, f.value(node.value))))
    elif isinstance(target, cst.Subscript):
        base = f.value(target.value)
        key = index(f, target)
        at = f.offset(target)
        old = flow.value(Item, at, base, key)
        flow.effect(SetItem, at, base, key, flow.value(Op, offset, operator, (old, f.value(node.value))))
    else:
        old = f.value(target)
        store(f, target, flow.value(Op, offset, operator, (old, f.value(node.value))))


def delete(f: Lowering, node: cst.Del) -> None:
    _delete(f, node.target)


def _delete(f: Lowering, target: Any) -> None:
    if isinstance(target, cst.Name):
        f.unbind(target.value)
    elif isinstance(target, cst.Attribute):
        base = f.value(target.value)
        f.flow.effect(Delete, f.offset(target.attr), base, target.attr.value)
    elif isinstance(target, cst.Subscript):
        base = f.value(target.value)
        index(f, target)
        f.flow.effect(Delete, f.offset(target), base, "")
    else:
        for element in target.elements:
            _delete(f, element.value)


STATEMENTS.update({cst.Assign: assign, cst.AnnAssign: annotated, cst.AugAssign: augmented, cst.Del: delete})
