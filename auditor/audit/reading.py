"""Hands files to the linker: the candidates first, then what it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from auditor.audit.extracting import FactsOf
from auditor.extract import Source
from auditor.facts import ModuleFacts
from auditor.link import Needs
from auditor.source import SourceTree
from auditor.spec import EngineSpec, needles, seed_pattern
from auditor.triage import ReportedProblem, Suppression, read_suppressions

Progress = Callable[[str, int, int], None]
"""Called as (stage, done, total)."""

COMMON = 40
"""A name that more files than this put something into says nothing: it is not followed."""


def modules(tree: SourceTree) -> dict[str, str]:
    """Module name → path, of product code: the rest adds nothing to product bindings (DESIGN.md §2.15)."""
    return {tree.module(path): path for path in tree.files if tree.role(path) == "product"}


def source(tree: SourceTree, path: str) -> Source | None:
    """A file as the frontend takes it, or None where it cannot be read."""
    content = tree.read(path)
    return None if content is None else Source(path, tree.module(path), tree.is_package(path), content)


def suppressions(tree: SourceTree) -> list[Suppression]:
    """The suppressions in the reported files of the tree."""
    marked = sorted(path for path in tree.mentioning(frozenset({"bufgate"}))["bufgate"] if tree.reported(path))
    return [
        one for path in marked for one in read_suppressions(path, tree.module(path), "\n".join(tree.lines(path)) + "\n")
    ]


class Reader:
    """Hands files to the linker: candidates first, then what it needs."""

    def __init__(self, tree: SourceTree, spec: EngineSpec, facts_of: FactsOf, progress: Progress | None) -> None:
        self.modules = modules(tree)
        self._tree = tree
        self._spec = spec
        self._facts_of = facts_of
        self._progress = progress
        self._needles, self._seeds = _vocabulary(spec)
        self._done: set[str] = set()
        self._problems: list[tuple[str, int, str]] = []
        self._known = frozenset(tree.files)

    @property
    def parsed(self) -> int:
        return len(self._done)

    def candidates(self) -> list[ModuleFacts]:
        """Product files that mention a pool's vocabulary."""
        return self._read(path for path in sorted(self.modules.values()) if self.relevant(path))

    def relevant(self, path: str) -> bool:
        """Whether a file mentions a pool, gate or accessor."""
        content = self._tree.read(path)
        return content is not None and self.mentions(content)

    def mentions(self, content: bytes) -> bool:
        """Whether some bytes hold the vocabulary of the pack."""
        return any(one in content for one in self._needles) and bool(self._seeds.search(content))

    def supply(self, wanted: Needs) -> list[ModuleFacts]:
        """The files that may hold what is needed, as far as they were not read before."""
        paths = {self.modules[module] for module in wanted.modules if module in self.modules}
        for identifier, mentioned in self._tree.mentioning(wanted.identifiers()).items():
            fitting = [path for path in mentioned - self._done if self._fits(wanted, identifier, path)]
            if len(fitting) <= COMMON:
                paths.update(fitting)
        return self._read(sorted(paths))

    def _fits(self, wanted: Needs, identifier: str, path: str) -> bool:
        return self._tree.role(path) == "product" and wanted.wanted_by(identifier, self._tree.read(path) or b"")

    def _read(self, paths: Iterable[str]) -> list[ModuleFacts]:
        sources = [one for path in paths if path not in self._done and (one := source(self._tree, path)) is not None]
        self._done.update(one.path for one in sources)
        facts: list[ModuleFacts] = []
        for made in self._facts_of(sources):
            facts.append(made)
            self._problems.extend((made.path, problem.line, problem.what) for problem in made.problems)
            if self._progress is not None:
                self._progress("reading", len(self._done) - len(sources) + len(facts), len(self._done))
        return facts

    def problems(self) -> tuple[ReportedProblem, ...]:
        """Files that could not be read as written, in order."""
        found = {(one.path, one.line, one.what) for one in self._tree.problems} | set(self._problems)
        return tuple(ReportedProblem(path, line, what, self._matters(path)) for path, line, what in sorted(found))

    def _matters(self, path: str) -> bool:
        """Whether a file with a problem mentions a pool, gate or accessor, also where it is too large to be read."""
        if path not in self._known:
            return False  # a link or folder that is no file of the tree
        return self._tree.search(path, self._seeds)


def _vocabulary(spec: EngineSpec) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    """What candidates are found by: the names of the pack, without those that are one common word."""
    telling = [replace(group, patterns=tuple(one for one in group.patterns if "_" in one)) for group in spec.buffers]
    shown = replace(spec, buffers=tuple(group for group in telling if group.patterns))
    return needles(shown), seed_pattern(shown)
