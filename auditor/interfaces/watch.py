"""``check --watch``: the same check again each time that something which it reads has changed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from auditor.errors import AuditError
from auditor.interfaces.again import command, environment
from auditor.interfaces.options import Request

SHORTEST = 1.0
"""Seconds between two looks."""
SHARE = 10
"""A wait is so many times as long as the look at the files was: watching takes a tenth of a processor at most."""

State = Mapping[str, tuple[int, int]]


def watch(request: Request, arguments: Sequence[str]) -> None:
    """Run the command with these arguments, then once more after each change, until somebody presses Ctrl-C."""
    while True:
        before = _state(request)
        if sys.stdout.isatty():
            click.clear()
        status = _run(arguments)
        request.say(f"bufgate: exit status {status}; waiting for a change, Ctrl-C ends")
        _wait(request, before)
        request.say("bufgate: a file has changed")


def _wait(request: Request, before: State) -> None:
    took = 0.0
    while True:
        time.sleep(max(SHORTEST, SHARE * took))
        start = time.monotonic()
        if _state(request) != before:
            return
        took = time.monotonic() - start


def _run(arguments: Sequence[str]) -> int:
    return subprocess.run(command(*arguments), env=environment(), check=False).returncode


def _state(request: Request) -> State:
    """Look at every file that an audit may read."""
    return {str(path): stamp for path in _files(request) if (stamp := _stamp(path))}


def _files(request: Request) -> Iterable[Path]:
    yield from filter(None, (request.configuration.file, request.baseline_file(None), *request.rules()))
    try:
        tree = request.open()
    except AuditError:  # what is wrong is told by the run
        return
    yield from (tree.file(path) for path in tree.files)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size
