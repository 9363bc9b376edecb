"""``optional-gate-not-passed``: the gate depends on an argument that a call leaves out."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """A gate of that kind is the one that was met."""
    near = case.near("argument")
    if near is None:
        return None
    gate = f"{near.gate.text} (line {near.gate.place.line})"
    return f"{case.method} reads {case.storage} without the argument `{near.gate.given}` that {gate} depends on"


CHECK = Check("optional-gate-not-passed", "warning", "The gate depends on an argument that a call leaves out.", applies)
