"""What an object must have because it was read before: whose class has no such attribute did not come this far."""

from __future__ import annotations

from auditor.conditions.origins import Origins
from auditor.dataflow import Graph, dominators
from auditor.facts import Attr, Value
from auditor.link import Frame, Instance, access_path, successors


class Presence:
    """Attribute reads that come before another use of the same value, on every path."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._read: dict[tuple[str, Value, int], tuple[tuple[str, int], ...]] = {}

    def missing(self, frame: Frame, value: Value, block: int, use: Value, one: Instance) -> tuple[str, int] | None:
        """An attribute, and the line of its read, that ``one`` has not but that is read of ``value`` before ``use`` of
        it in ``block``."""
        hierarchy = self._origins.linker.hierarchy
        if hierarchy.has_external_base(one.cls) or not hierarchy.applicable(one.cls).keys().isdisjoint(_DYNAMIC):
            return None
        for name, line in self._before(frame, value, block, use):
            if not (name.startswith("__") or name in hierarchy.attributes(one.cls) or self._has(one, name)):
                return name, line
        return None

    def _has(self, one: Instance, name: str) -> bool:
        """Whether something outside of methods gives ``one`` the attribute: the body of a class, or a store."""
        linker = self._origins.linker
        bodies = (linker.hierarchy.classes.get(cls) for cls in linker.hierarchy.mro(one.cls))
        bound = any(info is not None and linker.scopes.binds(info.module, info.facts.qualname, name) for info in bodies)
        return bound or bool(self._origins.stored(one, name))

    def _before(self, frame: Frame, value: Value, block: int, use: Value) -> tuple[tuple[str, int], ...]:
        key = (frame.code.name, value, use)
        if key not in self._read:
            self._read[key] = tuple(self._reads(frame, value, block, use))
        return self._read[key]

    def _reads(self, frame: Frame, value: Value, block: int, use: Value) -> list[tuple[str, int]]:
        code = frame.code
        path = access_path(code.defined, value)
        blocks = code.facts.blocks
        tree = dominators(Graph(0, {index: successors(one) for index, one in enumerate(blocks)}))
        found: list[tuple[str, int]] = []
        for above in tree.chain(block):
            if blocks[above].handlers:
                continue  # an AttributeError may be what is expected
            for one in blocks[above].instructions:
                if above == block and getattr(one, "dst", None) == use:
                    break
                if isinstance(one, Attr) and one.dst != use and access_path(code.defined, one.base) == path:
                    found.append((one.name, one.at.line))
        return found


_DYNAMIC = frozenset({"__getattr__", "__getattribute__"})
