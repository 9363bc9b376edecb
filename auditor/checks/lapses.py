"""From what loaders leave out to findings. There is no site: the witness is the path in the loader itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.checks.finding import Check, Finding
from auditor.gating import Hop, Place
from auditor.loading import Lapse, Loading, Spot


def told(loading: Loading, checks: Sequence[Check]) -> Iterator[Finding]:
    """A finding for each lapse that a check finds."""
    for check in checks:
        for lapse in check.finds(loading):
            yield _finding(check, lapse, loading)


def _finding(check: Check, lapse: Lapse, loading: Loading) -> Finding:
    function = lapse.where.function
    cls, _, method = function.rpartition(".")
    return Finding(
        check=check.id,
        severity=check.severity,
        confidence=lapse.confidence,
        message=f"{'.'.join(function.rsplit('.', 2)[-2:])} {lapse.message}",
        function=function,
        cls=cls if cls in loading.classes else "",
        method=method,
        buffer=lapse.subject,
        place=_place(lapse.where),
        latent=False,
        touches=(),
        witness=tuple(Hop((step.spot.function, None), _place(step.spot), step.what) for step in lapse.steps),
        near=(),
        hints=(f"missing: {lapse.missing}",),
        classes=lapse.classes,
        remedy="it is the loader that has to change: no wait of a reader mends it",
    )


def _place(spot: Spot) -> Place:
    return Place(spot.path, spot.line, spot.column, spot.function)
