"""What an audit asks of a file before it reads it: told from the bytes, generously.

Of the files that are not read an answer is all that an audit knows. A file that has changed and still gives the same
answer changes no report.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from auditor.audit.stores import is_stored

STORED, CALLED, VALUE = "attributes", "functions", "classes"
"""What can be done with a name: put something into it, call it, use it as a value. Named as in ``Needs``."""

_PATTERNS = {
    STORED: (
        rb"""["']NAME["']|\bdef\s+NAME\b|\bglobal\b[^\n]*\bNAME\b|\b(NAME)\b\s*(?::[^=\n]*)?=(?!=)"""
        rb"""|^[ \t]*\w[\w., \t]*\b(NAME)\s*,[^()\n]*=|^[ \t]*(NAME)\s*:"""
    ),
    CALLED: rb"""(?<!def )\bNAME\s*\(|\bpartial\(\s*[\w.]*\bNAME\b|["']NAME["']""",
    VALUE: (
        rb"""(?<!class )\bNAME\s*\(|=\s*\(?\s*NAME\b|\breturn\s+NAME\b|\belse\s+NAME\b|["'\w]\s*:\s*NAME\s*[,}]"""
        rb"""|\bclass\s+\w+\([^)]*\bNAME\b|[(,]\s*NAME\s*[,)]\s*(?!->)"""
    ),
}
"""What shows each use; a group marks a name that is bound there, perhaps to a variable of a function."""
_MEMBER = re.compile(rb"""(?:\.[\s\\]*|["']|\bdef\s+)\Z""")
"""What stands before a name that belongs to an object."""
_SPACE = 100
"""Bytes before a name in which that is looked for."""
_NEAR = 300
"""Bytes before and after a name that say what is done with it."""


def does(name: str, use: str, content: bytes) -> bool:
    """Whether a file puts a name to a use."""
    pattern = _pattern(use, name)
    return any(
        found.lastindex is None or is_stored(content, found.start(found.lastindex))
        for start, end in _around(content, name.encode())
        for found in pattern.finditer(content, start, end)
    )


@functools.cache
def _pattern(use: str, name: str) -> re.Pattern[bytes]:
    return re.compile(_PATTERNS[use].replace(b"NAME", re.escape(name.encode())), re.MULTILINE)


def _around(content: bytes, name: bytes) -> Iterator[tuple[int, int]]:
    """Where the whole lines near each mention of ``name`` start and end; where they overlap, as one."""
    start = end = 0
    at = content.find(name)
    while at >= 0:
        begin = content.rfind(b"\n", 0, max(0, at - _NEAR)) + 1
        if begin > end:
            yield start, end
            start = begin
        end = content.find(b"\n", at + len(name) + _NEAR)
        if end < 0:
            break
        at = content.find(name, at + 1)
    yield start, len(content) if end < 0 else end


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What files are chosen by: ``needles`` of which they hold one, and a pattern of whole identifiers; those of them
    that are ``members`` count as attributes, in strings, and where they are defined, not as variables."""

    needles: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    members: re.Pattern[bytes]

    def in_(self, content: bytes) -> bool:
        """Whether some bytes hold it."""
        return any(one in content for one in self.needles) and any(
            not self.members.fullmatch(found[0]) or _is_member(content, found.start())
            for found in self.pattern.finditer(content)
        )


def _is_member(content: bytes, start: int) -> bool:
    return _MEMBER.search(content, max(0, start - _SPACE), start) is not None


@dataclass(frozen=True, slots=True)
class Questions:
    """All that was asked in one audit.

    ``whole`` are identifiers that matter when one file holds all of a group; ``names`` those of which it matters what
    is done with them in product code, by use; ``vocabulary`` chooses files of product code that are read.
    """

    whole: tuple[tuple[str, ...], ...]
    names: dict[str, frozenset[str]]
    vocabulary: Vocabulary

    def identifiers(self) -> frozenset[str]:
        """Every identifier that is asked for."""
        return frozenset().union(*self.whole, *self.names.values())

    def answer(
        self, mentioned: Collection[str], does: Callable[[str, str], bool], *, product: bool, chosen: bool
    ) -> str:
        """What a file says: a digest. ``mentioned`` are the identifiers among those asked for that it holds, ``does``
        tells whether it puts a name to a use, ``chosen`` whether it holds the vocabulary."""
        said = [" ".join(group) for group in self.whole if all(name in mentioned for name in group)]
        if product:
            said += ["vocabulary"] * chosen
            for name in sorted(mentioned):
                said += [f"{use} {name}" for use in self.names if name in self.names[use] and does(name, use)]
        return blake2b("\n".join(said).encode(), digest_size=8).hexdigest()
