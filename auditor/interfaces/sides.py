"""What is compared: releases, git revisions and trees, each audited by itself, several at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.errors import AuditError, UsageError

if TYPE_CHECKING:
    from auditor.interfaces.options import Request
    from auditor.interfaces.progress import Progress
    from auditor.source import Revisions
    from auditor.triage import Report


@dataclass(frozen=True, slots=True)
class Side:
    """A tree that is compared: what people call it, the paths to audit and the folder that they are relative to."""

    name: str
    roots: tuple[Path, ...]
    base: Path | None = None


def open_sides(ctx: click.Context, request: Request, names: Sequence[str], parts: Sequence[str]) -> list[Side]:
    """Fetch or unpack what is named: a path that is there, ``NAME==VERSION``, or a revision of the repository here.

    Args:
        parts: paths below the top of each tree; only they are audited.
    """
    from auditor.source import Revisions, fetch_release

    opened: list[Revisions] = []
    sides = []
    for name in names:
        if Path(name).exists():
            sides.append(_side(name, Path(name), parts))
        elif "==" in name:
            sides.append(_side(name, fetch_release(name), parts))
        else:
            if not opened:
                opened.append(ctx.with_resource(Revisions.around(Path())))
            sides.append(_revision(request, opened[0], name, parts))
    return sides


def _side(name: str, top: Path, parts: Sequence[str]) -> Side:
    roots = tuple(top / part for part in parts) or (top,)
    missing = [part for part, root in zip(parts, roots, strict=False) if not root.exists()]
    if missing:
        raise UsageError(f"{name} has no {missing[0]}. Name a path below its top.")
    return Side(name, roots, top if parts else None)


def _revision(request: Request, revisions: Revisions, name: str, parts: Sequence[str]) -> Side:
    """A revision as the configuration sees it: with the same paths as the work tree."""
    folder = revisions.unpack(revisions.commit(name))
    if parts:
        return _side(name, folder, parts)
    below = [os.path.relpath(os.path.realpath(root), os.path.realpath(revisions.top)) for root in request.roots()]
    roots = tuple(folder / path for path in below if not path.startswith(os.pardir) and (folder / path).exists())
    return Side(name, roots or (folder,))


def audit_sides(request: Request, sides: Sequence[Side], progress: Progress) -> list[Report | str]:
    """Audit every side; what could not be audited is the sentence that says why.

    With more than one process each takes a side of its own, and what is left of them to read its files.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    jobs = min(request.processes(), len(sides))
    alone = replace(request, jobs=max(1, request.processes() // jobs), quiet=True) if jobs > 1 else request
    work = [(alone, side) for side in sides]
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) if jobs > 1 else nullcontext() as pool:
        results = pool.map(_audit, work) if pool else map(_audit, work)
        made: list[Report | str] = []
        for result in results:
            made.append(result)
            progress("audit", len(made), len(sides))
    return made


def _audit(work: tuple[Request, Side]) -> Report | str:
    from auditor.interfaces.audits import audited

    request, side = work
    try:
        tree = request.open_roots(side.roots, base=side.base)
        return replace(audited(request, tree, request.progress(), timing=False), root=side.name)
    except AuditError as error:
        told = str(error)
        for folder in filter(None, (side.base, *side.roots)):  # where it was unpacked is nobody's concern
            told = told.replace(os.path.realpath(folder), side.name)
        return told
