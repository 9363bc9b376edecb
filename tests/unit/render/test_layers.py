"""The layered drawing: boxes apart, edges downwards, and never through a box."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from auditor.render.layers import Box, Drawing, Edge, draw

WIDTH, HEIGHT = 100.0, 40.0


@st.composite
def graphs(make: st.DrawFn) -> tuple[list[str], list[Edge]]:
    """Acyclic: edges lead from a lower number to a higher one."""
    nodes = [f"n{number}" for number in range(make(st.integers(1, 9)))]
    pairs = list(combinations(nodes, 2))
    edges = make(st.lists(st.sampled_from(pairs), unique=True, max_size=14)) if pairs else []
    return make(st.permutations(nodes)), edges


def drawn(nodes: list[str], edges: list[Edge]) -> Drawing:
    return draw(nodes, edges, spine=nodes[::2], width=WIDTH, height=HEIGHT)


@given(graphs())
@example((["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")]))
def test_no_edge_runs_through_a_box(graph: tuple[list[str], list[Edge]]) -> None:
    """An edge through a box would say that the path goes through that function."""
    drawing = drawn(*graph)
    for route in drawing.routes.values():
        for segment in pairwise(route):
            assert not any(crosses(segment, box) for box in drawing.boxes.values())


@given(graphs())
def test_boxes_do_not_overlap_and_lie_in_the_picture(graph: tuple[list[str], list[Edge]]) -> None:
    drawing = drawn(*graph)
    for one, other in combinations(drawing.boxes.values(), 2):
        assert one.x + one.width <= other.x or other.x + other.width <= one.x or one.y != other.y
    for box in drawing.boxes.values():
        assert -0.01 <= box.x <= drawing.width - box.width + 0.01
        assert 0 <= box.y <= drawing.height - box.height


@given(graphs())
def test_edges_lead_down_from_box_to_box(graph: tuple[list[str], list[Edge]]) -> None:
    """Each edge starts at the lower side of its first box and ends at the upper side of its last."""
    nodes, edges = graph
    drawing = drawn(nodes, edges)
    assert set(drawing.routes) == set(edges)
    for (above, below), route in drawing.routes.items():
        first, last = drawing.boxes[above], drawing.boxes[below]
        assert route[0][1] == first.y + first.height
        assert route[-1][1] == last.y
        assert first.x < route[0][0] < first.x + first.width
        assert last.x < route[-1][0] < last.x + last.width
        assert all(start[1] <= end[1] for start, end in pairwise(route))


def test_the_spine_is_straight() -> None:
    """Whatever stands beside it."""
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("load", "b"), ("load", "d"), ("b", "gate")]
    drawing = draw(["a", "b", "c", "d", "load", "gate"], edges, spine="abcd", width=WIDTH, height=HEIGHT)
    assert len({round(drawing.boxes[name].x, 6) for name in "abcd"}) == 1
    assert drawing.height == drawing.boxes["d"].y + HEIGHT


def test_what_nothing_leads_to_stands_next_to_what_it_leads_to() -> None:
    """A second source is not at the top of a long chain but just above its goal."""
    drawing = drawn(["a", "b", "c", "load"], [("a", "b"), ("b", "c"), ("load", "c")])
    assert drawing.boxes["load"].y == drawing.boxes["b"].y


def crosses(segment: tuple[tuple[float, float], tuple[float, float]], box: Box) -> bool:
    """Whether a segment has a point inside a box (Liang and Barsky's clipping)."""
    (x1, y1), (x2, y2) = segment
    enter, leave = 0.0, 1.0
    for start, delta, low, size in ((x1, x2 - x1, box.x, box.width), (y1, y2 - y1, box.y, box.height)):
        inner, outer = low + 0.01, low + size - 0.01
        if delta == 0:
            if not inner < start < outer:
                return False
        else:
            near, far = sorted(((inner - start) / delta, (outer - start) / delta))
            enter, leave = max(enter, near), min(leave, far)
    return enter < leave
