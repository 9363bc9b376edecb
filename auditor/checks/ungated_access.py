"""``ungated-access``: a path reaches the read with no gate at all."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """Every uncovered read that nothing more specific explains."""
    return f"{case.method} reaches a read of {case.storage} and nothing on the path waits for the layer"


CHECK = Check("ungated-access", "error", "A path reaches the read with no gate at all.", applies)
