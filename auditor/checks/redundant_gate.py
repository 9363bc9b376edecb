"""``redundant-gate``: a function waits for what it holds already, on every path and whoever it runs for."""

from collections.abc import Iterator

from auditor.checks.finding import Check, Remark
from auditor.gating import Hop, Judgement


def remarks(judgement: Judgement) -> Iterator[Remark]:
    """Every wait that a wait of the same function comes before."""
    for one in judgement.repeats:
        earlier = Hop((one.first.function, None), one.first, "waits for it first")
        message = f"`{one.text}` waits again for what was waited for at {one.first.path}:{one.first.line}"
        yield Remark(one.place, message, one.text, (earlier,))


CHECK = Check(
    "redundant-gate",
    "note",
    "The same layer is waited on twice on every path.",
    unmended="a wait is too many, not missing",
    remarks=remarks,
)
