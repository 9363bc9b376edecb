"""``wrong-stream-gate``: the gate is on one stream, the kernel that reads on another, and nothing orders the two."""

from auditor.checks.finding import Case, Check
from auditor.gating import ASIDE


def applies(case: Case) -> str | None:
    """A gate that would do is held, on another stream."""
    near = case.near(ASIDE)
    if near is None:
        return None
    gate = f"{near.gate.text} (line {near.gate.place.line})"
    return f"{case.method} reads {case.storage} on another stream than {gate} was called on, and does not order the two"


CHECK = Check(
    "wrong-stream-gate",
    "error",
    "The gate is on one stream, the kernel that reads on another, unordered.",
    applies,
    unmended="there is a wait already: it has to be made on the stream that reads",
)
