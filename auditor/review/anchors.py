"""Where in the diff a finding is told: on the line that opens the hole, as near to the reader as the diff allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from auditor.review.artifact import Introduced
from auditor.review.pull import LEFT, RIGHT, ChangedFile
from auditor.triage import Step


@dataclass(frozen=True, slots=True)
class Anchor:
    """A line of the diff; ``line`` 0 is the whole file. ``what``: ``reader``, ``path``, ``lost gate``, ``file``, or
    ``fix``: the lines from ``start`` on that the fix of the finding replaces."""

    path: str
    line: int
    side: str
    what: str
    start: int = 0


def anchor(finding: Introduced, files: Mapping[str, ChangedFile]) -> Anchor | None:
    """Return the first that is in the diff: the reader, the step of the path that is nearest to it, a gate that was
    deleted, a file of the path; None where the diff has none of them. Where the lines that the fix replaces are in the
    diff of the same file, it is told there."""
    found = next(_candidates(finding, files), None)
    fix = finding.fix
    if fix is not None and found is not None and (found.path, found.side) == (fix.path, RIGHT):
        hunks = files[fix.path].hunks
        if hunks is not None and hunks.right.issuperset(range(fix.line, fix.end_line + 1)):
            return Anchor(fix.path, fix.end_line, RIGHT, "fix", fix.line)
    return found


def _candidates(finding: Introduced, files: Mapping[str, ChangedFile]) -> Iterator[Anchor]:
    reader = Step(finding.path, finding.line, "")
    steps = tuple(reversed(finding.witness))
    yield from _added((reader,), files, "reader")
    yield from _added(steps, files, "path")
    yield from _deleted(finding.gates, files)
    for step in (reader, *steps):
        if step.path in files:
            yield Anchor(step.path, 0, RIGHT, "file")
    before = {file.previous: file.path for file in files.values()}
    for step in finding.gates:
        if step.path in before:
            yield Anchor(before[step.path], 0, RIGHT, "file")


def _added(steps: Iterable[Step], files: Mapping[str, ChangedFile], what: str) -> Iterator[Anchor]:
    for step in steps:
        file = files.get(step.path)
        if file is not None and file.hunks is not None and step.line in file.hunks.right:
            yield Anchor(step.path, step.line, RIGHT, what)


def _deleted(steps: Iterable[Step], files: Mapping[str, ChangedFile]) -> Iterator[Anchor]:
    before = {file.previous: file for file in files.values()}
    for step in steps:
        file = before.get(step.path)
        if file is not None and file.hunks is not None and step.line in file.hunks.deleted:
            yield Anchor(file.path, step.line, LEFT, "lost gate")
