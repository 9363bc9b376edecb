"""What changed between two reports, as text and as JSON (diff-v1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from auditor.render.json_v1 import finding_row, gate_row, member, members, stats_row, step_row
from auditor.render.page import Page
from auditor.render.plain import clean, count, joined, place, short, wrapped
from auditor.triage import Change, Difference, Entry, Gate, Report, ReportedFinding, Site, gates

SHOWN = 10
"""Lines of one kind in the text format."""
SHOWN_GATES = 2
HEADS = {
    "lost": "gate lost",
    "joined": "ungated for what joined",
    "proof-lost": "proof lost",
    "moved": "gate moved",
    "gained": "gate gained",
}


def to_text(difference: Difference, page: Page) -> str:
    """Write what is new and gone, what became of gates, and both sums."""
    found = difference.findings
    blocks = [
        _block("new", map(_finding, found.new), page),
        _block("worse", (f"{_finding(one)}: {clean(what)}" for one, what in found.worse), page),
        _block("gone", map(_entry, found.gone), page),
        *(_block(HEADS[what], map(_change, difference.of(what)), page) for what in HEADS),
        _block("other verdicts", _counted(difference.of("verdict")), page),
    ]
    ending = [page.strong(_sentence(difference)), "", *map(_side, (difference.before, difference.after))]
    return "\n\n".join([*(block for block in blocks if block), "\n".join(ending)]) + "\n"


def _block(name: str, lines: Iterable[str], page: Page) -> str:
    rows = list(lines)
    if not rows:
        return ""
    head = page.strong(f"{name} ({len(rows)})")
    more = [f"  and {len(rows) - SHOWN:,} more: --format json lists all of them"] if len(rows) > SHOWN else []
    shown = [line for row in rows[:SHOWN] for line in wrapped(row, page.width, "  ", "      ")]
    return "\n".join([head, *shown, *more])


def _finding(one: ReportedFinding) -> str:
    return f"{place(one.path, one.line)}  {one.severity}[{clean(one.check)}] {clean(one.message)}"


def _entry(one: Entry) -> str:
    return f"{place(one.path, one.line)}  {one.severity}[{clean(one.check)}] {short(one.function)}: {clean(one.buffer)}"


def _change(change: Change) -> str:
    new = change.after
    what = f"{place(new.path, new.line)}  {short(new.function)}: {clean(new.name)}"
    if change.what == "gained":
        return f"{what} was {change.before.verdict}; waits {_where(gates(new))}"
    if change.what == "joined":
        newcomers = joined(change.newcomers()) or "another object"
        return f"{what} waited {_where(gates(change.before))}; is ungated now for {newcomers}"
    left = _where(change.left() or gates(change.before))
    if change.what == "moved":
        now = _where(change.joined() or gates(new))
        if now == left:  # the same place, and another wait
            return f"{what} waited {_what(change.left())}; waits {_what(change.joined() or gates(new))} now, {now}"
        return f"{what} waited {left}; waits {now}"
    return f"{what} waited {left}; is {new.verdict} now"


def _where(gates_: Sequence[Gate]) -> str:
    places = dict.fromkeys(
        f"in {short(gate.asked.function)} ({place(gate.asked.path, gate.asked.line)})" for gate in gates_
    )
    more = [f"{len(places) - SHOWN_GATES} more"] if len(places) > SHOWN_GATES else []
    return joined([*islice(places, SHOWN_GATES), *more])


def _what(gates_: Sequence[Gate]) -> str:
    waits = dict.fromkeys(f"with `{clean(gate.expression)}` on {clean(gate.on)}" for gate in gates_)
    more = [f"{len(waits) - SHOWN_GATES} more"] if len(waits) > SHOWN_GATES else []
    return joined([*islice(waits, SHOWN_GATES), *more])


def _counted(changes: Iterable[Change]) -> Iterator[str]:
    kinds = Counter((change.before.verdict, change.after.verdict) for change in changes)
    return (f"{before} to {after}: {count(number, 'site')}" for (before, after), number in sorted(kinds.items()))


def _sentence(difference: Difference) -> str:
    found = difference.findings
    lost, joining, proofs, moved, gained = (len(difference.of(what)) for what in HEADS)
    newly = f"{joining} missing for what joined, " if joining else ""
    return (
        f"{count(len(found.new), 'new finding')}, {len(found.worse)} worse, {len(found.gone)} gone, "
        f"{len(found.known)} as before; gates: {lost} lost, {newly}"
        f"{moved} moved, {gained} gained, "
        f"{count(proofs, 'proof')} lost."
    )


def _side(report: Report) -> str:
    verdicts = report.stats.verdicts
    order = ("ungated", "unknown", "latent", "gated", "exempt")
    numbers = ", ".join(f"{verdicts.get(name, 0):,} {name}" for name in order)
    return f"{clean(report.root)}: {report.stats.sites:,} sites: {numbers}"


# ---------------------------------------------------------------- JSON


def to_json(difference: Difference, _page: Page) -> str:
    """Write everything, one finding and site a line."""
    found = difference.findings
    rows = [
        member("schema", "diff-v1"),
        member("before", _report(difference.before)),
        member("after", _report(difference.after)),
        members("new", map(finding_row, found.new)),
        members("worse", ({"finding": finding_row(one), "what": what} for one, what in found.worse)),
        members("known", (one.fingerprint for one in found.known)),
        members("gone", map(_entry_row, found.gone)),
        members("sites", map(_change_row, difference.changes)),
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _report(report: Report) -> Mapping[str, object]:
    return {"name": report.root, "version": report.engine.version, "stats": stats_row(report.stats)}


def _entry_row(one: Entry) -> Mapping[str, object]:
    keys = ("fingerprint", "check", "severity", "function", "buffer", "path", "line")
    return {key: getattr(one, key) for key in keys}


def _change_row(change: Change) -> Mapping[str, object]:
    return {"what": change.what, "before": _site_row(change.before), "after": _site_row(change.after)}


def _site_row(site: Site) -> Mapping[str, object]:
    gated = [{**gate_row(gate), "asked": step_row(gate.asked)} for gate in gates(site)]
    return {"id": site.id, "function": site.function, "verdict": site.verdict, "gates": gated}


DIFFERENCE_FORMATS = {"text": to_text, "json": to_json}
"""The formats of ``diff``."""
