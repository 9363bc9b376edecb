"""``pack-gap``: a class is given a counter as pools are, and the rule pack guards nothing of what it stores.

So nothing that it holds is audited: the pack lacks a family of pools or a name, or the class has another use for it.
"""

from collections.abc import Iterator

from auditor.checks.finding import Check, Remark
from auditor.gating import Judgement


def remarks(judgement: Judgement) -> Iterator[Remark]:
    """Every such class; those of a family that the pack names are known."""
    for cls, place in judgement.outsiders:
        name = cls.rpartition(".")[2]
        message = f"{name} takes a counter as pools do, and the rule pack knows no name of what it stores"
        yield Remark(place, f"{message}: none of it is audited", name)


CHECK = Check(
    "pack-gap",
    "note",
    "Code that looks like a pool and that the rule pack does not know.",
    unmended="the rule pack has to name the family first",
    remarks=remarks,
)
