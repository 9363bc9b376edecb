"""Lower definitions: functions, lambdas and classes, each a function of its own, and what runs where they stand."""

from __future__ import annotations

from typing import Any

import libcst as cst

from auditor.extract.annotations import annotation, dotted
from auditor.extract.context import EXPRESSIONS, STATEMENTS, File, Lowering, Statement
from auditor.extract.scopes import Scope
from auditor.facts import (
    Call,
    Class,
    ClassFacts,
    Closure,
    Const,
    FunctionFacts,
    Op,
    Param,
    ParamFacts,
    Return,
    TypeExpr,
    Value,
)


def module(file: File, node: cst.Module) -> None:
    """Lower a whole file."""
    scope = file.scopes[id(node)]
    f = Lowering(file, scope)
    for statement in node.body:
        f.statement(statement)
    _finish(f, scope, "module", None, 0)


def _finish(f: Lowering, scope: Scope, kind: str, node: Any, offset: int, **given: Any) -> None:
    """End the function with ``return None`` and put its facts on file."""
    file = f.file
    f.flow.leave(Return, f.flow.value(Const, offset, None), offset)
    blocks, names = f.flow.finish(file.at)
    facts: dict[str, Any] = {"params": (), "returns": None, "decorators": (), "is_async": False, **given}
    file.functions[scope.order] = FunctionFacts(
        qualname=scope.qualname,
        name=scope.name,
        kind=kind,
        scope=scope.parent.host.qualname if scope.parent else "",
        is_generator=scope.is_generator,
        at=file.at(offset),
        end_line=file.lines.line(max(scope.last_offset - 1, 0)),
        blocks=blocks,
        names=names,
        **facts,
    )


# ---------------------------------------------------------------- functions


def define(f: Lowering, node: cst.FunctionDef) -> None:
    offset = f.offset(node)
    decorators = [f.value(decorator.decorator) for decorator in node.decorators]
    scope = f.file.scopes[id(node)]
    value = f.flow.value(Closure, offset, scope.qualname, _defaults(f, node.params))
    _function(f.file, scope, node)
    if f.host.kind == "class":
        f.methods[scope.order] = scope.qualname[len(f.host.qualname) + 1 :]
    _decorate(f, node, decorators, value)


def _decorate(f: Lowering, node: cst.FunctionDef | cst.ClassDef, decorators: list[Value], value: Value) -> None:
    for decorator, function in reversed(list(zip(node.decorators, decorators, strict=True))):
        value = f.flow.value(Call, _called(f, decorator), function, (("pos", "", value),))
    f.store(node.name.value, value, f.offset(node.name))


def _called(f: Lowering, node: cst.Decorator) -> int:
    function: Any = node.decorator
    return f.offset(function.attr if isinstance(function, cst.Attribute) else function)


def _defaults(f: Lowering, node: cst.Parameters) -> tuple[tuple[str, Value], ...]:
    params = (*node.posonly_params, *node.params, *node.kwonly_params)
    return tuple([(param.name.value, f.value(param.default)) for param in params if param.default is not None])


def _function(file: File, scope: Scope, node: cst.FunctionDef) -> None:
    if scope.order in file.functions:
        return
    f = Lowering(file, scope)
    params = _parameters(f, node.params)
    f.body(node.body)
    _finish(
        f,
        scope,
        "function",
        node,
        f.offset(node),
        params=params,
        returns=annotation(node.returns),
        decorators=tuple([dotted(decorator.decorator) for decorator in node.decorators]),
        is_async=node.asynchronous is not None,
    )


def lambda_(f: Lowering, node: cst.Lambda) -> Value:
    offset = f.offset(node)
    scope = f.file.scopes[id(node)]
    value = f.flow.value(Closure, offset, scope.qualname, _defaults(f, node.params))
    if scope.order not in f.file.functions:
        inner = Lowering(f.file, scope)
        params = _parameters(inner, node.params)
        inner.flow.leave(Return, inner.value(node.body), inner.offset(node.body))
        _finish(inner, scope, "lambda", node, offset, params=params)
    return value


def _parameters(f: Lowering, node: cst.Parameters) -> tuple[ParamFacts, ...]:
    """Define the parameters, and bind those that nested functions read."""
    listed: list[tuple[str, cst.Param]] = [("posonly", param) for param in node.posonly_params]
    listed += [("pos", param) for param in node.params]
    if isinstance(node.star_arg, cst.Param):
        listed.append(("*", node.star_arg))
    listed += [("key", param) for param in node.kwonly_params]
    if node.star_kwarg is not None:
        listed.append(("**", node.star_kwarg))
    values = [f.flow.value(Param, f.offset(param.name), param.name.value) for _, param in listed]
    for value, (_, param) in zip(values, listed, strict=True):
        f.store(param.name.value, value, f.offset(param.name))
    return tuple(
        [
            ParamFacts(param.name.value, kind, param.default is not None, annotation(param.annotation))
            for kind, param in listed
        ]
    )


# ---------------------------------------------------------------- classes


def class_(f: Lowering, node: cst.ClassDef) -> None:
    offset = f.offset(node)
    decorators = [f.value(decorator.decorator) for decorator in node.decorators]
    outer = f.scope
    if node.type_parameters is not None:
        _type_parameters(f, node.type_parameters)
    bases = tuple([_base(f, arg) for arg in node.bases])
    keywords = tuple(
        [("**" if arg.keyword is None else arg.keyword.value, f.value(arg.value)) for arg in node.keywords]
    )
    f.scope = outer
    scope = f.file.scopes[id(node)]
    value = f.flow.value(Class, offset, scope.qualname, bases, keywords)
    if scope.order not in f.file.functions:
        _class_body(f.file, scope, node)
    _decorate(f, node, decorators, value)


def _base(f: Lowering, arg: cst.Arg) -> Value:
    value = f.value(arg.value)
    return f.flow.value(Op, f.offset(arg.value), "*", (value,)) if arg.star else value


def _type_parameters(f: Lowering, node: cst.TypeParameters) -> None:
    f.scope = f.file.scopes[id(node)]
    for item in node.params:
        offset = f.offset(item.param.name)
        f.store(item.param.name.value, f.opaque("type parameter", offset), offset)


def _class_body(file: File, scope: Scope, node: cst.ClassDef) -> None:
    f = Lowering(file, scope)
    f.body(node.body)
    decorators = tuple([dotted(decorator.decorator) for decorator in node.decorators])
    offset = f.offset(node)
    _finish(f, scope, "class", node, offset, decorators=decorators)
    facts = file.functions[scope.order]
    file.classes[scope.order] = ClassFacts(
        qualname=scope.qualname,
        name=scope.name,
        scope=facts.scope,
        bases=tuple([TypeExpr(("*" if arg.star else "") + dotted(arg.value), ()) for arg in node.bases]),
        keywords=tuple(
            [("**" if arg.keyword is None else arg.keyword.value, dotted(arg.value)) for arg in node.keywords]
        ),
        decorators=decorators,
        fields=tuple([f.fields[place] for place in sorted(f.fields)]),
        methods=tuple([f.methods[order] for order in sorted(f.methods)]),
        at=facts.at,
        end_line=facts.end_line,
    )


_ALL: dict[type, Statement] = {cst.FunctionDef: define, cst.ClassDef: class_}
STATEMENTS.update(_ALL)
EXPRESSIONS[cst.Lambda] = lambda_
