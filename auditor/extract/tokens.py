"""The words of a source text in order, with their offsets; and the limits that keep a hostile file from the parser.

This is not a tokenizer for a parser: operators and comments are left out, so that the list holds exactly what a walk
over the syntax tree can meet (identifiers, keywords, literals, brackets). Inside f-strings the expressions are cut into
words as well, quotes of their own included (PEP 701).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

MAX_BYTES = 4_000_000
MAX_LINE = 1_000_000
MAX_NESTING = 200
MAX_TERMS = 2_000
MAX_ELIFS = 2_000
MAX_WORDS = 500_000
MAX_EFFORT = 4_000_000

_STRING = r"""(?:[rRbBuU]{0,2})(?:\"\"\"(?:[^"\\]|\\[\s\S]|"(?!""))*\"\"\"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''
    |"(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*"|'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*')"""
_NUMBER = r"0[xXoObB]\w+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?"
_CODE = re.compile(
    rf"""((?:[fFtT][rR]?|[rR][fFtT])(?:\"\"\"|'''|"|'))
    |({_STRING}|{_NUMBER})
    |([^\W\d]\w*|\.\.\.)
    |([(\[{{])
    |([)\]}}])
    |(\r\n?|\n)
    |([,;])
    |([-+~:!])
    |(\\\r?\n|\#[^\r\n]*)""",
    re.VERBOSE,
)
_FORMAT, _LITERAL, _WORD, _OPEN, _CLOSE, _LINE, _SEPARATOR, _SIGN = range(1, 9)
_LINE_END = re.compile(r"\r\n?|\n")


class Words(NamedTuple):
    """Texts and offsets, of equal length; the last text is empty."""

    texts: list[str]
    offsets: list[int]


class Refused(Exception):
    """Indicates that a file is beyond a limit or is not Python: ``line`` and ``what`` say where and why."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


class Lines:
    """Turns offsets into lines and columns, both from 1, columns in characters."""

    def __init__(self, text: str) -> None:
        self.starts = [0]
        self.starts += [match.end() for match in _LINE_END.finditer(text)]
        self.length = len(text)

    def line(self, offset: int) -> int:
        """Give the number of the line that holds ``offset``."""
        return bisect_right(self.starts, offset)

    def offset(self, line: int, column: int) -> int:
        """Give the offset of a column (from 0) of a line (from 1)."""
        return self.starts[line - 1] + column

    def refuse_long(self) -> None:
        """Refuse a text with a line beyond the limit."""
        previous = 0
        for number, start in enumerate([*self.starts[1:], self.length], 1):
            if start - previous > MAX_LINE:
                raise Refused(number, f"line longer than {MAX_LINE} characters (limit); split it or leave the file out")
            previous = start


class _Effort:
    """Estimates what the parser would spend: it is quadratic in nesting and in the length of an operator chain."""

    def __init__(self) -> None:
        self.terms = 0
        self.outer: list[int] = []
        self.spent = 0
        self.elifs: dict[int, int] = {}

    def open(self) -> None:
        self.outer.append(self.terms)
        self.terms = 0
        depth = len(self.outer)
        if depth > MAX_NESTING:
            raise Refused(
                0, f"nesting deeper than {MAX_NESTING} (limit); simplify the expression or leave the file out"
            )
        if depth > 20:
            self.spend(8 * depth)

    def close(self) -> None:
        self.end()
        self.terms = self.outer.pop() + 1 if self.outer else 0

    def end(self) -> None:
        """Close a run of terms without a separator."""
        if self.terms > 100:
            if self.terms > MAX_TERMS:
                raise Refused(
                    0, f"more than {MAX_TERMS} terms in one expression (limit); split it or leave the file out"
                )
            self.spend(self.terms * self.terms // 4)
        self.terms = 0

    def spend(self, effort: int) -> None:
        """Add to the effort of the file."""
        self.spent += effort
        if self.spent > MAX_EFFORT:
            raise Refused(0, "expressions too long and too deep to read in reasonable time (limit); leave the file out")

    def branch(self, word: str, column: int) -> None:
        """Count the ``elif`` of one chain, told from others by its column."""
        count = self.elifs[column] = self.elifs.get(column, 0) + 1 if word == "elif" else 0
        if count > MAX_ELIFS:
            raise Refused(0, f"more than {MAX_ELIFS} elif in one chain (limit); use a table or leave the file out")


def scan(text: str, lines: Lines) -> Words:
    """Cut ``text`` into words; raise ``Refused`` where it is beyond a limit."""
    scanner = _Scanner(text)
    try:
        scanner.code(0, False)
    except Refused as refused:
        refused.line = lines.line(scanner.last)
        raise
    if len(scanner.words.texts) > MAX_WORDS:
        raise Refused(1, f"file of more than {MAX_WORDS} words (limit); split it or leave it out")
    scanner.words.texts.append("")
    scanner.words.offsets.append(len(text))
    return scanner.words


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.words = Words([], [])
        self.effort = _Effort()
        self.last = 0
        self.formats = 0

    def code(self, position: int, in_field: bool) -> int:
        """Scan code from ``position`` to the end, or to the end of the expression of an f-string field."""
        base = len(self.effort.outer) if in_field else -1
        while True:
            position, start_of_format = self._plain(position, base)
            if start_of_format is None:
                return position
            position = self._format(position, start_of_format)

    def _plain(self, position: int, base: int) -> tuple[int, str | None]:
        """Scan up to the next f-string, or to the end of the field in which ``base`` brackets are open (-1: of no
        field)."""
        texts, offsets = self.words
        effort = self.effort
        outer = effort.outer
        line = -1
        for match in _CODE.finditer(self.text, position):
            kind = match.lastindex
            word = match[0]
            if kind == _WORD:
                effort.terms += 1
                if word == "elif" or word == "if":
                    effort.branch(word, match.start() - line)
            elif kind == _OPEN:
                self.last = match.start()
                effort.open()
            elif kind == _CLOSE:
                if len(outer) == base:
                    return match.start(), None
                effort.close()
            elif kind == _LINE:
                line = match.end()
                if not outer:
                    self.last = match.start()
                    effort.end()
                continue
            elif kind == _FORMAT:
                self.last = match.start()
                texts.append(word)
                offsets.append(match.start())
                return match.end(), word
            elif kind == _SEPARATOR:
                self.last = match.start()
                effort.end()
                continue
            elif kind == _SIGN:
                if len(outer) == base and self._ends_field(word, match.end()):
                    return match.start(), None
                effort.terms += 1
                continue
            elif kind != _LITERAL:
                continue
            texts.append(word)
            offsets.append(match.start())
        effort.end()
        return len(self.text), None

    def _ends_field(self, word: str, end: int) -> bool:
        return word == ":" or (word == "!" and self.text[end : end + 1] != "=")

    def _format(self, position: int, start: str) -> int:
        """Scan an f-string from behind its opening quotes to behind its closing ones."""
        quote = start[2:] if start[1] in "rRfFtT" else start[1:]
        raw = "r" in start[:2].lower()
        self.formats += 1
        if self.formats > MAX_NESTING:
            raise Refused(
                0, f"nesting deeper than {MAX_NESTING} (limit); simplify the expression or leave the file out"
            )
        position = self._text(position, quote, raw, False)
        self.formats -= 1
        if self.text.startswith(quote, position):
            self.words.texts.append(quote)
            self.words.offsets.append(position)
            return position + len(quote)
        return len(self.text)

    def _text(self, position: int, quote: str, raw: bool, in_spec: bool) -> int:
        """Scan the text of an f-string or of a format specification up to (not over) what ends it."""
        text = self.text
        size = len(text)
        while position < size:
            char = text[position]
            if char == "\\":
                named = not raw and text.startswith("\\N{", position)
                position = (
                    text.find("}", position) + 1 or size
                    if named
                    else position + (1 if text[position + 1 : position + 2] in "{}" else 2)
                )
            elif char == "{":
                if not in_spec and text.startswith("{{", position):
                    position += 2
                else:
                    position = self._field(position + 1, quote, raw)
            elif (char == "}" and in_spec) or text.startswith(quote, position):
                return position
            elif char in "\r\n" and len(quote) == 1:
                return size
            else:
                position += 1
        return size

    def _field(self, position: int, quote: str, raw: bool) -> int:
        """Scan ``expression=!r:spec}``."""
        text = self.text
        self.effort.open()
        position = self.code(position, True)
        self.effort.close()
        if text.startswith("!", position):
            position += 2
            while position < len(text) and text[position] not in ":}":
                position += 1
        if text.startswith(":", position):
            position = self._text(position + 1, quote, raw, True)
        return position + 1
