"""``noop-gate``: the gate resolves to a body that does nothing."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """A gate of that kind is the one that was met."""
    near = case.near("noop")
    if near is None:
        return None
    gate = f"{near.gate.text} (line {near.gate.place.line})"
    return f"the only gate on the way from {case.method} to {case.storage} does nothing: {gate}"


CHECK = Check(
    "noop-gate",
    "warning",
    "The gate resolves to a body that does nothing.",
    applies,
    unmended="there is a wait already: the method that it calls has to wait",
)
