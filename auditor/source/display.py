"""Paths as text that is safe on a terminal."""

from __future__ import annotations


def display(path: str) -> str:
    """Return a path with control and direction characters and undecodable bytes escaped; no two paths look alike."""
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(
        character if character.isprintable() and character != "\\" else _escaped(character) for character in path
    )


def _escaped(character: str) -> str:
    code = ord(character)
    if character == "\\":
        return "\\\\"
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: one byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii") if code > 0x9F else f"\\u{code:04x}"
