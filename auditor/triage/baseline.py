"""The baseline: the findings that were there before, as a multiset of fingerprints, and what a report adds to it.

An entry is known by its fingerprint alone (the occurrence is part of it, so a second copy is not absorbed); path and
line are for people. A finding that matches no entry is still known if it only moved: an entry that nothing matches has
the same check, class, method and storage in another module. A known finding is told as new again where it became worse:
where it concerns a class that its entry does not have, or is more severe.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

from auditor.errors import AuditError
from auditor.scales import SEVERITIES
from auditor.triage.report import Report, ReportedFinding

SCHEMA = "baseline-v1"


class BaselineError(AuditError):
    """Indicates that a file is not a baseline; the user can write it anew."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding that is accepted for now."""

    fingerprint: str
    check: str
    severity: str
    function: str
    buffer: str
    classes: tuple[str, ...]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was there before. ``unknown``: how many sites could not be decided."""

    unknown: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A report against a baseline. ``known``, ``worse`` and ``new`` together are the findings that are not suppressed;
    ``worse`` says of each in what; ``gone`` are the entries that no finding matches; ``unknown`` is by how many the
    undecided sites grew."""

    new: tuple[ReportedFinding, ...]
    known: tuple[ReportedFinding, ...]
    worse: tuple[tuple[ReportedFinding, str], ...]
    gone: tuple[Entry, ...]
    unknown: int


def baseline_of(report: Report) -> Baseline:
    """Accept every finding of a report that is not suppressed."""
    entries = [entry_of(one) for one in report.findings if one.status != "suppressed"]
    return Baseline(report.stats.verdicts["unknown"], tuple(entries))


def entry_of(one: ReportedFinding) -> Entry:
    return Entry(one.fingerprint, one.check, one.severity, one.function, one.buffer, one.classes, one.path, one.line)


def compare(report: Report, baseline: Baseline) -> Comparison:
    """Tell which findings are new, known or worse, and which entries are gone."""
    findings = [one for one in report.findings if one.status != "suppressed"]
    matched = _matched(findings, baseline.entries)
    new, known, worse = [], [], []
    for one in findings:
        entry = matched.get(one.fingerprint)
        if entry is None:
            new.append(one)
        elif what := _worse(one, entry):
            worse.append((one, what))
        else:
            known.append(one)
    there = {entry.fingerprint for entry in matched.values()}
    gone = tuple(entry for entry in baseline.entries if entry.fingerprint not in there)
    return Comparison(tuple(new), tuple(known), tuple(worse), gone, report.stats.verdicts["unknown"] - baseline.unknown)


def marked(report: Report, comparison: Comparison) -> Report:
    """Give the findings of a report the status that the comparison found."""
    known = {one.fingerprint for one in comparison.known}
    worse = {one.fingerprint: what for one, what in comparison.worse}

    def told(one: ReportedFinding) -> ReportedFinding:
        if one.fingerprint in known:
            return replace(one, status="known")
        if one.fingerprint in worse:
            return replace(one, hints=(*one.hints, f"known before, and worse now: {worse[one.fingerprint]}"))
        return one

    return replace(report, findings=tuple(map(told, report.findings)))


def pruned(baseline: Baseline, comparison: Comparison) -> Baseline:
    """Take out what is gone; the undecided sites may become fewer, never more."""
    gone = set(comparison.gone)
    kept = tuple(entry for entry in baseline.entries if entry not in gone)
    return Baseline(baseline.unknown + min(0, comparison.unknown), kept)


def migrated(comparison: Comparison) -> tuple[tuple[Entry, Entry], ...]:
    """Pair what is gone with what is new in the same function on the same storage: another check tells it now."""
    new: dict[tuple[str, str], list[ReportedFinding]] = {}
    for one in comparison.new:
        new.setdefault((one.function, one.buffer), []).append(one)
    pairs = []
    for entry in comparison.gone:
        if entry.function and (there := new.get((entry.function, entry.buffer))):
            pairs.append((entry, entry_of(there.pop(0))))
    return tuple(pairs)


# ---------------------------------------------------------------- matching


def _matched(findings: Iterable[ReportedFinding], entries: Sequence[Entry]) -> Mapping[str, Entry]:
    """Fingerprint of a finding → its entry; each entry serves once."""
    by_fingerprint = {entry.fingerprint: entry for entry in entries}
    matched = {
        one.fingerprint: by_fingerprint[one.fingerprint] for one in findings if one.fingerprint in by_fingerprint
    }
    left: dict[tuple[str, ...], list[Entry]] = {}
    for entry in reversed(entries):
        if entry.fingerprint not in matched and entry.function:
            left.setdefault(_unplaced(entry), []).append(entry)
    for one in findings:
        if one.fingerprint not in matched and (there := left.get(_unplaced(one))):
            matched[one.fingerprint] = there.pop()
    return matched


def _unplaced(one: Entry | ReportedFinding) -> tuple[str, ...]:
    """What a finding is, wherever its module lies now."""
    return (one.check, *one.function.rsplit(".", 2)[-2:], one.buffer)


def _worse(one: ReportedFinding, entry: Entry) -> str:
    if SEVERITIES.index(one.severity) < SEVERITIES.index(entry.severity):
        return f"it was a {entry.severity} and is an {one.severity}"
    # A class that moved with its module is no new one.
    before = {name.rpartition(".")[2] for name in entry.classes}
    joined = [short for name in one.classes if (short := name.rpartition(".")[2]) not in before]
    return f"it concerns {', '.join(joined)}, too" if joined else ""


# ---------------------------------------------------------------- as a file


def to_json(baseline: Baseline, tool_version: str) -> str:
    """Write a baseline, one entry a line, so that people can review its changes."""
    order = attrgetter("path", "check", "function", "buffer", "fingerprint")
    rows = ",\n  ".join(json.dumps(asdict(entry)) for entry in sorted(baseline.entries, key=order))
    head = json.dumps({"name": "bufgate", "version": tool_version})
    entries = f"[\n  {rows}\n]" if rows else "[]"
    return f'{{\n"schema": "{SCHEMA}",\n"tool": {head},\n"unknown": {baseline.unknown},\n"entries": {entries}\n}}\n'


def from_json(text: str, origin: str) -> Baseline:
    """Read a baseline; ``origin`` names it in errors.

    Raises:
        BaselineError: it is none.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{origin} is no baseline: {error}. {_ANEW}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise BaselineError(f"{origin} is no baseline of this version: schema is {schema!r}, not {SCHEMA!r}. {_ANEW}")
    unknown, entries = document.get("unknown"), document.get("entries")
    if type(unknown) is not int or not isinstance(entries, list):
        raise BaselineError(f"{origin} is no baseline: unknown must be a number and entries a list. {_ANEW}")
    return Baseline(unknown, tuple(_entries(entries, origin)))


_ANEW = "`bufgate baseline write` makes one"


def _entries(rows: Sequence[object], origin: str) -> Iterator[Entry]:
    for number, row in enumerate(rows, 1):
        entry = _entry(row) if isinstance(row, dict) else None
        if entry is None:
            raise BaselineError(f"{origin} is no baseline: entry {number} is damaged. {_ANEW}")
        yield entry


def _entry(row: Mapping[str, Any]) -> Entry | None:
    """Read an entry, or None where it is not of the right form."""
    if row.keys() != set(Entry.__slots__) or not isinstance(row["classes"], list):
        return None
    texts = [*row["classes"], *(row[name] for name in row if name not in ("classes", "line"))]
    fits = all(isinstance(text, str) for text in texts) and row["severity"] in SEVERITIES and type(row["line"]) is int
    return Entry(**{**row, "classes": tuple(row["classes"])}) if fits else None
