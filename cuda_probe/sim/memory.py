"""Accesses to buffers by byte ranges.

A range is half open. An access has as many as it needs (the rows of a gather, the columns of a slice), sorted and
disjoint, so that reads and writes of other rows of one buffer do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of ``ranges`` (bytes) of the buffer ``key``; ``name`` is for people."""

    key: int
    ranges: tuple[Range, ...]
    write: bool
    name: str = ""

    def overlaps(self, other: Access) -> bool:
        """Tell whether both touch a byte."""
        return self.key == other.key and _meet(self.ranges, other.ranges)

    def covers(self, other: Access) -> bool:
        """Tell whether every byte of the other is touched (asked of the hull of the other: never too often yes)."""
        if self.key != other.key or not other.ranges:
            return self.key == other.key
        low, high = other.ranges[0][0], other.ranges[-1][1]
        return any(start <= low and high <= end for start, end in self.ranges)


def ranges(parts: Iterable[Range]) -> tuple[Range, ...]:
    """Sort ranges and merge those that touch; empty ones vanish."""
    merged: list[Range] = []
    for low, high in sorted(part for part in parts if part[0] < part[1]):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _meet(left: tuple[Range, ...], right: tuple[Range, ...]) -> bool:
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i][0] < right[j][1] and right[j][0] < left[i][1]:
            return True
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
    return False
