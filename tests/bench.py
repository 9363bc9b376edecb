"""Behind `make bench`: what audits cost, beside what else a user could run. Prints a table, asserts nothing.

    python -m tests.bench sglang==0.5.23 sglang==0.5.9 [--peers pyrefly,ty] [--runs 1] [--no-growth]

Every row is the median of its runs; peers are installed from PyPI into environments below out/, one each.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from auditor.source import fetch_release
from tests.cost import ROOT, Cost, measure

OUT = ROOT / "out"
PEERS: dict[str, tuple[str, ...]] = {
    "pyrefly": ("pyrefly", "check"),
    "ty": ("ty", "check"),
    "mypy": ("mypy", "--ignore-missing-imports", "--cache-dir", os.devnull),
    "pyright": ("pyright",),
}
"""The package and the command with which each looks at a whole tree."""
GROWTH = (1, 4, 16)
POOL = "memory_pool.py"


def median(costs: Sequence[Cost]) -> Cost:
    """The run with the median CPU time."""
    middle = statistics.median_low([one.cpu for one in costs])
    return next(one for one in costs if one.cpu == middle)


def bufgate(*arguments: str | Path, cache: Path, cwd: Path = ROOT) -> Cost:
    cost = measure(sys.executable, "-m", "auditor", "check", *arguments, "-q", cwd=cwd, BUFGATE_CACHE=str(cache))
    if cost.exit not in (0, 1):
        sys.exit(f"bench: bufgate check {' '.join(map(str, arguments))} ended with {cost.exit}")
    return cost


# ---------------------------------------------------------------- one release


def rows(release: str, scratch: Path, runs: int) -> Iterator[tuple[str, Cost]]:
    """Cold and warm, in a copy of the release that is a git repository."""
    tree, cache = scratch / "tree", scratch / "cache"
    shutil.copytree(fetch_release(release), tree)
    git(tree, "init", "-q")
    commit(tree)
    age(tree)

    def repeated(prepare: Callable[[int], object], *arguments: str) -> Cost:
        costs = []
        for number in range(runs):
            prepare(number)
            costs.append(bufgate(*arguments, cache=cache, cwd=tree))
        return median(costs)

    yield "cold", repeated(lambda _: shutil.rmtree(cache, ignore_errors=True), ".")
    bufgate(".", cache=cache, cwd=tree)  # stamps of the files are kept by the first run that finds them settled
    yield "warm, nothing changed", repeated(lambda _: None, ".")
    pool, aside = max(tree.rglob(POOL), key=lambda file: file.stat().st_size), unrelated(tree)
    yield f"warm, {aside.name} changed (unrelated)", repeated(lambda number: change(aside, number), ".")
    yield f"warm, {pool.name} changed", repeated(lambda number: change(pool, number), ".")
    commit(tree)
    change(aside, runs)
    git(tree, "add", "--all")
    bufgate("--hook", cache=cache, cwd=tree)
    yield f"--hook, {aside.name} changed", repeated(lambda number: staged(tree, aside, runs + number), "--hook")
    yield f"--hook, {pool.name} changed", repeated(lambda number: staged(tree, pool, runs + number), "--hook")

    def checked(number: int) -> None:
        staged(tree, pool, 2 * runs + number)
        bufgate(".", cache=cache, cwd=tree)

    yield f"--hook, {pool.name} changed, check ran before", repeated(checked, "--hook")


def unrelated(tree: Path) -> Path:
    """A file that no audit reads, told by words that are in none of its lines."""
    words = ("pool", "cache", "layer", "buffer", "load")
    return next(
        file
        for file in sorted((tree / "sglang" / "srt").rglob("*.py"))
        if file.stat().st_size > 2000 and not any(word in file.read_text(errors="replace").lower() for word in words)
    )


def change(file: Path, number: int) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"\nchanged_{number} = {number}\n")


def staged(tree: Path, file: Path, number: int) -> None:
    change(file, number)
    git(tree, "add", "--all")


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-qm", "bench", "--no-verify")


def git(tree: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", tree, *arguments], check=True, stdout=subprocess.DEVNULL)


def age(tree: Path) -> None:
    """Wait until the files count as settled: nobody audits a tree in the second in which it was unpacked."""
    time.sleep(max(0.0, 3 - (time.time() - tree.stat().st_ctime)))


# ---------------------------------------------------------------- peers and growth


def peer(name: str) -> Path | None:
    """Install a peer into an environment of its own."""
    folder = OUT / f"bench-{name}"
    command = folder / "bin" / PEERS[name][0]
    if not command.is_file():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", PEERS[name][0]], check=False)
    return command if command.is_file() else None


def growth(scratch: Path) -> Iterator[tuple[int, Cost]]:
    """Cold audits of a synthetic tree: five engines a unit, each a copy of the miniature one under names of its own."""
    for factor in GROWTH:
        tree = scratch / f"tree{factor}"
        for number in range(5 * factor):
            target = tree / f"minikv{number}"
            for file in sorted((ROOT / "fixtures" / "engine" / "minikv").glob("*.py")):
                target.mkdir(parents=True, exist_ok=True)
                (target / file.name).write_text(file.read_text().replace("minikv", target.name))
        yield factor, bufgate(tree, "--jobs", "1", cache=scratch / f"cache{factor}")


def exponent(costs: Sequence[tuple[int, Cost]]) -> float:
    """How CPU time grows from the second size to the last: 1 is linear."""
    (small, first), (large, last) = costs[-2], costs[-1]
    return math.log(last.cpu / first.cpu) / math.log(large / small)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("releases", nargs="*", metavar="NAME==VERSION")
    parser.add_argument("--peers", default="pyrefly", help=f"some of {','.join(PEERS)}, or nothing")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--no-growth", action="store_true")
    asked = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    for release in asked.releases:
        print(f"{release}, {os.cpu_count()} cores, median of {asked.runs}", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            cold = None
            for name, cost in rows(release, Path(scratch), asked.runs):
                cold = cold or cost
                print(f"  bufgate {name:<48} {cost}", flush=True)
        for name in filter(None, asked.peers.split(",")):
            command = peer(name)
            if command is None:
                print(f"  {name}: could not be installed")
                continue
            arguments: tuple[str | Path, ...] = (command, *PEERS[name][1:], fetch_release(release))
            cost = median([measure(*arguments) for _ in range(asked.runs)])
            ratio = f"   cold is {cold.cpu / cost.cpu:.1f} × its CPU" if cold and cost.exit is not None else ""
            print(f"  {name:<56} {cost}{ratio}", flush=True)
    if not asked.no_growth:
        with tempfile.TemporaryDirectory() as scratch:
            costs = []
            for factor, cost in growth(Path(scratch)):
                costs.append((factor, cost))
                print(f"  synthetic tree, {factor:>2} ×{'':<38} {cost}", flush=True)
        print(f"  growth: CPU time ~ size ^ {exponent(costs):.2f}")


if __name__ == "__main__":
    main()
