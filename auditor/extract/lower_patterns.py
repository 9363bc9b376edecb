"""Lower ``match``: each pattern to tests and reads of the subject; captures are bound when the whole pattern has
matched."""

from __future__ import annotations

from typing import Any

import libcst as cst

from auditor.extract.annotations import type_expression
from auditor.extract.context import STATEMENTS, Lowering
from auditor.extract.lower_expressions import condition
from auditor.extract.ssa import Draft
from auditor.facts import Attr, Declare, Item, Op, Unpack, Value


class _Captures:
    """The captures of one pattern: each has a temporary variable, so that the alternatives of ``|`` join."""

    def __init__(self, f: Lowering) -> None:
        self.f = f
        self.temporaries: dict[str, tuple[int, int]] = {}

    def note(self, name: cst.Name, value: Value) -> None:
        variable, _ = self.temporaries.setdefault(name.value, (self.f.temporary(), self.f.offset(name)))
        self.f.flow.write(variable, value)

    def bind(self) -> None:
        for name, (variable, offset) in self.temporaries.items():
            self.f.store(name, self.f.flow.read(variable), offset)


def match(f: Lowering, node: cst.Match) -> None:
    flow = f.flow
    subject = f.value(node.subject)
    after = Draft()
    for case in node.cases:
        following = Draft()
        captures = _Captures(f)
        _pattern(f, case.pattern, subject, following, captures)
        captures.bind()
        if case.guard is not None:
            passed = Draft()
            condition(f, case.guard, passed, following)
            flow.start(passed)
        f.body(case.body)
        flow.jump(after)
        flow.start(following)
    flow.jump(after)
    flow.start(after)


def _pattern(f: Lowering, node: Any, subject: Value, failed: Draft, captures: _Captures) -> None:
    """Go on where ``subject`` matches, to ``failed`` where not."""
    _PATTERNS[node.__class__](f, node, subject, failed, captures)


def _test(f: Lowering, test: Value, failed: Draft, offset: int) -> None:
    passed = Draft()
    f.flow.branch(test, passed, failed, offset)
    f.flow.start(passed)


def _value(f: Lowering, node: cst.MatchValue, subject: Value, failed: Draft, captures: _Captures) -> None:
    offset = f.offset(node.value)
    _test(f, f.flow.value(Op, offset, "==", (subject, f.value(node.value))), failed, offset)


def _singleton(f: Lowering, node: cst.MatchSingleton, subject: Value, failed: Draft, captures: _Captures) -> None:
    offset = f.offset(node.value)
    _test(f, f.flow.value(Op, offset, "is", (subject, f.value(node.value))), failed, offset)


def _sequence(
    f: Lowering, node: cst.MatchList | cst.MatchTuple, subject: Value, failed: Draft, captures: _Captures
) -> None:
    flow = f.flow
    offset = f.offset(node)
    _test(f, flow.value(Op, offset, "match-shape", (subject,)), failed, offset)
    stars = [number for number, part in enumerate(node.patterns) if isinstance(part, cst.MatchStar)]
    star = stars[0] if stars else len(node.patterns)
    for number, part in enumerate(node.patterns):
        place = number if number < star else -1 if number == star else number - len(node.patterns) - 1
        if isinstance(part, cst.MatchStar):
            if part.name is not None:
                captures.note(part.name, flow.value(Unpack, f.offset(part.name), subject, place))
        else:
            _pattern(f, part.value, flow.value(Unpack, offset, subject, place), failed, captures)


def _mapping(f: Lowering, node: cst.MatchMapping, subject: Value, failed: Draft, captures: _Captures) -> None:
    flow = f.flow
    offset = f.offset(node)
    _test(f, flow.value(Op, offset, "match-shape", (subject,)), failed, offset)
    for element in node.elements:
        key = f.value(element.key)
        _pattern(f, element.pattern, flow.value(Item, f.offset(element.key), subject, key), failed, captures)
    if node.rest is not None:
        captures.note(node.rest, f.opaque("rest of a mapping", f.offset(node.rest)))


def _class(f: Lowering, node: cst.MatchClass, subject: Value, failed: Draft, captures: _Captures) -> None:
    flow = f.flow
    offset = f.offset(node.cls)
    kind = f.value(node.cls)
    _test(f, flow.value(Op, offset, "match-class", (subject, kind)), failed, offset)
    narrowed = flow.value(Declare, offset, subject, type_expression(node.cls))
    for element in node.patterns:
        _pattern(f, element.value, f.opaque("positional class pattern", offset), failed, captures)
    for keyword in node.kwds:
        part = flow.value(Attr, f.offset(keyword.key), narrowed, keyword.key.value)
        _pattern(f, keyword.pattern, part, failed, captures)


def _as(f: Lowering, node: cst.MatchAs, subject: Value, failed: Draft, captures: _Captures) -> None:
    if node.pattern is not None:
        _pattern(f, node.pattern, subject, failed, captures)
        if isinstance(node.pattern, cst.MatchClass):
            subject = f.flow.value(Declare, f.offset(node.pattern.cls), subject, type_expression(node.pattern.cls))
    if node.name is not None:
        captures.note(node.name, subject)


def _or(f: Lowering, node: cst.MatchOr, subject: Value, failed: Draft, captures: _Captures) -> None:
    flow = f.flow
    matched = Draft()
    for element in node.patterns:
        last = element is node.patterns[-1]
        following = failed if last else Draft()
        _pattern(f, element.pattern, subject, following, captures)
        flow.jump(matched)
        if not last:
            flow.start(following)
    flow.start(matched)


_PATTERNS: dict[type, Any] = {
    cst.MatchValue: _value,
    cst.MatchSingleton: _singleton,
    cst.MatchList: _sequence,
    cst.MatchTuple: _sequence,
    cst.MatchMapping: _mapping,
    cst.MatchClass: _class,
    cst.MatchAs: _as,
    cst.MatchOr: _or,
}
STATEMENTS[cst.Match] = match
