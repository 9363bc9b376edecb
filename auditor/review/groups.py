"""Findings that are told together: those of one function, so that a reader of buffers is commented on once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.review.artifact import Introduced
from auditor.triage import fingerprint

NAMED = 100
"""Fingerprints that the mark of a comment has room for."""


@dataclass(frozen=True, slots=True)
class Group:
    """The introduced findings of a function, worst first. ``id`` survives edits as their fingerprints do."""

    id: str
    findings: tuple[Introduced, ...]

    @property
    def open(self) -> tuple[Introduced, ...]:
        """Those that are not suppressed."""
        return tuple(one for one in self.findings if one.status == "new")

    @property
    def members(self) -> tuple[str, ...]:
        """The fingerprints of the open ones, in a fixed order; of very many, some and one for all."""
        names = sorted(one.fingerprint for one in self.open)
        return tuple(names) if len(names) <= NAMED else (*names[: NAMED - 1], fingerprint(*names))


def grouped(findings: Iterable[Introduced]) -> tuple[Group, ...]:
    """Group findings in the order in which each group is first met."""
    groups: dict[str, list[Introduced]] = {}
    for one in findings:
        groups.setdefault(fingerprint(one.function or one.path), []).append(one)
    return tuple(Group(id_, tuple(members)) for id_, members in groups.items())
