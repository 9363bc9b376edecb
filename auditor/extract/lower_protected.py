"""Lower ``try`` and ``with``: what runs on the way out is lowered once more for every way out."""

from __future__ import annotations

import libcst as cst

from auditor.extract.annotations import dotted, type_expression
from auditor.extract.context import STATEMENTS, Cleanup, Lowering, Statement
from auditor.extract.lower_targets import store
from auditor.extract.ssa import Draft
from auditor.facts import Declare, Enter, Exit, Op, Raise, Value


def try_(f: Lowering, node: cst.Try | cst.TryStar) -> None:
    """Lower ``try``: exceptions of the body go to ``caught``, those of handlers and ``else`` to ``outside``."""
    flow = f.flow
    outer = flow.handler
    final = node.finalbody
    unhandled = Draft() if final is not None else None
    outside = unhandled or outer
    if final is not None:
        body = final.body
        f.frames.append(Cleanup(lambda: f.body(body), outer))
    caught = Draft() if node.handlers else None
    done = Draft()
    f.protect(caught or outside)
    f.body(node.body)
    f.protect(outside)
    if node.orelse is not None:
        f.body(node.orelse.body)
    flow.jump(done)
    if caught is not None:
        flow.start(caught)
        _handlers(f, node, done)
    flow.handler = outer
    if final is None:
        flow.start(done)
        return
    f.frames.pop()
    after = Draft()
    flow.start(done)
    f.body(final.body)
    flow.jump(after)
    assert unhandled is not None
    _reraise_after(f, unhandled, final)
    flow.start(after)


def _reraise_after(f: Lowering, unhandled: Draft, final: cst.Finally) -> None:
    f.flow.start(unhandled)
    offset = f.offset(final)
    exception = f.opaque("exception", offset)
    f.caught.append(exception)
    f.body(final.body)
    f.caught.pop()
    f.flow.leave(Raise, exception, offset)


def _handlers(f: Lowering, node: cst.Try | cst.TryStar, done: Draft) -> None:
    flow = f.flow
    exception = f.opaque("exception", f.offset(node.handlers[0]))
    group = isinstance(node, cst.TryStar)
    for handler in node.handlers:
        offset = f.offset(handler)
        then, orelse = Draft(), Draft()
        if handler.type is None:
            flow.jump(then)
        else:
            test = flow.value(Op, offset, "match-exception", (exception, f.value(handler.type)))
            flow.branch(test, then, orelse, offset)
        flow.start(then)
        _handle(f, handler, exception)
        flow.jump(orelse if group else done)
        flow.start(orelse)
    if group:
        raised = Draft()
        flow.choose((done, raised), f.offset(node))
        flow.start(raised)
    flow.leave(Raise, exception, f.offset(node.handlers[-1]))


def _handle(f: Lowering, node: cst.ExceptHandler | cst.ExceptStarHandler, exception: Value) -> None:
    value = exception
    name = node.name.name if node.name is not None else None
    if isinstance(name, cst.Name) and node.type is not None:
        value = f.flow.value(Declare, f.offset(name), exception, type_expression(node.type))
        f.store(name.value, value, f.offset(name))
    f.caught.append(value)
    f.body(node.body)
    f.caught.pop()
    if isinstance(name, cst.Name):
        f.unbind(name.value)


def with_(f: Lowering, node: cst.With) -> None:
    _with_item(f, node, 0)


def _with_item(f: Lowering, node: cst.With, number: int) -> None:
    if number == len(node.items):
        f.body(node.body)
        return
    flow = f.flow
    item = node.items[number]
    offset = f.offset(item)
    manager = f.value(item.item)
    entered = flow.value(Enter, offset, manager)
    outer = flow.handler
    suppresses = isinstance(item.item, cst.Call) and dotted(item.item).rpartition(".")[2] == "suppress"
    landing = Draft() if outer is not None or suppresses else None
    after = Draft()
    f.frames.append(Cleanup(lambda: flow.effect(Exit, offset, manager), outer))
    if landing is not None:
        f.protect(landing)
    if item.asname is not None:
        store(f, item.asname.name, entered)
    _with_item(f, node, number + 1)
    f.frames.pop()
    f.protect(outer)
    flow.effect(Exit, offset, manager)
    if landing is None:
        return
    flow.jump(after)
    flow.start(landing)
    exception = f.opaque("exception", offset)
    flow.effect(Exit, offset, manager)
    if suppresses:
        raised = Draft()
        flow.choose((after, raised), offset)
        flow.start(raised)
    flow.leave(Raise, exception, offset)
    flow.start(after)


_ALL: dict[type, Statement] = {cst.Try: try_, cst.TryStar: try_, cst.With: with_}
STATEMENTS.update(_ALL)
