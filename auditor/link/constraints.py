"""The constraint graph: nodes hold sets of abstract objects, edges are inclusions, triggers add edges as objects arrive.

Inclusion-based points-to analysis (Andersen 1994) solved by a worklist over differences; nodes and objects are numbers here.
The graph only grows, so modules can be added later and the fixpoint goes on from where it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from auditor.link.objects import Object

Node: TypeAlias = int
Accept: TypeAlias = Callable[[Object], bool]
Trigger: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]
"""A function called as ``function(object, *arguments)`` once for each object that reaches the node."""

START: Node = -1
"""The origin of an object at the node where it was made."""


class ConstraintGraph:
    """Nodes, edges, triggers and the worklist."""

    def __init__(self) -> None:
        self.objects: list[Object] = []
        self._numbers: dict[Object, int] = {}
        self.sets: list[set[int] | None] = []
        self._edges: list[list[tuple[Node, Accept | None]] | None] = []
        self._known_edges: set[tuple[Node, Node]] = set()
        self._triggers: list[list[Trigger] | None] = []
        self._known_triggers: set[tuple[Node, str, tuple[Any, ...]]] = set()
        self._queue: deque[tuple[Node, int]] = deque()
        self._tasks: deque[tuple[Callable[..., None], int, tuple[Any, ...]]] = deque()
        self.origins: dict[tuple[Node, int], Node] = {}

    def new_nodes(self, count: int) -> Node:
        """Make ``count`` nodes; they are numbered from the one returned."""
        first = len(self.sets)
        self.sets.extend([None] * count)
        self._edges.extend([None] * count)
        self._triggers.extend([None] * count)
        return first

    def number(self, one: Object) -> int:
        known = self._numbers.get(one)
        if known is None:
            known = self._numbers[one] = len(self.objects)
            self.objects.append(one)
        return known

    def add(self, node: Node, one: Object, origin: Node = START) -> None:
        """Put ``one`` into the set of ``node``."""
        self._add(node, self.number(one), origin)

    def _add(self, node: Node, number: int, origin: Node) -> None:
        values = self.sets[node]
        if values is None:
            values = self.sets[node] = set()
        elif number in values:
            return
        values.add(number)
        self.origins[node, number] = origin
        if self._edges[node] or self._triggers[node]:
            self._queue.append((node, number))

    def edge(self, source: Node, target: Node, accept: Accept | None = None) -> None:
        """Include what ``source`` holds (and ``accept`` lets through) in ``target``."""
        if source == target or (source, target) in self._known_edges:
            return
        self._known_edges.add((source, target))
        edges = self._edges[source]
        if edges is None:
            edges = self._edges[source] = []
        edges.append((target, accept))
        for number in tuple(self.sets[source] or ()):
            if accept is None or accept(self.objects[number]):
                self._add(target, number, source)

    def on(self, node: Node, function: Callable[..., None], *arguments: Any) -> None:
        """Call ``function(object, *arguments)`` for every object that is or comes to be in ``node``."""
        key = (node, function.__name__, arguments)
        if key in self._known_triggers:
            return
        self._known_triggers.add(key)
        triggers = self._triggers[node]
        if triggers is None:
            triggers = self._triggers[node] = []
        triggers.append((function, arguments))
        for number in self.sets[node] or ():
            self._tasks.append((function, number, arguments))

    def solve(self) -> None:
        """Propagate until nothing is left to do."""
        queue, tasks, objects = self._queue, self._tasks, self.objects
        while queue or tasks:
            while tasks:
                function, number, arguments = tasks.popleft()
                function(objects[number], *arguments)
            if not queue:
                continue
            node, number = queue.popleft()
            for target, accept in tuple(self._edges[node] or ()):
                if accept is None or accept(objects[number]):
                    self._add(target, number, node)
            for function, arguments in tuple(self._triggers[node] or ()):
                function(objects[number], *arguments)

    def points_to(self, node: Node) -> frozenset[Object]:
        return frozenset(self.objects[number] for number in self.sets[node] or ())

    def chain(self, node: Node, one: Object) -> list[Node]:
        """The nodes that ``one`` came through to ``node``, from where it was made: the first derivation found."""
        number = self._numbers.get(one)
        found: list[Node] = []
        while number is not None and node != START and (node, number) in self.origins and len(found) < 10_000:
            found.append(node)
            node = self.origins[node, number]
        return found[::-1]

    def sources(self) -> dict[Node, list[Node]]:
        """The edges turned round."""
        reverse: dict[Node, list[Node]] = {}
        for source, target in sorted(self._known_edges):
            reverse.setdefault(target, []).append(source)
        return reverse
