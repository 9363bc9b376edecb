"""Annotations, base classes and decorators as written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import libcst as cst

from auditor.extract import literals
from auditor.facts import TypeExpr

_UNKNOWN = TypeExpr("?", ())
MAX_QUOTED = 1_000


def annotation(node: cst.Annotation | None) -> TypeExpr | None:
    """Describe an annotation, None where there is none."""
    return None if node is None else type_expression(node.annotation)


def type_expression(node: cst.BaseExpression) -> TypeExpr:
    """Describe an expression that stands for a type."""
    if isinstance(node, cst.Name | cst.Attribute):
        return TypeExpr(dotted(node), ())
    if isinstance(node, cst.Subscript):
        return TypeExpr(dotted(node.value), tuple(_elements(node)))
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        return TypeExpr("|", tuple(_alternatives(node)))
    if isinstance(node, cst.List):
        return TypeExpr("[]", tuple(type_expression(element.value) for element in node.elements))
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        text = literals.plain_text(node)
        return _UNKNOWN if text is None else quoted(text)
    if isinstance(node, cst.Integer | cst.Float):
        return TypeExpr("=" + node.value, ())
    if isinstance(node, cst.Ellipsis):
        return TypeExpr("=...", ())
    return _UNKNOWN


@lru_cache(maxsize=4096)
def quoted(text: str) -> TypeExpr:
    """Describe a string annotation."""
    if len(text) > MAX_QUOTED or max(text.count("["), text.count("(")) > 50:
        return _UNKNOWN
    try:
        return type_expression(cst.parse_expression(text.strip()))
    except cst.CSTValidationError:
        return _UNKNOWN
    except cst.ParserSyntaxError:
        return _UNKNOWN


def _elements(node: cst.Subscript) -> Iterable[TypeExpr]:
    literal = dotted(node.value).rpartition(".")[2] == "Literal"
    for element in node.slice:
        if not isinstance(element.slice, cst.Index):
            yield _UNKNOWN
            continue
        value = element.slice.value
        text = literals.plain_text(value) if literal else None
        yield type_expression(value) if text is None else TypeExpr("=" + repr(text), ())


def _alternatives(node: cst.BaseExpression) -> list[TypeExpr]:
    found: list[TypeExpr] = []
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        found.append(type_expression(node.right))
        node = node.left
    return [type_expression(node), *reversed(found)]


def dotted(node: cst.CSTNode) -> str:
    """Give the dotted name of an expression: of a call its callee's, of a subscript its base's, else ``?``."""
    parts: list[str] = []
    while True:
        if isinstance(node, cst.Attribute):
            parts.append(node.attr.value)
            node = node.value
        elif isinstance(node, cst.Call):
            node = node.func
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            break
    if not isinstance(node, cst.Name):
        return "?"
    parts.append(node.value)
    return ".".join(reversed(parts))
