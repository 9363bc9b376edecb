"""One function of a file, parsed by itself: as fast as the function is short, wherever it stands in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from auditor.gating import Extent

_AROUND = "if _:"
"""What an indented function is put under to be a module."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function as a tree. ``lines`` are those of the file that it covers; ``unit`` is one level of indentation."""

    module: cst.Module
    node: cst.FunctionDef
    lines: tuple[str, ...]
    unit: str
    _shift: int
    _positions: dict[cst.CSTNode, tuple[int, int]]

    @property
    def body(self) -> Sequence[cst.BaseStatement]:
        """The statements on lines of their own; none where the function is one line."""
        block = self.node.body
        return block.body if isinstance(block, cst.IndentedBlock) else ()

    def covers(self, node: cst.CSTNode, line: int) -> bool:
        """Whether a node of the function stands on a line, counted from the function's first as 0."""
        first, last = self._positions[node]
        return first <= line + 1 + self._shift <= last

    def first(self, node: cst.CSTNode) -> int:
        """The line that a node of the function begins on, counted from the function's first as 0."""
        return self._positions[node][0] - 1 - self._shift

    def around(self, line: int) -> Iterator[tuple[cst.IndentedBlock, cst.BaseStatement]]:
        """The statements that a line (from 0) lies in, outermost first, each with its block."""
        block: cst.CSTNode = self.node.body
        while isinstance(block, cst.IndentedBlock):
            inner = next((one for one in block.body if self.covers(one, line)), None)
            if inner is None:
                return
            yield block, inner
            block = next((one for one in _blocks(inner) if self.covers(one, line)), inner)

    def with_function(self, node: cst.CSTNode) -> tuple[str, ...]:
        """The lines of the function after ``node`` has taken its place."""
        module = self.module.deep_replace(self.node, node)
        assert isinstance(module, cst.Module), "only the function was replaced"
        return tuple(module.code.split("\n"))[self._shift :]


def parse(extent: Extent, lines: Sequence[str]) -> Function | None:
    """Parse a function out of the lines of its file; None where that does not work."""
    own = tuple(lines[extent.start - 1 : extent.end])
    if not own:
        return None
    margin = own[0][: len(own[0]) - len(own[0].lstrip(" \t"))]
    text = "\n".join((_AROUND, *own) if margin else own)
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    except cst.ParserSyntaxError:
        return None
    block = wrapper.module.body[0]
    node = block.body.body[0] if isinstance(block, cst.If) and margin else block
    if not isinstance(node, cst.FunctionDef):
        return None
    positions = {one: (place.start.line, place.end.line) for one, place in wrapper.resolve(PositionProvider).items()}
    if isinstance(node.body, cst.IndentedBlock):
        unit = node.body.indent or wrapper.module.default_indent
    else:
        unit = "\t" if "\t" in margin else "    "
    return Function(wrapper.module, node, own, unit, 1 if margin else 0, positions)


def _blocks(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The blocks of a compound statement, wherever in it they hang."""
    for child in statement.children:
        if isinstance(child, cst.IndentedBlock):
            yield child
        elif isinstance(
            child, cst.If | cst.Else | cst.ExceptHandler | cst.ExceptStarHandler | cst.Finally | cst.MatchCase
        ):
            yield from _blocks(child)
