"""Orders and dominance mean what their definitions by deletion say."""

from itertools import pairwise

import pytest
from hypothesis import given

from auditor.dataflow import EXIT, Graph, dominators, edge_dominators, post_dominators
from tests.unit.dataflow.graphs import edges, graphs, reach, without_block, without_edge

DIAMOND = Graph(0, {0: [1, 2], 1: [3], 2: [3], 3: []})
LOOP = Graph(0, {0: [1], 1: [2, 3], 2: [1], 3: []})


@given(graphs())
def test_reachable_blocks_are_those_with_a_path(graph):
    assert graph.reachable == reach(graph.entry, edges(graph))
    assert len(graph.order) == len(graph.reachable)
    assert graph.order[0] == graph.entry


@given(graphs())
def test_without_loops_an_order_has_every_source_before_its_target(graph):
    forward = Graph(0, {block: [t for t in targets if t > block] for block, targets in graph.successors.items()})
    assert all(forward.rank[source] < forward.rank[target] for source, target in forward.edges())


@given(graphs())
def test_predecessors_mirror_the_edges_between_reachable_blocks(graph):
    mirrored = {(source, target) for target, sources in graph.predecessors.items() for source in sources}
    assert mirrored == {(a, b) for a, b in edges(graph) if a in graph.reachable}
    assert sorted(mirrored) == sorted(graph.edges())


@given(graphs())
def test_a_block_dominates_what_is_lost_by_its_deletion(graph):
    tree = dominators(graph)
    for a in graph.successors:
        lost = graph.reachable - without_block(graph, a) if a in graph.reachable else set()
        assert {b for b in graph.successors if tree.dominates(a, b)} == lost


@given(graphs())
def test_the_chain_of_a_block_is_its_dominators_from_the_entry(graph):
    tree = dominators(graph)
    for block in graph.reachable:
        chain = tree.chain(block)
        assert set(chain) == {a for a in graph.reachable if tree.dominates(a, block)}
        assert chain[0] == graph.entry
        assert chain[-1] == block
        assert all(tree.dominates(a, b) for a, b in pairwise(chain))


@given(graphs())
def test_an_edge_dominates_what_is_lost_by_its_deletion(graph):
    found = edge_dominators(graph)
    assert set(found) == graph.reachable
    for edge in edges(graph):
        lost = graph.reachable - without_edge(graph, edge)
        assert {block for block in found if edge in found[block]} == lost
        assert {block for block in graph.successors if found.dominates(edge, block)} == lost


@given(graphs())
def test_dominating_edges_stand_in_the_order_they_are_taken(graph):
    for taken in edge_dominators(graph).values():
        assert len(set(taken)) == len(taken)
        for number, (source, _) in enumerate(taken):
            assert all(source not in without_edge(graph, earlier) for earlier in taken[:number])


@given(graphs())
def test_a_block_postdominates_what_cannot_leave_without_it(graph):
    tree = post_dominators(graph)
    backward = {(target, source) for source, target in graph.edges()} | {(EXIT, leaf) for leaf in graph.exits}
    leaving = reach(EXIT, backward)
    for a in graph.reachable:
        without = reach(EXIT, {pair for pair in backward if a not in pair})
        expected = leaving - without if a in leaving else set()
        assert {b for b in graph.reachable if tree.dominates(a, b)} == expected


def test_a_join_is_dominated_by_the_branch_only():
    assert dominators(DIAMOND).idom == {0: 0, 1: 0, 2: 0, 3: 0}
    assert dict(edge_dominators(DIAMOND)) == {0: (), 1: ((0, 1),), 2: ((0, 2),), 3: ()}


def test_the_edge_out_of_a_loop_dominates_what_follows_it():
    assert edge_dominators(LOOP)[3] == ((0, 1), (1, 3))
    assert edge_dominators(LOOP)[2] == ((0, 1), (1, 2))


def test_a_loop_without_an_exit_has_no_postdominators():
    endless = Graph(0, {0: [1, 2], 1: [1], 2: []})
    assert post_dominators(endless).chain(1) == ()
    assert post_dominators(endless).chain(0) == (EXIT, 2, 0)


def test_an_unreachable_block_has_no_answer():
    graph = Graph(0, {0: [], 1: [0]})
    assert not dominators(graph).dominates(0, 1)
    assert dominators(graph).chain(1) == ()
    assert 1 not in edge_dominators(graph)
    with pytest.raises(KeyError):
        edge_dominators(graph)[1]


def test_edges_are_labelled_by_how_they_are_taken():
    graph = Graph(0, {0: [1, 2]}, frozenset({(0, 2)}))
    assert [(edge, graph.label(edge)) for edge in graph.edges()] == [((0, 1), "normal"), ((0, 2), "exception")]


def test_deep_graphs_need_no_recursion():
    deep = Graph(0, {block: [block + 1] for block in range(20_000)})
    assert dominators(deep).dominates(10_000, 20_000)
    assert edge_dominators(deep).dominates((5, 6), 20_000)
