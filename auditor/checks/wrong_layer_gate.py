"""``wrong-layer-gate``: the gate's layer provably does not cover the layer read."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """A gate is held, for another layer."""
    near = case.near("layer")
    return None if near is None else f"{case.method} waits for the wrong layer of {case.storage}: {near.what}"


CHECK = Check(
    "wrong-layer-gate",
    "error",
    "The gate's layer provably does not cover the layer read.",
    applies,
    unmended="there is a wait already: it has to name the layer that is read",
)
