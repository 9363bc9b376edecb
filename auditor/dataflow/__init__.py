"""Lattices, graphs, fixpoints: the mathematics of the analysis. Knows no gates, no Python syntax, no facts.

A *must* analysis asks what holds on every path, a *may* analysis what holds on some. A *fixpoint* is the least state of
each block that agrees with all its ways in. A *component* is a set of nodes that reach one another.

Blocks and edges are plain integers, states are immutable values, and nothing recurses, so no input is too deep.
"""

from auditor.dataflow.cfg import (
    EXCEPTION,
    EXIT,
    NORMAL,
    Block,
    Dominators,
    Edge,
    EdgeDominators,
    Graph,
    dominators,
    edge_dominators,
    post_dominators,
    reaches,
    reverse_postorder,
)
from auditor.dataflow.lattice import (
    CONFLICT,
    UNREACHED,
    Conflict,
    Flat,
    FlatValue,
    Lattice,
    MapOf,
    MaySet,
    Must,
    MustSet,
    Product,
    Unreached,
)
from auditor.dataflow.scc import bottom_up, is_recursive
from auditor.dataflow.solver import NoFixpoint, solve_backward, solve_forward

__all__ = [
    "CONFLICT",
    "EXCEPTION",
    "EXIT",
    "NORMAL",
    "UNREACHED",
    "Block",
    "Conflict",
    "Dominators",
    "Edge",
    "EdgeDominators",
    "Flat",
    "FlatValue",
    "Graph",
    "Lattice",
    "MapOf",
    "MaySet",
    "Must",
    "MustSet",
    "NoFixpoint",
    "Product",
    "Unreached",
    "bottom_up",
    "dominators",
    "edge_dominators",
    "is_recursive",
    "post_dominators",
    "reaches",
    "reverse_postorder",
    "solve_backward",
    "solve_forward",
]
