"""``gate-on-some-paths``: the gate misses a branch, an early exit, a loop that may not run or an exception path."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """A gate that would do stands before the read, but another path goes round it, or leaves before it."""
    near = case.near("branch") or case.near("aside")
    if near is None:
        return None
    return f"{case.method} reads {case.storage} on a path that skips {near.gate.text} (line {near.gate.place.line})"


CHECK = Check(
    "gate-on-some-paths", "error", "The gate misses a branch, an early exit, a loop or an exception path.", applies
)
