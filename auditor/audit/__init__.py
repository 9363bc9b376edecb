"""The spine: the whole audit in one function, ``audit``. A reader starts there.

``engine`` says which pack fits a tree, ``reading`` hands files to the linker, ``coverage`` counts.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor import __version__
from auditor.audit.coverage import nothing, stats
from auditor.audit.engine import NothingToAudit, choose_engine, is_pool, packs, recognised, version
from auditor.audit.extracting import FactsOf, facts_store
from auditor.audit.fixes import fixes_of
from auditor.audit.phases import Phases
from auditor.audit.reading import Progress, Reader, modules, source, suppressions
from auditor.audit.started import started_inside
from auditor.callgraph import by_name, freeze
from auditor.checks import check
from auditor.collector import no_collector
from auditor.extract import Extractor
from auditor.gating import judge
from auditor.link import Linker, link_on_demand, link_whole
from auditor.source import SourceTree
from auditor.spec import matcher
from auditor.triage import Engine, Report, assemble_findings, assemble_sites, scenarios, suppress


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked for.

    ``jobs`` 0 is one worker a core; ``engine`` overrides recognition; ``rules`` are packs (files) that go before the
    built-in ones; ``cache`` is the folder that facts are kept in between runs, None for none; ``remark`` is told what
    went wrong with it, ``detail`` what is done and how long each phase took; ``today`` tells which suppressions are
    over (None: none).
    """

    jobs: int = 0
    engine: str | None = None
    rules: tuple[Path, ...] = ()
    assumptions: bool = True
    timing: bool = True
    today: datetime.date | None = None
    progress: Progress | None = None
    cache: Path | None = None
    remark: Callable[[str], None] = lambda text: None
    detail: Callable[[str], None] = lambda text: None


def audit(tree: SourceTree, options: Options) -> Report:
    """source → extract → facts → link → callgraph → gating → checks → triage.

    Raises:
        NothingToAudit: no engine is recognised, or no accessor is called.
    """
    started = time.perf_counter()
    phase = Phases(options.detail)
    spec = choose_engine(tree, options.engine, packs(options.rules), assumptions=options.assumptions)
    phase(f"{len(tree.files):,} files below {tree.root}; engine {spec.name}, rules {spec.origin}")
    with no_collector(), Extractor(options.jobs) as extractor, facts_store(options.cache, options.remark) as store:
        facts_of = FactsOf(extractor, store, options.detail)
        reader = Reader(tree, spec, facts_of, options.progress)
        linker = Linker(reader.modules, lambda cls, hierarchy: is_pool(spec, cls, hierarchy))
        link_on_demand(linker, reader.candidates(), reader.supply, matcher(spec.accessors), matcher(spec.buffers))
        phase(f"read and linked {reader.parsed:,} files, {facts_of.kept:,} of them from the cache")
        judgement = judge(linker, freeze(linker), spec, tree.reported)
        phase(f"judged {len(judgement.sites):,} sites")
        told = check(judgement)
        mended = fixes_of(told, tree, store)
    sites = assemble_sites(judgement, told, tree.role)
    if not sites:
        raise NothingToAudit(nothing(spec, reader))
    report = Report(
        tool_version=__version__,
        root=str(tree.root),
        engine=Engine(spec.name, version(tree, spec), spec.origin),
        scenarios=scenarios(judgement),
        stats=stats(tree, reader, sites, round(time.perf_counter() - started, 2) if options.timing else None),
        sites=sites,
        findings=suppress(assemble_findings(told, mended), suppressions(tree), options.today),
        problems=reader.problems(),
    )
    phase(f"told {len(report.findings):,} findings")
    return report


def call_graph(tree: SourceTree, options: Options) -> Mapping[str, tuple[str, ...]]:
    """Caller → callees by qualified name, for every function of the tree."""
    with no_collector(), Extractor(options.jobs) as extractor, facts_store(options.cache, options.remark) as store:
        inside = started_inside(tree)
        existing = {module.removeprefix(inside): path for module, path in modules(tree).items()}
        linker = Linker(existing, lambda cls, hierarchy: False, closed=True)
        sources = [one for path in tree.files if (one := source(tree, path)) is not None]
        named = [one._replace(module=one.module.removeprefix(inside)) for one in sources]
        link_whole(linker, list(FactsOf(extractor, store)(named)))
        return by_name(linker)


def recognise(tree: SourceTree, rules: Sequence[Path] = ()) -> list[tuple[str, str, bool, str]]:
    """For each pack: its name, where it comes from, whether the tree is such an engine, and why."""
    return [(spec.name, spec.origin, *recognised(tree, spec)) for spec in packs(rules)]


__all__ = ["NothingToAudit", "Options", "audit", "call_graph", "recognise"]
