"""What became of the sites between two reports: proofs lost, gates moved, gates lost.

A site is the same in both reports if function, name, kind and receiver as written are, counted in the order of lines;
else if all but the receiver are; else, where its function moved to another module, by the last parts of its function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from auditor.triage.baseline import Comparison, baseline_of, compare
from auditor.triage.fingerprints import fingerprint
from auditor.triage.report import Gate, Report, ReportedFinding, Site

PROOF_LOST = "proof-lost"

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One site before and after. ``what``: ``lost`` (was gated, is ungated), ``joined`` (the same, but only for classes
    or objects that did not come there before: no gate was lost), ``proof-lost`` (was gated, is unknown), ``moved``
    (gated both times, and a gate that it stood on is another one now), ``gained`` (is gated now), or ``verdict`` (any
    other change)."""

    what: str
    before: Site
    after: Site

    def left(self) -> tuple[Gate, ...]:
        """Return the gates that the site stands on no more."""
        return _others(self.before, self.after)

    def joined(self) -> tuple[Gate, ...]:
        """Return the gates that the site did not stand on before."""
        return _others(self.after, self.before)

    def newcomers(self) -> tuple[str, ...]:
        """Return the classes, by their last names, that are read ungated now and did not come there before."""
        return tuple(sorted(_classes(self.after, "ungated") - _classes(self.before)))


@dataclass(frozen=True, slots=True)
class Difference:
    """Two reports, their findings compared, and the sites that changed."""

    before: Report
    after: Report
    findings: Comparison
    changes: tuple[Change, ...]

    def of(self, what: str) -> tuple[Change, ...]:
        """Return the changes of one kind."""
        return tuple(change for change in self.changes if change.what == what)


def difference_of(before: Report, after: Report) -> Difference:
    """Compare two reports. What is suppressed in the later one is neither new nor there before."""
    return Difference(before, after, compare(after, baseline_of(before)), changes(before, after))


def changes(before: Report, after: Report) -> tuple[Change, ...]:
    """Every site that is in both reports and has another verdict or other gates, in the order of the later report."""
    return tuple(
        Change(what, old, new)
        for old, new in _pairs(before.sites, after.sites)
        if (what := _what(old, new)) is not None
    )


def lost_proofs(found: Iterable[Change]) -> tuple[ReportedFinding, ...]:
    """The findings of ``proof-lost``: gated before, unknown now."""
    seen: Counter[Key] = Counter()
    made = []
    for change in found:
        if change.what == PROOF_LOST:
            key = (PROOF_LOST, *_key(change.after))
            seen[key] += 1
            made.append(_finding(change, fingerprint(*key, str(seen[key]))))
    return tuple(made)


def explained(findings: Iterable[ReportedFinding], found: Iterable[Change]) -> tuple[ReportedFinding, ...]:
    """Put before what each new finding advises the gates that its sites had before, wherever they stood."""
    before: dict[str, list[str]] = {}
    for change in found:
        if change.what == "lost":
            before[change.after.id] = [
                f"lost gate: before, {_short(gate.asked.function)} waited for it ({gate.asked.path}:{gate.asked.line})"
                for gate in change.left()
            ]
    told = []
    for one in findings:
        lost = dict.fromkeys(hint for site in one.sites for hint in before.get(site, ()))
        told.append(replace(one, hints=(*lost, *one.hints)) if one.status == "new" else one)
    return tuple(told)


def gates(site: Site) -> tuple[Gate, ...]:
    """The gates that the bindings of a site stand on, each once."""
    return tuple(dict.fromkeys(gate for binding in site.bindings for gate in binding.gates))


# ---------------------------------------------------------------- pairing


def _pairs(before: Iterable[Site], after: Iterable[Site]) -> Iterator[tuple[Site, Site]]:
    left, new = {site.id: site for site in before}, list(after)
    found: dict[str, Site] = {}
    for key in (_key, _unwritten, _unplaced):
        old = _numbered(left.values(), key)
        for number, site in _numbered((site for site in new if site.id not in found), key).items():
            if number in old:
                found[site.id] = left.pop(old[number].id)
    for site in new:
        if site.id in found:
            yield found[site.id], site


def _numbered(sites: Iterable[Site], key: Callable[[Site], Key]) -> dict[tuple[Key, int], Site]:
    seen: Counter[Key] = Counter()
    numbered = {}
    for site in sites:
        seen[key(site)] += 1
        numbered[key(site), seen[key(site)]] = site
    return numbered


def _key(site: Site) -> Key:
    return site.function, site.name, site.kind, site.receiver


def _unwritten(site: Site) -> Key:
    return site.function, site.name, site.kind


def _unplaced(site: Site) -> Key:
    return _short(site.function), site.name, site.kind


def _short(function: str) -> str:
    return ".".join(function.rsplit(".", 2)[-2:])


# ---------------------------------------------------------------- judging


def _what(old: Site, new: Site) -> str | None:
    if old.verdict == new.verdict:
        return "moved" if new.verdict == "gated" and _others(old, new) else None
    if old.verdict == "gated":
        ungated = _classes(new, "ungated")
        others = (ungated and ungated.isdisjoint(_classes(old))) or _still_gated(old, new)
        lost = "joined" if others else "lost"
        return {"ungated": lost, "unknown": PROOF_LOST}.get(new.verdict, "verdict")
    return "gained" if new.verdict == "gated" else "verdict"


def _still_gated(old: Site, new: Site) -> bool:
    """Whether all that was read behind gates is so still: then what is read without one came there since."""
    return not _gated(old) - _gated(new)


def _gated(site: Site) -> Counter[object]:
    return Counter(
        (
            _last_names(one.classes),
            len(one.objects),
            _short(one.method),
            one.mode,
            one.phase,
            frozenset(map(_place, one.gates)),
        )
        for one in site.bindings
        if one.verdict == "gated"
    )


def _others(site: Site, other: Site) -> tuple[Gate, ...]:
    """The gates of a site that another one does not have: by function, object and what they say."""
    there = {_place(gate) for gate in gates(other)}
    return tuple({_place(gate): gate for gate in gates(site) if _place(gate) not in there}.values())


def _classes(site: Site, verdict: str = "") -> frozenset[str]:
    """The classes of the objects that come to a site, all or those with one verdict, by their last names."""
    chosen = (one for one in site.bindings if verdict in ("", one.verdict))
    return frozenset(name for one in chosen for name in _last_names(one.classes))


def _last_names(classes: Iterable[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in classes)


def _place(gate: Gate) -> Key:
    return _short(gate.asked.function), gate.on, gate.expression


def _finding(change: Change, mark: str) -> ReportedFinding:
    old, new = change.before, change.after
    reason = next((binding.reason for binding in new.bindings if binding.verdict == "unknown"), "")
    return ReportedFinding(
        check=PROOF_LOST,
        severity="warning",
        confidence="medium",
        message=f"{new.receiver}.{new.name} was proved gated before and cannot be decided now ({reason})",
        fingerprint=mark,
        path=new.path,
        line=new.line,
        column=new.column,
        end_line=new.line,
        end_column=new.column + 1,
        function=new.function,
        class_="",
        method="",
        buffer="",
        executions=(),
        sites=(new.id,),
        status="new",
        confirmation=None,
        witness=(),
        related=tuple(replace(gate.asked, what=f"before, it was gated by {gate.expression}") for gate in gates(old)),
        fix=None,
    )
