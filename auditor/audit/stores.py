"""Is a name that is bound somewhere in a file an attribute's? Told from the bytes before it, generously."""

from __future__ import annotations

import re

_BRACKET = re.compile(rb"[()\[\]{}]")
_CALLED = re.compile(rb"(\bdef\s+)?\b(\w+)\s*\Z")
_PASSED_ON = frozenset({b"cls", b"dict", b"evolve", b"partial", b"replace", b"_replace", b"update"})
"""Functions that put their keywords into an object. What others do with a keyword, their own bodies show."""
_FAR = 4000
"""Bytes before a name in which the bracket is looked for that it stands in."""
_NEAR = 80
"""Bytes in which is looked for a dot before a name, and for who is called before a bracket."""


def is_stored(content: bytes, at: int) -> bool:
    """Whether the name at ``at``, which is bound there, can be that of an attribute or of a global variable: it is no
    parameter, no variable of a function, no keyword of a call that makes nothing."""
    if content[max(0, at - _NEAR) : at].rstrip(b" \t\r\n\\").endswith(b"."):
        return True
    bracket = _bracket(content, at)
    if bracket is None or content[bracket] != ord("("):
        return not _in_function(content, at)
    called = _CALLED.search(content, max(0, bracket - _NEAR), bracket)
    if called is None:
        return True
    return not called[1] and (called[2] in _PASSED_ON or _is_class(called[2]))


def _is_class(name: bytes) -> bool:
    """Whether a name is spelt as classes are."""
    return name.lstrip(b"_")[:1].isupper()


def _bracket(content: bytes, at: int) -> int | None:
    """Where the nearest bracket before ``at`` stands that is still open there."""
    closed = 0
    start = max(0, at - _FAR)
    for found in reversed([*_BRACKET.finditer(content, start, at)]):
        closed += 1 if found[0] in b")]}" else -1
        if closed < 0:
            return found.start()
    return None


def _in_function(content: bytes, at: int) -> bool:
    """Whether a statement at ``at`` stands in a function, and not in a class or the module itself."""
    start = content.rfind(b"\n", 0, at) + 1
    indent = _indent(content[start:at])
    while indent and start:
        end = start - 1
        start = content.rfind(b"\n", 0, end) + 1
        line = content[start:end]
        text = line.lstrip()
        if not text or text.startswith(b"#") or _indent(line) >= indent:
            continue
        if text.startswith((b"def ", b"async def ")):
            return True
        if text.startswith(b"class "):
            return False
        indent = _indent(line) + text.startswith((b")", b"]", b"}"))  # the end of a header: its start is as far in
    return False


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
