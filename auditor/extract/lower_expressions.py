"""Lower expressions, in Python's order of evaluation."""

from __future__ import annotations

from typing import Any

import libcst as cst

from auditor.extract import literals
from auditor.extract.context import EXPRESSIONS, Lowering
from auditor.extract.ssa import Draft
from auditor.facts import NOTHING, Attr, Await, Build, Call, Const, Item, Op, Value, Yield

_BOTH = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "MatrixMultiply": "@", "LeftShift": "<<", "RightShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}  # fmt: skip
OPERATORS: dict[type, str] = {
    **{getattr(cst, name): operator for name, operator in _BOTH.items()},
    **{getattr(cst, name + "Assign"): operator for name, operator in _BOTH.items()},
    cst.Equal: "==", cst.NotEqual: "!=", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.Is: "is", cst.IsNot: "is not", cst.In: "in", cst.NotIn: "not in",
    cst.Not: "not", cst.Minus: "neg", cst.Plus: "pos", cst.BitInvert: "~",
}  # fmt: skip
_SINGLETONS = {"None": None, "True": True, "False": False}


def name(f: Lowering, node: cst.Name) -> Value:
    text = node.value
    if text in _SINGLETONS:
        return f.flow.value(Const, f.offset(node), _SINGLETONS[text])
    return f.load(text, f.offset(node))


def attribute(f: Lowering, node: cst.Attribute) -> Value:
    base = f.value(node.value)
    return f.flow.value(Attr, f.offset(node.attr), base, node.attr.value)


def call(f: Lowering, node: cst.Call) -> Value:
    func = f.value(node.func)
    arguments = []
    for arg in node.args:
        value = f.value(arg.value)
        if arg.keyword is not None:
            arguments.append(("key", arg.keyword.value, value))
        else:
            arguments.append((arg.star or "pos", "", value))
    return f.flow.value(Call, f.file.where[-id(node)], func, tuple(arguments))


def subscript(f: Lowering, node: cst.Subscript) -> Value:
    base = f.value(node.value)
    return f.flow.value(Item, f.offset(node), base, index(f, node))


def index(f: Lowering, node: cst.Subscript) -> Value:
    """Lower what stands in the brackets."""
    elements = node.slice
    offset = f.offset(node)
    if len(elements) == 1 and not _is_open(elements[0]):
        return _element(f, elements[0].slice, offset)
    return f.flow.value(Build, offset, "tuple", tuple([_element(f, element.slice, offset) for element in elements]))


def _is_open(element: cst.SubscriptElement) -> bool:
    starred = isinstance(element.slice, cst.Index) and element.slice.star is not None
    return starred or isinstance(element.comma, cst.Comma)


def _element(f: Lowering, node: cst.BaseSlice, offset: int) -> Value:
    if isinstance(node, cst.Slice):
        parts = [NOTHING if part is None else f.value(part) for part in (node.lower, node.upper, node.step)]
        return f.flow.value(Build, offset, "slice", tuple(parts))
    assert isinstance(node, cst.Index)
    value = f.value(node.value)
    return value if node.star is None else f.flow.value(Op, offset, "*", (value,))


# ---------------------------------------------------------------- operators


def binary(f: Lowering, node: cst.BinaryOperation) -> Value:
    left = f.value(node.left)
    right = f.value(node.right)
    return f.flow.value(Op, f.offset(node), OPERATORS[node.operator.__class__], (left, right))


def unary(f: Lowering, node: cst.UnaryOperation) -> Value:
    operand = f.value(node.expression)
    return f.flow.value(Op, f.offset(node), OPERATORS[node.operator.__class__], (operand,))


def comparison(f: Lowering, node: cst.Comparison) -> Value:
    flow = f.flow
    offset = f.offset(node)
    left = f.value(node.left)
    last = len(node.comparisons) - 1
    result, done = f.temporary(), Draft()
    for position, target in enumerate(node.comparisons):
        right = f.value(target.comparator)
        value = flow.value(Op, offset, OPERATORS[target.operator.__class__], (left, right))
        if not last:
            return value
        flow.write(result, value)
        if position < last:
            more = Draft()
            flow.branch(value, more, done, offset)
            flow.start(more)
        left = right
    flow.jump(done)
    flow.start(done)
    return flow.read(result)


def boolean(f: Lowering, node: cst.BooleanOperation) -> Value:
    flow = f.flow
    result, more, done = f.temporary(), Draft(), Draft()
    left = f.value(node.left)
    flow.write(result, left)
    if isinstance(node.operator, cst.And):
        flow.branch(left, more, done, f.offset(node))
    else:
        flow.branch(left, done, more, f.offset(node))
    flow.start(more)
    flow.write(result, f.value(node.right))
    flow.jump(done)
    flow.start(done)
    return flow.read(result)


def conditional(f: Lowering, node: cst.IfExp) -> Value:
    flow = f.flow
    result, then, orelse, done = f.temporary(), Draft(), Draft(), Draft()
    condition(f, node.test, then, orelse)
    flow.start(then)
    flow.write(result, f.value(node.body))
    flow.jump(done)
    flow.start(orelse)
    flow.write(result, f.value(node.orelse))
    flow.jump(done)
    flow.start(done)
    return flow.read(result)


def condition(f: Lowering, node: Any, then: Draft, orelse: Draft) -> None:
    """Lower a test: go to ``then`` or ``orelse``, with ``and``, ``or``, ``not`` taken apart and literals decided."""
    flow = f.flow
    kind = node.__class__
    if kind is cst.BooleanOperation:
        more = Draft()
        if isinstance(node.operator, cst.And):
            condition(f, node.left, more, orelse)
        else:
            condition(f, node.left, then, more)
        flow.start(more)
        condition(f, node.right, then, orelse)
    elif kind is cst.UnaryOperation and isinstance(node.operator, cst.Not):
        condition(f, node.expression, orelse, then)
    elif kind in (cst.Name, cst.Integer) and node.value in ("True", "1"):
        flow.jump(then)
    elif kind in (cst.Name, cst.Integer) and node.value in ("False", "0"):
        flow.jump(orelse)
    elif kind is cst.Comparison and len(node.comparisons) > 1:
        _chain(f, node, then, orelse)
    else:
        flow.branch(f.value(node), then, orelse, f.offset(node))


def _chain(f: Lowering, node: cst.Comparison, then: Draft, orelse: Draft) -> None:
    flow = f.flow
    offset = f.offset(node)
    left = f.value(node.left)
    for target in node.comparisons:
        right = f.value(target.comparator)
        value = flow.value(Op, offset, OPERATORS[target.operator.__class__], (left, right))
        more = then if target is node.comparisons[-1] else Draft()
        flow.branch(value, more, orelse, offset)
        if more is not then:
            flow.start(more)
        left = right


def named(f: Lowering, node: cst.NamedExpr) -> Value:
    value = f.value(node.value)
    assert isinstance(node.target, cst.Name)
    f.store(node.target.value, value, f.offset(node.target))
    if f.flow.handler is not None:
        f.flow.split()
    return value


def await_(f: Lowering, node: cst.Await) -> Value:
    return f.flow.value(Await, f.offset(node), f.value(node.expression))


def yield_(f: Lowering, node: cst.Yield) -> Value:
    offset = f.offset(node)
    if node.value is None:
        value = f.flow.value(Const, offset, None)
    else:
        value = f.value(node.value.item if isinstance(node.value, cst.From) else node.value)
    return f.flow.value(Yield, offset, value, isinstance(node.value, cst.From))


# ---------------------------------------------------------------- literals and displays


def simple_string(f: Lowering, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    text = literals.plain_text(node)
    if text is None:
        return f.opaque("bytes", f.offset(node))
    return _text(f, text, f.offset(node))


def _text(f: Lowering, text: str, offset: int) -> Value:
    if len(text) > literals.MAX_TEXT:
        return f.opaque("long string", offset)
    return f.flow.value(Const, offset, text)


def concatenated(f: Lowering, node: cst.ConcatenatedString) -> Value:
    parts: list[cst.BaseExpression] = []
    rest: cst.BaseExpression = node
    while isinstance(rest, cst.ConcatenatedString):
        parts.append(rest.left)
        rest = rest.right
    parts.append(rest)
    if all(isinstance(part, cst.SimpleString) for part in parts):
        return simple_string(f, node)
    values: list[Value] = []
    for part in parts:
        if isinstance(part, cst.FormattedString):
            _fields(f, part.parts, values)
    return f.flow.value(Build, f.offset(node), "string", tuple(values))


def formatted(f: Lowering, node: cst.FormattedString | cst.TemplatedString) -> Value:
    values: list[Value] = []
    _fields(f, node.parts, values)
    return f.flow.value(Build, f.offset(node), "string", tuple(values))


def _fields(f: Lowering, parts: Any, values: list[Value]) -> None:
    for part in parts:
        if isinstance(part, cst.FormattedStringExpression | cst.TemplatedStringExpression):
            values.append(f.value(part.expression))
            if part.format_spec is not None:
                _fields(f, part.format_spec, values)


def number(f: Lowering, node: cst.Integer | cst.Float) -> Value:
    value = literals.number(node)
    if value is None:
        return f.opaque("long number", f.offset(node))
    return f.flow.value(Const, f.offset(node), value)


def imaginary(f: Lowering, node: cst.Imaginary) -> Value:
    return f.opaque("complex", f.offset(node))


def ellipsis(f: Lowering, node: cst.Ellipsis) -> Value:
    return f.opaque("...", f.offset(node))


def display(f: Lowering, node: Any) -> Value:
    kind = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}[node.__class__]
    return f.flow.value(Build, f.offset(node), kind, tuple([_item(f, element) for element in node.elements]))


def _item(f: Lowering, element: cst.BaseElement) -> Value:
    value = f.value(element.value)
    if isinstance(element, cst.StarredElement):
        return f.flow.value(Op, f.offset(element.value), "*", (value,))
    return value


def starred(f: Lowering, node: cst.StarredElement) -> Value:
    return f.flow.value(Op, f.offset(node), "*", (f.value(node.value),))


def dictionary(f: Lowering, node: cst.Dict) -> Value:
    values: list[Value] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            values.append(f.value(element.key))
        else:
            values.append(NOTHING)
        values.append(f.value(element.value))
    return f.flow.value(Build, f.offset(node), "dict", tuple(values))


EXPRESSIONS.update(
    {
        cst.Name: name,
        cst.Attribute: attribute,
        cst.Call: call,
        cst.Subscript: subscript,
        cst.BinaryOperation: binary,
        cst.UnaryOperation: unary,
        cst.Comparison: comparison,
        cst.BooleanOperation: boolean,
        cst.IfExp: conditional,
        cst.NamedExpr: named,
        cst.Await: await_,
        cst.Yield: yield_,
        cst.SimpleString: simple_string,
        cst.ConcatenatedString: concatenated,
        cst.FormattedString: formatted,
        cst.TemplatedString: formatted,
        cst.Integer: number,
        cst.Float: number,
        cst.Imaginary: imaginary,
        cst.Ellipsis: ellipsis,
        cst.Tuple: display,
        cst.List: display,
        cst.Set: display,
        cst.StarredElement: starred,
        cst.Dict: dictionary,
    }
)
