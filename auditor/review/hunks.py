"""The lines of a unified diff that a review comment can stand on, per side."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Hunks:
    """``right``: lines of the new file that are added or shown around a change. ``deleted``: lines of the old one."""

    right: frozenset[int]
    deleted: frozenset[int]


def hunks(patch: str) -> Hunks:
    """Read the hunks of one file, with or without the lines before the first."""
    right, deleted = set(), set()
    old = new = 0
    inside = False
    for line in patch.split("\n"):
        if header := _HEADER.match(line):
            old, new = int(header[1]), int(header[2])
            inside = True
        elif not inside:
            continue
        elif line.startswith("+"):
            right.add(new)
            new += 1
        elif line.startswith("-"):
            deleted.add(old)
            old += 1
        elif line.startswith(" "):
            right.add(new)
            old, new = old + 1, new + 1
        # what is left are "\ No newline at end of file" and the end of the text
    return Hunks(frozenset(right), frozenset(deleted))
