"""The fixpoint: states pushed along edges until nothing changes (Kildall 1973), and nothing else.

The solver is optimistic: it starts with no state anywhere and puts a state on a block only when one arrives. So the
bottom of a must-analysis ("everything holds") is never in an answer: a block without a state was not reached.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import TypeVar

from auditor.dataflow.cfg import EXIT, Block, Graph

S = TypeVar("S")


class NoFixpoint(Exception):
    """Indicates a bug in a lattice or a transfer function: states kept changing beyond the bound."""


def solve_forward(
    graph: Graph,
    entry_state: S,
    transfer: Callable[[Block, S], Mapping[Block, S]],
    join: Callable[[S, S], S],
    *,
    limit: int = 1000,
) -> dict[Block, S]:
    """Return the state at the start of each block that is reached.

    ``transfer(block, state)`` returns the state at the end of each edge that can be taken, by successor: a branch may
    refine each side by itself, and a successor left out is an edge that this state cannot take. It and ``join`` must be
    monotone; states compare with ``==``.

    Raises:
        NoFixpoint: some block changed its state more than ``limit`` times.
    """
    rank, order = graph.rank, graph.order
    states = {graph.entry: entry_state}
    changes: dict[Block, int] = {}
    queue, queued = [0], {0}
    while queue:
        number = heapq.heappop(queue)
        queued.discard(number)
        block = order[number]
        for target, arriving in transfer(block, states[block]).items():
            assert target in rank, f"no edge leads from block {block} to {target}"
            # state(target) := state(target) join out(block, target)
            joined = join(states[target], arriving) if target in states else arriving
            if target in states and joined == states[target]:
                continue
            states[target] = joined
            changes[target] = changes.get(target, 0) + 1
            if changes[target] > limit:
                raise NoFixpoint(f"block {target} still changes after {limit} steps, now to {joined!r}")
            if rank[target] not in queued:
                queued.add(rank[target])
                heapq.heappush(queue, rank[target])
    return states


def solve_backward(
    graph: Graph,
    exit_state: S,
    transfer: Callable[[Block, S], Mapping[Block, S]],
    join: Callable[[S, S], S],
    *,
    limit: int = 1000,
) -> dict[Block, S]:
    """Return the state at the end of each block from which an exit is reachable; the mirror of ``solve_forward``.

    ``transfer(block, state)`` gets the state at the end of ``block`` and returns that at the start, by predecessor.
    """
    backward = {block: list(sources) for block, sources in graph.predecessors.items()}
    mirrored = Graph(EXIT, {**backward, EXIT: list(graph.exits)})

    def mirrored_transfer(block: Block, state: S) -> Mapping[Block, S]:
        return dict.fromkeys(graph.exits, state) if block == EXIT else transfer(block, state)

    states = solve_forward(mirrored, exit_state, mirrored_transfer, join, limit=limit)
    return {block: state for block, state in states.items() if block != EXIT}
