"""What a run is asked for."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[str, int, int], None]
"""Called as (stage, done, total)."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked for.

    ``jobs`` 0 is one worker a core; ``engine`` overrides recognition; ``rules`` are packs (files) that go before the
    built-in ones; ``cache`` is the folder that facts and answers are kept in between runs, None for none; ``remark`` is
    told what went wrong with it, ``detail`` what is done and how long each phase took; ``today`` tells which
    suppressions are over (None: none); ``assume`` are conditions ``K=V`` that hold; ``verify`` has every certificate
    checked again.
    """

    jobs: int = 0
    engine: str | None = None
    rules: tuple[Path, ...] = ()
    assumptions: bool = True
    assume: tuple[str, ...] = ()
    timing: bool = True
    verify: bool = False
    today: datetime.date | None = None
    progress: Progress | None = None
    cache: Path | None = None
    remark: Callable[[str], None] = lambda text: None
    detail: Callable[[str], None] = lambda text: None
