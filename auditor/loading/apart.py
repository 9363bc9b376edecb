"""Loaders that signal each layer on a stream of its own: what has arrived of one layer says nothing of another."""

from __future__ import annotations

from auditor.facts import Enter, Item, Iterate, Unpack, Value, expression
from auditor.link import Code
from auditor.loading.naming import context, sources
from auditor.loading.values import SIGNAL, Loader


def is_apart(code: Code, loader: Loader) -> bool:
    """Whether a loader signals on a stream that it picks anew in each round of a loop."""
    picked = {
        expression(code.facts, stream, code.defined)
        for one in code.defined.values()
        if isinstance(one, Enter)
        and (stream := context(code.defined, one.manager)) is not None
        and _is_picked(code, stream)
    }
    return any(one.stream in picked for one in loader.of(SIGNAL))


def _is_picked(code: Code, stream: Value) -> bool:
    """Whether a value is an element that a loop's variable picks, or one that a loop goes through."""
    one = code.defined.get(stream)
    if isinstance(one, Item):
        return any(isinstance(code.defined.get(value), Iterate) for value in sources(code.defined, one.index))
    return isinstance(one, Iterate | Unpack)
