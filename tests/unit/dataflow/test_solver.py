"""The worklist finds what iterating over everything finds, and stops where that would not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.dataflow import Graph, MaySet, MustSet, NoFixpoint, solve_backward, solve_forward
from tests.unit.dataflow.graphs import graphs

NOTHING: frozenset[str] = frozenset()
MUST = MustSet[str]()
FACTS = st.frozensets(st.sampled_from("abcd"))


def naive(graph, entry_state, transfer, join):
    """Recompute every block from scratch until a whole round changes nothing."""
    states = {graph.entry: entry_state}
    while True:
        after = {graph.entry: entry_state}
        for block, state in states.items():
            for target, arriving in transfer(block, state).items():
                after[target] = join(after[target], arriving) if target in after else arriving
        if after == states:
            return states
        states = after


@st.composite
def problems(draw):
    """A graph with gen/kill on every edge; an edge may need a fact to be taken at all (a refined branch)."""
    graph = draw(graphs())
    edges = list(graph.edges())
    gen, kill = ({edge: draw(FACTS) for edge in edges} for _ in range(2))

    def transfer(block, state):
        return {t: (state - kill[block, t]) | gen[block, t] for t in graph.successors.get(block, ())}

    return graph, draw(FACTS), transfer


@pytest.mark.parametrize("lattice", [MUST, MaySet()], ids=["must", "may"])
def test_worklist_agrees_with_the_naive_solver(lattice):
    @given(problems())
    def agrees(problem):
        graph, entry_state, transfer = problem
        solved = solve_forward(graph, entry_state, transfer, lattice.join)
        assert solved == naive(graph, entry_state, transfer, lattice.join)
        assert set(solved) == graph.reachable

    agrees()


@given(problems())
def test_backward_agrees_with_forward_on_the_mirrored_graph(problem):
    graph, exit_state, _ = problem
    backward = {block: list(sources) for block, sources in graph.predecessors.items()}
    mirrored = Graph(-1, {**backward, -1: list(graph.exits)})

    def start_of(block, state):
        return dict.fromkeys(graph.predecessors.get(block, ()), state | {block})

    def mirrored_start_of(block, state):
        return dict.fromkeys(graph.exits, state) if block == -1 else start_of(block, state)

    expected = naive(mirrored, exit_state, mirrored_start_of, frozenset.union)
    del expected[-1]
    assert solve_backward(graph, exit_state, start_of, frozenset.union) == expected


def test_a_fact_of_one_branch_does_not_survive_the_join():
    graph = Graph(0, {0: [1, 2], 1: [3], 2: [3]})
    solved = solve_forward(graph, NOTHING, _gains({1: "gate"}, graph), MUST.join)
    assert solved[3] == frozenset()


def test_a_fact_before_a_loop_survives_it_and_one_inside_does_not_come_out():
    graph = Graph(0, {0: [1], 1: [2, 3], 2: [1]})
    solved = solve_forward(graph, NOTHING, _gains({0: "before", 2: "inside"}, graph), MUST.join)
    assert solved[3] == {"before"}


def test_a_branch_refines_each_side_by_itself():
    graph = Graph(0, {0: [1, 2]})
    solved = solve_forward(graph, NOTHING, lambda b, s: {1: s | {"yes"}, 2: s} if b == 0 else {}, MUST.join)
    assert solved == {0: frozenset(), 1: {"yes"}, 2: frozenset()}


def test_an_edge_that_is_never_taken_leaves_its_target_without_a_state():
    graph = Graph(0, {0: [1, 2], 1: [2]})
    solved = solve_forward(graph, NOTHING, lambda b, s: {1: {0: s}, 2: {}}.get(b, {2: s}), MUST.join)
    assert set(solved) == {0, 2}


def test_a_state_that_never_settles_is_an_error_and_not_a_hang():
    graph = Graph(0, {0: [1], 1: [1]})
    with pytest.raises(NoFixpoint, match="block 1"):
        solve_forward(graph, 0, lambda block, state: {1: state + 1}, max)


def test_an_edge_that_is_not_in_the_graph_is_a_bug():
    with pytest.raises(AssertionError, match="no edge"):
        solve_forward(Graph(0, {0: [1], 1: []}), 0, lambda block, state: {0: {1: state}, 1: {7: state}}[block], max)


def _gains(facts, graph):
    return lambda b, s: dict.fromkeys(graph.successors.get(b, ()), s | ({facts[b]} if b in facts else set()))
