"""A spine that audits nothing and returns the sample report; a program, too, for tests of whole processes."""

from __future__ import annotations

import datetime
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auditor.triage import Report
from tests.unit.render import sample

NAME = "auditor.audit"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the spine, as the command line makes them."""

    jobs: int = 0
    engine: str | None = None
    rules: tuple[Path, ...] = ()
    assumptions: bool = True
    assume: tuple[str, ...] = ()
    timing: bool = True
    verify: bool = False
    today: datetime.date | None = None
    progress: Callable[[str, int, int], None] | None = None
    cache: Path | None = None
    remark: Callable[[str], None] | None = None
    detail: Callable[[str], None] | None = None


def spine(report: Report | BaseException, calls: list[Any] | None = None) -> types.ModuleType:
    """Make a module that stands for ``auditor.audit``; ``calls`` gets (tree, options) of every call."""
    module = types.ModuleType(NAME)

    def audit(tree: Any, options: Options, _subject: Any = None) -> Report:
        if calls is not None:
            calls.append((tree, options))
        if isinstance(report, BaseException):
            raise report
        seconds = report.stats.seconds if options.timing else None
        return replace(report, stats=replace(report.stats, seconds=seconds))

    def call_graph(_tree: Any, _options: Options) -> Mapping[str, tuple[str, ...]]:
        return {"m.main": ("m.Pool.get_key_buffer", "m.idle"), "m.Pool.get_key_buffer": (), "m.idle": ()}

    def recognise(_tree: Any, _rules: Any = ()) -> list[tuple[str, str, bool, str]]:
        return [
            ("sglang", "rules/sglang.toml", True, "m.py holds HiCacheController"),
            ("vllm", "rules/vllm.toml", False, "looked for KVConnectorBase"),
        ]

    module.__dict__.update(Options=Options, audit=audit, call_graph=call_graph, recognise=recognise)
    return module


def run() -> None:
    """Run the command line on the sample report; FAKE says what happens on the way."""
    behaviour = os.environ.get("FAKE", "")
    module = spine(sample.REPORT)
    if behaviour:
        audit = module.audit

        def acting(tree: Any, options: Options, _subject: Any = None) -> Report:
            if behaviour == "slow":
                for step in range(16):
                    time.sleep(0.1)
                    assert options.progress
                    options.progress("extract", step, 16)
            if behaviour == "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            if behaviour == "long":
                return replace(sample.REPORT, notes=tuple(f"line {n}" for n in range(100_000)))
            return audit(tree, options)  # type: ignore[no-any-return]

        module.audit = acting  # type: ignore[attr-defined]
    sys.modules[NAME] = module

    from auditor.interfaces.cli import main

    main(prog_name="bufgate")


if __name__ == "__main__":
    run()
