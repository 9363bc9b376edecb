"""The report: what every renderer prints and nothing else. Its fields are those of report-v1 (DESIGN.md §7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from auditor.scales import CONFIDENCES, SEVERITIES

VERDICTS = ("ungated", "unknown", "latent", "gated", "exempt")
"""Worst first: the verdict of a site is the first of these that one of its bindings has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One place of a story: a derivation, a witness or a certificate. ``function`` is a qualified name or ""."""

    path: str
    line: int
    what: str
    function: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate that a gated binding stands on. ``expression`` as written, ``on`` the object waited on, ``layer`` the
    layer expression, ``covers`` what it covers and why, ``armed`` why the object's counter is set; ``asked`` the place
    that asks for it, which may be some calls above."""

    path: str
    line: int
    expression: str
    on: str
    layer: str
    covers: str
    armed: str
    asked: Step = Step("", 0, "")


@dataclass(frozen=True, slots=True)
class Binding:
    """Site × objects × executions × scenario with one verdict. ``objects`` are ``path:line`` of allocations."""

    classes: tuple[str, ...]
    objects: tuple[str, ...]
    method: str
    mode: str
    phase: str
    scenario: str
    feasible: str
    when: tuple[str, ...]
    verdict: str
    reason: str
    check: str | None
    assumptions: tuple[str, ...]
    derivation: tuple[Step, ...]
    gates: tuple[Gate, ...]
    witness: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class ExcludedBinding:
    """Objects of one class that flow to a site but cannot come there, and ``why``: two conditions that exclude each
    other, or something that the class has not."""

    classes: tuple[str, ...]
    objects: tuple[str, ...]
    why: str
    derivation: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A place that reads (or may read) a guarded buffer. ``kind``: ``call`` or ``attribute``; ``receiver`` as
    written."""

    id: str
    path: str
    line: int
    column: int
    kind: str
    name: str
    receiver: str
    function: str
    role: str
    verdict: str
    open: tuple[str, ...]
    bindings: tuple[Binding, ...]
    excluded: tuple[ExcludedBinding, ...] = ()


@dataclass(frozen=True, slots=True)
class Fix:
    """A change in one place that adds the missing gate: ``text`` (lines, without the last line end) in place of the
    lines ``line`` to ``end_line``. ``gate`` is the statement that it adds, ``like`` (``path:line``) the wait that it
    follows. Nobody has audited the changed tree yet: ``bufgate fix`` does."""

    path: str
    line: int
    end_line: int
    text: str
    gate: str
    like: str


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """One missing edge, as people see it. ``class_`` is the key ``class`` of report-v1; ``hints`` are the text format's
    advice lines (nearest gate, how to gate it); ``justification`` is the reason of who suppressed it, ``classes`` are
    those of the objects that it concerns; ``unfixed`` says why there is no ``fix``."""

    check: str
    severity: str
    confidence: str
    message: str
    fingerprint: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    class_: str
    method: str
    buffer: str
    executions: tuple[str, ...]
    sites: tuple[str, ...]
    status: str
    confirmation: str | None
    witness: tuple[Step, ...]
    related: tuple[Step, ...]
    fix: Fix | None
    hints: tuple[str, ...] = ()
    justification: str = ""
    classes: tuple[str, ...] = ()
    unfixed: str = ""


@dataclass(frozen=True, slots=True)
class ReportedProblem:
    """A file (or part of one) that could not be read as written; ``relevant`` when it mentions a pool, gate or
    accessor."""

    path: str
    line: int
    what: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class Engine:
    """The recognised engine; ``version`` is displayed only."""

    name: str
    version: str
    pack: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """An arming scenario: one construction of a loader."""

    id: str
    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Stats:
    """Coverage. ``verdicts`` has all five keys and sums to ``sites``; ``seconds`` is None under ``--no-timing``;
    ``verified`` (certificates, hold, partly) is empty unless they were checked again."""

    files: int
    files_parsed: int
    sites: int
    bindings: int
    verdicts: dict[str, int]
    unknown_reasons: dict[str, int]
    assumptions_used: int
    seconds: float | None
    verified: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer of one run. ``root`` is what paths are relative to, for display; ``configuration`` names the
    file that was used, or "" for none; ``notes`` are lines for the footer that no other field carries."""

    tool_version: str
    root: str
    engine: Engine
    scenarios: tuple[Scenario, ...]
    stats: Stats
    sites: tuple[Site, ...]
    findings: tuple[ReportedFinding, ...]
    problems: tuple[ReportedProblem, ...]
    configuration: str = ""
    notes: tuple[str, ...] = field(default=())


def ordered(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Return findings in the order of a report: worst first, then by place."""
    return tuple(
        sorted(
            findings,
            key=lambda one: (SEVERITIES.index(one.severity), CONFIDENCES.index(one.confidence), one.path, one.line),
        )
    )
