"""Behind `make bench`: what the audit of a release costs. Prints, asserts nothing.

python tests/bench.py sglang==0.5.23
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from auditor.source import fetch_release

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"


@dataclass(frozen=True)
class Cost:
    cpu: float
    wall: float
    peak: float

    def __str__(self) -> str:
        return f"{self.cpu:7.1f} s CPU {self.wall:7.1f} s wall {self.peak:7.2f} GB peak (largest process)"


def measure(*command: str | Path, **environment: str) -> tuple[int, Cost]:
    """Run a command to its end; its children count, and whatever it says is dropped."""
    start = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    cost = Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * unit / 1e9)
    return process.returncode, cost


def bufgate(tree: Path, cache: str) -> tuple[int, Cost]:
    command = Path(sys.executable).with_name("bufgate")
    return measure(command, "check", tree, "--no-timing", "-o", f"json:{OUT / 'bench.json'}", BUFGATE_CACHE=cache)


def pyrefly() -> Path | None:
    """Install the yardstick into an environment of its own."""
    folder = OUT / "bench-venv"
    command = folder / "bin" / "pyrefly"
    if not command.is_file():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "pyrefly"], check=False)
    return command if command.is_file() else None


def main(release: str) -> None:
    OUT.mkdir(exist_ok=True)
    tree = fetch_release(release)
    with tempfile.TemporaryDirectory() as cache:
        status, cold = bufgate(tree, cache)
        print(f"bufgate, cold       {cold}")
        _, warm = bufgate(tree, cache)
        print(f"bufgate, again      {warm}")
    if status not in {0, 1}:
        sys.exit(f"bench: the audit of {release} ended with {status}")
    if yardstick := pyrefly():
        _, other = measure(yardstick, "check", tree)
        print(f"pyrefly check       {other}")
        print(f"ratio               {cold.cpu / other.cpu:7.2f} CPU   {cold.wall / other.wall:7.2f} wall")
    else:
        print("pyrefly could not be installed: no ratio")


if __name__ == "__main__":
    main(sys.argv[1])
