"""The values of the loader model. All frozen; every place is one of the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from auditor.facts import Value

COPY = "copy"
"""Enqueues a copy of storage on the current stream."""
SIGNAL = "signal"
"""Tells those who wait for a layer that it has arrived."""
JOIN = "join"
"""The host waits for the device."""
FENCE = "fence"
"""A stream is made to wait for another one, or for an event."""
RECORD = "record"
"""Records an event."""


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A position in a function (qualified)."""

    path: str
    line: int
    column: int
    function: str


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """One step of a path: what happens at a place."""

    spot: Spot
    what: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction that does something to streams or storage, itself or through what it calls.

    ``block`` and ``index`` are where it stands, ``value`` is that of the call (NOTHING for a store). ``stream`` is the
    current stream there, as written; "" where it is that of the caller. ``on`` is the stream that it names itself,
    ``about`` the storage that it writes, or the attribute of ``self`` that it is called on. ``waiter`` is the stream
    that a fence makes wait, ``awaited`` the one that a fence or a join waits for; None where that cannot be told.
    """

    kinds: frozenset[str]
    spot: Spot
    text: str
    block: int
    index: int
    value: Value
    callees: tuple[str, ...]
    stream: str
    on: str = ""
    about: str = ""
    waiter: str | None = None
    awaited: str | None = None

    @property
    def at(self) -> tuple[int, int]:
        return self.block, self.index


@dataclass(frozen=True, slots=True)
class Counter:
    """A class whose ``gate`` (qualified method) waits for a layer. ``blocks``: the host waits, not a stream.
    ``signals`` and ``rearms`` are the methods that say "arrived" and "not arrived any more"; ``generations``: the gate
    picks one of several sets of signals by an attribute, so that two loads in flight do not share one."""

    cls: str
    gate: str
    blocks: bool
    signals: frozenset[str]
    rearms: frozenset[str]
    generations: bool


@dataclass(frozen=True, slots=True)
class Loader:
    """A function that enqueues copies and tells that they are done: it signals a counter, or records an event on the
    stream of the copies. ``cls`` is the class that it is a method of, or ""."""

    function: str
    cls: str
    operations: tuple[Operation, ...]

    def of(self, kind: str) -> tuple[Operation, ...]:
        return tuple(one for one in self.operations if kind in one.kinds)

    @property
    def counts(self) -> bool:
        """Whether it signals layers."""
        return bool(self.of(SIGNAL))


@dataclass(frozen=True, slots=True)
class Lapse:
    """Something that a loader leaves out: ``where`` it shows, in words what is ``missing``, the ``steps`` that lead to
    it and what it is about (``subject``: a buffer, pool or range as written)."""

    where: Spot
    subject: str
    steps: tuple[Step, ...]
    message: str
    missing: str
    confidence: str = "medium"
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loading:
    """Everything that is known of the other side of the gate: the loaders by function, the counters, all ``classes`` of
    the program; the loaders that signal each layer on a stream of its own (``apart``); and what is left out: ``early``
    signals, ``unfenced`` transfers, ``dropped`` pools of overrides, ``reused`` counters, ``ranges`` that count where
    they should bound, storage that is ``left`` behind."""

    loaders: Mapping[str, Loader]
    counters: tuple[Counter, ...]
    classes: frozenset[str]
    apart: frozenset[str] = frozenset()
    early: tuple[Lapse, ...] = ()
    unfenced: tuple[Lapse, ...] = ()
    dropped: tuple[Lapse, ...] = ()
    reused: tuple[Lapse, ...] = ()
    ranges: tuple[Lapse, ...] = ()
    left: tuple[Lapse, ...] = ()
