"""Waits for a signal of a counter without the method of the counter that waits: known by what those methods do."""

from __future__ import annotations

from collections.abc import Mapping

from auditor.certificates import Vocabulary
from auditor.facts import Attr, Call, FunctionFacts, Item, Name, Param, Value
from auditor.verify.paths import Function


def signals(facts: Mapping[str, FunctionFacts], words: Vocabulary) -> Mapping[str, frozenset[str]]:
    """The attribute of itself of which a counter's own wait picks an element by a parameter, with what it does to wait
    for it."""
    found: dict[str, frozenset[str]] = {}
    for one in facts.values():
        if one.name in words.waits and one.scope:
            function = Function(one)
            for call in function.defined.values():
                if isinstance(call, Call):
                    _add(function, call, found)
    return found


def layer(function: Function, call: Call, known: Mapping[str, frozenset[str]], words: Vocabulary) -> Value | None:
    """The index of the signal that a call waits for, in the way that its counter does or as events of the device are
    waited for; None where it does not."""
    verb, one = _element(function, call)
    if one is None:
        return None
    attribute = function.defined.get(one.base)
    ways = known.get(attribute.name, frozenset()) if isinstance(attribute, Attr) else frozenset()
    counter = function.defined.get(attribute.base) if isinstance(attribute, Attr) else None
    fits = verb in ways or (verb in _DEVICE and not ways.isdisjoint(_DEVICE))
    return one.index if fits and isinstance(counter, Attr) and counter.name in words.counters else None


def owner(function: Function, call: Call) -> str:
    """The expression of the counter whose signal a call waits for, or ""."""
    _, one = _element(function, call)
    attribute = function.defined.get(one.base) if one is not None else None
    return function.text(attribute.base) if isinstance(attribute, Attr) else ""


_DEVICE = frozenset({"wait_event", "wait", "synchronize"})


def _add(function: Function, call: Call, found: dict[str, frozenset[str]]) -> None:
    verb, one = _element(function, call)
    if one is not None and isinstance(function.defined.get(one.index), Param):
        kept = function.defined.get(one.base)
        own = function.defined.get(kept.base) if isinstance(kept, Attr) else None
        if isinstance(kept, Attr) and isinstance(own, Param) and own.name == function.facts.params[0].name:
            found[kept.name] = found.get(kept.name, frozenset()) | {verb}


def _element(function: Function, call: Call) -> tuple[str, Item | None]:
    """What a call does, and the element of something that it does it to: on the current stream where it names one."""
    func = function.defined.get(call.func)
    if not isinstance(func, Attr):
        return "", None
    given = [one.value for one in call.arguments]
    stream = func.base if func.name == "wait_event" else next(iter(given), None)
    item = function.defined.get(given[0] if func.name == "wait_event" and given else func.base)
    current = stream is None or _is_current(function, stream)
    return func.name, item if isinstance(item, Item) and current else None


def _is_current(function: Function, stream: Value) -> bool:
    made = function.made(stream)
    func = function.defined.get(made.func) if made is not None else None
    return isinstance(func, Attr | Name) and func.name == "current_stream"
