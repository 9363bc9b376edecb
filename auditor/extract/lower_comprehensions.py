"""Lower comprehensions and generator expressions as loops in their host function, with names of their own.

A generator expression is lowered where it stands, as if it ran at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from auditor.extract.context import EXPRESSIONS, Lowering
from auditor.extract.lower_expressions import condition
from auditor.extract.lower_targets import store
from auditor.extract.ssa import Draft
from auditor.facts import NOTHING, Build, Iterate, Value


def comprehension(f: Lowering, node: Any) -> Value:
    """Lower a comprehension as the loop that it is; its elements are those of the last round, joined with none."""
    kinds = {cst.ListComp: "list", cst.SetComp: "set", cst.GeneratorExp: "generator"}
    elements, kind = [node.elt] if hasattr(node, "elt") else [node.value], kinds.get(node.__class__, "dict")
    if node.__class__ is cst.DictComp:
        elements.insert(0, node.key)
    outer = f.scope
    results = [f.temporary() for _ in elements]
    iterable = f.value(node.for_in.iter)
    f.scope = f.file.scopes[id(node)]
    for result in results:
        f.flow.write(result, NOTHING)

    def innermost() -> None:
        for result, element in zip(results, elements, strict=True):
            f.flow.write(result, f.value(element))

    _clause(f, node.for_in, iterable, innermost)
    f.scope = outer
    values = [f.flow.read(result) for result in results]
    if kind != "dict" and values == [NOTHING]:
        values = []
    if node.__class__ is cst.StarredDictComp:
        values.insert(0, NOTHING)
    return f.flow.value(Build, f.offset(node), kind, tuple(values))


def _clause(f: Lowering, node: cst.CompFor, iterable: Value, innermost: Callable[[], None]) -> None:
    flow = f.flow
    head, body, after = Draft(), Draft(), Draft()
    offset = f.offset(node)
    flow.jump(head)
    flow.start(head, sealed=False)
    flow.choose((body, after), offset)
    flow.start(body)
    store(f, node.target, flow.value(Iterate, offset, iterable))
    for test in node.ifs:
        passed = Draft()
        condition(f, test.test, passed, head)
        flow.start(passed)
    if node.inner_for_in is None:
        innermost()
    else:
        _clause(f, node.inner_for_in, f.value(node.inner_for_in.iter), innermost)
    flow.jump(head)
    flow.seal(head)
    flow.start(after)


for _kind in (cst.ListComp, cst.SetComp, cst.DictComp, cst.StarredDictComp, cst.GeneratorExp):
    EXPRESSIONS[_kind] = comprehension
