"""``optional-gate-not-passed``: the gate depends on an argument that a call leaves out."""

from auditor.checks.finding import Case, Check
from auditor.gating import UNRELATED_ARGUMENT, Given


def applies(case: Case) -> str | None:
    """A gate of that kind is the one that was met."""
    near = case.near("argument") or case.near(UNRELATED_ARGUMENT)
    if near is None:
        return None
    gate = f"{near.gate.text} (line {near.gate.place.line})"
    return f"{case.method} reads {case.storage} without {_named(near.gate.given)} that {gate} depends on"


def _named(arguments: tuple[Given, ...]) -> str:
    return f"the argument{'s' if len(arguments) > 1 else ''} " + " and ".join(f"`{one.name}`" for one in arguments)


CHECK = Check(
    "optional-gate-not-passed",
    "warning",
    "The gate depends on an argument that a call leaves out.",
    applies,
    unmended="the gate is there: the caller has to pass the argument it depends on",
)
