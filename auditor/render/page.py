"""The page that text is written on, and the few marks that are put on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from posixpath import normpath
from typing import Any

import click

from auditor.render.plain import clean, place
from auditor.scales import CONFIDENCES
from auditor.triage import ReportedFinding

_PATH = re.compile(r"[^\s(`]+(?=:[0-9])")
"""What may be the path of a place in a sentence."""


def is_sure(finding: ReportedFinding, min_confidence: str) -> bool:
    """Tell whether a finding has at least this confidence."""
    return CONFIDENCES.index(finding.confidence) <= CONFIDENCES.index(min_confidence)


def state(finding: ReportedFinding) -> str:
    """Say why a finding does not count any more: ``known``, or ``suppressed`` with the reason; "" if it is new."""
    because = f": {clean(finding.justification)}" if finding.justification else ""
    return "" if finding.status == "new" else finding.status + because


def _no_lines(_path: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Page:
    """Where a report is written. ``lines`` gives the source lines of a path, or nothing when they cannot be had.
    Findings below ``min_confidence`` get one line instead of a frame. ``arguments``: what a command that asks on has to
    repeat, such as ``--release NAME==VERSION``. ``prefix``: where the audited root lies in its repository, ``""`` or
    ``folder/``; formats that a host reads give paths from there. ``here``: where it lies seen from the folder that the
    command runs in, for those that people read on a terminal. ``evidence``: the records (evidence-v1) behind the labels
    of the report, for formats with pictures."""

    lines: Callable[[str], Sequence[str]] = _no_lines
    color: bool = False
    width: int = 100
    min_confidence: str = "medium"
    arguments: str = ""
    prefix: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()
    here: str = ""

    def near(self, path: str) -> str:
        """Return a path as it is found from here."""
        return normpath(self.here + path) if self.here and path and not path.startswith("<with:") else path

    def place(self, path: str, line: int) -> str:
        """Return ``path:line`` as it is found from here, so that a terminal makes it a link."""
        return place(self.near(path), line)

    def prose(self, text: str) -> str:
        """Return a sentence, clean, with the places that are in it as they are found from here."""
        return clean(_PATH.sub(lambda found: self.near(found[0]) if self.lines(found[0]) else found[0], text))

    def hosted(self, path: str) -> str:
        """Return a path from the top of the repository. Files of extra roots (``<with:NAME>/…``) are not in it."""
        return path if path.startswith("<with:") else self.prefix + path

    def level(self, finding: ReportedFinding) -> str:
        """Return the severity as it counts: ``note`` for a finding that is not new or not sure enough."""
        return finding.severity if finding.status == "new" and is_sure(finding, self.min_confidence) else "note"

    def source(self, path: str, line: int) -> str | None:
        """Return one source line (from 1), or None."""
        lines = self.lines(path)
        return lines[line - 1] if 0 < line <= len(lines) else None

    def error(self, text: str) -> str:
        return self._paint(text, "red")

    def warning(self, text: str) -> str:
        return self._paint(text, "yellow")

    def note(self, text: str) -> str:
        return self._paint(text, "cyan")

    def good(self, text: str) -> str:
        return self._paint(text, "green")

    def strong(self, text: str) -> str:
        return click.style(text, bold=True) if self.color else text

    def frame(self, text: str) -> str:
        """Paint the lines that hold a picture together."""
        return self._paint(text, "blue")

    def faint(self, text: str) -> str:
        return click.style(text, dim=True) if self.color else text

    def _paint(self, text: str, colour: str) -> str:
        return click.style(text, fg=colour, bold=True) if self.color else text
