"""Two reports of a pull request become the artifact: what it introduces, what it fixes, which gates it took away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditor.render import sentence
from auditor.review.artifact import Artifact, Gone, Introduced
from auditor.triage import (
    PROOF_LOST,
    Baseline,
    Change,
    Report,
    ReportedFinding,
    Step,
    baseline_of,
    changes,
    compare,
    explained,
    lost_proofs,
    marked,
    ordered,
)


def artifact_of(before: Report | None, after: Report, *, base: str, head: str) -> Artifact:
    """Return head − base. ``before`` is None where there is nothing to audit in the base: then all is introduced."""
    found = compare(after, baseline_of(before) if before else Baseline(0, ()))
    changed = changes(before, after) if before else ()
    told = marked(after, found)
    findings = ordered((*explained(told.findings, changed), *lost_proofs(changed)))
    lost = _lost(changed)
    silent = _suppressed(before)
    introduced = [
        one for one in findings if one.status == "new" or (one.status == "suppressed" and one.fingerprint not in silent)
    ]
    assert len({one.fingerprint for one in introduced}) == len(introduced), "a fingerprint names one finding"
    hidden = {one.fingerprint for one in findings if one.status == "suppressed"}
    return Artifact(
        tool_version=after.tool_version,
        base=base,
        head=head,
        coverage=" ".join(_coverage(before, told)),
        problems=tuple(f"{one.path}:{one.line}: {one.what}" for one in after.problems if one.relevant),
        known=len(found.known),
        left_out=0,
        introduced=tuple(_introduced(one, lost) for one in introduced),
        fixed=tuple(
            Gone(one.fingerprint, one.check, one.severity, one.function, one.path, one.line)
            for one in found.gone
            if one.fingerprint not in hidden
        ),
    )


def untouched(*, base: str, head: str, tool_version: str) -> Artifact:
    """Return the artifact of a pull request that changes no Python file."""
    told = "No Python file differs from the merge base, so nothing was audited."
    return Artifact(tool_version, base, head, told, (), 0, 0, (), ())


def _suppressed(report: Report | None) -> set[str]:
    return {one.fingerprint for one in report.findings if one.status == "suppressed"} if report else set()


def _lost(changed: Iterable[Change]) -> dict[str, tuple[Step, ...]]:
    """Site → the places of the gates that it stands on no more: where each is asked for, then the gate itself."""
    return {
        change.after.id: tuple(
            step
            for gate in change.left()
            for step in (gate.asked, Step(gate.path, gate.line, gate.expression))
            if step.path
        )
        for change in changed
        if change.what in ("lost", "proof-lost", "verdict")
    }


def _introduced(one: ReportedFinding, lost: dict[str, tuple[Step, ...]]) -> Introduced:
    gates = [step for site in one.sites for step in lost.get(site, ())]
    return Introduced(
        fingerprint=one.fingerprint,
        check=one.check,
        severity=one.severity,
        confidence=one.confidence,
        message=one.message,
        path=one.path,
        line=one.line,
        function=one.function,
        buffer=one.buffer,
        status=one.status,
        justification=one.justification,
        witness=one.witness
        if one.witness or one.check == PROOF_LOST
        else one.related,  # those of a proof are of the base
        gates=tuple({(step.path, step.line): step for step in reversed(gates)}.values())[::-1],
        hints=one.hints,
        fix=one.fix,
    )


def _coverage(before: Report | None, after: Report) -> Iterator[str]:
    yield sentence(after)
    if before is None:
        yield "There is nothing to audit in the merge base, so all is new."
    elif unread := sum(problem.relevant for problem in before.problems):
        yield f"Relevant files of the merge base that could not be read: {unread}; what is in them may count as new."
