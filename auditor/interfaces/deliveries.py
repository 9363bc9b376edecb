"""What a webhook asked for and is not done yet, in one SQLite file: a server that is stopped goes on where it was.

A delivery says that a pull request has news, not which: what holds is asked when its turn comes. So all deliveries of
one pull request that wait are one piece of work. One that was *done* is not done again; one that *failed* is, when
GitHub delivers it once more, under the same name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

FILE = Path(".bufgate") / "deliveries.sqlite"
REMEMBERED = 10_000
"""So many of the latest deliveries are known by name."""
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS delivery (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        number INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed'))
    )
"""


class Work(NamedTuple):
    """The deliveries of one pull request up to a place in the queue."""

    number: int
    place: int


class Deliveries:
    """The queue; each call stands for itself, so any thread may make it."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / ".gitignore").write_text("*\n", encoding="ascii")
        self._file = file
        with self._changing() as rows:
            rows.execute(_SCHEMA)

    def add(self, name: str, number: int) -> bool:
        """Put a delivery into the queue; False where it is there, or done."""
        with self._changing() as rows:
            found = rows.execute(
                "INSERT INTO delivery (name, number, state) VALUES (?, ?, 'waiting')"
                " ON CONFLICT (name) DO UPDATE SET state = 'waiting' WHERE state = 'failed'",
                (name, number),
            )
            return found.rowcount == 1

    def next(self) -> Work | None:
        """Return the pull request that has waited for longest; it stays in the queue until it is ended."""
        with self._changing() as rows:
            found = rows.execute(
                "SELECT number, max(place) FROM delivery WHERE state = 'waiting'"
                " GROUP BY number ORDER BY min(place) LIMIT 1"
            ).fetchone()
            return Work(*found) if found else None

    def end(self, work: Work, *, well: bool) -> None:
        """Take the deliveries of a work out of the queue, not what came in while it was done."""
        with self._changing() as rows:
            rows.execute(
                "UPDATE delivery SET state = ? WHERE number = ? AND place <= ? AND state = 'waiting'",
                ("done" if well else "failed", work.number, work.place),
            )
            rows.execute(
                "DELETE FROM delivery WHERE state <> 'waiting' AND place <= (SELECT max(place) FROM delivery) - ?",
                (REMEMBERED,),
            )

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file, timeout=10)) as connection, connection:
            yield connection
