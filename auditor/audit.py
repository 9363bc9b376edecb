"""The spine: the whole audit in one function. A reader starts here."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from auditor import __version__
from auditor.callgraph import freeze
from auditor.checks import check
from auditor.errors import AuditError
from auditor.extract import Extractor, Source
from auditor.facts import ModuleFacts
from auditor.gating import judge
from auditor.link import Hierarchy, Linker, Needs, link_on_demand
from auditor.source import SourceTree
from auditor.spec import EngineSpec, Names, built_in_packs, find_pack, matcher, needles, seed_pattern
from auditor.triage import (
    VERDICTS,
    Engine,
    Report,
    ReportedFinding,
    ReportedProblem,
    Site,
    Stats,
    assemble_findings,
    assemble_sites,
    scenarios,
)

Progress = Callable[[str, int, int], None]
COMMON = 40
"""A name that more files than this put something into says nothing: it is not followed."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked for. ``jobs`` 0 is one worker a core; ``engine`` overrides recognition."""

    jobs: int = 0
    engine: str | None = None
    assumptions: bool = True
    timing: bool = True
    progress: Progress | None = None


class NothingToAudit(AuditError):
    """Indicates that no engine is recognised in the tree, or that it shows no pool, gate or accessor."""


def audit(tree: SourceTree, options: Options) -> Report:
    """source → extract → facts → link → callgraph → gating → checks → triage."""
    started = time.perf_counter()
    spec = _engine(tree, options)
    with _no_collections(), Extractor(options.jobs) as extractor:
        reader = _Reader(tree, spec, extractor, options.progress)
        linker = Linker(reader.modules, lambda cls, hierarchy: _is_pool(spec, cls, hierarchy))
        link_on_demand(linker, reader.candidates(), reader.supply, matcher(spec.accessors))
        graph = freeze(linker)
        judgement = judge(linker, graph, spec, tree.reported)
        found = check(judgement)
    sites = assemble_sites(judgement, found, tree.role)
    if not sites:
        raise NothingToAudit(_nothing(spec, reader))
    findings = assemble_findings(found)
    seconds = round(time.perf_counter() - started, 2) if options.timing else None
    stats = _stats(tree, reader, sites, seconds)
    engine = Engine(spec.name, _version(tree, spec), spec.origin)
    return Report(__version__, str(tree.root), engine, scenarios(judgement), stats, sites, findings, reader.problems(), "", ())


def call_graph(tree: SourceTree, options: Options) -> Mapping[str, tuple[str, ...]]:
    """Caller → callees by qualified name, for every function of the tree."""
    with _no_collections(), Extractor(options.jobs) as extractor:
        linker = Linker(_modules(tree), lambda cls, hierarchy: False)
        sources = [_source(tree, path) for path in tree.files]
        linker.add(list(extractor([one for one in sources if one is not None])))
        linker.graph.solve()
        return freeze(linker).by_name()


def recognise(tree: SourceTree, options: Options) -> list[tuple[str, str, bool, str]]:
    """For each pack: its name, where it comes from, whether the tree is such an engine, and why."""
    del options
    return [(spec.name, spec.origin, *_recognised(tree, spec)) for spec in built_in_packs()]


# ---------------------------------------------------------------- which engine


def _engine(tree: SourceTree, options: Options) -> EngineSpec:
    if options.engine is not None:
        spec = find_pack(options.engine)
    else:
        known = [spec for spec in built_in_packs() if _recognised(tree, spec)[0]]
        if not known:
            looked = "; ".join(f"{name}: {why}" for name, _, _, why in recognise(tree, options))
            raise NothingToAudit(f"no engine is recognised in {tree.root}. Looked for: {looked}. --engine PACK chooses one.")
        spec = known[0]
    return spec if options.assumptions else replace(spec, assumptions=())


def _recognised(tree: SourceTree, spec: EngineSpec) -> tuple[bool, str]:
    for feature in spec.recognise:
        found = tree.mentioning(frozenset(feature.identifiers))
        common = frozenset.intersection(*(found.get(name, frozenset()) for name in feature.identifiers))
        if common:
            return True, f"{', '.join(feature.identifiers)} in {min(common)}"
    wanted = " or ".join(", ".join(feature.identifiers) for feature in spec.recognise)
    return False, f"no file mentions all of {wanted}"


def _version(tree: SourceTree, spec: EngineSpec) -> str:
    """The version that the tree says it has, for display only."""
    path = next((one for one in tree.files if one == spec.version_file or one.endswith(f"/{spec.version_file}")), None)
    lines = tree.lines(path) if path is not None else ()
    return next((line.split("=", 1)[1].strip().strip("\"'") for line in lines if line.replace(" ", "").startswith(("__version__=", "version="))), "")


def _is_pool(spec: EngineSpec, cls: str, hierarchy: Hierarchy) -> bool:
    """A class of a pool family, or one that can be given a counter."""
    if _matches_any(spec.host_side, cls, hierarchy):
        return False
    if _matches_any(spec.pools, cls, hierarchy):
        return True
    counters = {gate.counter for gate in spec.gates}
    return any(
        arming.method in hierarchy.classes[base].facts.methods and not counters.isdisjoint(hierarchy.stored(base))
        for base in hierarchy.mro(cls)
        if base in hierarchy.classes
        for arming in spec.arming
    )


def _matches_any(groups: tuple[object, ...], cls: str, hierarchy: Hierarchy) -> bool:
    matches = matcher(groups)  # type: ignore[arg-type]
    return any(matches(base.rpartition(".")[2]) is not None for base in hierarchy.mro(cls))


# ---------------------------------------------------------------- which files


def _modules(tree: SourceTree) -> dict[str, str]:
    return {tree.module(path): path for path in tree.files if tree.role(path) == "product"}


def _telling(group: Names) -> Names:
    """The patterns that are rare enough to find files by: those of more than one word."""
    return replace(group, patterns=tuple(one for one in group.patterns if "_" in one))


def _source(tree: SourceTree, path: str) -> Source | None:
    content = tree.read(path)
    return None if content is None else Source(path, tree.module(path), tree.is_package(path), content)


class _Reader:
    """Hands files to the linker: candidates first, then what it needs."""

    def __init__(self, tree: SourceTree, spec: EngineSpec, extractor: Extractor, progress: Progress | None) -> None:
        self.modules = _modules(tree)
        self._tree = tree
        self._spec = spec
        self._extract = extractor
        self._progress = progress
        telling = replace(spec, buffers=tuple(_telling(group) for group in spec.buffers if any("_" in one for one in group.patterns)))
        self._needles, self._seeds = needles(telling), seed_pattern(telling)
        self._done: set[str] = set()
        self._facts_problems: list[tuple[str, int, str]] = []
        self.too_common: set[str] = set()

    @property
    def parsed(self) -> int:
        return len(self._done)

    def candidates(self) -> list[ModuleFacts]:
        """Product files that mention a pool's vocabulary."""
        return self._read(path for path in sorted(self.modules.values()) if self.relevant(path))

    def relevant(self, path: str) -> bool:
        """Whether a file mentions a pool, gate or accessor."""
        content = self._tree.read(path)
        return content is not None and any(one in content for one in self._needles) and bool(self._seeds.search(content))

    def supply(self, wanted: Needs) -> list[ModuleFacts]:
        """The files that may hold what is needed, as far as they were not read before."""
        paths = {self.modules[module] for module in wanted.modules if module in self.modules}
        for identifier, mentioned in self._tree.mentioning(wanted.identifiers()).items():
            fitting = [path for path in mentioned - self._done if self._fits(wanted, identifier, path)]
            if len(fitting) > COMMON:
                self.too_common.add(identifier)
            else:
                paths.update(fitting)
        return self._read(sorted(paths))

    def _fits(self, wanted: Needs, identifier: str, path: str) -> bool:
        return self._tree.role(path) == "product" and wanted.wanted_by(identifier, self._tree.read(path) or b"")

    def _read(self, paths: Iterable[str]) -> list[ModuleFacts]:
        sources = [one for path in paths if path not in self._done and (one := _source(self._tree, path)) is not None]
        self._done.update(one.path for one in sources)
        facts: list[ModuleFacts] = []
        for one in self._extract(sources):
            facts.append(one)
            self._facts_problems.extend((one.path, problem.line, problem.what) for problem in one.problems)
            if self._progress is not None:
                self._progress("reading", len(self._done) - len(sources) + len(facts), len(self._done))
        return facts

    def problems(self) -> tuple[ReportedProblem, ...]:
        """Files that could not be read as written, in order."""
        found = [(one.path, one.line, one.what) for one in self._tree.problems] + self._facts_problems
        return tuple(ReportedProblem(path, line, what, self.relevant(path)) for path, line, what in sorted(set(found)))


# ---------------------------------------------------------------- what was covered


def _stats(tree: SourceTree, reader: _Reader, sites: Sequence[Site], seconds: float | None) -> Stats:
    verdicts = Counter(site.verdict for site in sites)
    bindings = [binding for site in sites for binding in site.bindings]
    reasons = Counter(binding.reason for site in sites if site.verdict == "unknown" for binding in site.bindings[:1])
    return Stats(
        files=sum(1 for path in tree.files if tree.reported(path)),
        files_parsed=reader.parsed,
        sites=len(sites),
        bindings=len(bindings),
        verdicts={verdict: verdicts[verdict] for verdict in VERDICTS},
        unknown_reasons=dict(sorted(reasons.items())),
        assumptions_used=len({one for binding in bindings for one in binding.assumptions}),
        seconds=seconds,
    )


def _nothing(spec: EngineSpec, reader: _Reader) -> str:
    names = ", ".join(pattern for group in spec.accessors for pattern in group.patterns)
    return f"{spec.name} is recognised, but no call of an accessor ({names}) was found in {reader.parsed} files that mention its vocabulary."


@contextmanager
def _no_collections() -> Iterator[None]:
    """No garbage collection while millions of small values are made that all live to the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


__all__ = ["NothingToAudit", "Options", "ReportedFinding", "audit", "call_graph", "recognise"]
