"""What a run tells of its phases under ``--verbose``: one line each, with the seconds that it took."""

from __future__ import annotations

import time
from collections.abc import Callable


class Phases:
    """Call it at the end of a phase with what was done in it."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._tell = tell
        self._clock = clock
        self._since = clock()

    def __call__(self, done: str) -> None:
        now = self._clock()
        self._tell(f"{done} ({now - self._since:.2f} s)")
        self._since = now
