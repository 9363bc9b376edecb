"""Words for the terminal: text made harmless, measured, shortened and wrapped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def clean(text: str) -> str:
    """Make every character that is not plainly visible visible: ``\\x1b``, ``\\u202e``, ``\\n``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def is_source(text: str) -> bool:
    """Tell whether lines of code hold nothing but what is visible: only then are they what a reader sees of them."""
    return all(line.replace("\t", " ").isprintable() for line in text.split("\n"))


_STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""Our own colours: the only escape sequences that can be in a text, for ``clean`` leaves none."""


def cells(text: str) -> int:
    """Return how many columns of a terminal a clean text takes; colours take none."""
    plain = _STYLE.sub("", text) if "\x1b" in text else text
    return len(plain) if plain.isascii() else sum(map(_cells, plain))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def place(path: str, line: int) -> str:
    """Return ``path:line``, as editors and terminals make it a link; ``path`` alone for a whole file."""
    return f"{clean(path)}:{line}" if line else clean(path)


def short(name: str) -> str:
    """Return the last part of a qualified name, with its class: ``a.b.Pool.get`` is ``Pool.get``."""
    parts = clean(name).split(".")
    if len(parts) > 1 and parts[-2].lstrip("_")[:1].isupper():
        return ".".join(parts[-2:])
    return parts[-1]


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``4,719 files``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def joined(words: Iterable[str], last: str = "and") -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    items = list(words)
    return f" {last} ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Break a clean text between words; ``first`` and ``rest`` stand before the first and the other lines."""
    rest = " " * cells(first) if rest is None else rest
    lines: list[str] = []
    line, empty = first, True
    for word in text.split(" "):
        if not empty and cells(line) + 1 + cells(word) > width:
            lines.append(line.rstrip(" "))
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line]
