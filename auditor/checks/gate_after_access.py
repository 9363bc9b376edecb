"""``gate-after-access``: the consuming use comes before the gate."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """A gate that would do comes only after the read."""
    near = case.near("after")
    if near is None:
        return None
    return f"{case.method} reads {case.storage} before {near.gate.text} (line {near.gate.place.line}) waits for it"


CHECK = Check(
    "gate-after-access",
    "error",
    "The consuming use comes before the gate.",
    applies,
    unmended="there is a wait already: it has to stand before the read",
)
