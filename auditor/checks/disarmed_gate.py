"""``disarmed-gate``: the only gate on the path belongs to an object that has no counter."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """A gate was passed, but on an object whose counter is never set or is taken away last."""
    near = case.near("dead")
    if near is None:
        return None
    return f"the only gate on the way from {case.method} to {case.storage} is dead: {near.what}"


CHECK = Check("disarmed-gate", "error", "The only gate on the path belongs to an object without a counter.", applies)
