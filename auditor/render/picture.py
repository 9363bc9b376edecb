"""A finding as a picture: the call path from its entry to the storage, the load beside it, and the missing edge.

Inline SVG of some 3 KB: no script, no network, prints. Colours and strokes are classes of the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from auditor.render.escape import escape
from auditor.render.layers import Box, Drawing, Edge, Point, draw
from auditor.render.missing import missing_edge
from auditor.render.plain import clean, place, short
from auditor.triage import ReportedFinding, Site, Step

WIDTH, HEIGHT = 178.0, 54.0
"""Pixels of a box. Two of them side by side fit on a phone."""
MARGIN = 6.0
LETTERS = 25
"""Letters of a line in a box."""
BESIDE = ("load", "gate")
"""Boxes that are not on the path."""
NARROW = 2 * WIDTH + 60
"""Pictures of this width may be made smaller; wider ones would be too small to read."""
GATES = 2
"""Gates that are drawn: the nearest ones that other bindings of the same call have."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Consecutive steps in one function: a box of the picture, and an excerpt of the source."""

    function: str
    path: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """A box: its class in the style sheet, and three lines."""

    kind: str
    title: str
    place: str
    what: str


@dataclass(slots=True)
class _Graph:
    """What is drawn. The value of an edge is its class in the style sheet."""

    nodes: dict[str, _Node]
    edges: dict[Edge, str]


def stops(witness: Sequence[Step]) -> tuple[Stop, ...]:
    """Group the steps of a path by function."""
    groups = groupby(witness, key=lambda step: (step.function, step.path))
    return tuple(Stop(function, path, tuple(steps)) for (function, path), steps in groups)


def picture(finding: ReportedFinding, sites: Mapping[str, Site], name: str) -> str:
    """Return the SVG of a finding with a witness; ``name`` is unique on the page."""
    graph = _graph(finding, [sites[id_] for id_ in finding.sites if id_ in sites])
    spine = [node for node, drawn in graph.nodes.items() if drawn.kind not in BESIDE]
    drawing = draw(tuple(graph.nodes), tuple(graph.edges), spine, width=WIDTH, height=HEIGHT)
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    size = f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    kind = "picture wide" if width > NARROW else "picture"
    return "".join(
        [
            f'<svg class="{kind}" {size} role="img" aria-labelledby="{name}-title">',
            f'<title id="{name}-title">{escape(_told(graph))}</title>',
            *(_edge(drawing.routes[edge], kind) for edge, kind in graph.edges.items()),
            *(_box(drawing.boxes[name], node) for name, node in graph.nodes.items()),
            *_label(graph, drawing),
            "</svg>",
        ]
    )


# ---------------------------------------------------------------- what is drawn


def _graph(finding: ReportedFinding, sites: Sequence[Site]) -> _Graph:
    path = stops(finding.witness)
    culprit = next((n for n, stop in enumerate(path) if stop.function == finding.function), None)
    graph = _Graph({}, {})
    for number, stop in enumerate(path):
        last = stop.steps[-1]
        kind = "culprit" if number == culprit else "stop"
        title = f"{number + 1}  {short(stop.function) or 'module'}"
        graph.nodes[f"s{number}"] = _Node(kind, title, _at(last.path, last.line), clean(last.what))
        if number:
            graph.edges[f"s{number - 1}", f"s{number}"] = "call"
    if missing_edge(finding):
        _add_load(graph, finding, culprit or 0, len(path) - 1)
        _add_gates(graph, path, sites)
    return graph


def _add_load(graph: _Graph, finding: ReportedFinding, culprit: int, last: int) -> None:
    """The load fills the storage that the last function reads; nothing orders it before the one that must wait."""
    read = finding.related[0] if finding.related else finding.witness[-1]
    graph.nodes["load"] = _Node("load", "the load of a layer", "on the copy stream", f"fills {clean(finding.buffer)}")
    graph.nodes["storage"] = _Node("storage", clean(finding.buffer), _at(read.path, read.line), "the storage")
    graph.edges[f"s{last}", "storage"] = "call"
    graph.edges["load", "storage"] = "fill"
    graph.edges["load", f"s{culprit}"] = "missing"


def _add_gates(graph: _Graph, path: Sequence[Stop], sites: Sequence[Site]) -> None:
    """Where a call of the path may also bind to a method that waits: that gate, beside the way that has none."""
    callers = {(step.path, step.line): number for number, stop in enumerate(path) for step in stop.steps}
    called = sorted(((callers.get((site.path, site.line), -1), site) for site in sites), key=lambda one: one[0])
    for caller, site in called:
        for binding in site.bindings:
            gate = binding.gates[0] if binding.gates else None
            name = f"g{gate.path}:{gate.line}" if gate else ""
            drawn = sum(node.kind == "gate" for node in graph.nodes.values())
            if gate is None or caller < 0 or name in graph.nodes or drawn == GATES:
                continue
            what = f"waits for {clean(gate.layer)}"
            graph.nodes[name] = _Node("gate", short(binding.method) or "gate", _at(gate.path, gate.line), what)
            graph.edges[f"s{caller}", name] = "call"
            graph.edges["load", name] = "gated"


def _told(graph: _Graph) -> str:
    """The picture in words."""
    path = [node for node in graph.nodes.values() if node.kind in ("stop", "culprit")]
    told = "Call path: " + ", then ".join(f"{node.title} ({node.place})" for node in path) + "."
    if "storage" in graph.nodes:
        culprit = next((node for node in path if node.kind == "culprit"), path[0])
        told += f" It reads {graph.nodes['storage'].title}, which the load fills; {culprit.title} does not wait for it."
    gates = [f"{node.title} ({node.place})" for node in graph.nodes.values() if node.kind == "gate"]
    return told + (f" The same call may bind to methods that wait: {', '.join(gates)}." if gates else "")


def _at(path: str, line: int) -> str:
    return place(path.rpartition("/")[2], line)


# ---------------------------------------------------------------- SVG


def _box(box: Box, node: _Node) -> str:
    middle = box.x + box.width / 2
    lines = ((18, "title", node.title), (32, "place", node.place), (45, "what", node.what))
    shown = "".join(
        f'<text class="{kind}" x="{middle:g}" y="{box.y + down:g}">{escape(_fitted(text))}</text>'
        for down, kind, text in lines
    )
    full = escape("\n".join(text for _, _, text in lines).replace("\n", " · "))
    frame = f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="6"/>'
    return f'<g class="{node.kind}"><title>{full}</title>{frame}{shown}</g>'


def _fitted(text: str) -> str:
    """The start and the end of a text that is too long: both tell more than the middle."""
    head = LETTERS // 2
    return text if len(text) <= LETTERS else f"{text[:head]}…{text[-(LETTERS - head - 1) :]}"


def _edge(route: Sequence[Point], kind: str) -> str:
    corners = " ".join(f"{x:g},{y:g}" for x, y in route)
    return f'<polyline class="{kind}" points="{corners}" marker-end="url(#arrow-{kind})"/>'


def _label(graph: _Graph, drawing: Drawing) -> Iterable[str]:
    for edge, kind in graph.edges.items():
        if kind == "missing":
            (x1, y1), (x2, y2) = drawing.routes[edge][-2:]
            yield f'<text class="missing" x="{(x1 + x2) / 2:g}" y="{(y1 + y2) / 2 + 4:g}">no wait</text>'
