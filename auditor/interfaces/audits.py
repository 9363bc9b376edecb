"""Audits as verbs ask for them: of the paths, of the paths since a revision, of the commit that is being made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from auditor.errors import UnreadableRoot, UsageError

if TYPE_CHECKING:
    from auditor.interfaces.options import Request, Shown
    from auditor.interfaces.progress import Progress
    from auditor.review import Artifact
    from auditor.source import Revisions, Snapshot, SourceTree
    from auditor.triage import Comparison, Report


def audited(
    request: Request, tree: SourceTree, progress: Progress, *, timing: bool = True, snapshot: Snapshot | None = None
) -> Report:
    """Audit a tree as the request says."""
    from auditor.audit import audit

    return _configured(request, audit(tree, request.options(progress, timing=timing), snapshot), tree.root)


def _configured(request: Request, report: Report, root: Path) -> Report:
    file = request.configuration.file
    if file is None:
        return report
    return replace(report, configuration=os.path.relpath(file, root if request.release else request.top()))


def audited_since(
    ctx: click.Context, request: Request, progress: Progress, name: str, *, timing: bool
) -> tuple[Shown, Report]:
    """Audit the paths, and mark what was there where HEAD and the revision ``name`` parted."""
    from auditor.source import Revisions

    tree = request.open()
    revisions = ctx.with_resource(Revisions.around(request.top()))
    base = revisions.merge_base(revisions.commit(name), revisions.commit("HEAD"))
    if base is None:
        raise UsageError(f"HEAD and {name} have no commit in common. Name a revision that the work started from.")
    head = _Head(tree, tree.root, lambda one: audited(one, tree, progress, timing=timing))
    return tree, _introduced(request, head, _Commit.of(request, revisions, base), f"{name} ({base[:12]})")


def audited_commit(
    ctx: click.Context, request: Request, progress: Progress, *, timing: bool
) -> tuple[Shown, Report] | None:
    """Audit the commit that is being made, and keep what it introduces; None where it changes no Python file.

    Its paths are those of an audit of the work tree, so that one answer serves both.
    """
    from auditor.audit import NothingToAudit
    from auditor.source import Revisions

    revisions = ctx.with_resource(Revisions.around(request.top()))
    name, base = _commits(revisions, os.environ)
    if revisions.same_python(base, name):
        return None
    head = _whole(request, _Commit.of(request, revisions, name), progress, timing=timing)
    before = None if base is None else _Commit.of(request, revisions, base)
    try:
        report = _introduced(request, head, before, base[:12] if base else "nothing")
    except NothingToAudit as error:
        raise UnreadableRoot(str(error).replace(str(head.root), str(request.top()))) from None
    new = tuple(one for one in report.findings if one.status != "known")
    return head.shown, replace(report, findings=new, root=str(request.top()))


def _whole(request: Request, commit: _Commit, progress: Progress, *, timing: bool) -> _Head:
    """The commit that is judged: unpacked, unless its answer is known."""
    known = commit.recalled(request, timing=timing)
    if known is not None and commit.snapshot is not None:
        return _Head(commit.snapshot, request.top(), lambda _: known)
    tree = _opened(request, commit.paths())
    if tree is None:
        raise UnreadableRoot("the commit has no Python file below the paths. Name a folder with Python sources.")
    return _Head(tree, tree.root, lambda one: audited(one, tree, progress, timing=timing, snapshot=commit.snapshot))


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


def audited_between(ctx: click.Context, request: Request, progress: Progress, base: str, name: str) -> Artifact:
    """Audit a revision and where it parted from another one, and return what was introduced and fixed between them."""
    from auditor import __version__
    from auditor.audit import NothingToAudit
    from auditor.review import artifact_of, untouched
    from auditor.source import Revisions

    revisions = ctx.with_resource(Revisions.around(request.top()))
    after = revisions.commit(name)
    start = revisions.merge_base(revisions.commit(base), after)
    if start is None:
        raise UsageError(f"{base} and {name} have no commit in common. Fetch the history: `fetch-depth: 0`.")
    if revisions.same_python(start, after):
        return untouched(base=start, head=after, tool_version=__version__)
    commit = _Commit.of(request, revisions, after, whole=True)
    head = _whole(request, commit, progress, timing=False)
    try:
        report, before = _both(request, head, _Commit.of(request, revisions, start, whole=True))
    except NothingToAudit as error:
        raise UnreadableRoot(str(error).replace(str(head.root), str(revisions.top))) from None
    return artifact_of(before, report, base=start, head=after)


# ---------------------------------------------------------------- other trees


class _Head(NamedTuple):
    """The tree that is judged: its files, where they lie, and how it is audited."""

    shown: Shown
    root: Path
    audit: Callable[[Request], Report]


class _Paths(NamedTuple):
    """The paths of a request in an unpacked tree, as far as it has them, and what they are relative to."""

    roots: tuple[Path, ...]
    base: Path


class _Commit(NamedTuple):
    """A revision of the repository. ``snapshot``: what is known of it before it is unpacked; None where that does not
    tell the whole tree. ``top``: what paths are relative to, below the top of the repository."""

    request: Request
    revisions: Revisions
    name: str
    snapshot: Snapshot | None
    top: Path

    @classmethod
    def of(cls, request: Request, revisions: Revisions, name: str, *, whole: bool = False) -> _Commit:
        """``whole``: relative to the top of the repository, as a host names files; else to that of the request."""
        top = Path() if whole else _below(revisions, request.top())
        below = [_below(revisions, root).as_posix() for root in request.roots()]
        frame = repr((below, sorted(request.configuration.roles.items())))
        snapshot = None if request.extra else revisions.snapshot(name, top, frame)
        return cls(request, revisions, name, snapshot, top)

    def recalled(self, request: Request, *, timing: bool = False) -> Report | None:
        """The answer of an earlier run."""
        from auditor.audit import recall

        if self.snapshot is None:
            return None
        options = request.options(request.progress(), timing=timing)
        report = recall(self.snapshot, options, lambda: _opened(request, self.paths(outline=True)))
        return None if report is None else _configured(request, report, request.top())

    def paths(self, *, outline: bool = False) -> _Paths:
        """Unpack it; ``outline``: only what its files are called."""
        folder = (self.revisions.outline if outline else self.revisions.unpack)(self.name)
        found = (folder / _below(self.revisions, root) for root in self.request.roots())
        return _Paths(tuple(path for path in found if path.exists()), folder / self.top)


def _opened(request: Request, paths: _Paths) -> SourceTree | None:
    """Open an unpacked tree; None where it has no Python file there."""
    try:
        return request.open_roots(paths.roots, base=paths.base) if paths.roots else None
    except UnreadableRoot:
        return None


def _audited_before(request: Request, paths: _Paths, snapshot: Snapshot | None) -> Report | None:
    """Audit the tree that another one is compared with; None where there is nothing to audit in it."""
    from auditor.audit import NothingToAudit

    tree = _opened(request, paths)
    try:
        return audited(request, tree, request.progress(), timing=False, snapshot=snapshot) if tree else None
    except NothingToAudit:
        return None


def _both(request: Request, head: _Head, before: _Commit | None) -> tuple[Report, Report | None]:
    """Audit a tree and the one before it: side by side in two processes, unless one was asked for or is known."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    quiet = replace(request, quiet=True)
    earlier = before.recalled(quiet) if before else None
    if before is None or earlier is not None:
        return head.audit(request), earlier
    paths = before.paths()
    if request.processes() == 1 or not paths.roots:
        return head.audit(request), _audited_before(quiet, paths, before.snapshot)
    half = replace(quiet, jobs=max(1, request.processes() // 2))
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        other = pool.submit(_audited_before, half, paths, before.snapshot)
        report = head.audit(replace(request, jobs=half.jobs))
        return report, other.result()


def _below(revisions: Revisions, path: Path) -> Path:
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(revisions.top))
    if below.split(os.sep)[0] == os.pardir:
        raise UsageError(f"{path} lies outside of the repository {revisions.top}. Name paths of one repository.")
    return Path(below)


# ---------------------------------------------------------------- head − base


def _introduced(request: Request, head: _Head, commit: _Commit | None, base: str) -> Report:
    """Audit a tree and mark what was there before as known; a proof that is lost is a finding, too."""
    from auditor.triage import Baseline, baseline_of, changes, compare, explained, lost_proofs, marked, ordered

    report, before = _both(request, head, commit)
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
