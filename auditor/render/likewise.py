"""Findings that are told as one: the same wait is missing on the same path, for several buffers.

They stay findings of their own, with fingerprints of their own; the first is told, the others by what is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Protocol, TypeVar

from auditor.triage import Fix, Step


class Told(Protocol):
    """What is told of a finding, by a report or by a review."""

    @property
    def check(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def confidence(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def buffer(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def witness(self) -> tuple[Step, ...]: ...
    @property
    def fix(self) -> Fix | None: ...


AnyTold = TypeVar("AnyTold", bound=Told)


def together(
    findings: Iterable[AnyTold], alone: Callable[[AnyTold], bool] = lambda _: False
) -> list[tuple[AnyTold, ...]]:
    """Put neighbours that differ in the buffer alone together, but for those that are told ``alone``; the order
    stays."""
    stories = ((number if alone(one) else _story(number, one), one) for number, one in enumerate(findings))
    return [tuple(one for _, one in members) for _, members in groupby(stories, key=itemgetter(0))]


def _story(number: int, finding: Told) -> object:
    if not finding.witness or not finding.buffer:
        return number
    message = re.sub(rf"\b{re.escape(finding.buffer)}\b", "", finding.message)
    steps = tuple((step.path, step.function) for step in finding.witness)
    gate = finding.fix.gate if finding.fix else None
    rank = finding.check, finding.severity, finding.confidence, finding.status
    return *rank, finding.path, finding.function, message, steps, gate
