"""Values of literals, without evaluating any code."""

from __future__ import annotations

import re
import unicodedata

import libcst as cst

MAX_TEXT = 2_000
_ESCAPE = re.compile(r"\\(\r\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[\s\S])")
_SIMPLE = {"\n": "", "\r\n": "", "\r": ""} | dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))


def string(source: str) -> str | None:
    """Give the text of a string literal; None for bytes."""
    quote = source.find('"') if source[-1] == '"' else source.find("'")
    prefix = source[:quote].lower()
    if "b" in prefix:
        return None
    width = 3 if source[quote : quote + 3] in ('"""', "'''") and len(source) - quote >= 6 else 1
    text = source[quote + width : -width]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" in text and "r" not in prefix:
        text = _ESCAPE.sub(_unescape, text)
    return text


def _unescape(match: re.Match[str]) -> str:
    body = match[1]
    if body in _SIMPLE:
        return _SIMPLE[body]
    if body[0] in "01234567":
        return chr(int(body, 8))
    if len(body) > 1 and body[0] in "xuU":
        code = int(body[1:], 16)
        return chr(code) if code <= 0x10FFFF else match[0]
    if body.startswith("N{"):
        try:
            return unicodedata.lookup(body[2:-1])
        except KeyError:
            return match[0]
    return match[0]


def number(node: cst.Integer | cst.Float) -> int | float | None:
    """Give the value of a number; None where it has more digits than anything reads."""
    text = node.value.replace("_", "")
    if len(text) > 1_000:
        return None
    if isinstance(node, cst.Float):
        return float(text)
    return int(text, 0) if text.strip("0") else 0


def plain_text(node: cst.BaseExpression) -> str | None:
    """Give the text of a string, concatenated or not, that has no f-string in it; else None."""
    parts: list[str] = []
    while isinstance(node, cst.ConcatenatedString):
        left = plain_text(node.left)
        if left is None:
            return None
        parts.append(left)
        node = node.right
    if not isinstance(node, cst.SimpleString):
        return None
    last = string(node.value)
    return None if last is None else "".join(parts) + last
