"""``false-annotation``: an annotation excludes a class that really flows there.

Readers and type checkers believe it, and an audit that trusts it looks for the wrong class.
"""

from collections.abc import Iterator

from auditor.checks.finding import Check, Remark
from auditor.gating import Hop, Judgement


def remarks(judgement: Judgement) -> Iterator[Remark]:
    """Every annotation that none of the objects fits that come there."""
    for one in judgement.contradictions:
        classes = " or ".join(cls.rpartition(".")[2] for cls in one.classes)
        declared = one.declared.rpartition(".")[2]
        message = f"`{one.name}` is annotated {declared}, and what comes there is a {classes}, which is no {declared}"
        steps = (Hop((one.given.function, None), one.given, f"hands over a {classes}"),)
        yield Remark(one.place, message, one.name, steps)


CHECK = Check(
    "false-annotation",
    "warning",
    "An annotation excludes a class that really flows there.",
    unmended="no wait is missing: the annotation has to name what comes there",
    remarks=remarks,
)
