"""What a command costs: CPU and wall time, peak memory.

    python -m tests.cost COMMAND [ARGUMENT ...]

prints it as JSON once the command has ended. The memory is right only if who measures is small: Linux counts the peak
of a process that starts another to the new one as well (setmax_mm_hiwater_rss in fs/exec.c). So what has grown itself,
as pytest has, measures through this command, with `measured`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1200
"""Seconds of wall time after which a command does not finish."""


@dataclass(frozen=True)
class Cost:
    """CPU and wall time in seconds, memory of the largest process in GB; ``exit`` is None after the time limit."""

    cpu: float
    wall: float
    peak: float
    exit: int | None

    def __str__(self) -> str:
        shown = f"{self.cpu:8.2f} s CPU {self.wall:8.2f} s wall {self.peak:6.2f} GB"
        return shown if self.exit is not None else f"does not finish within {LIMIT} s"


def measure(*command: str | Path, cwd: Path = ROOT, stderr: IO[str] | int = subprocess.DEVNULL, **env: str) -> Cost:
    """Run a command to its end from a small process; its children count, and what it prints is dropped."""
    start = time.monotonic()
    process = subprocess.Popen(
        ["timeout", str(LIMIT), *map(str, command)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    finished = None if process.returncode == 124 else process.returncode
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * unit / 1e9, finished)


def measured(*command: str | Path, cwd: Path = ROOT) -> tuple[Cost, str]:
    """Measure from any process; also what the command said on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.cost", *map(str, command)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return Cost(**json.loads(done.stdout)), done.stderr.strip()


def main(command: Sequence[str]) -> None:
    print(json.dumps(dataclasses.asdict(measure(*command, cwd=Path.cwd(), stderr=sys.stderr))))


if __name__ == "__main__":
    main(sys.argv[1:])
