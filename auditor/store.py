"""Bytes kept between runs: one SQLite file, key to value, bounded in size, shared by all processes of a user.

It can only ever save time. A file that is damaged, locked or full, or of another version, is a miss, and ``trouble``
says so.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

LIMIT = 96 * 2**20
"""Bytes of compressed values above which the longest unused go."""
_KEPT = 0.75
_WAIT = 2.0
"""Seconds to wait for another process that writes."""
_BATCH = 500
"""Keys a query: SQLite allows 999 variables in its oldest versions."""
_SCHEMA = """
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, used INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS content (key BLOB PRIMARY KEY, value BLOB NOT NULL);
"""


_CACHEDIR_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of bufgate; it can be deleted.\n"


def make_cache(folder: Path) -> None:
    """Make a folder that backup tools and git leave alone (Cache Directory Tagging Specification)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("CACHEDIR.TAG", _CACHEDIR_TAG), (".gitignore", "*\n")):
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")


class Store:
    """The file at ``path`` (made if it is missing), or nothing at all where ``path`` is None.

    Attributes:
        trouble: why nothing is kept or found, in words for the user; "" while all is well.
    """

    def __init__(self, path: Path | None, *, limit: int = LIMIT) -> None:
        self.trouble = ""
        self._path = path
        self._limit = limit
        self._run = 0
        self._keeps = True
        self._connection: sqlite3.Connection | None = None
        if path is not None:
            try:
                self._connection = self._open(path)
            except (OSError, sqlite3.Error) as error:
                self._give_up(error)

    def _open(self, path: Path) -> sqlite3.Connection:
        make_cache(path.parent)
        connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        try:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'content'").fetchone():
                connection.executescript(_SCHEMA)
            (newest,) = connection.execute("SELECT coalesce(max(used), 0) FROM entry").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        self._run = int(newest) + 1
        return connection

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those ``keys`` that are kept."""
        found: dict[bytes, bytes] = {}
        try:
            for start in range(0, len(keys) if self._connection else 0, _BATCH):
                assert self._connection is not None
                batch = keys[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                rows = self._connection.execute(f"SELECT key, value FROM content WHERE key IN ({marks})", batch)
                found.update((key, zlib.decompress(value)) for key, value in rows)
        except (sqlite3.Error, zlib.error) as error:
            self._give_up(error)
        return found

    def keep(self, values: Mapping[bytes, bytes], used: Iterable[bytes] = ()) -> None:
        """Keep ``values``, remember that ``used`` were of use, and drop what has not been for longest if all is too
        much."""
        if self._connection is None or not self._keeps:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("UPDATE entry SET used = ? WHERE key = ?", ((self._run, key) for key in used))
            for key, value in values.items():
                packed = zlib.compress(value, 1)
                self._connection.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?)", (key, self._run, len(packed)))
                self._connection.execute("INSERT OR REPLACE INTO content VALUES (?, ?)", (key, packed))
            self._shrink(self._connection)
            self._connection.execute("COMMIT")
            self._connection.execute("PRAGMA incremental_vacuum")
        except sqlite3.Error as error:
            self._keep_no_more(self._connection, error)

    def _shrink(self, connection: sqlite3.Connection) -> None:
        (size,) = connection.execute("SELECT coalesce(sum(size), 0) FROM entry").fetchone()
        if size <= self._limit:
            return
        for key, length in connection.execute("SELECT key, size FROM entry ORDER BY used, key").fetchall():
            connection.execute("DELETE FROM entry WHERE key = ?", (key,))
            connection.execute("DELETE FROM content WHERE key = ?", (key,))
            size -= length
            if size <= self._limit * _KEPT:
                return

    def close(self) -> None:
        """Close the file; a store that is closed finds and keeps nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _keep_no_more(self, connection: sqlite3.Connection, error: sqlite3.Error) -> None:
        """Only read from now on: another process writes, or the disk is full."""
        self.trouble = f"nothing more is kept in the cache {self._path} ({error}); delete it if this stays"
        self._keeps = False
        with suppress(sqlite3.Error):  # of what could not be written nothing is left
            connection.execute("ROLLBACK")

    def _give_up(self, error: Exception) -> None:
        self.trouble = f"the cache {self._path} is not used ({error}); delete it if this stays"
        self.close()
