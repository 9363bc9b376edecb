"""The ways of a program: what has to hold where control comes to a block, and where an object comes to a value."""

from __future__ import annotations

from auditor.callgraph import CallGraph
from auditor.conditions.formulas import DECLARED, FALSE, TRUE, Formula, conjoin, disjoin
from auditor.conditions.origins import Origins
from auditor.conditions.questions import Arrives, Built, IsTrue, Question, Reaches, Runs, Takes
from auditor.conditions.solving import Equations, Get
from auditor.conditions.truth import Truth
from auditor.facts import NOTHING, Branch, Call, Closure, Param, Phi, Return, Value
from auditor.link import ClassObject, Frame, Instance, Linker, Node, Object


class Ways:
    """Equations over blocks, frames and values; see each method for the one that it is."""

    def __init__(self, linker: Linker, graph: CallGraph, origins: Origins, truth: Truth) -> None:
        self._linker = linker
        self._graph = graph
        self._origins = origins
        self._truth = truth
        self._telling: dict[int, bool] = {}
        self._equations = Equations(self._right)

    def true(self, frame: Frame, value: Value, *, holds: bool) -> Formula:
        """What is necessary for a value to be true, or to be false."""
        return self._equations.solve(IsTrue(frame, value, holds))

    def within(self, frame: Frame, block: int) -> Formula:
        """What is necessary for control to come to a block of a frame that runs."""
        return self._equations.solve(Reaches(frame, block))

    def here(self, frame: Frame, block: int) -> Formula:
        """What is necessary for control to come to a block."""
        return conjoin(self.within(frame, block), self._equations.solve(Runs(frame)))

    def there(self, node: Node, one: Instance) -> Formula:
        """What is necessary for an object to come to a node."""
        return self._equations.solve(self._arrival(node, one))

    def built(self, one: Instance) -> Formula:
        """What is necessary for an object to be made."""
        return self._equations.solve(Built(one))

    def _arrival(self, node: Node, one: Object) -> Arrives:
        return Arrives(node, self._linker.graph.number(one))

    def _right(self, question: Question, get: Get) -> Formula:
        match question:
            case IsTrue(frame, value, holds):
                return self._truth.true(frame, value, holds, get)
            case Reaches(frame, block):
                return self._block(frame, block, get)
            case Takes(frame, source, target):
                return self._edge(frame, source, target, get)
            case Runs(frame):
                return self._runs(frame, get)
            case Built(one):
                return self._built(one, get)
            case Arrives(node, number):
                return self._arrives(node, self._linker.graph.objects[number], get)

    # ------------------------------------------------------------ control

    def _block(self, frame: Frame, block: int, get: Get) -> Formula:
        """block(b) = ∨ over the ways in, loops aside: edge(a, b)"""
        if block == 0 or not self._tells(frame):
            return TRUE
        flow = frame.code.flow
        if block not in flow.rank:
            return TRUE
        before = [one for one in flow.predecessors[block] if flow.rank[one] < flow.rank[block]]
        return disjoin(get(Takes(frame, one, block)) for one in before)

    def _edge(self, frame: Frame, source: int, target: int, get: Get) -> Formula:
        """edge(a, b) = block(a) ∧ what the branch of a says of b"""
        reached = get(Reaches(frame, source))
        end = frame.code.facts.blocks[source].end
        if target < 0 or not isinstance(end, Branch) or end.then == end.orelse or target not in (end.then, end.orelse):
            return reached
        return conjoin(reached, get(IsTrue(frame, end.test, target == end.then)))

    def _tells(self, frame: Frame) -> bool:
        """Whether some branch of a function says anything."""
        if frame.base not in self._telling:
            ends = (block.end for block in frame.code.facts.blocks)
            self._telling[frame.base] = any(
                isinstance(end, Branch) and self._truth.says(frame, end.test) for end in ends
            )
        return self._telling[frame.base]

    def _runs(self, frame: Frame, get: Get) -> Formula:
        """runs(f) = (∨ over calls of f: block ∧ runs(caller)) ∧ built(self) ∧ where a nested function is defined"""
        facts = frame.code.facts
        if facts.kind in ("module", "class"):
            return TRUE
        needed: list[Formula] = []
        callers = self._origins.callers(frame)
        if callers:
            needed.append(disjoin(self._called(self._graph.frames[key], site.block, get) for key, site in callers))
        if frame.code.is_method and frame.code.facts.name not in ("__init__", "__new__"):
            receivers = self._origins.owners(frame, 0)
            made = [one for one in receivers if isinstance(one, Instance)]
            if made and len(made) == len(receivers):
                built = disjoin(get(Built(one)) for one in sorted(made, key=repr))
                needed.append(frozenset(term - {DECLARED} for term in built))
        outer = self._graph.frames.get((f"{frame.code.module}.{facts.scope}", None)) if facts.scope else None
        if outer is not None and outer.code.facts.kind == "function":
            places = [
                index
                for index, block in enumerate(outer.code.facts.blocks)
                for one in block.instructions
                if isinstance(one, Closure) and one.function == facts.qualname
            ]
            needed.append(disjoin(self._called(outer, block, get) for block in places))
        return conjoin(*needed)

    def _called(self, frame: Frame, block: int, get: Get) -> Formula:
        reached = get(Reaches(frame, block))
        return reached if reached == FALSE else conjoin(reached, get(Runs(frame)))

    # ------------------------------------------------------------ objects

    def _built(self, one: Instance, get: Get) -> Formula:
        """built(o) = ∨ over its constructions: arrives(o, result)"""
        places = [(frame, call.dst) for frame, call in self._origins.constructions(one)]
        if not places:
            return frozenset({frozenset({DECLARED})})  # nobody is known to build it
        return disjoin(get(self._arrival(frame.node(value), one)) for frame, value in places)

    def _arrives(self, node: int, one: Object, get: Get) -> Formula:
        """arrives(o, v) = block of v ∧ runs ∧ ∨ over what v includes and o is in: arrives(o, source)"""
        located = self._origins.reverse.locate(node)
        if located is None:
            return self._included(node, one, get)
        frame, value = located
        if value == frame.code.size:
            return self._returned(frame, node, one, get)
        defined = frame.code.defined.get(value)
        here = self._called(frame, self._origins.block_of(frame, value), get)
        if here == FALSE:
            return FALSE
        if node in self._linker.graph.made(one):
            if isinstance(defined, Call) and isinstance(one, Instance):
                made = get(self._arrival(frame.node(defined.func), ClassObject(one.cls)))
                return conjoin(here, made) if self._holds(frame.node(defined.func), ClassObject(one.cls)) else here
            if isinstance(defined, Param) and value == 0 and frame.code.is_method and isinstance(one, Instance):
                return conjoin(here, get(Built(one)))
            return conjoin(here, frozenset({frozenset({DECLARED})})) if isinstance(defined, Param) else here
        if isinstance(defined, Phi):
            chosen = [(block, choice) for block, choice in defined.choices if choice not in (NOTHING, value)]
            ways = [
                conjoin(
                    get(Takes(frame, block, self._origins.block_of(frame, value))),
                    get(self._arrival(frame.node(choice), one)),
                )
                for block, choice in chosen
                if self._holds(frame.node(choice), one)
            ]
            return conjoin(get(Runs(frame)), disjoin(ways)) if ways else here
        return conjoin(here, self._included(node, one, get))

    def _included(self, node: int, one: Object, get: Get) -> Formula:
        if node in self._linker.graph.made(one):
            return TRUE
        sources = [
            source
            for source, accept in self._origins.reverse.sources(node)
            if self._holds(source, one) and (accept is None or accept(one))
        ]
        return disjoin(get(self._arrival(source, one)) for source in sources) if sources else TRUE

    def _returned(self, frame: Frame, node: int, one: Object, get: Get) -> Formula:
        if node in self._linker.graph.made(one):
            return TRUE
        ends = [(index, block.end) for index, block in enumerate(frame.code.facts.blocks)]
        ways = [
            conjoin(get(Reaches(frame, index)), get(self._arrival(frame.node(end.value), one)))
            for index, end in ends
            if isinstance(end, Return) and end.value != NOTHING and self._holds(frame.node(end.value), one)
        ]
        return disjoin(ways) if ways else TRUE

    def _holds(self, node: int, one: Object) -> bool:
        return self._linker.graph.number(one) in (self._linker.graph.sets[node] or ())
