"""Counters: classes with a gate, and which of their methods say that a layer has arrived."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Attr, Call, Item, Param, SetAttr, SetItem, Value
from auditor.link import Code, Linker
from auditor.loading.naming import attributes, called, receiver, sources
from auditor.loading.values import Counter
from auditor.spec import EngineSpec

_DEEPEST = 3
"""Calls from a gate down to the wait itself."""
_TELLS = frozenset({"record", "notify", "notify_all", "set", "set_result", "release"})
"""What tells a waiter: of an event of the device, a condition, an event of threads, a future, a semaphore."""
_STREAM_WAITS = frozenset({"wait_event", "wait_stream"})


def counters_of(linker: Linker, spec: EngineSpec) -> tuple[Counter, ...]:
    """The counters of a program, by class. A pool that forwards a wait to its counter is none."""
    methods = {one.method for one in spec.gates}
    moved = frozenset(name for code in linker.codes.values() if code.facts.name != "__init__" for name in _set(code))
    found = []
    for cls in sorted(linker.hierarchy.classes):
        for method in sorted(methods):
            gate = linker.codes.get(f"{cls}.{method}")
            if gate is not None and not linker.tracked(cls) and gate.is_method:
                found.append(_counter(linker, cls, gate, moved))
    return tuple(found)


def _counter(linker: Linker, cls: str, gate: Code, moved: frozenset[str]) -> Counter:
    waiting = _closure(linker, gate)
    state = frozenset(name for code in waiting for name in _own(code))
    chosen = frozenset(name for code in waiting for name in _selectors(code))
    owners = {code.owner for code in waiting if code.owner}
    beside = [
        code
        for code in linker.codes.values()
        if code.owner in owners and code not in waiting and code.facts.name != "__init__" and code.is_method
    ]
    signals = frozenset(code.name for code in beside if _tells(code, state))
    rearms = frozenset(code.name for code in beside if code.name not in signals and _takes_back(code, state - chosen))
    on_stream = any(called(code.defined, one) in _STREAM_WAITS for code in waiting for one in _calls(code))
    return Counter(cls, gate.name, not on_stream, signals, rearms, not chosen.isdisjoint(moved))


def _set(code: Code) -> Iterator[str]:
    """The attributes that a function sets, of whatever object."""
    return (one.name for block in code.facts.blocks for one in block.instructions if isinstance(one, SetAttr))


def _closure(linker: Linker, gate: Code) -> tuple[Code, ...]:
    """A gate and what it calls of the tree."""
    found, front = {gate.name: gate}, [gate]
    for _ in range(_DEEPEST):
        names = {
            name for code in front for one in _calls(code) for name, _ in linker.calls.get((code.name, one.dst), ())
        }
        front = [linker.codes[name] for name in sorted(names) if name not in found and name in linker.codes]
        found.update((code.name, code) for code in front)
    return tuple(found.values())


def _calls(code: Code) -> Iterator[Call]:
    return (one for block in code.facts.blocks for one in block.instructions if isinstance(one, Call))


def _own(code: Code) -> Iterator[str]:
    """The attributes of ``self`` that a method reads."""
    return (one.name for one in code.defined.values() if isinstance(one, Attr) and one.base == 0 and code.is_method)


def _selectors(code: Code) -> Iterator[str]:
    """The attributes of ``self`` that pick an element of another one: which generation of signals is meant."""
    if not code.is_method:
        return
    for one in code.defined.values():
        picked: tuple[Value, ...] = ()
        if isinstance(one, Item):
            picked = (one.base, one.index)
        elif isinstance(one, Call) and called(code.defined, one) == "get" and one.arguments:
            picked = (receiver(code.defined, one), one.arguments[0].value)
        if picked and any(read.base == 0 for read in attributes(code.defined, picked[0])):
            for value in sources(code.defined, picked[1]):
                index = code.defined.get(value)
                if isinstance(index, Attr) and index.base == 0:
                    yield index.name


def _tells(code: Code, state: frozenset[str]) -> bool:
    return any(read.name in state for value in _told(code) for read in attributes(code.defined, value))


def picks(code: Code) -> bool:
    """Whether a method tells the waiters of an element that one of its parameters picks, as it is."""
    elements = (code.defined.get(value) for value in _told(code))
    return any(isinstance(one, Item) and isinstance(code.defined.get(one.index), Param) for one in elements)


def _told(code: Code) -> Iterator[Value]:
    """The events, conditions, futures and semaphores that a method tells."""
    for one in _calls(code):
        if called(code.defined, one) in _TELLS:
            yield receiver(code.defined, one)
        elif called(code.defined, one) == "record_event":  # stream.record_event(event)
            yield from (argument.value for argument in one.arguments)


def _takes_back(code: Code, state: frozenset[str]) -> bool:
    """Whether a method puts the signals themselves back."""
    for block in code.facts.blocks:
        for one in block.instructions:
            if isinstance(one, SetAttr) and one.base == 0 and one.name in state:
                return True
            if isinstance(one, SetItem) and any(read.name in state for read in attributes(code.defined, one.base)):
                return True
    return False
