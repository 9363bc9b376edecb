"""``bypassed-owner``: an ungated read round the owner: raw attribute, inner pool called directly."""

from auditor.checks.finding import Case, Check


def applies(case: Case) -> str | None:
    """Code outside the pools reads storage itself, or through an inner pool that leaves waiting to its owner."""
    if case.inside:
        return None
    return f"{case.method} reads {case.storage} round the pool that would wait for it"


CHECK = Check("bypassed-owner", "error", "An ungated read goes round the owner of the storage.", applies)
