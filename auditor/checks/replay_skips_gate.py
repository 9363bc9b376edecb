"""``replay-skips-gate``: eager execution is gated, the graph replay of the same code is not.

A replay runs the recorded kernels and no Python, so the waits that the recorded code made are not made.
"""

from auditor.checks.finding import Case, Check
from auditor.gating import REPLAY, SKIPPED


def applies(case: Case) -> str | None:
    """The read happens in a replay that nothing waits before."""
    if case.mode != REPLAY:
        return None
    if case.near(SKIPPED) is not None:
        return f"{case.method} is not called when a graph is replayed that holds the reads of {case.storage}"
    near = case.near("layer")
    instead = f": {near.what} ({near.gate.text}, line {near.gate.place.line})" if near is not None else ""
    return f"{case.method} replays a graph that reads {case.storage}, and waits for no load of the last layer{instead}"


CHECK = Check(
    "replay-skips-gate",
    "error",
    "Eager execution is gated, the graph replay of the same code is not.",
    applies,
    unmended="a replay runs no Python: who starts it must wait for the last layer, or no graph may hold the reads",
)
