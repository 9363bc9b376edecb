"""The front of the room: modules go in, the fixpoint is reached, answers are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from auditor.facts import ModuleFacts, Value
from auditor.link.delegates import Delegation, delegated, set_on
from auditor.link.derivation import Derivations
from auditor.link.filters import condition_filter
from auditor.link.hierarchy import Hierarchy
from auditor.link.instructions import fill
from auditor.link.narrowing import Condition, access_path, value_of_path
from auditor.link.objects import External, Instance, Object, Partial
from auditor.link.program import Frame, Program, is_property


class Linker(Program):
    """The solver. Modules are added, ``graph.solve`` runs to the fixpoint, then the answers are read."""

    def __init__(
        self,
        existing: dict[str, str],
        tracked: Callable[[str, Hierarchy], bool],
        *,
        closed: bool = False,
        merged: bool = False,
    ) -> None:
        super().__init__(existing, tracked, fill, closed=closed, merged=merged)
        self._derivations: Derivations | None = None

    def add(self, modules: Iterable[ModuleFacts]) -> None:
        """Add modules and everything that they say."""
        self._derivations = None
        super().add(modules)

    def view(self, frame: Frame, value: Value, block: int) -> frozenset[Object]:
        """What ``value`` points to as a use in ``block`` sees it. Reads only."""
        code = frame.code
        found = self.graph.points_to(frame.node(value))
        outside = code.externals.get(value)
        if outside is not None:
            found |= {External(outside)}
        held = code.conditions.get(block, ())
        if held and found:
            path = access_path(code.defined, value)
            for one in held:
                accept = condition_filter(self, code, code.defined, one) if one.path == path else None
                if accept is not None:
                    found = frozenset(filter(accept, found))
        return found

    def reached(self, frame: Frame, value: Value, block: int, name: str) -> frozenset[tuple[Instance, str]]:
        """The objects that answer for ``value.name`` in ``block``, each with the name that it has there: behind one
        that hands the name on, those that it is handed to."""
        seen = (one for one in self.view(frame, value, block) if isinstance(one, Instance))
        return frozenset((way.one, way.name) for one in seen for way in self.delegated(one, name).ways)

    def delegated(self, one: Instance, name: str) -> Delegation:
        """Who answers for ``one.name``: itself, or those whom its ``__getattr__`` hands the name on to."""
        return delegated(self, one, name)

    def set_on(self, one: Instance, name: str) -> tuple[Instance, ...]:
        """The objects on which ``one.name = …`` may set it."""
        return set_on(self, one, name)

    def held_by(self, one: Partial) -> frozenset[Object]:
        """The functions that a partial completes."""
        return self.graph.points_to(self.field(one, "function"))

    def admits(self, frame: Frame, condition: Condition, one: Instance) -> bool:
        """Whether ``condition`` can hold for ``one``; True where it is not about what may be ``one``."""
        accept = condition_filter(self, frame.code, frame.code.defined, condition)
        value = value_of_path(frame.code.defined, condition.path)
        if accept is None or value is None or one not in self.graph.points_to(frame.node(value)):
            return True
        return accept(one)

    def derivation(self, frame: Frame, value: Value, one: Object) -> list[tuple[str, int, str]]:
        """How ``one`` came to ``value``: (path, line, what) from its allocation to here, by the shortest way."""
        if self._derivations is None:
            self._derivations = Derivations(self)
        return self._derivations.derive(frame, value, one)

    def is_property(self, function: str) -> bool:
        return is_property(self.functions[function])
