"""A layered drawing of a small acyclic graph (Sugiyama, Tagawa and Toda 1981): where boxes stand and how edges run.

Every box lies in a row below those that lead to it. An edge that passes a row does so through a *passage*, a place of
its own there, so no edge runs through a box: that would read as "goes through this function". Knows no findings and no
SVG.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
Point = tuple[float, float]
Chain = tuple[str, ...]
"""An edge as its two ends with a passage in every row between them."""

BETWEEN = 20.0
"""Pixels between two neighbours of a row."""
ROWS = 36.0
"""Pixels between two rows."""
PASSAGE = 6.0
"""Width of a passage."""
SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node stands: its left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes by node, and the corners of each edge from the lower side of a box to the upper side of another one."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    routes: Mapping[Edge, tuple[Point, ...]]


def draw(nodes: Sequence[str], edges: Sequence[Edge], spine: Sequence[str], *, width: float, height: float) -> Drawing:
    """Lay out boxes of one size, at least one. The edges make no cycle; the nodes of the spine are to stand in line."""
    rank = _ranks(nodes, edges)
    chains = {edge: _chain(edge, rank) for edge in edges}
    rows = _rows(rank, chains.values())
    links = [link for chain in chains.values() for link in pairwise(chain)]
    wide = {name: width if name in rank else PASSAGE for row in rows for name in row}
    centre = _centres(_ordered(rows, links), links, wide, frozenset(spine))
    top = {name: number * (height + ROWS) for number, row in enumerate(rows) for name in row}
    boxes = {name: Box(centre[name] - width / 2, top[name], width, height) for name in nodes}
    return Drawing(
        width=max(centre[name] + wide[name] / 2 for name in centre),
        height=max(top.values()) + height,
        boxes=boxes,
        routes={
            edge: tuple(_route(chain, chains.values(), centre, boxes, top, height)) for edge, chain in chains.items()
        },
    )


def _ranks(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """The row of each node: below all that lead to it. One that nothing leads to stands just above what it leads to."""
    rank = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for above, below in edges:
            rank[below] = max(rank[below], rank[above] + 1)
    led_to = {below for _, below in edges}
    for node in nodes:
        next_rows = [rank[below] for above, below in edges if above == node]
        if node not in led_to and next_rows:
            rank[node] = min(next_rows) - 1
    return rank


def _chain(edge: Edge, rank: Mapping[str, int]) -> Chain:
    above, below = edge
    return above, *(f"{above}\0{below}\0{row}" for row in range(rank[above] + 1, rank[below])), below


def _rows(rank: Mapping[str, int], chains: Iterable[Chain]) -> list[list[str]]:
    rows: list[list[str]] = [[] for _ in range(max(rank.values()) + 1)]
    for node, row in rank.items():
        rows[row].append(node)
    for chain in chains:
        for row, passage in enumerate(chain[1:-1], rank[chain[0]] + 1):
            rows[row].append(passage)
    return rows


def _ordered(rows: list[list[str]], links: Iterable[Edge]) -> list[list[str]]:
    """Put each name of a row where its neighbours are on average, downwards and upwards in turn: few edges cross."""
    above, below = _neighbours(links)
    for sweep in range(SWEEPS):
        near = above if sweep % 2 == 0 else below
        place = {name: number for row in rows for number, name in enumerate(row)}
        rows = [sorted(row, key=lambda name: _mean([place[one] for one in near[name]], place[name])) for row in rows]
    return rows


def _centres(
    rows: Sequence[Sequence[str]], links: Iterable[Edge], wide: Mapping[str, float], spine: Set[str]
) -> dict[str, float]:
    """Give each name the middle of its neighbours as far as its row has room. The leftmost edge is at 0."""
    above, below = _neighbours(links)
    centre = dict.fromkeys(wide, 0.0)
    for sweep in range(SWEEPS):
        near = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [
                0.0 if name in spine else _mean([centre[one] for one in near[name]], centre[name]) for name in row
            ]
            fixed = [number for number, name in enumerate(row) if name in spine] or range(len(row))
            given = _apart(wanted, [wide[name] for name in row], fixed)
            centre.update(zip(row, given, strict=True))
    left = min(centre[name] - wide[name] / 2 for name in wide)
    return {name: at - left for name, at in centre.items()}


def _apart(wanted: Sequence[float], wide: Sequence[float], fixed: Sequence[int]) -> list[float]:
    """Move the places of a row apart, and then all together so that the fixed ones are where they want to be."""
    given: list[float] = []
    for number, place in enumerate(wanted):
        least = given[-1] + (wide[number - 1] + wide[number]) / 2 + BETWEEN if given else place
        given.append(max(place, least))
    shift = sum(wanted[number] - given[number] for number in fixed) / len(fixed)
    return [place + shift for place in given]


def _route(
    chain: Chain,
    chains: Iterable[Chain],
    centre: Mapping[str, float],
    boxes: Mapping[str, Box],
    top: Mapping[str, float],
    height: float,
) -> Iterable[Point]:
    """From the lower side of the first box through the passages to the upper side of the last one."""
    out = sorted((one[1] for one in chains if one[0] == chain[0]), key=lambda name: centre[name])
    into = sorted((one[-2] for one in chains if one[-1] == chain[-1]), key=lambda name: centre[name])
    first, last = boxes[chain[0]], boxes[chain[-1]]
    yield _port(first, out.index(chain[1]), len(out)), first.y + height
    for passage in chain[1:-1]:
        yield centre[passage], top[passage]
        yield centre[passage], top[passage] + height
    yield _port(last, into.index(chain[-2]), len(into)), last.y


def _port(box: Box, number: int, of: int) -> float:
    """Edges share the side of a box evenly."""
    return box.x + box.width * (number + 1) / (of + 1)


def _neighbours(links: Iterable[Edge]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = defaultdict(list)
    below: dict[str, list[str]] = defaultdict(list)
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise
