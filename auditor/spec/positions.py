"""Where each key of a TOML text stands. tomllib forgets it, and a fault without a line is no help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

Address: TypeAlias = tuple[str | int, ...]
"""The way to a value: ``("gates", 0, "method")`` is the method of the first ``[[gates]]``."""

Position: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"(\[\[?)[ \t]*({_DOTTED})[ \t]*\]\]?[^\n]*")
_KEY = re.compile(rf"({_DOTTED})[ \t]*=")
_BLANK = re.compile(r"(?:\s|#[^\n]*)+")
_TOKEN = re.compile(
    r'''"""(?:\\.|(?!""").)*"{3,5}|\'\'\'(?:(?!\'\'\').)*\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|.''', re.DOTALL
)


def positions(text: str) -> Mapping[Address, Position]:
    """Locate every table header and key of a valid TOML text (inside inline tables: of the key around them)."""
    found: dict[Address, Position] = {}
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    line = 0
    for offset, address in _statements(text):
        while line + 1 < len(starts) and starts[line + 1] <= offset:
            line += 1
        found.setdefault(address, (line + 1, offset - starts[line] + 1))
    return found


def locate(found: Mapping[Address, Position], address: Address) -> Position:
    """Return the position of the innermost thing around ``address`` that has one; the start of the file at last."""
    while address and address not in found:
        address = address[:-1]
    return found.get(address, (1, 1))


def _statements(text: str) -> Iterator[tuple[int, Address]]:
    offset = 0
    table: Address = ()
    arrays: Counter[Address] = Counter()
    while offset < len(text):
        if blank := _BLANK.match(text, offset):
            offset = blank.end()
        elif header := _HEADER.match(text, offset):
            *around, name = _parts(header[2])
            table = (*_inside(around, arrays), name)
            yield offset, table
            if header[1] == "[[":
                arrays[table] += 1
                table = (*table, arrays[table] - 1)
                yield offset, table
            offset = header.end()
        elif key := _KEY.match(text, offset):
            yield offset, table + _parts(key[1])
            offset = _end_of_value(text, key.end())
        else:  # not TOML, or the end
            offset = _end_of_value(text, offset + 1)


def _inside(parts: Iterable[str | int], arrays: Counter[Address]) -> Address:
    """Resolve the way to a table: in an array of tables it goes on in the last one."""
    way: Address = ()
    for part in parts:
        way = (*way, part)
        if arrays[way]:
            way = (*way, arrays[way] - 1)
    return way


def _parts(dotted: str) -> Address:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


def _end_of_value(text: str, offset: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, offset):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        elif token[0] == "\n" and depth <= 0:
            return token.end()
    return len(text)
