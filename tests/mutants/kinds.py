"""Mutants of a file that gates stand in: what a person may get wrong with a gate, one at a time.

A *gate* is a statement on the way from who asks for a wait down to the wait on the counter, as certificates name it.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Collection, Iterator, Mapping

from auditor.certificates import Step
from tests.mutants.sources import Mutant, Piece, line_starts

DELETED = "deleted"
LOWER = "layer - 1"
HIGHER = "layer + 1"
BEHIND = "behind the read"
DISARMED = "disarmed"
KINDS = (DELETED, LOWER, HIGHER, BEHIND, DISARMED)


class Text:
    """A file as statements with offsets."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._lines = line_starts(text)
        self._rows = text.split("\n")
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.end_lineno, node.end_col_offset)

    def lines(self, node: ast.stmt) -> tuple[int, int]:
        """The range of the whole lines that a statement stands on."""
        assert node.end_lineno is not None
        return self._lines[node.lineno - 1], self._lines[node.end_lineno]

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.text[self.start(node) : self.end(node)]

    def indentation(self, node: ast.stmt) -> str:
        return self.text[self._lines[node.lineno - 1] : self.start(node)]

    def calls(self) -> Iterator[tuple[ast.Expr, ast.Call]]:
        """The statements that are a call."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield node, node.value

    def block(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements that a statement stands among."""
        parent = self.parents[node]
        fields = (getattr(parent, name, ()) for name in ("body", "orelse", "finalbody"))
        return next(list(field) for field in fields if isinstance(field, list) and node in field)

    def place(self, call: ast.Call) -> tuple[int, int]:
        """The line and column (from 1) that facts have for a call: of the last name of what is called."""
        func = call.func
        offset = self.end(func) - len(func.attr) if isinstance(func, ast.Attribute) else self.start(func)
        line = bisect.bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _offset(self, line: int, column: int) -> int:
        """``ast`` counts bytes of UTF-8."""
        before = self._rows[line - 1].encode()[:column].decode()
        return self._lines[line - 1] + len(before)


def mutants(text: Text, gates: Collection[Step], armed: Collection[Step], words: Mapping[str, int]) -> Iterator[Mutant]:
    """Yield every mutant of a file.

    Args:
        gates: the places of the file that steps of waits name; ``armed`` those at which a counter is registered.
        words: the method of a wait -> the position of its layer.
    """
    places = {(step.line, step.column) for step in gates}
    registering = {step.line for step in armed}
    for statement, call in sorted(text.calls(), key=lambda one: text.start(one[0])):
        if text.place(call) in places:
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            for kind, change in _changes(text, statement, call, words.get(method)):
                yield _mutant(kind, text, call, change)
        elif text.place(call)[0] in registering and isinstance(call.func, ast.Attribute):
            line = f"{text.indentation(statement)}{text.of(call.func)}(None)\n"
            _, end = text.lines(statement)
            yield _mutant(DISARMED, text, call, ((0, end), line, (end, len(text.text))))


def _mutant(kind: str, text: Text, call: ast.Call, pieces: tuple[Piece, ...]) -> Mutant:
    return Mutant(kind, text.path, *text.place(call), " ".join(text.of(call).split()), pieces)


def _changes(
    text: Text, statement: ast.Expr, call: ast.Call, position: int | None
) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    whole = len(text.text)
    yield DELETED, ((0, text.start(statement)), "pass", (text.end(statement), whole))
    if position is not None and position < len(call.args):
        layer = text.start(call.args[position]), text.end(call.args[position])
        for kind, other in ((LOWER, ") - 1"), (HIGHER, ") + 1")):
            yield kind, ((0, layer[0]), "(", layer, other, (layer[1], whole))
    if (moved := _behind(text, statement)) is not None:
        yield BEHIND, moved


def _behind(text: Text, statement: ast.stmt) -> tuple[Piece, ...] | None:
    """The gate, with the test that guards it and nothing else, comes last in its block: behind the value that is
    returned there, but before the return."""
    gate = statement
    while isinstance(guard := text.parents[gate], ast.If) and guard.body == [gate] and not guard.orelse:
        gate = guard
    last = text.block(gate)[-1]
    if last is gate:
        return None
    whole, (start, end), (row, stop) = len(text.text), text.lines(gate), text.lines(last)
    before = ((0, start), (end, row))
    if not isinstance(last, ast.Return):
        return (*before, (row, stop), (start, end), (stop, whole))
    if last.value is None:
        return (*before, (start, end), (row, whole))
    tab = text.indentation(last)
    value = text.start(last) + len("return")
    return (*before, f"{tab}found =", (value, stop), (start, end), f"{tab}return found\n", (stop, whole))
