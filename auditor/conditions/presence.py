"""What an object must have because it was read before: whose class has no such attribute did not come this far."""

from __future__ import annotations

from typing import NamedTuple

from auditor.conditions.origins import Origins
from auditor.dataflow import dominators
from auditor.facts import Attr, Call, Const, Param, Value
from auditor.link import Frame, Instance, access_path

Path = tuple[Value, tuple[str, ...]]
"""A value and the attributes read from it in turn."""


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
        path = self._path(frame, value)
        blocks = code.facts.blocks
        tree = dominators(code.flow)
        found: list[tuple[str, int]] = []
        for above in tree.chain(block):
            if blocks[above].handlers:
                continue  # an AttributeError may be what is expected
            for one in blocks[above].instructions:
                if above == block and getattr(one, "dst", None) == use:
                    break
                read = _read(frame, one)
                if read is not None and read.dst != use and self._path(frame, read.base) == path:
                    found.append((read.name, read.line))
        return found

    def _path(self, frame: Frame, value: Value) -> Path:
        """The access path of a value. A call of a method that hands out an attribute of its object reads that one."""
        root, names = access_path(frame.code.defined, value)
        call = frame.code.defined.get(root)
        func = frame.code.defined.get(call.func) if isinstance(call, Call) and not call.arguments else None
        handed_out = self._handed_out(frame, root) if isinstance(func, Attr) else None
        if handed_out is None or not isinstance(func, Attr):
            return root, names
        base, before = self._path(frame, func.base)
        return base, (*before, *handed_out, *names)

    def _handed_out(self, frame: Frame, call: Value) -> tuple[str, ...] | None:
        """The attributes of its object whose value a method returns, if all that are called do."""
        found: set[tuple[str, ...] | None] = set()
        for site in self._origins.sites(frame, call):
            for origin in self._origins.behind(frame, call) or ():
                root, names = access_path(origin.frame.code.defined, origin.value)
                own = root == 0 and isinstance(origin.frame.code.defined.get(root), Param)
                found.add(names if own and site.receiver is not None else None)
        return found.pop() if len(found) == 1 else None


class _Read(NamedTuple):
    """``base.name``, read in a line and called ``dst``."""

    base: Value
    name: str
    dst: Value
    line: int


def _read(frame: Frame, one: object) -> _Read | None:
    """What an instruction reads: ``x.name``, or ``getattr(x, "name")`` without a default."""
    if isinstance(one, Attr):
        return _Read(one.base, one.name, one.dst, one.at.line)
    if isinstance(one, Call) and len(one.arguments) == 2 and frame.code.externals.get(one.func) == "builtins.getattr":
        name = frame.code.defined.get(one.arguments[1].value)
        if isinstance(name, Const) and isinstance(name.value, str):
            return _Read(one.arguments[0].value, name.value, one.dst, one.at.line)
    return None


_DYNAMIC = frozenset({"__getattr__", "__getattribute__"})
