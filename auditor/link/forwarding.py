"""What a subscript reads where the same block stored it and nothing ran in between: store-to-load forwarding inside a
basic block, for displays of the function itself (Muchnick 1997, §12.4, value numbering)."""

from __future__ import annotations

from collections.abc import Callable

from auditor.facts import (
    NOTHING,
    Bind,
    Block,
    Build,
    Closure,
    Const,
    Declare,
    Item,
    Name,
    Opaque,
    Param,
    Phi,
    SetItem,
    Value,
)

Key = Callable[[Value], str | None]
"""The field that an index names, or None where it is not a literal."""

_RUN_NOTHING = frozenset({Bind, Closure, Const, Declare, Name, Opaque, Param, Phi})


def forwarded(block: Block, key: Key) -> dict[Value, Value]:
    """The values of subscripts in ``block`` that are certainly another value of the function."""
    found: dict[Value, Value] = {}
    stored: dict[tuple[Value, str], Value] = {}
    displays: set[Value] = set()
    for one in block.instructions:
        match one:
            case Build():
                displays.add(one.dst)
                stored.update({(one.dst, field): value for field, value in _entries(one, key).items()})
            case Item():
                base = found.get(one.base, one.base)
                value = stored.get((base, key(one.index) or ""))
                if value is not None:
                    found[one.dst] = value
                elif base not in displays:
                    stored.clear()
            case SetItem():
                base, field = found.get(one.base, one.base), key(one.index)
                if base not in displays or field is None:
                    stored.clear()
                else:
                    stored = {place: value for place, value in stored.items() if place[1] != field}
                    stored[base, field] = found.get(one.value, one.value)
            case _ if type(one) not in _RUN_NOTHING:
                stored.clear()
    return found


def _entries(one: Build, key: Key) -> dict[str, Value]:
    """Field -> element, of what is told of a display alone."""
    if one.kind == "dict":
        keys = [key(value) if value != NOTHING else None for value in one.elements[::2]]
        return (
            {} if None in keys else {field or "": value for field, value in zip(keys, one.elements[1::2], strict=True)}
        )
    return {}
