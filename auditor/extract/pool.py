"""Many files at once: extraction in worker processes, in the order asked for, whatever their number.

Importing the parser costs as much as parsing some files, so it is imported by the first file that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from types import TracebackType
from typing import NamedTuple

from auditor.facts import encode

HANDFUL = 300_000
"""Bytes below which starting a worker costs more than it saves."""


class Source(NamedTuple):
    """One file to extract."""

    path: str
    module: str
    is_package: bool
    content: bytes


def extract_one(source: Source) -> bytes:
    from auditor.extract.parse import extract

    return encode(extract(*source))


class Extractor:
    """Extracts files with ``jobs`` workers (0: one a core), which are started when they first pay and then kept."""

    def __init__(self, jobs: int = 0) -> None:
        self._jobs = jobs or _cores()
        self._stack = ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Extractor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __call__(self, sources: Sequence[Source]) -> Iterable[bytes]:
        """Yield the encoded facts of each source, in order."""
        if self._jobs == 1 or (self._pool is None and sum(len(one.content) for one in sources) < HANDFUL):
            return map(extract_one, sources)
        if self._pool is None:
            import auditor.extract.parse  # noqa: F401  # once, for all workers

            self._pool = self._stack.enter_context(ProcessPoolExecutor(self._jobs, mp_context=get_context("fork")))
        order = sorted(range(len(sources)), key=lambda index: -len(sources[index].content))  # the largest first
        futures = {index: self._pool.submit(extract_one, sources[index]) for index in order}
        return (futures[index].result() for index in range(len(sources)))


def _cores() -> int:
    """The cores this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
