"""Components are those of networkx; the order is bottom-up and always the same."""

import networkx
from hypothesis import given

from auditor.dataflow import bottom_up, is_recursive
from tests.unit.dataflow.graphs import edges, graphs


@given(graphs())
def test_components_are_those_of_networkx(graph):
    theirs: networkx.DiGraph[int] = networkx.DiGraph(list(edges(graph)))
    theirs.add_nodes_from(graph.successors)
    assert set(map(frozenset, bottom_up(graph.successors))) == set(
        map(frozenset, networkx.strongly_connected_components(theirs))
    )


@given(graphs())
def test_callees_come_first(graph):
    place = {node: number for number, members in enumerate(bottom_up(graph.successors)) for node in members}
    assert all(place[target] <= place[source] for source, target in edges(graph))


@given(graphs())
def test_recursive_components_are_those_with_a_cycle(graph):
    theirs: networkx.DiGraph[int] = networkx.DiGraph(list(edges(graph)))
    on_cycles = {node for cycle in networkx.simple_cycles(theirs) for node in cycle}
    recursive = {node for c in bottom_up(graph.successors) if is_recursive(c, graph.successors) for node in c}
    assert recursive == on_cycles


def test_nodes_that_only_occur_as_targets_count():
    assert bottom_up({"caller": ["callee"]}) == [("callee",), ("caller",)]


def test_depth_is_no_limit():
    assert len(bottom_up({node: [node + 1] for node in range(50_000)})) == 50_001
    assert len(bottom_up({node: [(node + 1) % 50_000] for node in range(50_000)})) == 1
