"""Read one file, safely and whole: regular files only, within a limit, unchanged while it was read."""

from __future__ import annotations

import codecs
import os
import re
import stat

DEFAULT_LIMIT = 4_000_000
"""Bytes. The longest file of SGLang 0.5.23 has a fifth of it; a file made to be slow has more."""
TOTAL_LIMIT = 1_000_000_000
"""Bytes of all files together, since what was read is kept: fifteen times SGLang 0.5.23."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_COOKIE = re.compile(rb"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
_LINE_END = re.compile("\r\n|\r|\n")
_SLOW_CODECS = frozenset({"idna", "punycode"})  # quadratic: a hostile file could choose them


class Unreadable(Exception):
    """Indicates that one file cannot be read; the text is what the report's problem says."""


def read_file(file: str, limit: int) -> bytes:
    """Return the bytes of a regular file, or raise Unreadable. Never blocks and follows no link."""
    try:
        for _attempt in range(2):
            if (data := _read_once(file, limit)) is not None:
                return data
    except OSError as error:
        raise Unreadable(f"cannot be read: {_reason(error)}") from error
    raise Unreadable("changed while it was read, twice; left out")


def digest_of(content: bytes) -> str:
    """Return the digest of a content: no two that differ have the same."""
    from hashlib import blake2b

    return blake2b(content, digest_size=16).hexdigest()


def head_matches(file: str, pattern: re.Pattern[bytes], most: int = 64_000_000) -> bool:
    """Whether ``pattern`` occurs in the first ``most`` bytes of a regular file too large to be read whole."""
    try:
        descriptor = os.open(file, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return False
            tail, done = b"", 0
            while done < most and (chunk := os.read(descriptor, 1_000_000)):
                if pattern.search(tail + chunk):
                    return True
                tail, done = chunk[-200:], done + len(chunk)
        finally:
            os.close(descriptor)
    except OSError:
        return False  # what cannot be opened is a problem already
    return False


def decode(data: bytes) -> str:
    """Decode Python source as declared (byte order mark, coding line, else UTF-8); what does not decode is replaced."""
    if data.startswith(codecs.BOM_UTF8):
        return data[3:].decode("utf-8", "replace")
    try:
        return data.decode(declared_encoding(data), "replace")
    except (LookupError, UnicodeError):
        return data.decode("utf-8", "replace")


def declared_encoding(data: bytes) -> str:
    """Return the encoding that the first two lines declare, by its normal name; ``utf-8`` where none is known."""
    if not (found := _COOKIE.match(data)):
        return "utf-8"
    try:
        codec = codecs.lookup(found[1].decode("ascii", "replace"))
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if codec.name in _SLOW_CODECS else codec.name


def split_lines(text: str) -> tuple[str, ...]:
    """Split where Python's grammar does (not at form feeds or U+2028, as str.splitlines would)."""
    lines = _LINE_END.split(text)
    return tuple(lines[:-1] if not lines[-1] else lines)


def _read_once(file: str, limit: int) -> bytes | None:
    """The content, or None if the file changed meanwhile."""
    descriptor = os.open(file, _FLAGS)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise Unreadable(f"is {kind(before.st_mode)}, not a regular file; not read")
        if before.st_size > limit:
            raise Unreadable(f"has {megabytes(before.st_size)}, more than the limit of {megabytes(limit)}; not read")
        data = _read_up_to(descriptor, before.st_size + 1)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return data if same and len(data) == after.st_size else None


def _read_up_to(descriptor: int, count: int) -> bytes:
    data = os.read(descriptor, count)
    while len(data) < count and (more := os.read(descriptor, count - len(data))):
        data += more
    return data


def kind(mode: int) -> str:
    """Return the words for a file type that is not regular."""
    tests = (
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((words for test, words in tests if test(mode)), "a folder" if stat.S_ISDIR(mode) else "a special file")


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def megabytes(count: int) -> str:
    """Return a size in words."""
    return f"{count / 1_000_000:.1f} MB" if count >= 100_000 else f"{count} bytes"
