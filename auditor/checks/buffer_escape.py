"""``buffer-escape``: a tensor taken early is kept and read later without a gate."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """The handle is stored before any gate covers it."""
    if not case.need.escapes:
        return None
    return (
        f"{case.method} keeps a handle of {case.storage} that no gate covers; who reads it later does not wait either"
    )


CHECK = Check(
    "buffer-escape",
    "warning",
    "A tensor or address taken early is kept and read later without a gate.",
    applies,
    unmended="what is kept is read later: fetch it anew where it is read",
)
