"""Hands files to the linker: the candidates first, then what it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from auditor.audit.extracting import FactsOf
from auditor.audit.options import Progress
from auditor.audit.questions import CALLED, STORED, VALUE, Questions, Vocabulary, does
from auditor.extract import Source
from auditor.facts import ModuleFacts
from auditor.link import NO_NEEDS, Needs
from auditor.source import SourceTree
from auditor.spec import EngineSpec, member_pattern, needles, seed_pattern
from auditor.triage import ReportedProblem, Suppression, read_suppressions

MARK = "bufgate"
"""The word that every suppression holds."""

COMMON = 20
"""A name that more files than this put something into says nothing: it is not followed."""


def modules(tree: SourceTree) -> dict[str, str]:
    """Module name → path, of product code: the rest adds nothing to product bindings (DESIGN.md §2.15)."""
    return {tree.module(path): path for path in tree.files if tree.role(path) == "product"}


def source(tree: SourceTree, path: str) -> Source | None:
    """A file as the frontend takes it, or None where it cannot be read."""
    content = tree.read(path)
    return None if content is None else Source(path, tree.module(path), tree.is_package(path), content)


def marked(tree: SourceTree) -> list[str]:
    """The reported files that may hold suppressions."""
    return sorted(path for path in tree.mentioning(frozenset({MARK}))[MARK] if tree.reported(path))


def suppressions(tree: SourceTree, paths: Iterable[str]) -> list[Suppression]:
    """The suppressions in some files."""
    texts = ((path, "\n".join(tree.lines(path)) + "\n") for path in paths)
    return [one for path, text in texts for one in read_suppressions(path, tree.module(path), text)]


class Reader:
    """Hands files to the linker: candidates first, then what it needs."""

    def __init__(self, tree: SourceTree, spec: EngineSpec, facts_of: FactsOf, progress: Progress | None) -> None:
        self.modules = modules(tree)
        self._tree = tree
        self._spec = spec
        self._facts_of = facts_of
        self._progress = progress
        self._vocabulary = _vocabulary(spec)
        self._asked = NO_NEEDS
        self._does: dict[tuple[str, str, str], bool] = {}
        self._done: set[str] = set()
        self._problems: list[tuple[str, int, str]] = []
        self._known = frozenset(tree.files)

    @property
    def parsed(self) -> int:
        return len(self._done)

    @property
    def read(self) -> frozenset[str]:
        """The files whose facts the linker has."""
        return frozenset(self._done)

    def questions(self, packs: Iterable[EngineSpec]) -> Questions:
        """All that was asked of files, the recognition of an engine with it."""
        features = {feature.identifiers for pack in packs for feature in pack.recognise}
        asked = {
            STORED: self._asked.attributes,
            CALLED: self._asked.functions,
            VALUE: self._asked.classes,
        }
        return Questions(((MARK,), *sorted(features)), asked, self._vocabulary)

    def candidates(self) -> list[ModuleFacts]:
        """Product files that mention a pool's vocabulary."""
        return self._read(path for path in sorted(self.modules.values()) if self.relevant(path))

    def relevant(self, path: str) -> bool:
        """Whether a file mentions a pool, gate or accessor."""
        content = self._tree.read(path)
        return content is not None and self._vocabulary.in_(content)

    def supply(self, wanted: Needs) -> list[ModuleFacts]:
        """The files that may hold what is needed, as far as they were not read before."""
        self._asked |= wanted
        paths = {self.modules[module] for module in wanted.modules if module in self.modules}
        for identifier, mentioned in self._tree.mentioning(wanted.identifiers()).items():
            fitting = [path for path in mentioned - self._done if self._fits(wanted, identifier, path)]
            if len(fitting) <= COMMON:
                paths.update(fitting)
        return self._read(sorted(paths))

    def _fits(self, wanted: Needs, identifier: str, path: str) -> bool:
        if self._tree.role(path) != "product":
            return False
        names = {STORED: wanted.attributes, CALLED: wanted.functions, VALUE: wanted.classes}
        return any(identifier in names[use] and self.does(identifier, use, path) for use in names)

    def does(self, identifier: str, use: str, path: str) -> bool:
        """Whether a file puts a name to a use."""
        key = (identifier, use, path)
        if key not in self._does:
            self._does[key] = does(identifier, use, self._tree.read(path) or b"")
        return self._does[key]

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
        return self._tree.search(path, self._vocabulary.pattern)


def _vocabulary(spec: EngineSpec) -> Vocabulary:
    """What candidates are found by: the names of the pack, without those that are one common word."""
    telling = [replace(group, patterns=tuple(one for one in group.patterns if "_" in one)) for group in spec.buffers]
    shown = replace(spec, buffers=tuple(group for group in telling if group.patterns))
    return Vocabulary(needles(shown), seed_pattern(shown), member_pattern(shown))
