"""Trees of a git repository as folders: of a revision, or of the commit that is being made (the index).

Nothing is checked out: blobs are read from the object store and their Python files written to a scratch folder, which
is then opened like any other tree. Files that two trees share are written once and linked.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from auditor.errors import UnknownRevision
from auditor.source.git import GitFailure, run_git
from auditor.source.reading import DEFAULT_LIMIT, decode, split_lines

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

INDEX = ""
"""The name of the commit that is being made."""

_MARKS = frozenset({"pyproject.toml", "CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that are no Python and still say how a tree is read: where projects begin, what is no source."""
_LINK, _FILES = "120000", ("100644", "100755")


class _Blob(NamedTuple):
    mode: str
    name: str
    path: PurePosixPath


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The Python files of a revision as git lists them: what can be told of the tree before it is unpacked.

    ``below`` is the folder (from the top, ``""`` or ``folder/``) that the paths of the unpacked tree are relative to;
    ``frame`` all that decides how it is read but is no file.
    """

    top: Path
    below: str
    frame: str
    _blobs: tuple[_Blob, ...] = field(repr=False)

    def listing(self) -> str:
        """Return a digest of everything but contents: what decides the shape of the unpacked tree."""
        from hashlib import blake2b

        text = "\0".join((self.top.name, self.below, self.frame, *(str(blob.path) for blob in self._blobs)))
        return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def blobs(self) -> dict[str, str]:
        """Return git's name of each content by its path in the unpacked tree; beside that tree, from the top."""
        paths = ((str(blob.path), blob.name) for blob in self._blobs)
        below = self.below
        return {path.removeprefix(below) if path.startswith(below) else f"/{path}": name for path, name in paths}

    def contents(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the contents of some files, without those that are too large to be read."""
        blobs = {path: name for path, name in self.blobs().items() if path in names}
        found = dict(_contents(self.top, set(blobs.values())))
        return {path: bytes(found[name]) for path, name in blobs.items() if len(found[name]) <= DEFAULT_LIMIT}

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self.blobs())

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the lines of a file as Python counts them, for display."""
        return split_lines(decode(self.contents([path]).get(path, b"")))


@dataclass(slots=True)
class Revisions:
    """The repository around a folder; a context manager, whose folders are gone when it is left."""

    top: Path
    _scratch: TemporaryDirectory[str] | None = None
    _written: dict[str, Path] = field(default_factory=dict)
    _listed: dict[str, tuple[_Blob, ...]] = field(default_factory=dict)

    @classmethod
    def around(cls, folder: Path) -> Revisions:
        """Find the repository that a folder lies in.

        Raises:
            UnknownRevision: there is none, or git refuses it.
        """
        try:
            top = run_git(str(folder), "rev-parse", "--show-toplevel")
        except GitFailure as error:
            raise UnknownRevision(f"{folder} is in no git repository that can be read: {error}") from None
        return cls(Path(os.fsdecode(top.rstrip(b"\n"))))

    def commit(self, revision: str) -> str:
        """Return the hash of the commit that ``revision`` names.

        Raises:
            UnknownRevision: there is none.
        """
        if found := self._commit(revision):
            return found
        raise UnknownRevision(
            f"{revision!r} is no commit of {self.top}. Look at its spelling; a shallow clone may have to fetch it."
        )

    def head(self) -> str | None:
        """Return the hash of the last commit; None before the first."""
        return self._commit("HEAD")

    def _commit(self, revision: str) -> str | None:
        try:
            found = run_git(
                str(self.top), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        except GitFailure:
            return None
        return found.decode().strip()

    def fetch(self, *commits: str) -> None:
        """Fetch commits, named by their hashes, from where the repository was cloned.

        Raises:
            UnknownRevision: they are not there, or nobody answers.
        """
        plain = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
        try:
            run_git(str(self.top), "fetch", *plain, "origin", *commits)
        except GitFailure as error:
            raise UnknownRevision(f"{', '.join(commits)} cannot be fetched: {error}") from None

    def merge_base(self, one: str, other: str) -> str | None:
        """Return where two commits parted; None where they have no commit in common."""
        try:
            return run_git(str(self.top), "merge-base", one, other).decode().strip()
        except GitFailure:
            return None

    def same_python(self, base: str | None, head: str) -> bool:
        """Whether two trees have the same Python files; a ``base`` of None has none."""
        return self._python(base) == self._python(head)

    def _python(self, revision: str | None) -> set[_Blob]:
        return set() if revision is None else set(self._blobs(revision))

    def text(self, revision: str, path: str) -> str | None:
        """Return a file of a commit; None where there is none."""
        try:
            return run_git(str(self.top), "show", f"{revision}:{path}").decode("utf-8", "replace")
        except GitFailure:
            return None

    def patch(self, base: str, head: str, path: str) -> str | None:
        """Return the unified diff of one file between two commits; None where git cannot make it."""
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--unified=3")
        try:
            made = run_git(str(self.top), "diff", *plain, base, head, "--", f":(top,literal){path}")
        except (GitFailure, ValueError):  # the latter: a NUL in the path
            return None
        return made.decode("utf-8", "replace") or None

    def snapshot(self, revision: str, below: Path, frame: str) -> Snapshot | None:
        """List a revision; None where links make one file the content of several."""
        blobs = tuple(sorted(self._blobs(revision), key=lambda blob: blob.path))
        if any(blob.mode == _LINK for blob in blobs):
            return None
        return Snapshot(self.top, "" if below == Path() else f"{below.as_posix()}/", frame, blobs)

    def unpack(self, revision: str) -> Path:
        """Write the Python files of a commit (or of ``INDEX``) to a folder of their own."""
        folder = self._folder()
        blobs = sorted(self._blobs(revision), key=lambda blob: (blob.mode == _LINK, blob.path))
        self._fetch({blob.name for blob in blobs} - self._written.keys())
        try:
            for blob in blobs:
                _place(folder, blob.path, self._written[blob.name], blob.mode)
        except (OSError, ValueError) as error:
            raise _unpackable(revision, error) from error
        return folder

    def outline(self, revision: str) -> Path:
        """Make a folder with empty files in place of those that ``unpack`` writes."""
        folder = self._folder()
        try:
            for path in (folder / blob.path for blob in self._blobs(revision)):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        except (OSError, ValueError) as error:
            raise _unpackable(revision, error) from error
        return folder

    def _folder(self) -> Path:
        from tempfile import mkdtemp

        assert self._scratch is not None, "unpack inside of the context"
        folder = Path(mkdtemp(dir=self._scratch.name)) / self.top.name
        folder.mkdir()
        (folder / ".git").touch()  # the top of a project, as module names are told; no repository
        return folder

    def _blobs(self, revision: str) -> tuple[_Blob, ...]:
        """The files of a tree that matter, without those that could land elsewhere; listed once."""
        if revision not in self._listed:
            self._listed[revision] = tuple(self._list(revision))
        return self._listed[revision]

    def _list(self, revision: str) -> Iterator[_Blob]:
        if revision == INDEX:
            listed = run_git(str(self.top), "ls-files", "-s", "-z", index=True)
        else:
            listed = run_git(str(self.top), "ls-tree", "-r", "-z", "--full-tree", revision)
        for row in listed.split(b"\0"):
            head, _, name = row.partition(b"\t")
            if not name:
                continue
            mode, one, other = head.decode("ascii").split()
            if revision == INDEX:  # mode, name, stage; else mode, type, name
                one, other = ("blob", one) if other == "0" else ("conflict", one)
            path = PurePosixPath(os.fsdecode(name))
            wanted = path.suffix == ".py" or path.name in _MARKS
            inside = not path.is_absolute() and not {"..", ".git"} & set(path.parts)
            if one == "blob" and wanted and inside and mode in (*_FILES, _LINK):
                yield _Blob(mode, other, path)

    def _fetch(self, names: set[str]) -> None:
        """Write blobs to files that are called like them."""
        assert self._scratch is not None
        store = Path(self._scratch.name) / "blobs"
        store.mkdir(exist_ok=True)
        for name, content in _contents(self.top, names):
            (store / name).write_bytes(content)
            self._written[name] = store / name

    def __enter__(self) -> Revisions:
        from tempfile import TemporaryDirectory

        self._scratch = TemporaryDirectory(prefix="bufgate-")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._scratch is not None
        self._scratch.cleanup()


def _contents(top: Path, names: Collection[str]) -> Iterator[tuple[str, memoryview]]:
    """The contents of blobs, in one go."""
    from tempfile import TemporaryFile

    if not names:
        return
    with TemporaryFile() as wanted:
        wanted.writelines(name.encode() + b"\n" for name in sorted(names))
        wanted.seek(0)
        content = memoryview(run_git(str(top), "cat-file", "--batch", stdin=wanted))
    position = 0
    while position < len(content):
        end = bytes(content[position : position + 200]).index(b"\n") + position
        name, kind, *size = bytes(content[position:end]).decode().split()
        if kind != "blob":
            raise UnknownRevision(f"{top} has no object {name}. A partial clone may have to fetch it.")
        start, stop = end + 1, end + 1 + int(size[0])
        yield name, content[start:stop]
        position = stop + 1


def _unpackable(revision: str, error: Exception) -> UnknownRevision:
    return UnknownRevision(f"{revision or 'the index'} cannot be unpacked: {error}")


def _place(folder: Path, path: PurePosixPath, blob: Path, mode: str) -> None:
    """Put a blob at its path. Links come last, so nothing is written through one."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        if target.parent.resolve() != folder.resolve() / path.parent:
            return  # below another link: git itself makes no such tree
        os.symlink(os.fsdecode(blob.read_bytes()), target)
    else:
        os.link(blob, target)
