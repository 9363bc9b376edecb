"""The spine: the whole audit in one function, ``fresh``. A reader starts there.

``engine`` says which pack fits a tree, ``reading`` hands files to the linker, ``coverage`` counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from auditor import __version__
from auditor.audit.answers import OTHER, PRODUCT, READ, Trace
from auditor.audit.coverage import nothing, stats
from auditor.audit.engine import NothingToAudit, choose_engine, is_pool, packs, version, version_files
from auditor.audit.extracting import FactsOf
from auditor.audit.fixes import fixes
from auditor.audit.options import Options
from auditor.audit.phases import Phases
from auditor.audit.questions import Questions
from auditor.audit.reading import Reader, marked, modules, source, suppressions
from auditor.audit.started import started_inside
from auditor.audit.verified import counted, refuted, second_opinions
from auditor.callgraph import by_name, freeze
from auditor.checks import check
from auditor.collector import no_collector
from auditor.extract import Extractor
from auditor.gating import judge
from auditor.link import Linker, link_on_demand, link_whole
from auditor.loading import loading_of
from auditor.source import SourceTree
from auditor.spec import matcher
from auditor.store import Store
from auditor.triage import Engine, Report, Suppression, assemble_findings, assemble_sites, scenarios, suppress


def fresh(tree: SourceTree, options: Options, store: Store) -> tuple[Report, Trace]:
    """source → extract → facts → link → callgraph → conditions → loading → gating → checks → triage; and what the
    report rests on.

    Raises:
        NothingToAudit: no engine is recognised, or no accessor is called.
        UsageError: a condition that is to be assumed is one that nothing tests.
    """
    phase = Phases(options.detail)
    known = packs(options.rules)
    spec = choose_engine(tree, options.engine, known, assumptions=options.assumptions)
    phase(f"{len(tree.files):,} files below {tree.root}; engine {spec.name}, rules {spec.origin}")
    with no_collector(), Extractor(options.jobs) as extractor:
        facts_of = FactsOf(extractor, store, options.detail)
        reader = Reader(tree, spec, facts_of, options.progress)
        own = bool(spec.connectors.wait)  # each object is a layer: one stands for all
        linker = Linker(reader.modules, lambda cls, hierarchy: is_pool(spec, cls, hierarchy), merged=own)
        link_on_demand(
            *(linker, reader.candidates(), reader.supply),
            *(matcher(spec.accessors), matcher(spec.buffers)),
            others=frozenset({spec.graphs.replay}) - {""},
            waits=frozenset({spec.connectors.wait}) - {""},
        )
        phase(f"read and linked {reader.parsed:,} files, the facts of {facts_of.kept:,} of them from the cache")
        loading = loading_of(linker, spec, tree.reported)
        judgement = judge(linker, freeze(linker), spec, tree.reported, loading, options.assume)
        phase(f"judged {len(judgement.sites):,} sites")
        opinions = second_opinions(judgement, linker, spec) if options.verify else ()
    told = check(judgement, loading)
    sites = assemble_sites(judgement, told, tree.role)
    if not sites:
        raise NothingToAudit(nothing(spec, reader))
    commented = marked(tree)
    comments = suppressions(tree, commented)
    report = Report(
        tool_version=__version__,
        root=str(tree.root),
        engine=Engine(spec.name, version(tree, spec), spec.origin),
        scenarios=scenarios(judgement),
        stats=stats(tree, reader, sites, counted(opinions)),
        sites=sites,
        findings=suppress(assemble_findings(told, fixes(told, tree)), comments, options.today),
        problems=(*reader.problems(), *refuted(opinions)),
    )
    phase(f"told {len(report.findings):,} findings")
    read = reader.read.union(commented, version_files(tree, spec))
    questions = reader.questions(known)
    return report, Trace(_day(comments, options), questions, _said(tree, reader, questions, read))


def _day(comments: Sequence[Suppression], options: Options) -> str:
    """The day that the report depends on, or ""."""
    return str(options.today) if any(one.until for one in comments) else ""


def _said(tree: SourceTree, reader: Reader, questions: Questions, read: frozenset[str]) -> Mapping[str, str]:
    """What every file said that was not read."""
    mentioned: dict[str, set[str]] = {path: set() for path in tree.files}
    for name, paths in tree.mentioning(questions.identifiers()).items():
        for path in paths:
            mentioned[path].add(name)
    said = dict.fromkeys(read, READ)
    for path, content in ((path, tree.read(path)) for path in tree.files if path not in read):
        if content is not None:
            product = tree.role(path) == "product"
            does = lambda name, use, path=path: reader.does(name, use, path)  # noqa: E731
            answer = questions.answer(mentioned[path], does, product=product, chosen=False)  # else it were read
            said[path] = (PRODUCT if product else OTHER) + answer
    return said


def call_graph(tree: SourceTree, options: Options, store: Store) -> Mapping[str, tuple[str, ...]]:
    """Caller → callees by qualified name, for every function of the tree."""
    with no_collector(), Extractor(options.jobs) as extractor:
        inside = started_inside(tree)
        existing = {module.removeprefix(inside): path for module, path in modules(tree).items()}
        linker = Linker(existing, lambda cls, hierarchy: False, closed=True)
        sources = [one for path in tree.files if (one := source(tree, path)) is not None]
        named = [one._replace(module=one.module.removeprefix(inside)) for one in sources]
        link_whole(linker, list(FactsOf(extractor, store)(named)))
        return by_name(linker)
