"""Select the Python files below a folder: what git lists in a work tree, what a walk finds elsewhere; one set of rules.

Folder links are never entered: what they point at inside the root is read where it lies; outside it is a problem.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field

from auditor.source.git import GitListing, git_listing
from auditor.source.reading import kind

_VERSION_CONTROL = {".git", ".hg", ".svn"}
_ENVIRONMENTS = {".venv", ".tox", ".nox", ".eggs", "node_modules"}
_CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".bufgate_cache"}
NEVER_ENTERED = frozenset(_VERSION_CONTROL | _ENVIRONMENTS | _CACHES)
_BUILD_MARKS = ("CACHEDIR.TAG", "pyvenv.cfg")
LINKS_OUT = "links out of the audited root; not followed"


@dataclass(slots=True)
class Selection:
    """What one root gives, by names relative to it. ``files`` with what the file system says of each; ``targets``: for
    links inside the root, the file to read."""

    top: str
    inside: tuple[str, ...]
    files: dict[str, os.stat_result] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, set[str]] = field(default_factory=dict)
    walked: bool = False
    waiting: list[str] = field(default_factory=list)
    _folders: dict[str, bool] = field(default_factory=dict)

    def absolute(self, name: str) -> str:
        return os.path.join(self.top, name) if name else self.top

    def skip(self, reason: str, name: str) -> None:
        self.skipped.setdefault(reason, set()).add(name)

    def enters(self, name: str) -> bool:
        """Whether the folder ``name`` and all those above it are entered; says so once where not."""
        unjudged = []
        while name and name not in self._folders:  # no recursion: a hostile tree is two thousand folders deep
            unjudged.append(name)
            name = os.path.dirname(name)
        entered = self._folders.get(name, True)
        for folder in reversed(unjudged):
            entered = self._folders[folder] = entered and self._enters_last(folder)
        return entered

    def _enters_last(self, name: str) -> bool:
        folder = self.absolute(name)
        if os.path.basename(name) in NEVER_ENTERED:
            self.skip("folders never entered", name)
        elif os.path.islink(folder):
            self._judge_folder_link(name)
        elif mark := next((mark for mark in _BUILD_MARKS if os.path.lexists(os.path.join(folder, mark))), None):
            self.skip(f"folders with {mark}", name)
        else:
            return True
        return False

    def _judge_folder_link(self, name: str) -> None:
        if is_inside(os.path.realpath(self.absolute(name)), self.inside):
            self.skip("folder links (read where they point)", name)
        else:
            self.problems[name] = LINKS_OUT

    def consider(self, name: str) -> None:
        """Take the file ``name`` in if it is Python; judge links, folders and what is no file."""
        try:
            seen = os.lstat(self.absolute(name))
        except (FileNotFoundError, NotADirectoryError):
            return  # git lists what was deleted from the work tree
        except OSError as error:
            self.problems[name] = f"cannot be read: {(error.strerror or str(error)).lower()}"
            return
        if stat.S_ISDIR(seen.st_mode):
            self.waiting.append(name)  # a repository of its own
        elif stat.S_ISLNK(seen.st_mode):
            self.consider_link(name)
        elif name.endswith(".py") and self.enters(os.path.dirname(name)):
            self.take(name, seen)

    def take(self, name: str, seen: os.stat_result) -> None:
        if stat.S_ISREG(seen.st_mode):
            self.files[name] = seen
        else:
            self.problems[name] = f"is {kind(seen.st_mode)}, not a regular file; not read"

    def consider_link(self, name: str, *, explicit: bool = False) -> None:
        """Follow a file link that stays inside; report one that leaves, loops or dangles; enter no folder link."""
        python = explicit or name.endswith(".py")
        try:
            seen = os.stat(self.absolute(name))
        except OSError as error:
            if python:
                loop = error.errno == errno.ELOOP
                self.problems[name] = "is a link that points at itself" if loop else "is a link that leads nowhere"
            return
        if stat.S_ISDIR(seen.st_mode):
            self.enters(name)
        elif python and self.enters(os.path.dirname(name)):
            self._follow(name, seen)

    def _follow(self, name: str, seen: os.stat_result) -> None:
        target = os.path.realpath(self.absolute(name))
        if not is_inside(target, self.inside):
            self.problems[name] = LINKS_OUT
            return
        self.take(name, seen)
        self.targets[name] = target


def select_folder(folder: str, inside: Sequence[str]) -> Selection:
    """Select the Python files below a folder (a real path); links may lead anywhere below ``inside``."""
    selection = Selection(folder, tuple(inside), waiting=[""])
    while selection.waiting:
        _collect(selection, selection.waiting.pop())
    return selection


def select_file(file: str, inside: Sequence[str]) -> Selection:
    """Select one file that the user named, whatever its name."""
    selection = Selection(os.path.dirname(file), tuple(inside))
    name = os.path.basename(file)
    seen = os.lstat(file)
    if stat.S_ISLNK(seen.st_mode):
        selection.consider_link(name, explicit=True)
    else:
        selection.take(name, seen)
    return selection


def is_inside(path: str, folders: Sequence[str]) -> bool:
    """Whether a real path is one of the real ``folders`` or lies below one."""
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _collect(selection: Selection, below: str) -> None:
    """Add what lies below one folder; a repository inside another or inside a walked folder is asked on its own."""
    if not selection.enters(below):
        return
    listing = git_listing(selection.absolute(below))
    if listing is None or not any(name.endswith((".py", "/")) for name in listing.files):
        selection.walked = True  # no git, or a folder that git ignores and the user named all the same
        _walk(selection, below)
    else:
        _take_listing(selection, below, listing)


def _take_listing(selection: Selection, below: str, listing: GitListing) -> None:
    for name in dict.fromkeys(listing.files):
        selection.consider(os.path.join(below, name.rstrip("/")))
    for name in listing.ignored:
        last = os.path.basename(name.rstrip("/"))
        if name.endswith((".py", "/")) and last not in NEVER_ENTERED:
            selection.skip("ignored by git", os.path.join(below, name))


def _walk(selection: Selection, below: str) -> None:
    folders = [below]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(selection.absolute(folder)))
        except OSError as error:
            selection.problems[folder] = f"is a folder that cannot be read: {(error.strerror or str(error)).lower()}"
            continue
        for entry in entries:
            name = os.path.join(folder, entry.name)
            if not entry.is_dir(follow_symlinks=False):
                if entry.name.endswith(".py") or entry.is_symlink():
                    selection.consider(name)
            elif selection.enters(name):
                repository = os.path.lexists(os.path.join(entry.path, ".git"))
                (selection.waiting if repository else folders).append(name)
