"""Digests of files that are known without reading them, told by what the file system says of a file.

As in git's index: size, times, inode. The content is the truth; a stamp is believed only where the file system would
have told a change. A file that was changed just before it was looked at may be changed again without a new time (the
"racy" entries of git), so a stamp is kept only of files that had been left alone for a while.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

SETTLED = 2_000_000_000
"""Nanoseconds that a file must have been left alone: FAT has times of two seconds, and clocks of servers differ."""

_Stamp = tuple[int, int, int, int]


class Stamps:
    """Stamps that an earlier run kept, and new ones; ``changed`` when there are others to keep than before."""

    def __init__(self, kept: bytes = b"", now: int | None = None) -> None:
        self._now = time.time_ns() if now is None else now
        self._kept = _read(kept)
        self._seen: dict[str, list[object]] = {}

    @property
    def changed(self) -> bool:
        return self._seen != self._kept

    def digest(self, file: str, seen: os.stat_result, make: Callable[[], str]) -> str:
        """Return the digest of the content: the kept one, or what ``make`` reads now.

        Args:
            seen: what the file looked like, before ``make`` is called and not before this object was made.
        """
        stamp: _Stamp = (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
        row = self._kept.get(file)
        if row is not None and row[:4] == [*stamp]:
            digest = row[4]
            assert isinstance(digest, str)
        else:
            digest = make()
        if digest and max(seen.st_mtime_ns, seen.st_ctime_ns) < self._now - SETTLED:
            self._seen[file] = [*stamp, digest]
        return digest

    def encoded(self) -> bytes:
        """Return what is to be kept: the files that were asked for, no others."""
        return json.dumps(self._seen, separators=(",", ":")).encode("ascii")


def _read(kept: bytes) -> dict[str, list[object]]:
    """The stamps as they were kept; none from bytes that hold anything else."""
    try:
        rows = json.loads(kept or b"{}")
    except ValueError:
        return {}
    sound = type(rows) is dict and all(type(row) is list and [*map(type, row)] == _TYPES for row in rows.values())
    return rows if sound else {}


_TYPES = [int, int, int, int, str]
