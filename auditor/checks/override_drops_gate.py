"""``override-drops-gate``: an override reads without the gate that the overridden method has, or loads without a pool
that the overridden method loads."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """The culprit overrides a method of a base class that waits."""
    cls, _, name = case.culprit.rpartition(".")
    for base in case.judgement.hierarchy.mro(cls)[1:]:
        overridden = f"{base}.{name}"
        if overridden in case.judgement.waits:
            gate = case.judgement.waits[overridden]
            waits = f"{base.rpartition('.')[2]}.{name}, which waits at {gate.place.path}:{gate.place.line}"
            return f"{case.method} overrides {waits}, and does not wait itself"
    return None


CHECK = Check(
    "override-drops-gate",
    "error",
    "An override reads without the gate of the overridden method, or loads without one of its pools.",
    applies,
    finds=lambda loading: loading.dropped,
)
