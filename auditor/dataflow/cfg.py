"""Control-flow graphs as plain numbers: blocks, edges, orders and dominance.

Block a *dominates* block b if every path from the entry to b goes through a; an edge dominates b if every path goes
through that edge. A block *post-dominates* another if every path from that to an exit goes through it. All of it is
about blocks reachable from the entry; what is not reachable has no order, no dominators and no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Block = int
Edge = tuple[int, int]

NORMAL = "normal"
EXCEPTION = "exception"

EXIT = -1
"""The virtual exit that post-dominance adds behind every block without successors."""


@dataclass(frozen=True)
class Graph:
    """A control-flow graph. ``successors`` in the order of the branch, a block that has none may be left out;
    ``exceptional`` are the edges taken by an exception. Do not change the mapping afterwards: orders are computed once.

    Parallel edges (a branch with both targets the same) are one edge, which then decides nothing.
    """

    entry: Block
    successors: Mapping[Block, Sequence[Block]]
    exceptional: frozenset[Edge] = frozenset()

    def label(self, edge: Edge) -> str:
        """Tell how control takes ``edge``: ``"normal"`` or ``"exception"``."""
        return EXCEPTION if edge in self.exceptional else NORMAL

    def edges(self) -> Iterator[Edge]:
        """Yield the edges between reachable blocks in reverse postorder of their sources, each once."""
        for block in self.order:
            for target in dict.fromkeys(self.successors.get(block, ())):
                yield block, target

    @cached_property
    def order(self) -> tuple[Block, ...]:
        """The reachable blocks in reverse postorder: the entry first; loops aside, what leads to a block before it."""
        return reverse_postorder(self.entry, self.successors)

    @cached_property
    def rank(self) -> Mapping[Block, int]:
        """The place of each reachable block in ``order``."""
        return {block: rank for rank, block in enumerate(self.order)}

    @cached_property
    def predecessors(self) -> Mapping[Block, tuple[Block, ...]]:
        """The reachable blocks that lead to each reachable block."""
        found: dict[Block, list[Block]] = {block: [] for block in self.order}
        for source, target in self.edges():
            found[target].append(source)
        return {block: tuple(sources) for block, sources in found.items()}

    @cached_property
    def reachable(self) -> frozenset[Block]:
        """The blocks that some path from the entry reaches."""
        return frozenset(self.order)

    @cached_property
    def exits(self) -> tuple[Block, ...]:
        """The reachable blocks without successors."""
        return tuple(block for block in self.order if not self.successors.get(block))

    @cached_property
    def dominators(self) -> Dominators:
        """The dominators of the graph, computed once."""
        return dominators(self)


def reverse_postorder(entry: Block, successors: Mapping[Block, Sequence[Block]]) -> tuple[Block, ...]:
    """List what ``entry`` reaches, each block after (loops aside) all that lead to it."""
    finished: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(successors.get(entry, ())))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors.get(target, ()))))
                break
        else:
            stack.pop()
            finished.append(block)
    return tuple(reversed(finished))


@dataclass(frozen=True, slots=True)
class Dominators:
    """A dominator tree. ``idom``: the immediate dominator of each reachable block; the entry has itself."""

    entry: Block
    idom: Mapping[Block, Block]
    _span: Mapping[Block, Edge]

    def dominates(self, a: Block, b: Block) -> bool:
        """Tell whether every path from the entry to b goes through a (each block dominates itself). O(1)."""
        if a not in self._span or b not in self._span:
            return False
        return self._span[a][0] <= self._span[b][0] and self._span[b][1] <= self._span[a][1]

    def chain(self, block: Block) -> tuple[Block, ...]:
        """List the dominators of ``block`` from the entry to the block itself; nothing for an unreachable one."""
        if block not in self.idom:
            return ()
        found = [block]
        while found[-1] != self.entry:
            found.append(self.idom[found[-1]])
        return tuple(reversed(found))


def dominators(graph: Graph) -> Dominators:
    """Compute the dominator tree.

    Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001): in reverse postorder, the immediate dominator
    of a block is where the tree paths of its predecessors meet, until nothing changes.
    """
    idom = _immediate(graph.order, graph.predecessors)
    return Dominators(graph.entry, idom, _spans(graph.entry, idom))


def post_dominators(graph: Graph) -> Dominators:
    """Compute the post-dominator tree; its root is the virtual ``EXIT`` behind all exits.

    A block from which no exit is reachable (an endless loop) is not in it: nothing is certain to happen after.
    """
    backward = {block: list(sources) for block, sources in graph.predecessors.items()}
    return Graph(EXIT, {**backward, EXIT: list(graph.exits)}).dominators


@dataclass(frozen=True, slots=True)
class EdgeDominators(Mapping[Block, tuple[Edge, ...]]):
    """For each reachable block the edges that every path from the entry to it takes, in the order they are taken.

    ``way_in``: the one edge, if there is one, by which control first comes to a block. Lists are made when asked for.
    """

    tree: Dominators
    way_in: Mapping[Block, Edge]

    def __getitem__(self, block: Block) -> tuple[Edge, ...]:
        """List the dominating edges of a reachable block."""
        if block not in self.tree.idom:
            raise KeyError(block)
        return tuple(self.way_in[above] for above in self.tree.chain(block) if above in self.way_in)

    def __iter__(self) -> Iterator[Block]:
        """Yield the reachable blocks in reverse postorder."""
        return iter(self.tree.idom)

    def __len__(self) -> int:
        """Count the reachable blocks."""
        return len(self.tree.idom)

    def dominates(self, edge: Edge, block: Block) -> bool:
        """Tell whether every path from the entry to ``block`` takes ``edge``. O(1)."""
        return self.way_in.get(edge[1]) == edge and self.tree.dominates(edge[1], block)


def reaches(successors: Mapping[Block, Iterable[Block]], start: Block, goal: Block) -> bool:
    """Whether control can go on from one block to another, at least one step."""
    seen, todo = {start}, [start]
    while todo:
        for target in successors.get(todo.pop(), ()):
            if target == goal:
                return True
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return False


def edge_dominators(graph: Graph) -> EdgeDominators:
    """Find the edges that dominate each block.

    An edge a → d dominates d if all other ways into d come from below d (they have been through d, so through the
    edge); it then dominates exactly what d dominates.
    """
    tree = graph.dominators
    way_in: dict[Block, Edge] = {}
    for block in graph.order[1:]:
        forward = [source for source in graph.predecessors[block] if not tree.dominates(block, source)]
        if len(forward) == 1:
            way_in[block] = (forward[0], block)
    return EdgeDominators(tree, way_in)


def _immediate(order: Sequence[Block], predecessors: Mapping[Block, Sequence[Block]]) -> dict[Block, Block]:
    rank = {block: number for number, block in enumerate(order)}
    parents = [0] + [-1] * (len(order) - 1)  # by rank; -1 is not known yet
    before = [[rank[source] for source in predecessors[block]] for block in order]
    changed = True
    while changed:
        changed = False
        for number in range(1, len(order)):
            known = [source for source in before[number] if parents[source] >= 0]
            meet = known[0]
            for source in known[1:]:
                meet = _meet(parents, meet, source)
            if parents[number] != meet:
                parents[number] = meet
                changed = True
    return {block: order[parent] for block, parent in zip(order, parents, strict=True)}


def _meet(parents: Sequence[int], a: int, b: int) -> int:
    while a != b:
        if a > b:
            a = parents[a]
        else:
            b = parents[b]
    return a


def _spans(entry: Block, idom: Mapping[Block, Block]) -> dict[Block, Edge]:
    """Number the tree by entering and leaving: a is above b if its span holds b's."""
    children: dict[Block, list[Block]] = {block: [] for block in idom}
    for block, parent in idom.items():
        if block != entry:
            children[parent].append(block)
    opened: dict[Block, int] = {}
    spans: dict[Block, Edge] = {}
    stack = [entry]
    while stack:
        block = stack[-1]
        if block not in opened:
            opened[block] = len(opened)
            stack.extend(children[block])
        else:
            stack.pop()
            spans[block] = (opened[block], len(opened))
    return spans
