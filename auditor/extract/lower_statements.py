"""Lower simple statements, ``if`` and loops."""

from __future__ import annotations

import libcst as cst

from auditor.extract.annotations import dotted
from auditor.extract.context import STATEMENTS, Loop, Lowering, Statement
from auditor.extract.lower_expressions import condition
from auditor.extract.lower_targets import store
from auditor.extract.ssa import Draft
from auditor.facts import Const, Import, Iterate, Problem, Raise, Return


def nothing(f: Lowering, node: cst.CSTNode) -> None:
    pass


def line(f: Lowering, node: cst.SimpleStatementLine) -> None:
    first = True
    for statement in node.body:
        if first:
            STATEMENTS[statement.__class__](f, statement)
        else:
            f.statement(statement)
        first = False


def expression(f: Lowering, node: cst.Expr) -> None:
    """An expression for its effect: a docstring or ``...`` has none."""
    if not isinstance(node.value, cst.SimpleString | cst.Ellipsis):
        f.value(node.value)


def return_(f: Lowering, node: cst.Return) -> None:
    offset = f.offset(node)
    value = f.flow.value(Const, offset, None) if node.value is None else f.value(node.value)
    f.unwind(0)
    f.flow.leave(Return, value, offset)


def raise_(f: Lowering, node: cst.Raise) -> None:
    offset = f.offset(node)
    if node.exc is not None:
        value = f.value(node.exc)
        if node.cause is not None:
            f.value(node.cause.item)
    else:
        value = f.caught[-1] if f.caught else f.opaque("current exception", offset)
    f.flow.leave(Raise, value, offset)


def assert_(f: Lowering, node: cst.Assert) -> None:
    offset = f.offset(node)
    passed, failed = Draft(), Draft()
    condition(f, node.test, passed, failed)
    f.flow.start(failed)
    if node.msg is not None:
        f.value(node.msg)
    f.flow.leave(Raise, f.opaque("AssertionError", offset), offset)
    f.flow.start(passed)


# ---------------------------------------------------------------- imports


def import_(f: Lowering, node: cst.Import | cst.LazyImport) -> None:
    for alias in node.names:
        module = dotted(alias.name)
        offset = f.offset(alias)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            f.store(alias.asname.name.value, f.flow.value(Import, offset, module, ""), offset)
        else:
            root = module.partition(".")[0]
            f.store(root, f.flow.value(Import, offset, root, ""), offset)


def import_from(f: Lowering, node: cst.ImportFrom | cst.LazyImportFrom) -> None:
    module = _absolute(f, node)
    if isinstance(node.names, cst.ImportStar):
        f.flow.value(Import, f.offset(node), module, "*")
        for name in sorted(f.host.bound):
            f.unbind(name)
        return
    for alias in node.names:
        offset = f.offset(alias)
        name = dotted(alias.name)
        bound = alias.asname.name if alias.asname is not None else alias.name
        f.store(dotted(bound), f.flow.value(Import, offset, module, name), offset)


def _absolute(f: Lowering, node: cst.ImportFrom | cst.LazyImportFrom) -> str:
    """Give the absolute name of the module that an import names."""
    name = "" if node.module is None else dotted(node.module)
    level = len(node.relative)
    if not level:
        return name
    package = f.file.module.split(".") if f.file.module else []
    drop = level - 1 if f.file.is_package else level
    if drop > len(package) or (drop == len(package) and not name):
        f.file.problems.append(Problem(f.file.at(f.offset(node)).line, "relative import beyond the top package"))
        return "." * level + name
    return ".".join([*package[: len(package) - drop], *([name] if name else [])])


# ---------------------------------------------------------------- if and loops


def if_(f: Lowering, node: cst.If) -> None:
    then, orelse = Draft(), Draft()
    condition(f, node.test, then, orelse)
    f.flow.start(then)
    f.body(node.body)
    if node.orelse is None:
        f.flow.jump(orelse)
        f.flow.start(orelse)
        return
    after = Draft()
    f.flow.jump(after)
    f.flow.start(orelse)
    if isinstance(node.orelse, cst.If):
        if_(f, node.orelse)
    else:
        f.body(node.orelse.body)
    f.flow.jump(after)
    f.flow.start(after)


def while_(f: Lowering, node: cst.While) -> None:
    flow = f.flow
    head, body, ended, after = Draft(), Draft(), Draft(), Draft()
    flow.jump(head)
    flow.start(head, sealed=False)
    condition(f, node.test, body, ended)
    flow.start(body)
    _round(f, node.body, head, after)
    _otherwise(f, node.orelse, ended, after)


def for_(f: Lowering, node: cst.For) -> None:
    flow = f.flow
    offset = f.offset(node)
    iterable = f.value(node.iter)
    head, body, ended, after = Draft(), Draft(), Draft(), Draft()
    flow.jump(head)
    flow.start(head, sealed=False)
    flow.choose((body, ended), offset)
    flow.start(body)
    store(f, node.target, flow.value(Iterate, offset, iterable))
    _round(f, node.body, head, after)
    _otherwise(f, node.orelse, ended, after)


def _round(f: Lowering, body: cst.BaseSuite, head: Draft, after: Draft) -> None:
    f.frames.append(Loop(after, head))
    f.body(body)
    f.frames.pop()
    f.flow.jump(head)
    f.flow.seal(head)


def _otherwise(f: Lowering, orelse: cst.Else | None, ended: Draft, after: Draft) -> None:
    f.flow.start(ended)
    if orelse is not None:
        f.body(orelse.body)
    f.flow.jump(after)
    f.flow.start(after)


def break_(f: Lowering, node: cst.Break) -> None:
    _leave_loop(f, again=False)


def continue_(f: Lowering, node: cst.Continue) -> None:
    _leave_loop(f, again=True)


def _leave_loop(f: Lowering, *, again: bool) -> None:
    for depth in range(len(f.frames) - 1, -1, -1):
        frame = f.frames[depth]
        if isinstance(frame, Loop):
            f.unwind(depth + 1)
            f.flow.jump(frame.again if again else frame.after)
            return
    f.flow.leave(Raise, f.opaque("outside of a loop", 0), 0)


def type_alias(f: Lowering, node: cst.TypeAlias) -> None:
    offset = f.offset(node)
    f.store(node.name.value, f.opaque("type alias", offset), offset)


_ALL: dict[type, Statement] = {
    cst.Pass: nothing,
    cst.Global: nothing,
    cst.Nonlocal: nothing,
    cst.SimpleStatementLine: line,
    cst.Expr: expression,
    cst.Return: return_,
    cst.Raise: raise_,
    cst.Assert: assert_,
    cst.Import: import_,
    cst.LazyImport: import_,
    cst.ImportFrom: import_from,
    cst.LazyImportFrom: import_from,
    cst.If: if_,
    cst.While: while_,
    cst.For: for_,
    cst.Break: break_,
    cst.Continue: continue_,
    cst.TypeAlias: type_alias,
}
STATEMENTS.update(_ALL)
