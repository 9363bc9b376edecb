"""Audits as verbs ask for them: of the paths, of the paths since a revision, of the commit that is being made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from auditor.errors import UnreadableRoot, UsageError

if TYPE_CHECKING:
    from auditor.interfaces.options import Request
    from auditor.interfaces.progress import Progress
    from auditor.review import Artifact
    from auditor.source import Revisions, SourceTree
    from auditor.triage import Comparison, Report


def audited(request: Request, tree: SourceTree, progress: Progress, *, timing: bool = True) -> Report:
    """Audit a tree as the request says."""
    from auditor.audit import audit

    report = audit(tree, request.options(progress, timing=timing))
    file = request.configuration.file
    if file is None:
        return report
    return replace(report, configuration=os.path.relpath(file, tree.root if request.release else request.top()))


def audited_since(
    ctx: click.Context, request: Request, progress: Progress, name: str, *, timing: bool
) -> tuple[SourceTree, Report]:
    """Audit the paths, and mark what was there where HEAD and the revision ``name`` parted."""
    from auditor.source import Revisions

    tree = request.open()
    revisions = ctx.with_resource(Revisions.around(request.top()))
    base = revisions.merge_base(revisions.commit(name), revisions.commit("HEAD"))
    if base is None:
        raise UsageError(f"HEAD and {name} have no commit in common. Name a revision that the work started from.")
    before = _paths_at(request, revisions, base)
    return tree, _introduced(request, tree, progress, before, f"{name} ({base[:12]})", timing=timing)


def audited_commit(
    ctx: click.Context, request: Request, progress: Progress, *, timing: bool
) -> tuple[SourceTree, Report] | None:
    """Audit the commit that is being made, and keep what it introduces; None where it changes no Python file."""
    from auditor.audit import NothingToAudit
    from auditor.source import Revisions

    revisions = ctx.with_resource(Revisions.around(request.top()))
    head, base = _commits(revisions, os.environ)
    if revisions.same_python(base, head):
        return None
    tree = _opened(request, _paths_at(request, revisions, head))
    if tree is None:
        raise UnreadableRoot("the commit has no Python file below the paths. Name a folder with Python sources.")
    before = _Paths((), Path()) if base is None else _paths_at(request, revisions, base)
    try:
        report = _introduced(request, tree, progress, before, base[:12] if base else "nothing", timing=timing)
    except NothingToAudit as error:
        raise UnreadableRoot(str(error).replace(str(tree.root), str(request.top()))) from None
    new = tuple(one for one in report.findings if one.status != "known")
    return tree, replace(report, findings=new, root=str(request.top()))


def _commits(revisions: Revisions, environment: Mapping[str, str]) -> tuple[str, str | None]:
    """The commit that a hook judges, and the one that it is compared with.

    pre-commit and prek name both when they run on a range (``--from-ref A --to-ref B``, as before a push).
    """
    from auditor.source import INDEX

    start, end = environment.get("PRE_COMMIT_FROM_REF"), environment.get("PRE_COMMIT_TO_REF")
    if start and end:
        head = revisions.commit(end)
        return head, revisions.merge_base(revisions.commit(start), head)
    return INDEX, revisions.head()


def audited_between(ctx: click.Context, request: Request, progress: Progress, base: str, head: str) -> Artifact:
    """Audit a revision and where it parted from another one, and return what was introduced and fixed between them."""
    from auditor import __version__
    from auditor.audit import NothingToAudit
    from auditor.review import artifact_of, untouched
    from auditor.source import Revisions

    revisions = ctx.with_resource(Revisions.around(request.top()))
    after = revisions.commit(head)
    start = revisions.merge_base(revisions.commit(base), after)
    if start is None:
        raise UsageError(f"{base} and {head} have no commit in common. Fetch the history: `fetch-depth: 0`.")
    if revisions.same_python(start, after):
        return untouched(base=start, head=after, tool_version=__version__)
    tree = _opened(request, _paths_at(request, revisions, after, whole=True))
    if tree is None:
        raise UnreadableRoot(f"{head} has no Python file below the paths. Name a folder with Python sources.")
    try:
        report, before = _both(request, tree, progress, _paths_at(request, revisions, start, whole=True), timing=False)
    except NothingToAudit as error:
        raise UnreadableRoot(str(error).replace(str(tree.root), str(revisions.top))) from None
    return artifact_of(before, report, base=start, head=after)


# ---------------------------------------------------------------- other trees


class _Paths(NamedTuple):
    """The paths of a request in an unpacked tree, as far as it has them, and what they are relative to."""

    roots: tuple[Path, ...]
    base: Path


def _paths_at(request: Request, revisions: Revisions, commit: str, *, whole: bool = False) -> _Paths:
    """``whole``: relative to the top of the repository, as a host names files."""
    folder = revisions.unpack(commit)
    roots = tuple(path for root in request.roots() if (path := folder / _below(revisions, root)).exists())
    return _Paths(roots, folder if whole else folder / _below(revisions, request.top()))


def _opened(request: Request, paths: _Paths) -> SourceTree | None:
    """Open an unpacked tree; None where it has no Python file there."""
    try:
        return request.open_roots(paths.roots, base=paths.base) if paths.roots else None
    except UnreadableRoot:
        return None


def _audited_before(request: Request, paths: _Paths) -> Report | None:
    """Audit the tree that another one is compared with; None where there is nothing to audit in it."""
    from auditor.audit import NothingToAudit

    tree = _opened(request, paths)
    try:
        return audited(request, tree, request.progress(), timing=False) if tree else None
    except NothingToAudit:
        return None


def _both(
    request: Request, tree: SourceTree, progress: Progress, before: _Paths, *, timing: bool
) -> tuple[Report, Report | None]:
    """Audit a tree and the one before it: side by side in two processes, unless one was asked for."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    quiet = replace(request, quiet=True)
    if request.processes() == 1 or not before.roots:
        return audited(request, tree, progress, timing=timing), _audited_before(quiet, before)
    half = replace(quiet, jobs=max(1, request.processes() // 2))
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        other = pool.submit(_audited_before, half, before)
        report = audited(replace(request, jobs=half.jobs), tree, progress, timing=timing)
        return report, other.result()


def _below(revisions: Revisions, path: Path) -> Path:
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(revisions.top))
    if below.split(os.sep)[0] == os.pardir:
        raise UsageError(f"{path} lies outside of the repository {revisions.top}. Name paths of one repository.")
    return Path(below)


# ---------------------------------------------------------------- head − base


def _introduced(
    request: Request, tree: SourceTree, progress: Progress, paths: _Paths, base: str, *, timing: bool
) -> Report:
    """Audit a tree and mark what was there before as known; a proof that is lost is a finding, too."""
    from auditor.triage import Baseline, baseline_of, changes, compare, explained, lost_proofs, marked, ordered

    report, before = _both(request, tree, progress, paths, timing=timing)
    found = compare(report, baseline_of(before) if before else Baseline(0, ()))
    changed = changes(before, report) if before else ()
    made = marked(report, found)
    findings = ordered((*explained(made.findings, changed), *lost_proofs(changed)))
    return replace(made, findings=findings, notes=(*made.notes, *_notes(found, before, base)))


def _notes(found: Comparison, before: Report | None, base: str) -> Iterator[str]:
    if before is None:
        yield f"compared with {base}: there is nothing to audit in it, so all is new"
        return
    yield f"compared with {base}: {len(found.known)} known, {len(found.new)} new, {len(found.gone)} gone"
    relevant = sum(problem.relevant for problem in before.problems)
    if relevant:
        yield f"relevant files of {base} that could not be read: {relevant}; what is in them may count as new"
