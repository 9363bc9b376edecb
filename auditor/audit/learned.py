"""Learning a rule pack from a tree: who reads the files that the miner asks for, and what is made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from auditor.audit.engine import NothingToAudit
from auditor.audit.extracting import FactsOf
from auditor.audit.kept import kept_store
from auditor.audit.options import Options
from auditor.audit.phases import Phases
from auditor.audit.reading import COMMON, modules, source
from auditor.collector import no_collector
from auditor.errors import UsageError
from auditor.extract import Extractor
from auditor.facts import ModuleFacts
from auditor.learning import Learned, Wanted, learn, pack_of
from auditor.source import SourceTree
from auditor.spec import built_in_packs

_FIRST = 3
"""Waits that are told where nothing was learned."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The text of a pack, and the files that were wanted for it and could not be read (path, line, what)."""

    text: str
    problems: tuple[tuple[str, int, str], ...]


def propose(tree: SourceTree, options: Options, *, name: str, source: str) -> Proposal:
    """Learn a rule pack called ``name``; ``source`` tells its reader where it was learned.

    Raises:
        NothingToAudit: no wait for a layer was found.
        UsageError: the name is none for a pack.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise UsageError(f"{name!r} is no name for a pack: small letters, digits and dashes. --name gives another.")
    phase = Phases(options.detail)
    uses = built_in_packs()[0].uses
    with kept_store(options.cache, options.remark) as store, no_collector(), Extractor(options.jobs) as extractor:
        reader = _Reader(tree, FactsOf(extractor, store, options.detail))
        learned = learn(reader.modules, reader.supply, uses)
    phase(f"learned from {len(reader.read):,} of {len(reader.modules):,} files below {tree.root}")
    if learned.empty:
        raise NothingToAudit(_nothing(tree, reader, learned))
    text = pack_of(learned, uses, name=name, source=source, version_file=_version_file(tree, name))
    return Proposal(text, tuple(reader.problems()))


class _Reader:
    """Hands files to the miner, each once."""

    def __init__(self, tree: SourceTree, facts_of: FactsOf) -> None:
        self.modules = modules(tree)
        self.read: dict[str, None] = {}
        self._tree = tree
        self._facts_of = facts_of
        self._problems: list[tuple[str, int, str]] = []

    def supply(self, wanted: Wanted) -> list[ModuleFacts]:
        """Read the files that are wanted; none where they are so many that the name says nothing."""
        paths = [path for path in sorted(self.modules.values()) if path not in self.read and self._fits(wanted, path)]
        if len(paths) > COMMON and not wanted.often:
            return []
        self.read.update(dict.fromkeys(paths))
        found = list(self._facts_of([one for path in paths if (one := source(self._tree, path)) is not None]))
        self._problems += [(facts.path, problem.line, problem.what) for facts in found for problem in facts.problems]
        return found

    def _fits(self, wanted: Wanted, path: str) -> bool:
        content = self._tree.read(path)
        return content is not None and wanted.fits(content)

    def problems(self) -> Iterator[tuple[str, int, str]]:
        """What could not be read as it is written, in order."""
        yield from sorted({*self._problems, *((one.path, one.line, one.what) for one in self._tree.problems)})


def _nothing(tree: SourceTree, reader: _Reader, learned: Learned) -> str:
    waits = "; ".join(f"{one.path}:{one.line} {one.what}" for one in learned.waits[:_FIRST])
    more = f" These wait, and are called on nothing of the kind: {waits}." if waits else ""
    unread = next(iter(reader.problems()), None)
    more += f" Not all could be read: {unread[0]}:{unread[1]}: {unread[2]}." if unread else ""
    return (
        f"nothing was learned from {tree.root}: {len(reader.modules):,} files, {len(reader.read):,} of them read. "
        "Looked for: a method that waits for an event, future or condition that its parameter picks, on an object that "
        f"is handed to the class that calls it; a method that takes the next step of generators once a layer.{more}"
    )


def _version_file(tree: SourceTree, name: str) -> str:
    """The file that tells the version, by the usual names."""
    package = name.replace("-", "_")
    usual = (f"{package}/version.py", f"{package}/_version.py", "version.py")
    return next((one for one in usual if one in tree.files), "")
