"""Room ``audit``: the spine, and what is kept between runs. ``spine.fresh`` is the whole audit in one function.

An *answer* is a report that an earlier run kept, with the *trace* of what it rests on (``answers``); a run that finds
one loads neither the parser nor the rooms that link and judge.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.audit.answers import Answers
from auditor.audit.engine import NothingToAudit, packs, recognised
from auditor.audit.kept import asked, kept_store
from auditor.audit.options import Options
from auditor.audit.phases import Phases
from auditor.audit.subjects import Revision, WorkTree
from auditor.source import Snapshot, SourceTree
from auditor.triage import Report

if TYPE_CHECKING:
    from auditor.audit.learned import Proposal


_HOLDS = "the answer of an earlier run holds: nothing that it rests on has changed"


def audit(tree: SourceTree, options: Options, snapshot: Snapshot | None = None) -> Report:
    """Return the report of a tree: the kept one if nothing has changed that it rests on, else that of a fresh audit.

    Args:
        snapshot: the revision that the tree was unpacked from, if ``recall`` was asked for it in vain.

    Raises:
        NothingToAudit: no engine is recognised, or no accessor is called.
        UsageError: a condition that is to be assumed is one that nothing tests.
    """
    started = time.perf_counter()
    phase = Phases(options.detail)
    with kept_store(options.cache, options.remark) as store:
        revision = None if snapshot is None else Revision(snapshot, store, lambda: tree)
        answers = Answers(store, revision or WorkTree(tree, store), asked(options), options.today)
        report = answers.recall() if revision is None else None
        if report is not None:
            phase(_HOLDS)
        else:
            from auditor.audit.spine import fresh

            report, trace = fresh(tree, options, store)
            digests = [tree.digest(path) for path in tree.files]
            if all(digests):  # what cannot be read may be otherwise the next time
                answers.keep(report, trace, digests)
                if revision is not None:
                    revision.remember(digests)
    return replace(_timed(report, options, started), root=str(tree.root))


def recall(snapshot: Snapshot, options: Options, outline: Callable[[], SourceTree | None]) -> Report | None:
    """Return the report of a revision that nobody has unpacked yet, if it is known; its root is that of another run.

    Args:
        outline: opens a tree with the files of the revision, whatever is in them; None where it has none.
    """
    started = time.perf_counter()
    phase = Phases(options.detail)
    with kept_store(options.cache, options.remark) as store:
        revision = Revision(snapshot, store, outline)
        report = Answers(store, revision, asked(options), options.today).recall()
    if report is None:
        return None
    phase(_HOLDS)
    return _timed(report, options, started)


def _timed(report: Report, options: Options, started: float) -> Report:
    seconds = round(time.perf_counter() - started, 2) if options.timing else None
    return replace(report, stats=replace(report.stats, seconds=seconds))


def call_graph(tree: SourceTree, options: Options) -> Mapping[str, tuple[str, ...]]:
    """Caller → callees by qualified name, for every function of the tree."""
    from auditor.audit import spine

    with kept_store(options.cache, options.remark) as store:
        return spine.call_graph(tree, options, store)


def recognise(tree: SourceTree, rules: Sequence[Path] = ()) -> list[tuple[str, str, bool, str]]:
    """For each pack: its name, where it comes from, whether the tree is such an engine, and why."""
    return [(spec.name, spec.origin, *recognised(tree, spec)) for spec in packs(rules)]


def learn(tree: SourceTree, options: Options, *, name: str, source: str) -> Proposal:
    """Learn a rule pack from a tree: its text, and the files that could not be read for it."""
    from auditor.audit.learned import propose

    return propose(tree, options, name=name, source=source)


__all__ = ["NothingToAudit", "Options", "audit", "call_graph", "learn", "recall", "recognise"]
