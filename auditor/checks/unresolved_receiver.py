"""``unresolved-receiver``: a site whose receiver cannot be bound. Nothing is known of it, so it may hide anything."""

from collections.abc import Iterator

from auditor.checks.finding import Check, Remark
from auditor.gating import Judgement, Place

_REASONS = frozenset({"receiver-unresolved", "receiver-dynamic"})


def remarks(judgement: Judgement) -> Iterator[Remark]:
    """Every site that could be a pool's by its name and of whose receiver nothing is known."""
    for site in judgement.sites:
        unknown = [one for one in site.bindings if one.verdict == "unknown" and one.reason in _REASONS]
        if unknown:
            place = Place(site.path, site.line, site.column, site.function)
            message = f"what `{site.receiver}` is cannot be told, so nothing is known of its {site.name}"
            classes = sorted({name.rpartition(".")[2] for one in unknown for name in one.classes})
            if classes:
                told = " or ".join(classes)
                message = (
                    f"`{site.receiver}` is told to be {told}, without a {site.name}: what it really is is not known"
                )
            yield Remark(place, message, site.name, sites=((site.path, site.line, site.column, site.name),))


CHECK = Check(
    "unresolved-receiver",
    "note",
    "A site whose receiver cannot be bound.",
    unmended="what the receiver is has to be known first",
    remarks=remarks,
)
