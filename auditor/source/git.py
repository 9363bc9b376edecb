"""What git knows about a folder: which files belong to the work tree and what it ignores.

git is asked, never trusted: hooks and file-system monitors of the audited repository are switched off (they are
programs that its configuration names), variables that would point it elsewhere are dropped, names come NUL-separated.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO

_KEPT_VARIABLES = ("GIT_CONFIG", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH")
_SECONDS = 120


class GitFailure(Exception):
    """Indicates that git could not do it; the text is what it said."""


@dataclass(frozen=True, slots=True)
class GitListing:
    """Names below the folder. Folders end in ``/``: other repositories in ``files``, whole ones in ``ignored``."""

    files: tuple[str, ...]
    ignored: tuple[str, ...]


def git_listing(folder: str) -> GitListing | None:
    """Return what git lists below ``folder``, or None outside a work tree, without git, or where git refuses."""
    if not _in_work_tree(folder):
        return None
    files = _ls_files(folder, "-co")
    if files is None:
        return None
    return GitListing(files, _ls_files(folder, "-oi", "--directory") or ())


def _in_work_tree(folder: str) -> bool:
    """Whether a ``.git`` lies here or above: spares the process where there is none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


def _ls_files(folder: str, *options: str) -> tuple[str, ...] | None:
    try:
        listed = run_git(folder, "ls-files", "-z", "--exclude-standard", *options)
    except GitFailure:
        return None
    return tuple(os.fsdecode(name) for name in listed.split(b"\0") if name)


def run_git(folder: str, *arguments: str, stdin: IO[bytes] | None = None, index: bool = False) -> bytes:
    """Run git in ``folder`` and return what it writes; ``index``: with the index of the commit that is being made."""
    import subprocess

    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false"]
    command += ["-C", folder, *arguments]
    environment = _environment()
    if index and "GIT_INDEX_FILE" in os.environ:
        environment["GIT_INDEX_FILE"] = os.environ["GIT_INDEX_FILE"]
    try:
        done = subprocess.run(
            command,
            stdin=stdin or subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GitFailure(f"git cannot be run: {error}") from error
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailure(told[-1] if told else f"git ended with status {done.returncode}")
    return done.stdout


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT_VARIABLES)
    }
    never = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    return kept | never | {"GIT_NO_REPLACE_OBJECTS": "1"}
