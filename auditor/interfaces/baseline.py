"""``bufgate baseline``: accept findings for now, and see which of them are gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.interfaces.audits import audited
from auditor.interfaces.failures import Failure
from auditor.interfaces.options import Request, baseline_option, tree_options
from auditor.interfaces.output import deliver

if TYPE_CHECKING:
    from auditor.triage import Baseline, Comparison, Entry, Report, ReportedFinding

SHOWN = 3
"""Entries that are gone which the footer of a report names."""


@click.group(short_help="Accept findings for now; see which of them are gone.")
def baseline() -> None:
    """Accept the findings that are there, so that only others fail a run; see which of them are gone."""


@baseline.command(short_help="Accept what is found now, in a new file.")
@tree_options
@baseline_option
def write(request: Request, file: str | None) -> None:
    """Accept every finding of PATHS that is not suppressed, in a new file, and list what that hides."""
    from auditor.triage import baseline_of

    path = _path(request, file)
    if path.exists():
        raise Failure(f"{path} is there already: `bufgate baseline update` changes it")
    report = _whole_audit(request)
    accepted = baseline_of(report)
    _keep(path, accepted, report)
    deliver(_lines([f"{path} accepts {_count(accepted.entries)}:", *_rows("", accepted.entries)]), None)


@baseline.command(short_help="Accept what is found now, no more and no less.")
@tree_options
@baseline_option
def update(request: Request, file: str | None) -> None:
    """Accept every finding of PATHS that is not suppressed, and list what that changes."""
    from auditor.triage import baseline_of, compare

    path = _path(request, file)
    before, report = load(path), _whole_audit(request)
    found = compare(report, before)
    _keep(path, baseline_of(report), report)
    worse = [one for one, _ in found.worse]
    changes = [*_rows("+ ", found.new), *_rows("~ ", worse), *_rows("- ", found.gone)]
    deliver(_lines([f"{path}: {_changed(found)}", *changes]), None)


@baseline.command(short_help="Take out what is gone, and add nothing.")
@tree_options
@baseline_option
def prune(request: Request, file: str | None) -> None:
    """Take the entries out that nothing in PATHS matches any more, and list them."""
    from auditor.triage import compare, pruned

    path = _path(request, file)
    before, report = load(path), _whole_audit(request)
    found = compare(report, before)
    _keep(path, pruned(before, found), report)
    deliver(_lines([f"{path}: {len(found.gone)} of {_count(before.entries)} gone", *_rows("- ", found.gone)]), None)


@baseline.command(short_help="Follow findings that another check tells now.")
@tree_options
@baseline_option
def migrate(request: Request, file: str | None) -> None:
    """Let entries follow their findings after an upgrade.

    Where an entry is gone and a finding is new in the same function on the same buffer, another check tells the same
    missing edge now. The entry takes it over; nothing else is accepted.
    """
    from auditor.triage import compare, migrated

    path = _path(request, file)
    before, report = load(path), _whole_audit(request)
    pairs = migrated(compare(report, before))
    follow = dict(pairs)
    entries = tuple(follow.get(entry, entry) for entry in before.entries)
    _keep(path, replace(before, entries=entries), report)
    rows = [line for old, new in pairs for line in (*_rows("- ", [old]), *_rows("+ ", [new]))]
    deliver(_lines([f"{path}: {len(pairs)} of {_count(before.entries)} told by another check now", *rows]), None)


@baseline.command(short_help="What is accepted, what of it is gone, what is new.")
@tree_options
@baseline_option
def show(request: Request, file: str | None) -> None:
    """List what is accepted and still there, what is gone since, and what is new."""
    from auditor.triage import compare

    path = _path(request, file)
    before, report = load(path), _whole_audit(request)
    found = compare(report, before)
    worse = [one for one, _ in found.worse]
    rows = [
        *_rows("known  ", found.known),
        *_rows("worse  ", worse),
        *_rows("gone   ", found.gone),
        *_rows("new    ", found.new),
    ]
    deliver(_lines([f"{path}: {_count(before.entries)}; {_changed(found)}", *rows]), None)


# ---------------------------------------------------------------- for the other verbs


def load(file: Path) -> Baseline:
    """Read a baseline file."""
    from auditor.triage import from_json

    try:
        text = file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        raise Failure(f"{file} does not exist: `bufgate baseline write` makes it") from None
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror or error}") from error
    return from_json(text, str(file))


def against(report: Report, file: Path) -> Report:
    """Mark what the baseline knows; the notes say how much, and what is gone."""
    from auditor.triage import compare, marked

    found = compare(report, load(file))
    return replace(marked(report, found), notes=(*report.notes, *_notes(file, found)))


def _notes(file: Path, found: Comparison) -> Iterator[str]:
    yield f"baseline {file.name}: {_changed(found)}"
    for row in [*_rows("", found.gone)][:SHOWN]:
        yield f"gone since the baseline: {row.strip()}"
    if found.gone:
        more = f"{len(found.gone) - SHOWN} more; " if len(found.gone) > SHOWN else ""
        yield f"{more}`bufgate baseline prune` takes them out; after an upgrade, `bufgate baseline migrate` first"
    if found.unknown > 0:
        yield f"{found.unknown} more sites than in the baseline could not be decided"


# ---------------------------------------------------------------- words


def _path(request: Request, file: str | None) -> Path:
    path = request.baseline_file(file)
    if path is None:
        raise click.UsageError("A release has no baseline of its own: name one with --baseline FILE.")
    return path


def _whole_audit(request: Request) -> Report:
    """Audit, and refuse half an audit: what it does not see would look as if it were gone."""
    with request.progress() as progress:
        report = audited(request, request.open(), progress, timing=False)
    relevant = [problem for problem in report.problems if problem.relevant]
    if relevant:
        where = "".join(f"\n  {one.path}:{one.line}: {one.what}" for one in relevant)
        raise Failure(f"the audit is not complete, so the baseline was left as it is. Mend first:{where}")
    return report


def _keep(path: Path, accepted: Baseline, report: Report) -> None:
    from auditor.triage import to_json

    deliver(to_json(accepted, report.tool_version), path)


def _rows(head: str, listed: Iterable[Entry | ReportedFinding]) -> Iterator[str]:
    from auditor.render import clean

    for one in listed:
        what = f"{one.function} ({one.buffer})" if one.function else ""
        yield clean(f"  {head}{one.path}:{one.line}  {one.severity}[{one.check}] {what}").rstrip()


def _changed(found: Comparison) -> str:
    numbers = {"known": found.known, "new": found.new, "worse": found.worse, "gone": found.gone}
    return ", ".join(f"{len(listed)} {name}" for name, listed in numbers.items() if listed or name in ("known", "new"))


def _count(entries: tuple[Entry, ...]) -> str:
    return "1 finding" if len(entries) == 1 else f"{len(entries)} findings"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
