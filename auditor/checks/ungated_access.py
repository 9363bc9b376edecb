"""``ungated-access``: a path reaches the read with no gate at all."""

from auditor.checks.finding import Case, Check
from auditor.gating import EARLY


def applies(case: Case) -> str | None:
    """Every uncovered read that nothing more specific explains."""
    near = case.near(EARLY)
    if near is not None:
        gate = f"{near.gate.text} (line {near.gate.place.line})"
        return f"{case.method} reads {case.storage} of a load that begins only after {gate}"
    return f"{case.method} reaches a read of {case.storage} and nothing on the path waits for the layer"


CHECK = Check("ungated-access", "error", "A path reaches the read with no gate at all.", applies)
