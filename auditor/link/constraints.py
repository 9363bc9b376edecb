"""The constraint graph: nodes hold sets of abstract objects, edges are inclusions, triggers act as objects arrive.

Inclusion-based points-to analysis (Andersen 1994) solved by a worklist over differences; nodes and objects are numbers
here. The graph only grows, so modules can be added later and the fixpoint goes on from where it was.

Most constraints of a program are the same in every context of a function. They are kept once, in ``Owner.flows``: what
an object that reaches a value does there. Only what joins functions is an edge or a trigger of a single node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from auditor.link.objects import Object

Node: TypeAlias = int
Accept: TypeAlias = Callable[[Object], bool]
Trigger: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]
"""A function called as ``function(object, *arguments)`` once for each object that reaches the node."""


_STEADY: set[Accept] = set()


def steady(accept: Accept) -> Accept:
    """Mark a filter that says the same of an object whatever modules are read later."""
    _STEADY.add(accept)
    return accept


class Flow(NamedTuple):
    """What an object does that reaches a value and passes ``accept``: without a rule it goes on to value ``payload`` of
    the same owner, else ``rule(object, owner, payload)`` is called."""

    accept: Accept | None
    rule: Callable[[Object, Any, Any], None] | None
    payload: Any


class Owner(Protocol):
    """A run of nodes that share their constraints with other runs: value ``v`` has the node ``base + v``."""

    @property
    def base(self) -> Node: ...

    @property
    def flows(self) -> Mapping[int, Sequence[Flow]]: ...


class ConstraintGraph:
    """Nodes, edges, triggers and the worklist."""

    def __init__(self) -> None:
        self.objects: list[Object] = []
        self._numbers: dict[Object, int] = {}
        self._alone: list[frozenset[int]] = []
        self.sets: list[set[int] | frozenset[int] | None] = []
        self._owners: list[Owner | None] = []
        self._edges: dict[Node, dict[Node, Accept | None]] = {}
        self._sources: dict[Node, list[Node]] = {}
        self._triggers: dict[Node, list[Trigger]] = {}
        self._once: set[tuple[object, ...]] = set()
        self._queue: deque[tuple[Node, int]] = deque()
        self._tasks: deque[Trigger] = deque()
        self._made: dict[int, list[Node]] = {}
        self._refused: dict[tuple[Node, int], None] = {}

    def new_nodes(self, count: int) -> Node:
        """Make ``count`` nodes; they are numbered from the one returned."""
        first = len(self.sets)
        self.sets.extend([None] * count)
        self._owners.extend([None] * count)
        return first

    def own(self, owner: Owner, count: int) -> None:
        """Let the flows of ``owner`` hold for its nodes, the first ``count``."""
        self._owners[owner.base : owner.base + count] = [owner] * count

    def number(self, one: Object) -> int:
        known = self._numbers.get(one)
        if known is None:
            known = self._numbers[one] = len(self.objects)
            self.objects.append(one)
            self._alone.append(frozenset({known}))
        return known

    def add(self, node: Node, one: Object) -> None:
        """Put ``one`` into the set of ``node``: it is made there."""
        number = self.number(one)
        if self._add(node, number):
            self._made.setdefault(number, []).append(node)

    def _add(self, node: Node, number: int) -> bool:
        values = self.sets[node]
        if values is None:
            self.sets[node] = self._alone[number]  # most nodes hold one object: they share its set
        elif number in values:
            return False
        elif isinstance(values, set):
            values.add(number)
        else:
            self.sets[node] = {*values, number}
        self._queue.append((node, number))
        return True

    def edge(self, source: Node, target: Node, accept: Accept | None = None) -> None:
        """Include what ``source`` holds (and ``accept`` lets through) in ``target``."""
        if source == target:
            return
        edges = self._edges.get(source)
        if edges is None:
            edges = self._edges[source] = {}
        if target in edges:
            if edges[target] is None or edges[target] is accept:
                return
            accept = None if accept is None else _either(edges[target], accept)
        else:
            self._sources.setdefault(target, []).append(source)
        edges[target] = accept
        for number in tuple(self.sets[source] or ()):
            if accept is None or accept(self.objects[number]):
                self._add(target, number)
            elif accept not in _STEADY:
                self._refused[source, number] = None

    def on(self, node: Node, function: Callable[..., None], *arguments: Any) -> None:
        """Call ``function(object, *arguments)`` once for every object that is or comes to be in ``node``."""
        key = (node, function, *arguments)
        if key in self._once:
            return
        self._once.add(key)
        self._triggers.setdefault(node, []).append((function, arguments))
        for number in tuple(self.sets[node] or ()):
            self._tasks.append((function, (self.objects[number], *arguments)))

    def later(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call ``function(*arguments)`` while solving."""
        self._tasks.append((function, arguments))

    def again(self) -> None:
        """Offer what was refused once more: with more modules read, a class may turn out to be another."""
        self._queue.extend(self._refused)
        self._refused = {}

    def solve(self) -> None:
        """Propagate until nothing is left to do."""
        queue, tasks = self._queue, self._tasks
        while queue or tasks:
            while tasks:
                function, arguments = tasks.popleft()
                function(*arguments)
            if queue:
                self._propagate(*queue.popleft())

    def _propagate(self, node: Node, number: int) -> None:
        one = self.objects[number]
        owner = self._owners[node]
        if owner is not None:
            for allow, rule, payload in owner.flows.get(node - owner.base, ()):
                if allow is not None and not allow(one):
                    if allow not in _STEADY:
                        self._refused[node, number] = None
                elif rule is None:
                    self._add(owner.base + payload, number)
                else:
                    rule(one, owner, payload)
        edges = self._edges.get(node)
        if edges:
            for target, accept in tuple(edges.items()):
                if accept is None or accept(one):
                    self._add(target, number)
                elif accept not in _STEADY:
                    self._refused[node, number] = None
        triggers = self._triggers.get(node)
        if triggers:
            for function, arguments in tuple(triggers):
                function(one, *arguments)

    def settle(self) -> None:
        """Let nodes that hold the same share one set: most of the memory. What is added later still can be."""
        shared: dict[frozenset[int], frozenset[int]] = {}
        for node, values in enumerate(self.sets):
            if isinstance(values, set):
                same = frozenset(values)
                self.sets[node] = shared.setdefault(same, same)

    def points_to(self, node: Node) -> frozenset[Object]:
        return frozenset(self.objects[number] for number in self.sets[node] or ())

    def sources(self, node: Node) -> Sequence[Node]:
        """The nodes with an edge to ``node``, those inside of an owner aside."""
        return self._sources.get(node, ())

    def made(self, one: Object) -> Sequence[Node]:
        """The nodes at which ``one`` was put in, rather than let in from another node."""
        return self._made.get(self.number(one), ())

    def accept(self, source: Node, target: Node) -> Accept | None:
        """The filter of the edge from ``source`` to ``target``."""
        return self._edges.get(source, {}).get(target)


def _either(first: Accept | None, second: Accept) -> Accept | None:
    return None if first is None else lambda one: first(one) or second(one)
