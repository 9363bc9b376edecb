"""Behind `make receivers`: how many receivers are unknown, by the form in which they are written, and why.

    python -m tests.receivers [VERSION ...]

A receiver is unknown where its site says `receiver-unresolved` or `receiver-dynamic`; what is no pool is known.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from auditor.errors import ReleaseUnavailable
from tests.corpus.audits import audit_release

VERSIONS = ("0.5.23", "0.5.18", "0.5.14", "0.5.10.post1", "0.5.3")
UNKNOWN = frozenset({"receiver-unresolved", "receiver-dynamic"})
FORMS = ("self", "super()", "name", "self.name", "name.name", "longer chain", "call", "subscript", "other")


class Row(NamedTuple):
    """Sites with a receiver of one form: how many, and how many of them are unknown for which reason."""

    sites: int
    unknown: Mapping[str, int]


def form(receiver: str) -> str:
    """The form of a receiver as it is written."""
    if receiver.startswith("super("):
        return "super()"
    if receiver.endswith(")"):
        return "call"
    if receiver.endswith("]"):
        return "subscript"
    parts = receiver.split(".")
    if not all(part.isidentifier() for part in parts):
        return "other"
    if len(parts) == 1:
        return "self" if receiver == "self" else "name"
    if len(parts) == 2:
        return "self.name" if parts[0] == "self" else "name.name"
    return "longer chain"


def table(sites: Iterable[Mapping[str, Any]]) -> dict[str, Row]:
    """Form -> row, of the sites of a report."""
    counted: Counter[str] = Counter()
    unknown: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for site in sites:
        kind = form(site["receiver"])
        counted[kind] += 1
        reasons = {binding["reason"] for binding in site["bindings"]} & UNKNOWN
        if site["verdict"] == "unknown" and reasons:
            unknown[kind][min(reasons)] += 1
    return {kind: Row(counted[kind], unknown[kind]) for kind in FORMS if counted[kind]}


def share(rows: Iterable[Row]) -> tuple[int, int]:
    """All sites, and those whose receiver is unknown."""
    listed = list(rows)
    return sum(row.sites for row in listed), sum(sum(row.unknown.values()) for row in listed)


def main(versions: Iterable[str]) -> None:
    for version in versions:
        try:
            rows = table(audit_release(f"sglang=={version}").report["sites"])
        except ReleaseUnavailable as error:
            print(f"sglang {version}: skipped: {error}")
            continue
        sites, unknown = share(rows.values())
        print(f"sglang {version}: {unknown} of {sites} receivers unknown ({100 * unknown / max(1, sites):.1f} %)")
        for kind, row in rows.items():
            why = ", ".join(f"{count} {reason}" for reason, count in sorted(row.unknown.items()))
            print(f"  {kind:14}{row.sites:6}{sum(row.unknown.values()):5}  {why}")


if __name__ == "__main__":
    main(sys.argv[1:] or VERSIONS)
