"""Where reports go: ``-o FORMAT[:FILE]``, files that are replaced in one step, stdout, colour and width."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from auditor.interfaces.exits import BROKEN_PIPE
from auditor.interfaces.failures import Failure

WIDTH = 100
"""Columns of a report that no terminal shows."""
NARROWEST, WIDEST = 60, 120
CHUNK = 8192
"""Characters of one write: an unbuffered stdout (PYTHONUNBUFFERED) takes part of a long one and does not say so."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A format and where it goes; ``file`` None is stdout."""

    format: str
    file: Path | None


def parse_destination(text: str, formats: Sequence[str]) -> Destination:
    """Read ``FORMAT``, ``FORMAT:FILE`` or ``FORMAT:-``; refuse what could not be written at the end of a long run."""
    name, _, file = text.partition(":")
    require_known(name, formats, "format")
    return Destination(name, None if file in ("", "-") else writable(Path(file)))


def require_known(name: str, known: Sequence[str], noun: str) -> None:
    """Refuse a name that is not known, with the nearest one that is."""
    import difflib

    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"Unknown {noun} {name!r}.{hint} Known are: {', '.join(known)}.")


def writable(file: Path) -> Path:
    """Refuse a file whose folder is not there, or that is a folder."""
    if file.is_dir():
        raise click.UsageError(f"Cannot write to {str(file)!r}: it is a folder.")
    if not file.parent.is_dir():
        raise click.UsageError(f"Cannot write to {str(file)!r}: the folder {str(file.parent)!r} does not exist.")
    return file


def require_distinct(destinations: Iterable[Destination]) -> None:
    """Refuse two reports in one place."""
    places = [destination.file for destination in destinations]
    if places.count(None) > 1:
        raise click.UsageError("Only one report can go to stdout. Give the others a file: -o FORMAT:FILE.")
    files = [os.path.realpath(file) for file in places if file]
    for file in files:
        if files.count(file) > 1:
            raise click.UsageError(f"Two reports cannot go to the same file, {file!r}.")


# ---------------------------------------------------------------- writing


def deliver(text: str, file: Path | None) -> None:
    """Write a text to stdout, or replace a file with it."""
    if file is None:
        _to_stdout(text)
    else:
        try:
            _replace(file, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise Failure(f"cannot write {file}: {error.strerror or error}") from error


def _to_stdout(text: str) -> None:
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace")  # a terminal that cannot show a character still gets its number
    try:
        for start in range(0, len(text), CHUNK):
            sys.stdout.write(text[start : start + CHUNK])
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except OSError as error:
        _forget_stdout()
        raise Failure(f"cannot write to stdout: {error.strerror or error}") from error


def _forget_stdout() -> None:
    """Let the interpreter's own flush at exit write to nowhere."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Replace files with new contents, each in one step and with its permissions."""
    for file, content in contents.items():
        try:
            _replace(file, content)
        except OSError as error:
            raise Failure(f"cannot write {file}: {error.strerror or error}") from error


def _replace(file: Path, content: bytes) -> None:
    """Write beside the file, then rename: who looks sees the old one or the new one, never half of one."""
    target = Path(os.path.realpath(file))
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        target.write_bytes(content)  # a device or a pipe cannot be replaced
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), "wb") as stream:
            stream.write(content)
            if target.exists():
                os.chmod(beside, stat.S_IMODE(target.stat().st_mode))
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


# ---------------------------------------------------------------- colour and width


def use_color(asked: bool | None, *, terminal: bool, environment: Mapping[str, str]) -> bool:
    """Decide: the option, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal that knows colours."""
    if asked is not None:
        return asked
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"


def page_width(*, terminal: bool, environment: Mapping[str, str]) -> int:
    """Return the columns to write on: the terminal's, within reason; elsewhere what COLUMNS says, or always as many."""
    if terminal:
        return min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    asked = environment.get("COLUMNS", "")
    return max(int(asked), NARROWEST) if re.fullmatch("[0-9]{1,6}", asked) else WIDTH
