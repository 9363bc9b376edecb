"""Pictures of evidence: the streams of one run as lanes, what each launched from left to right, the edges between
them, and the one that is missing. Pure functions from records (JSON) to sentences, SVG and HTML; everything that came
from the engine is escaped. Standard library only: the HTML report of the audit shows the same pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape as escaped
from typing import Any

Plain = Mapping[str, Any]
Escape = Callable[[str], str]

LANE, STEP, LEFT, TOP, BOX = 64, 118, 84, 34, 30
LONGEST = 15
"""Characters of a name in a box; the whole name and the places are in its tooltip."""

STYLE = """
.timeline { --ink: #1d2430; --lane: #c4cad4; --copy: #dbe9ff; --kernel: #ffe9cc; --sync: #eceff3; --good: #0a7d43;
  --bad: #c4262e; display: block }
@media screen and (prefers-color-scheme: dark) { .timeline { --ink: #e6e9ef; --lane: #4a5260; --copy: #1f3a63;
  --kernel: #5c4218; --sync: #2c333e; --good: #4fc98a; --bad: #ff6b72 } }
.timeline text { font: 11px system-ui, sans-serif; fill: var(--ink) }
.timeline .lane, .timeline rect { stroke: var(--lane) }
.timeline .copy { fill: var(--copy) } .timeline .kernel { fill: var(--kernel) }
.timeline .record, .timeline .wait, .timeline .host { fill: var(--sync) }
.timeline .edge { stroke: var(--ink); fill: none } .timeline .proof { stroke: var(--good); stroke-width: 2 }
.timeline .missing { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 4; fill: none }
.timeline marker path { fill: context-stroke }
.timeline .role { font-weight: 600 } .timeline .over { paint-order: stroke; stroke-width: 5;
  stroke: var(--card, var(--paper)) } .timeline .missing-text { fill: var(--bad) }
.timeline .marked { stroke: var(--bad); stroke-width: 2 }
.timeline .proved { stroke: var(--good); stroke-width: 2 }
"""
"""Of the pictures, wherever they stand."""

PAGE = """
:root { color-scheme: light dark; --text: #1d2430; --paper: #fff; --good: #0a7d43; --bad: #c4262e }
@media screen and (prefers-color-scheme: dark) { :root { --text: #e6e9ef; --paper: #161a21; --good: #4fc98a;
  --bad: #ff6b72 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--paper); max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.05rem; margin: 2rem 0 .2rem; overflow-wrap: anywhere }
p { margin: .2rem 0; overflow-wrap: anywhere } figure { margin: .6rem 0; overflow-x: auto }
.confirmed { color: var(--bad) } .ordered { color: var(--good) }
"""


def page(records: Sequence[Plain]) -> str:
    """Return an HTML page, complete in itself, with a picture of each record."""
    sections = "\n".join(_section(record, f"r{number}") for number, record in enumerate(records, 1))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Evidence of the probe</title>'
        f'<meta name="viewport" content="width=device-width"><style>{PAGE}{STYLE}</style></head><body>\n'
        f"<h1>Evidence of the probe</h1>\n{sections}\n</body></html>\n"
    )


def _section(record: Plain, name: str) -> str:
    lines = [f"<h2>{escaped(title(record))}</h2>"]
    lines.append(f'<p class="{escaped(record["verdict"])}"><b>{escaped(record["label"])}</b></p>')
    lines += [f"<p>{escaped(sentence)}</p>" for sentence in told(record)]
    if picture := svg(record, name):
        lines.append(f"<figure>{picture}</figure>")
    return "\n".join(lines)


def title(record: Plain) -> str:
    """Return what was called, and how."""
    one = record["experiment"]
    return f"{one['class']}.{one['method']} · {one['scenario']}"


def told(record: Plain) -> list[str]:
    """Say in sentences what the picture shows, and what was counted."""
    trials, lines = record["trials"], []
    if trials["trials"]:
        where = f"layer {record['layer']} of {', '.join(record['buffers'])}"
        seen = f"wrong bytes in {trials['wrong']} of {trials['trials']} trials"
        if record["backend"]["kind"] == "sim":
            seen += f", a race in {trials['raced']}"
        lines.append(f"{where}: {seen}")
    for race in record["races"]:
        said = f"{race['kind']} of {race['buffer']}: {race['missing_edge']}"
        if race["witness"]:
            said += f"; under {race['witness']} {race['witness_wrong']} of {race['bytes']} bytes are wrong"
        lines.append(said)
    if record["path"]:
        lines.append("ordered by: " + ", then ".join(map(_said, record["path"])))
    return lines


def _said(operation: Plain) -> str:
    return f"#{operation['number']} {operation['kind']} {operation['name']} on {operation['agent']}"


def svg(record: Plain, name: str, escape: Escape = escaped) -> str:
    """Return the timeline of a record, or "" if it has none: what is in no edge, race or proof is counted, not drawn.

    Args:
        name: is part of an id, and so of no other picture on the page.
        escape: makes HTML of a text that came from the engine.
    """
    if not record["timeline"]["operations"]:
        return ""
    columns = _columns(record)
    place = {operation["number"]: position for position, (operation, _) in enumerate(columns)}
    lanes = {agent: row for row, agent in enumerate(sorted({operation["agent"] for operation, _ in columns}))}
    width, height = LEFT + STEP * len(columns) + 20, TOP + LANE * len(lanes) + 16
    proof = [operation["number"] for operation in record["path"]]
    racing = {race[side]["number"] for race in record["races"] for side in ("first", "second")}
    roles = _roles(record)

    def point(number: int) -> tuple[float, float]:
        operation = columns[place[number]][0]
        return LEFT + STEP * place[number], TOP + LANE * lanes[operation["agent"]]

    parts = [
        f'<svg class="timeline" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-labelledby="tip-{name}-title" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="tip-{name}-title">{escape("; ".join([record["label"], *told(record)]))}</title>',
        f'<defs><marker id="tip-{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0 8 4 0 8z"/></marker></defs>',
    ]
    for agent, row in lanes.items():
        y = TOP + LANE * row + BOX / 2
        parts.append(f'<line class="lane" x1="{LEFT - 8}" x2="{width}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="4" y="{y + 4}">{escape(agent)}</text>')
    for edge in record["timeline"]["edges"]:
        if edge["before"] in place and edge["after"] in place:
            proved = edge["before"] in proof and edge["after"] in proof
            parts.append(_arrow(point(edge["before"]), point(edge["after"]), "edge proof" if proved else "edge", name))
    for race in record["races"]:
        first, second = race["first"]["number"], race["second"]["number"]
        if first in place and second in place:
            parts.append(_arrow(point(first), point(second), "missing", name))
            (x, y), from_below = point(second), point(first)[1] > point(second)[1]
            beside = y + BOX + 14 if from_below else y - 6  # the head of the arrow
            parts.append(f'<text class="over missing-text" x="{x + 22}" y="{beside}">no order</text>')
    for number in place:
        operation, more = columns[place[number]]
        kind = "marked" if number in racing else "proved" if number in proof else ""
        parts.append(_box(operation, more, roles.get(number, ""), *point(number), kind, escape))
    return "".join([*parts, "</svg>"])


def _columns(record: Plain) -> list[tuple[Plain, int]]:
    """Return the operations to draw, each with how many of its stream were left out before it."""
    drawn = {operation["number"] for operation in record["path"]}
    drawn |= {race[side]["number"] for race in record["races"] for side in ("first", "second")}
    drawn |= {edge[end] for edge in record["timeline"]["edges"] for end in ("before", "after")}
    operations = record["timeline"]["operations"]
    drawn |= {signal["number"] for race in record["races"] for signal in _signal(record, race)}
    left_out: dict[str, int] = {}
    columns = []
    for operation in operations:
        if operation["number"] in drawn:
            columns.append((operation, left_out.pop(operation["agent"], 0)))
        else:
            left_out[operation["agent"]] = left_out.get(operation["agent"], 0) + 1
    return columns


def _roles(record: Plain) -> dict[int, str]:
    """Say what operations are to the claim: the load, its signal, the gate, the read."""
    roles = {one["number"]: _SYNCHRONISES[one["kind"]] for one in record["path"] if one["kind"] in _SYNCHRONISES}
    if record["path"] and not record["experiment"]["scenario"].startswith("load-over"):
        roles |= {record["path"][0]["number"]: "load", record["path"][-1]["number"]: "read"}
    for race in record["races"]:
        first, second = _ENDS[race["kind"]]
        roles |= {race["first"]["number"]: first, race["second"]["number"]: second}
        roles |= {one["number"]: "signal" for one in _signal(record, race)}
    return roles


_SYNCHRONISES = {"record": "signal", "wait": "gate"}
_ENDS = {"RAW": ("load", "read"), "WAR": ("read", "load"), "WAW": ("write", "load")}


def _signal(record: Plain, race: Plain) -> list[Plain]:
    """Return the signal that nobody waited for: the first that follows the load on its stream."""
    load = race["first"]
    later = [one for one in record["timeline"]["operations"] if one["number"] > load["number"]]
    return [one for one in later if one["agent"] == load["agent"] and one["kind"] == "record"][:1]


def _box(operation: Plain, more: int, role: str, x: float, y: float, kind: str, escape: Escape) -> str:
    whole = operation["name"]
    name = whole if len(whole) <= LONGEST else whole[: LONGEST - 1] + "…"
    tooltip = " · ".join([_said(operation), *operation["site"]])
    before = f'<text class="over" text-anchor="end" x="{x - 2}" y="{y - 5}">+{more}</text>' if more else ""
    above = f'<text class="over role" x="{x + 5}" y="{y - 5}">{role}</text>' if role else ""
    return (
        f"{before}{above}<g><title>{escape(tooltip)}</title>"
        f'<rect class="{escape(operation["kind"])} {kind}" x="{x}" y="{y}" rx="4" '
        f'width="{STEP - 16}" height="{BOX}"/><text x="{x + 5}" y="{y + 13}">{escape(operation["kind"])}</text>'
        f'<text x="{x + 5}" y="{y + 25}">{escape(name)}</text></g>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], kind: str, name: str) -> str:
    """Draw from the lower or upper edge of one box to that of the other."""
    down = end[1] > start[1]
    x1, y1 = start[0] + STEP - 30, start[1] + (BOX if down else 0)
    x2, y2 = end[0] + 12, end[1] + (0 if down else BOX)
    middle = (y1 + y2) / 2
    return f'<path class="{kind}" marker-end="url(#tip-{name})" d="M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"/>'
