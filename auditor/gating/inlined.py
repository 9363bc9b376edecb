"""Waits that are written out: ``stream.wait_event(counter.events[layer])`` in place of ``counter.wait_until(layer)``.

What a counter's own wait does says what its signals are: the attribute of which it picks an element by the layer, and
how it waits for one. Whoever does the same with an element of that attribute of a counter waits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from auditor.facts import Attr, Call, Item, Param, Value
from auditor.gating.uses import called_name
from auditor.link import Code, Linker

_ON_STREAM = "wait_event"
_OF_EVENTS = frozenset({"wait", "synchronize"})
"""What an event of the device has: its stream waits, or the host."""


def signals(linker: Linker, waits: Collection[str]) -> Mapping[str, frozenset[str]]:
    """The attributes of counters that hold their signals, each with the methods of a signal that wait for it.
    ``waits``: the methods of counters that wait."""
    found: dict[str, frozenset[str]] = {}
    for code in linker.codes.values():
        if code.facts.name in waits and code.is_method and not linker.tracked(code.owner):
            for one, method in _waited(code):
                kept = code.defined.get(one.base)
                if isinstance(kept, Attr) and kept.base == 0 and isinstance(code.defined.get(one.index), Param):
                    methods = _OF_EVENTS if method == _ON_STREAM else {method}
                    found[kept.name] = found.get(kept.name, frozenset()) | methods
    return {name: methods | _OF_EVENTS if methods & _OF_EVENTS else methods for name, methods in found.items()}


class Signal(NamedTuple):
    """The element of a counter, at an attribute of this name, that is waited for; ``layer`` picks it."""

    counter: Attr
    layer: Value


def waited(code: Code, call: Call, signals: Mapping[str, frozenset[str]], counters: Collection[str]) -> Signal | None:
    """The signal of a counter that a call waits for on the current stream, or on the host."""
    for one, method in _awaited(code, call):
        kept = code.defined.get(one.base)
        counter = code.defined.get(kept.base) if isinstance(kept, Attr) and kept.name in signals else None
        if isinstance(kept, Attr) and isinstance(counter, Attr) and counter.name in counters:
            methods = signals[kept.name]
            if method in methods or (method == _ON_STREAM and methods >= _OF_EVENTS):
                return Signal(counter, one.index)
    return None


def _waited(code: Code) -> Iterator[tuple[Item, str]]:
    return (each for one in code.defined.values() if isinstance(one, Call) for each in _awaited(code, one))


def _awaited(code: Code, call: Call) -> Iterator[tuple[Item, str]]:
    """The element that a call may wait for, with the method by which: on the current stream, or on the host."""
    func = code.defined.get(call.func)
    if not isinstance(func, Attr):
        return
    arguments = [one.value for one in call.arguments]
    if func.name == _ON_STREAM and arguments:
        one = code.defined.get(arguments[0])
        if isinstance(one, Item) and _is_current(code, func.base):
            yield one, func.name
    else:
        one = code.defined.get(func.base)
        if isinstance(one, Item) and (not arguments or _is_current(code, arguments[0])):
            yield one, func.name


def _is_current(code: Code, stream: Value) -> bool:
    made = code.defined.get(stream)
    return isinstance(made, Call) and called_name(code, made) == "current_stream"
