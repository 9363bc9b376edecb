"""How an object came to a value: the shortest chain of inclusions from where it was made, the same whatever order files
were read in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

from auditor.facts import Name, Param, Value, expression
from auditor.link.constraints import Accept, Node
from auditor.link.objects import Instance, Object
from auditor.link.program import Code, Frame, Program


class Reverse:
    """The edges of the constraint graph turned round, and the frames that nodes belong to."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._frames = sorted(program.frames.values(), key=lambda frame: frame.base)
        self._bases = [frame.base for frame in self._frames]
        self._copies: dict[Code, dict[Value, list[tuple[Value, Accept | None]]]] = {}

    def locate(self, node: Node) -> tuple[Frame, Value] | None:
        """The frame and the value that ``node`` stands for."""
        place = bisect_right(self._bases, node) - 1
        frame = self._frames[place] if place >= 0 else None
        return (frame, node - frame.base) if frame is not None and node <= frame.result else None

    def sources(self, node: Node) -> Iterable[tuple[Node, Accept | None]]:
        """The nodes that are included in ``node``, each with the filter between."""
        for source in self._program.graph.sources(node):
            yield source, self._program.graph.accept(source, node)
        located = self.locate(node)
        if located is not None:
            frame, value = located
            for copied, accept in self._copies_of(frame.code).get(value, ()):
                yield frame.node(copied), accept

    def _copies_of(self, code: Code) -> dict[Value, list[tuple[Value, Accept | None]]]:
        known = self._copies.get(code)
        if known is None:
            known = self._copies[code] = {}
            for value, flows in code.flows.items():
                for flow in flows:
                    if flow.rule is None:
                        known.setdefault(flow.payload, []).append((value, flow.accept))
        return known


class Derivations:
    """Chains of assignments, for people."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reverse = Reverse(program)
        self._sources = cache(lambda node: tuple(self._reverse.sources(node)))  # the program is solved: they stay
        self._order = cache(self._place)
        self._steps: dict[Node, tuple[str, int, str] | None] = {}
        self._names: dict[Node, str] = {}
        for (owner, name), node in program.fields.items():
            self._names[node] = f"{owner}.{name}"
        for variable, node in program.variables.items():
            self._names[node] = ".".join(variable)

    def derive(self, frame: Frame, value: Value, one: Object) -> list[tuple[str, int, str]]:
        """(path, line, what) from the allocation of ``one`` to ``value``."""
        steps: list[tuple[str, int, str]] = []
        if isinstance(one, Instance) and not one.anonymous:
            steps.append((one.path, one.line, f"{one.cls.rpartition('.')[2]} is made here"))
        for node in self._chain(frame.node(value), one):
            step = self._step(node)
            if step is not None and (not steps or steps[-1] != step):
                steps.append(step)
        return steps

    def _chain(self, node: Node, one: Object) -> list[Node]:
        """The shortest way from a node where ``one`` was made to ``node``; of equally short ones the first by name."""
        graph = self._program.graph
        number, made = graph.number(one), set(graph.made(one))
        next_of: dict[Node, Node] = {node: node}
        level = [node] if number in (graph.sets[node] or ()) else []
        while level:
            found = next((one for one in level if one in made), None)
            if found is not None:
                return _follow(found, next_of)
            following: list[Node] = []
            for target in level:
                for source, accept in self._sources(target):
                    if (
                        source not in next_of
                        and number in (graph.sets[source] or ())
                        and (accept is None or accept(one))
                    ):
                        next_of[source] = target
                        following.append(source)
            level = sorted(following, key=self._order)
        return []

    def _place(self, node: Node) -> tuple[str, str, int, str]:
        located = self._reverse.locate(node)
        if located is None:
            return ("", self._names.get(node, ""), 0, "")
        frame, value = located
        return (frame.code.path, frame.code.name, value, str(frame.context))

    def _step(self, node: Node) -> tuple[str, int, str] | None:
        if node not in self._steps:
            self._steps[node] = self._told(node)
        return self._steps[node]

    def _told(self, node: Node) -> tuple[str, int, str] | None:
        located = self._reverse.locate(node)
        if located is None:
            return None
        frame, value = located
        one = frame.code.defined.get(value)
        at = getattr(one, "at", None)
        if at is None or isinstance(one, Name):
            return None
        what = (
            f"parameter {one.name}"
            if isinstance(one, Param)
            else expression(frame.code.facts, value, frame.code.defined)
        )
        return frame.code.path, at.line, f"{what} in {frame.code.name.rpartition('.')[2]}"


def _follow(node: Node, next_of: dict[Node, Node]) -> list[Node]:
    chain = [node]
    while next_of[node] != node:
        node = next_of[node]
        chain.append(node)
    return chain
