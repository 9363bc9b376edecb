"""``override-drops-gate``: an override reads without the gate that the overridden method has, or loads without a pool
that the overridden method loads."""

from auditor.checks.finding import Case, Check, overridden_wait


def applies(case: Case) -> str | None:
    """The culprit overrides a method of a base class that waits."""
    overridden = overridden_wait(case.judgement, case.culprit)
    if overridden is None:
        return None
    gate = case.judgement.waits[overridden]
    waits = f"{'.'.join(overridden.rsplit('.', 2)[-2:])}, which waits at {gate.place.path}:{gate.place.line}"
    return f"{case.method} overrides {waits}, and does not wait itself"


CHECK = Check(
    "override-drops-gate",
    "error",
    "An override reads without the gate of the overridden method, or loads without one of its pools.",
    applies,
    finds=lambda loading: loading.dropped,
)
