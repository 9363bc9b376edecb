"""Values that only running tells: a name that is computed, code that is a text, a class that is made by a call."""

from __future__ import annotations

import builtins

from auditor.conditions.origins import Origins
from auditor.facts import NOTHING, Attr, Call, Const, Declare, Item, Name, Value, expression
from auditor.link import Frame

_DEEPEST = 8
"""Steps back that are looked at."""
_BY_TEXT = frozenset({"builtins.eval", "builtins.exec"})
_NAMESPACES = frozenset({"builtins.globals", "builtins.locals", "builtins.vars"})

Place = tuple[str, int, str]
"""(path, line, what): where knowledge ended."""


class Dynamic:
    """Follows an unknown receiver back to where its name or its class was computed."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins

    def place(self, frame: Frame, value: Value) -> Place | None:
        """Where ``value`` was come by in a way that only running tells; None where that is not why it is unknown."""
        seen: set[tuple[int, Value]] = set()
        todo = [(frame, value)]
        for _ in range(_DEEPEST):
            following: list[tuple[Frame, Value]] = []
            for where, one in todo:
                if one == NOTHING or (where.base, one) in seen:
                    continue
                seen.add((where.base, one))
                if self._is_dynamic(where, one):
                    at = getattr(where.code.defined[one], "at", where.code.facts.at)
                    return where.code.path, at.line, expression(where.code.facts, one, where.code.defined)
                following += [(origin.frame, origin.value) for origin in self._origins.behind(where, one) or ()]
                following += [(where, part) for part in _parts(where, one)]
            todo = following
        return None

    def _is_dynamic(self, frame: Frame, value: Value) -> bool:
        externals, defined = frame.code.externals, frame.code.defined
        match defined.get(value):
            case Call(func=func, arguments=arguments):
                name = externals.get(func)
                if name in ("builtins.getattr", "builtins.__import__") and arguments:
                    return not isinstance(defined.get(arguments[min(1, len(arguments) - 1)].value), Const)
                return name in _BY_TEXT or (name == "builtins.type" and len(arguments) == 3)
            case Item(base=base, index=index):
                holder = defined.get(base)
                space = isinstance(holder, Call) and externals.get(holder.func) in _NAMESPACES
                return (space or (isinstance(holder, Attr) and holder.name == "__dict__")) and not isinstance(
                    defined.get(index), Const
                )
            case Name(name=name):
                unbound = externals.get(value) == f"builtins.{name}" and not hasattr(builtins, name)
                return unbound and self._runs_text(frame)
        return False

    def _runs_text(self, frame: Frame) -> bool:
        """Whether the module runs code that is a text: it may bind any name."""
        codes = {one.code for one in self._origins.graph.frames.values() if one.code.module == frame.code.module}
        return any(not _BY_TEXT.isdisjoint(code.externals.values()) for code in codes)


def _parts(frame: Frame, value: Value) -> tuple[Value, ...]:
    """What a value is read off, or the result of."""
    match frame.code.defined.get(value):
        case Attr(base=base):
            return (base,)
        case Call(func=func):
            return (func,)
        case Declare(source=source):
            return (source,)
    return ()
