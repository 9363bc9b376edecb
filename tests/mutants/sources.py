"""Changed sources: a text as pieces of the one before, so that every place in it that is left can be found again."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass

Piece = tuple[int, int] | str
"""A range of the text before, or something new."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file. ``kind`` is one of ``KINDS``; ``line`` and ``column`` the place of the call, of a gate or
    registration, that it concerns; ``pieces`` are the new text, in order."""

    kind: str
    path: str
    line: int
    column: int
    what: str
    pieces: tuple[Piece, ...]

    def written(self, text: str) -> str:
        """Return the new text of the file."""
        return "".join(piece if isinstance(piece, str) else text[slice(*piece)] for piece in self.pieces)

    def __str__(self) -> str:
        return f"{self.kind} {self.path}:{self.line} {self.what}"


class Moves:
    """Where the places of one file are in a mutant. Lines and columns from 1, in characters."""

    def __init__(self, mutant: Mutant, text: str) -> None:
        self._starts = line_starts(text)
        self._new = line_starts(mutant.written(text))
        self._kept = list(_kept(mutant.pieces))

    def carried(self, line: int, column: int) -> tuple[int, int] | None:
        """Return where a place is now, or None where it was taken out."""
        offset = self._starts[line - 1] + column - 1
        for start, end, now in self._kept:
            if start <= offset < end:
                found = now + offset - start
                row = bisect.bisect_right(self._new, found) - 1
                return row + 1, found - self._new[row] + 1
        return None


def _kept(pieces: tuple[Piece, ...]) -> Iterator[tuple[int, int, int]]:
    """The ranges that were kept, with their new start."""
    now = 0
    for piece in pieces:
        if isinstance(piece, str):
            now += len(piece)
        else:
            yield *piece, now
            now += piece[1] - piece[0]


def line_starts(text: str) -> list[int]:
    """Return the offset of each line."""
    return [0, *(offset + 1 for offset, char in enumerate(text) if char == "\n")]
