"""The tree that is audited: paths to files, files to bytes."""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from auditor.errors import UnreadableRoot, UsageError
from auditor.source import reading
from auditor.source.display import display
from auditor.source.modules import ModuleNames, below
from auditor.source.reading import (
    DEFAULT_LIMIT,
    Unreadable,
    decode,
    digest_of,
    head_matches,
    megabytes,
    read_file,
    split_lines,
)
from auditor.source.roles import ROLES, role_teller
from auditor.source.selection import Selection, select_file, select_folder
from auditor.source.stamps import Stamps
from auditor.source.words import WordIndex


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A file (or folder) that could not be read, by its path in the tree. ``line`` is 1: the whole of it is meant."""

    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a path lies: the file to open, its name as found, the root it came from and its path below that; and what
    the file system said of the file when it was found."""

    target: str
    file: str
    root: str
    relative: str
    reported: bool
    seen: os.stat_result


@dataclass(slots=True)
class _Memory:
    """What was read so far; the only part of a tree that grows."""

    contents: dict[str, bytes | None] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    problems: set[Problem] = field(default_factory=set)
    index: WordIndex | None = None
    holders: dict[str, list[str]] = field(default_factory=dict)
    size: int = 0
    modules: ModuleNames = field(default_factory=ModuleNames)

    def bounded(self, data: bytes) -> bytes:
        """Pass ``data`` on while everything read fits into memory."""
        if self.size + len(data) > reading.TOTAL_LIMIT:
            raise Unreadable(f"is left out: all files together exceed the limit of {megabytes(reading.TOTAL_LIMIT)}")
        self.size += len(data)
        return data


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The selected files of the audited paths and the extra roots. Content is read on demand, once, and kept.

    ``skipped``: reason to the paths that were left out on purpose. ``walked``: some root was walked without git's help.
    """

    root: Path
    files: tuple[str, ...]
    skipped: Mapping[str, tuple[str, ...]]
    walked: bool
    limit: int
    _places: Mapping[str, _Place] = field(repr=False)
    _role: Callable[[str], str] = field(repr=False)
    _cache: Path | None = field(repr=False)
    _memory: _Memory = field(repr=False, compare=False)
    _changed: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that could not be read so far, in order."""
        return tuple(sorted(self._memory.problems))

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the files lie in, those of extra roots as well."""
        return tuple(sorted({place.root for place in self._places.values()}))

    def shape(self) -> str:
        """Return a digest of everything but contents: the files, their modules and roles, what could not be listed."""
        rows = [f"{path}\0{self.module(path)}\0{self.role(path)}\0{self.reported(path)}" for path in self.files]
        rows += [f"{one.path}\0{one.what}" for one in self.problems if one.path not in self._places]
        return digest_of("\n".join([str(self.limit), *rows]).encode("utf-8", "surrogateescape"))

    def digests(self, stamps: Stamps) -> tuple[str, ...]:
        """Return the digest of each file, in order; only those are read whose stamps are not known."""
        return tuple(
            self.digest(path)
            if path in self._changed
            else stamps.digest(place.target, place.seen, lambda path=path: self.digest(path))  # type: ignore[misc]
            for path, place in ((path, self._places[path]) for path in self.files)
        )

    def reported(self, path: str) -> bool:
        """Whether findings in this file are told; files of extra roots serve resolution only."""
        return self._places[path].reported

    def role(self, path: str) -> str:
        """Return what the file is for: product, test, benchmark, example or vendored."""
        return self._role(self._places[path].relative)

    def module(self, path: str) -> str:
        """Return the dotted module name, told by package roots."""
        place = self._places[path]
        return self._memory.modules.name(place.file, place.root)

    def is_package(self, path: str) -> bool:
        """Whether the file is the ``__init__.py`` of its module."""
        return path.rpartition("/")[2] == "__init__.py"

    def file(self, path: str) -> Path:
        """Return the absolute path of the file, for links in reports and for writing fixes; read through ``read``."""
        return Path(self._places[path].file)

    def read(self, path: str) -> bytes | None:
        """Return the content, or None and a problem in ``problems``."""
        contents = self._memory.contents
        if path not in contents:
            try:
                contents[path] = self._memory.bounded(read_file(self._places[path].target, self.limit))
            except Unreadable as reason:
                contents[path] = None
                self._memory.problems.add(Problem(path, 1, str(reason)))
        return contents[path]

    def changed(self, contents: Mapping[str, bytes]) -> SourceTree:
        """Return the same tree with other contents for some of its files, as if they were written."""
        kept = {path: data for path, data in self._memory.contents.items() if data is not None}
        memory = _Memory(contents={**kept, **contents}, problems=set(self._memory.problems))
        memory.size = sum(map(len, memory.contents.values()))  # type: ignore[arg-type]  # none of them is None
        return replace(self, _memory=memory, _changed=self._changed.union(contents))

    def search(self, path: str, pattern: re.Pattern[bytes]) -> bool:
        """Whether the file holds ``pattern``, also where it is too large to be read."""
        data = self.read(path)
        return head_matches(self._places[path].target, pattern) if data is None else bool(pattern.search(data))

    def digest(self, path: str) -> str:
        """Return a hash of the content, "" where it cannot be read."""
        digests = self._memory.digests
        if path not in digests:
            data = self.read(path)
            digests[path] = "" if data is None else digest_of(data)
        return digests[path]

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the lines of the file as Python counts them, for display."""
        return split_lines(decode(self.read(path) or b""))

    def mentioning(self, identifiers: frozenset[str]) -> dict[str, frozenset[str]]:
        """Return for each identifier the files that hold it as a whole word, in code, comments or strings."""
        index, files = self._indexed()
        return {
            name: frozenset([path for digest in index.holders(name) for path in files.get(digest, ())])
            for name in identifiers
        }

    def _indexed(self) -> tuple[WordIndex, Mapping[str, list[str]]]:
        """The index, and the files that have the content of a digest."""
        memory = self._memory
        if memory.index is None:
            contents: dict[str, bytes] = {}
            for path in self.files:
                if (data := self.read(path)) is not None:
                    contents[self.digest(path)] = data
                    memory.holders.setdefault(self.digest(path), []).append(path)
            memory.index = WordIndex(contents, self._index_file())
        return memory.index, memory.holders

    def _index_file(self) -> Path | None:
        if self._cache is None:
            return None
        return self._cache / f"{digest_of(os.fsencode(os.pathsep.join(self.roots)))}.words"


def open_tree(
    paths: Sequence[Path],
    *,
    extra: Sequence[Path] = (),
    roles: Mapping[str, tuple[str, ...]] | None = None,
    base: Path | None = None,
    limit: int = DEFAULT_LIMIT,
    cache: Path | None = None,
) -> SourceTree:
    """Select the Python files of ``paths`` (audited) and ``extra`` (read for resolution only).

    Args:
        paths: folders or files; a file is taken whatever its name.
        roles: role to path patterns, tried before the built-in ones.
        base: what paths are relative to; by default the folder that all of ``paths`` have in common.
        limit: the longest file that is read, in bytes.
        cache: a folder in which ``mentioning`` keeps its index from run to run; none is kept without it.
    """
    _require_known(roles or {})
    audited = _real_paths(paths)
    root = _base(audited, base)
    builder = _Builder()
    for selection in _selections(audited):
        builder.add(selection, root, _audited_prefix(selection, root), reported=True)
    for name, path in _named_extras(extra):
        for selection in _selections([path]):
            builder.add(selection, selection.top, name, reported=False)
    return builder.tree(root, role_teller(roles or {}), limit, cache)


class _Builder:
    """Joins selections into one tree; the first to bring a file keeps it, and audited paths come first."""

    def __init__(self) -> None:
        self.places: dict[str, _Place] = {}
        self.problems: set[Problem] = set()
        self.skipped: dict[str, set[str]] = {}
        self.walked = False
        self._seen: set[str] = set()

    def add(self, selection: Selection, root: str, prefix: str, *, reported: bool) -> None:
        """Give every selected file its path: ``prefix`` and its name."""
        for name, seen in selection.files.items():
            file = selection.absolute(name)
            if file not in self._seen:
                self._seen.add(file)
                target = selection.targets.get(name, file)
                place = _Place(target, file, root, below(file, root).replace(os.sep, "/"), reported, seen)
                self.places[_key(prefix, name)] = place
        self.problems.update(Problem(_key(prefix, name), 1, what) for name, what in selection.problems.items())
        for reason, names in selection.skipped.items():
            self.skipped.setdefault(reason, set()).update(_key(prefix, name) for name in names)
        self.walked |= selection.walked

    def tree(self, root: str, role: Callable[[str], str], limit: int, cache: Path | None) -> SourceTree:
        """Freeze what was added."""
        skipped = {reason: tuple(sorted(names)) for reason, names in sorted(self.skipped.items())}
        memory = _Memory(problems=self.problems)
        files = tuple(sorted(self.places))
        return SourceTree(Path(root), files, skipped, self.walked, limit, self.places, role, cache, memory)


def _selections(paths: Sequence[str]) -> Iterator[Selection]:
    """One selection a path; links may lead to any of the paths, or stay beside a file that was named."""
    inside = [path if os.path.isdir(path) else os.path.dirname(path) for path in paths]
    for path in paths:
        selection = select_folder(path, inside) if os.path.isdir(path) else select_file(path, inside)
        if not selection.files:
            raise UnreadableRoot(_nothing_found(path, selection))
        yield selection


def _nothing_found(path: str, selection: Selection) -> str:
    shown = display(path)
    for name, what in sorted(selection.problems.items()):
        return f"nothing to audit in {shown}: {display(name) or 'it'} {what}. Name a folder with Python sources."
    return f"{shown} holds no Python file. Name the folder of the sources, or a file."


def _real_paths(paths: Sequence[Path]) -> list[str]:
    """Absolute, without links in their folders, each once, in an order that does not depend on the arguments'."""
    if not paths:
        raise UsageError("no path was given. Name a folder or a file to audit.")
    return sorted({_real_path(path) for path in paths})


def _real_path(path: Path) -> str:
    text = os.path.abspath(path)
    try:
        mode = os.stat(text).st_mode
    except FileNotFoundError:
        if not os.path.islink(text):
            raise UnreadableRoot(_missing(path, text)) from None
        mode = stat.S_IFREG  # a link that leads nowhere: told as such when it is considered
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableRoot(f"cannot read {display(str(path))}: {why.lower()}. Name another path.") from error
    if stat.S_ISDIR(mode):
        return os.path.realpath(text)
    if not stat.S_ISREG(mode):
        raise UnreadableRoot(f"{display(str(path))} is neither a file nor a folder. Name another path.")
    return os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))


def _missing(path: Path, text: str) -> str:
    import difflib

    folder, name = os.path.split(text)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder), n=1)
    except OSError:
        near = []
    hint = f"Did you mean {display(str(path.parent / near[0]))}?" if near else "Name an existing file or folder."
    return f"{display(str(path))} does not exist. {hint}"


def _base(audited: Sequence[str], base: Path | None) -> str:
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in audited]
    common = os.path.commonpath(folders)
    if base is None:
        return common
    wanted = os.path.realpath(base)
    if os.path.commonpath([wanted, common]) != wanted:
        raise UsageError(f"{display(common)} does not lie below {display(wanted)}. Name paths below it.")
    return wanted


def _audited_prefix(selection: Selection, root: str) -> str:
    below = os.path.relpath(selection.top, root)
    return "" if below == os.curdir else _key("", below)


def _named_extras(extra: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Extra roots with their prefixes; the second of a name becomes ``<with:NAME#2>``."""
    used: set[str] = set()
    for path in _real_paths(extra) if extra else ():
        name = os.path.basename(path if os.path.isdir(path) else os.path.dirname(path))
        prefixes = itertools.chain([f"<with:{name}>"], (f"<with:{name}#{number}>" for number in itertools.count(2)))
        prefix = next(prefix for prefix in prefixes if prefix not in used)
        used.add(prefix)
        yield prefix, path


def _key(prefix: str, name: str) -> str:
    """The path of a name. A folder of the audited tree that poses as an extra root gets a ``./`` in front."""
    path = "/".join(part for part in (prefix, name.replace(os.sep, "/")) if part)
    return "./" + path if path.startswith("<with:") and not prefix else path


def _require_known(roles: Mapping[str, tuple[str, ...]]) -> None:
    for role in roles:
        if role not in ROLES:
            raise UsageError(f"{role!r} is no role of files. Use one of {', '.join(ROLES)}.")
