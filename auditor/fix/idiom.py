"""How a method waits: the statement that does it, without its comments, and the same for another object and layer."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from auditor.fix.function import Function
from auditor.gating import Waiting

_BARE = cst.Module([])


def idiom(waiting: Waiting, method: Function, *, elsewhere: bool) -> cst.BaseStatement | None:
    """The statement by which ``method`` waits, or a call of it where it does nothing else. None where it cannot be
    taken out: it is part of a larger one, or speaks of more than the receiver and the layer.

    ``elsewhere``: it is for another file, in which the names of this one mean nothing.
    """
    if waiting.alone:
        return cst.parse_statement(f"{waiting.receiver}.{method.node.name.value}({waiting.layer})")
    statement = _waiting_statement(method, waiting.line - waiting.extent.start)
    if statement is None:
        return None
    known = {waiting.receiver, waiting.layer.partition(".")[0]}
    foreign = _names(statement) - known
    if foreign and (elsewhere or foreign & _names(method.node.params) or foreign & _assigned(method)):
        return None
    return statement.visit(_Bare())  # type: ignore[return-value]


def replaced(statement: cst.BaseStatement, values: Mapping[str, str]) -> cst.BaseStatement:
    """The statement with other expressions in place of some; those of more than a name get brackets."""
    made = {}
    for old, new in values.items():
        compound = not all(part.isidentifier() for part in new.split("."))
        made[old] = cst.parse_expression(f"({new})" if compound else new)
    return statement.visit(_Replaced(made))  # type: ignore[return-value]


def text_of(statement: cst.BaseStatement) -> str:
    """The statement as it would stand at the margin."""
    return _BARE.with_changes(body=[statement]).code.strip()


def is_async(statement: cst.BaseStatement) -> bool:
    """Whether it may stand in an async function only."""
    return "await " in text_of(statement)


def _waiting_statement(method: Function, line: int) -> cst.BaseStatement | None:
    for _, statement in method.around(line):
        if _is_call(statement) or (isinstance(statement, cst.If) and _guards_a_call(statement)):
            return statement
        if not isinstance(statement, cst.With | cst.Try):
            return None
    return None


def _is_call(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite) or len(statement.body) != 1:
        return False
    (only,) = statement.body
    return isinstance(only, cst.Expr) and isinstance(only.value, cst.Call | cst.Await)


def _guards_a_call(statement: cst.If) -> bool:
    body = statement.body
    inner = body.body if isinstance(body, cst.IndentedBlock) else [body]
    return statement.orelse is None and len(inner) == 1 and _is_call(inner[0])


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString | cst.ConcatenatedString)


def is_preamble(statement: cst.CSTNode) -> bool:
    """Whether a statement belongs to the head of a function: the docstring, or an assertion."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return _is_docstring(statement) or all(isinstance(one, cst.Assert) for one in statement.body)


class _Variables(cst.CSTVisitor):
    """Collects the names that are variables: not those of attributes and of keyword arguments."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self.found.add(node.value)


def _names(node: cst.CSTNode) -> set[str]:
    variables = _Variables()
    node.visit(variables)
    return variables.found


class _Targets(cst.CSTVisitor):
    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self.found |= _names(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self.found |= _names(node.name)

    def visit_For(self, node: cst.For) -> None:
        self.found |= _names(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self.found |= _names(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self.found |= _names(node.target)


def _assigned(method: Function) -> set[str]:
    targets = _Targets()
    method.node.body.visit(targets)
    return targets.found


class _Bare(cst.CSTTransformer):
    """Takes out comments and the lines above, and lets blocks be indented like their surroundings."""

    def leave_TrailingWhitespace(
        self, original_node: cst.TrailingWhitespace, updated_node: cst.TrailingWhitespace
    ) -> cst.TrailingWhitespace:
        return updated_node.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))

    def leave_EmptyLine(
        self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine
    ) -> cst.EmptyLine | cst.RemovalSentinel:
        return cst.RemoveFromParent()


class _Replaced(cst.CSTTransformer):
    def __init__(self, values: Mapping[str, cst.BaseExpression]) -> None:
        self._values = values

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return False

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        new = self._values.get(_BARE.code_for_node(original_node))
        return new or updated_node.with_changes(value=original_node.value.visit(self))

    def visit_Arg(self, node: cst.Arg) -> bool:
        return False

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(value=original_node.value.visit(self))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._values.get(original_node.value, updated_node)
