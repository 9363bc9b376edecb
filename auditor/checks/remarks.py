"""From remarks to findings: each is one, in the function or class that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.checks.finding import Check, Finding, Remark
from auditor.gating import Judgement


def told(judgement: Judgement, checks: Sequence[Check]) -> Iterator[Finding]:
    """A finding for each remark of each check."""
    for check in checks:
        for one in sorted(check.remarks(judgement), key=lambda remark: (remark.place, remark.subject)):
            yield _finding(check, one, judgement)


def _finding(check: Check, one: Remark, judgement: Judgement) -> Finding:
    function = one.place.function
    cls, _, method = function.rpartition(".")
    return Finding(
        check=check.id,
        severity=check.severity,
        confidence="high",
        message=one.message,
        function=function,
        cls=cls if cls in judgement.hierarchy.classes else "",
        method=method,
        buffer=one.subject,
        place=one.place,
        latent=False,
        touches=(),
        witness=one.related,
        near=(),
        hints=(),
        remedy=check.unmended,
        sites=one.sites,
    )
