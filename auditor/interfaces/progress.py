"""Progress on stderr: nothing for a second; then a bar on a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

SILENT = 1.0
"""Seconds without a word."""
REDRAWN = 0.1
"""Seconds between two drawings of the bar."""
REPEATED = 10.0
"""Seconds between two plain lines."""
BAR = 24
CLEAR = "\r\x1b[K"


class Progress:
    """Tells how far the stages of a run are. Use as a context manager: the bar is gone when it is left."""

    def __init__(
        self, stream: TextIO, *, interactive: bool, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._interactive = interactive
        self._quiet = quiet
        self._clock = clock
        self._started = clock()
        self._next = self._started + (SILENT if interactive else REPEATED)
        self._drawn = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._drawn:
            self._write(CLEAR)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` steps of a stage are done; a total of 0 is one that is not known."""
        now = self._clock()
        if self._quiet or now < self._next:
            return
        self._next = now + (REDRAWN if self._interactive else REPEATED)
        seconds = now - self._started
        if self._interactive:
            width = shutil.get_terminal_size((80, 24)).columns - 1
            self._write(CLEAR + bar(stage, done, total, seconds)[:width])
            self._drawn = True
        else:
            self._write(plain(stage, done, total, seconds) + "\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._quiet = True  # stderr is gone; the report is not


def bar(stage: str, done: int, total: int, seconds: float) -> str:
    """Draw ``link       [======      ]  120/412  3 s``."""
    full = BAR * min(done, total) // total if total else 0
    numbers = f"{done:,}/{total:,}" if total else f"{done:,}"
    return f"{stage:<10} [{'=' * full}{' ' * (BAR - full)}] {numbers}  {seconds:.0f} s"


def plain(stage: str, done: int, total: int, seconds: float) -> str:
    """Write ``bufgate: link, 120 of 412, 30 s``."""
    numbers = f"{done:,} of {total:,}" if total else f"{done:,}"
    return f"bufgate: {stage}, {numbers}, {seconds:.0f} s"
