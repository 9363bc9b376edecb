"""From a remedy to a fix: the idiom that fits, put where it has to stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from auditor.fix.function import Function, parse
from auditor.fix.idiom import idiom, is_async, is_preamble, replaced, text_of
from auditor.gating import Extent, Remedy, Waiting
from auditor.triage import Fix


class Proposer:
    """Writes fixes. ``lines`` gives those of a file; what was parsed once is kept."""

    def __init__(self, lines: Callable[[str], Sequence[str]]) -> None:
        self._lines = lines
        self._functions: dict[Extent, Function | None] = {}

    def fix(self, remedy: Remedy) -> Fix | str:
        """Return the fix of one finding, or why there is none."""
        function = self._function(remedy.extent)
        if function is None:
            return "the function could not be parsed by itself"
        where = _start(function) if remedy.at_start else None
        if where is None and remedy.here:
            where = _before(function, remedy.line - remedy.extent.start, remedy.after - remedy.extent.start)
        if where is None:
            return "no place in the function has both the object and the layer under a name that is not assigned again"
        for waiting, statement in self._idioms(remedy):
            if is_async(statement) and function.node.asynchronous is None:
                continue
            if waiting.layer and not remedy.layer:
                continue
            values = {waiting.receiver: remedy.receiver, **({waiting.layer: remedy.layer} if waiting.layer else {})}
            gate = replaced(statement, values)
            return _fix(remedy, function, _inserted(function, gate, where), text_of(gate), waiting)
        if not remedy.layer:
            return "which expression of this function is the layer that is read cannot be told"
        return "the other methods wait in the middle of larger statements, or in terms that this function does not have"

    def _idioms(self, remedy: Remedy) -> Iterator[tuple[Waiting, cst.BaseStatement]]:
        for waiting in remedy.waits:
            method = self._function(waiting.extent)
            elsewhere = waiting.extent.path != remedy.extent.path
            statement = idiom(waiting, method, elsewhere=elsewhere) if method is not None else None
            if statement is not None:
                yield waiting, statement

    def _function(self, extent: Extent) -> Function | None:
        if extent not in self._functions:
            self._functions[extent] = parse(extent, self._lines(extent.path))
        return self._functions[extent]


Where = tuple[cst.CSTNode, int]
"""A block (or the one line that is a whole body), and the number of the statement in it that the gate stands before."""


def _start(function: Function) -> Where:
    """Behind the docstring and what is asserted first."""
    body = function.body
    head = next((number for number, one in enumerate(body) if not is_preamble(one)), len(body))
    return function.node.body, head


def _before(function: Function, line: int, after: int) -> Where | None:
    """Before the innermost statement on a line of its own, if it begins below the line ``after``."""
    found = list(function.around(line))
    if not function.body:
        return function.node.body, 0
    if not found:
        return None
    block, statement = found[-1]
    if function.first(statement) <= after:
        return None  # a name that the gate needs is given a value in this very statement
    return block, list(block.body).index(statement)


def _inserted(function: Function, gate: cst.BaseStatement, where: Where) -> tuple[str, ...]:
    """The lines of the function with the gate in its place."""
    block, number = where
    gate = _indented(gate, function.unit)
    if isinstance(block, cst.IndentedBlock):
        made: cst.BaseSuite = block.with_changes(body=[*block.body[:number], gate, *block.body[number:]])
    else:
        assert isinstance(block, cst.SimpleStatementSuite), "a body is a block or one line"
        only = cst.SimpleStatementLine(block.body, trailing_whitespace=block.trailing_whitespace)
        made = cst.IndentedBlock([gate, only], indent=function.unit)
    return function.with_function(function.node.deep_replace(block, made))


def _indented(gate: cst.BaseStatement, unit: str) -> cst.BaseStatement:
    if isinstance(gate, cst.If) and isinstance(gate.body, cst.IndentedBlock):
        return gate.with_changes(body=gate.body.with_changes(indent=unit))
    return gate


def _fix(remedy: Remedy, function: Function, new: tuple[str, ...], gate: str, waiting: Waiting) -> Fix:
    """The lines that differ. A pure insertion takes the line below it along, so that there is one to replace."""
    old = function.lines
    head = next((number for number, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    shared = min(len(old), len(new)) - head
    tail = next((n for n in range(shared) if old[-1 - n] != new[-1 - n]), shared)
    if head + tail == len(old):
        tail = max(0, tail - 1) if tail else tail
        head = head if head < len(old) else head - 1
    first = remedy.extent.start + head
    return Fix(
        path=remedy.extent.path,
        line=first,
        end_line=first + len(old) - head - tail - 1,
        text="\n".join(new[head : len(new) - tail]),
        gate=gate,
        like=f"{waiting.extent.path}:{waiting.line}",
    )
