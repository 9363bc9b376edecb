"""The front of the room: modules go in, the fixpoint is reached, answers are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from auditor.facts import Attr, ModuleFacts, Value
from auditor.link.derivation import Derivations
from auditor.link.filters import condition_filter
from auditor.link.hierarchy import Hierarchy
from auditor.link.instructions import fill
from auditor.link.members import forward_targets
from auditor.link.narrowing import Condition, access_path, value_of_path
from auditor.link.objects import External, Instance, Object, Super
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

    def lands(self, frame: Frame, one: Attr, block: int) -> tuple[tuple[Instance, str], ...]:
        """The objects that ``base.name`` is really read from, each with the function that answers ("" for a plain
        attribute): behind ``super()`` the receiver, behind a ``__getattr__`` that hands on the object behind it."""
        found: dict[tuple[Instance, str], None] = {}
        for target in sorted(self.view(frame, one.base, block), key=repr):
            self._land(target, one.name, found, 0)
        return tuple(found)

    def _land(self, target: Object, name: str, found: dict[tuple[Instance, str], None], depth: int) -> None:
        if isinstance(target, Super) and isinstance(target.receiver, Instance):
            method = self.hierarchy.lookup(target.receiver.cls, name, self.functions, after=target.cls)
            found[target.receiver, method or ""] = None
        elif isinstance(target, Instance):
            applicable = self.hierarchy.applicable(target.cls)
            if name in applicable or name in self.hierarchy.attributes(target.cls):
                found[target, (applicable.get(name) or ("",))[0]] = None
            elif "__getattr__" in applicable and depth < _DEEPEST:
                for inner in forward_targets(self.codes[applicable["__getattr__"][0]]):
                    for one in sorted(self.graph.points_to(self.field(target, inner)), key=repr):
                        self._land(one, name, found, depth + 1)

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


_DEEPEST = 8
"""The most hand-overs from one ``__getattr__`` to the next that are followed."""
