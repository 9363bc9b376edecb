"""Random graphs, and what the words mean, written naively: the slow solver that checks the fast one."""

from hypothesis import strategies as st

from auditor.dataflow import Graph


@st.composite
def graphs(draw):
    """Any graph of a few blocks: loops, blocks that nothing reaches, edges into the entry, parallel edges."""
    size = draw(st.integers(1, 9))
    blocks = st.integers(0, size - 1)
    successors = draw(st.fixed_dictionaries({block: st.lists(blocks, max_size=3) for block in range(size)}))
    return Graph(draw(blocks), successors)


def edges(graph):
    return {(source, target) for source, targets in graph.successors.items() for target in targets}


def reach(start, pairs):
    """Everything that can be reached from ``start`` over ``pairs``."""
    found, grown = {start}, True
    while grown:
        more = {target for source, target in pairs if source in found} - found
        found |= more
        grown = bool(more)
    return found


def without_block(graph, block):
    """What the entry reaches if ``block`` is deleted."""
    if block == graph.entry:
        return set()
    return reach(graph.entry, {pair for pair in edges(graph) if block not in pair})


def without_edge(graph, edge):
    return reach(graph.entry, edges(graph) - {edge})
