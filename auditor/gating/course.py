"""What becomes of what is held along a function: acquired by its events, over at its ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from auditor.facts import SetAttr
from auditor.gating.symbols import Path, path_of
from auditor.gating.values import Gate, Held, Vacuous
from auditor.link import Code


@dataclass(frozen=True, slots=True)
class Event:
    """At an instruction of a block these gates are acquired."""

    block: int
    index: int
    gates: tuple[Gate, ...]


class End(NamedTuple):
    """At an instruction of a block something is not held any more: what is held of the object at a path, which is
    another one now; everything (None) where a load begins."""

    block: int
    position: int
    path: Path | None


@dataclass(frozen=True, slots=True)
class Course:
    """The events and ends of a function, by block and in order; a call that is both ends first."""

    blocks: Mapping[int, tuple[Event | End, ...]] = field(default_factory=dict)

    @staticmethod
    def of(events: Iterable[Event], ends: Iterable[End] = ()) -> Course:
        """Put events and ends in order."""
        found: dict[int, list[tuple[int, bool, Event | End]]] = {}
        for end in ends:
            found.setdefault(end.block, []).append((end.position, False, end))
        for event in events:
            found.setdefault(event.block, []).append((event.index, True, event))
        return Course({block: tuple(each[2] for each in sorted(all_of, key=_place)) for block, all_of in found.items()})

    def through(self, held: Held, block: int, stop: int | None = None) -> Held:
        """What is held behind a block, or just before its instruction ``stop``; ``held`` is at its start."""
        # held(point) ⇐ acquired before it, and not over between
        for one in self.blocks.get(block, ()):
            if isinstance(one, End):
                if stop is None or one.position < stop:
                    held = _after(held, one)
            elif stop is None or one.index < stop:
                held |= frozenset(one.gates)
        return held

    def left(self, held: Held, block: int) -> Held:
        """What of ``held`` no instruction of a block ends."""
        for one in self.blocks.get(block, ()):
            held = _after(held, one) if isinstance(one, End) else held
        return held


def stores(code: Code, events: Iterable[Event]) -> Iterator[End]:
    """The ends of what is held of objects at attributes that a function sets."""
    names = {name for event in events for gate in event.gates for path in _paths(gate) for name in path.names}
    for number, block in enumerate(code.facts.blocks) if names else ():
        for position, one in enumerate(block.instructions):
            if isinstance(one, SetAttr) and one.name in names:
                yield End(number, position, path_of(code.defined, one.base).child(one.name))


def _place(one: tuple[int, bool, object]) -> tuple[int, bool]:
    return one[:2]


def _after(held: Held, end: End) -> Held:
    if end.path is None:
        return frozenset()
    return frozenset(one for one in held if not any(_is_on(end.path, path) for path in _paths(one)))


def _is_on(start: Path, path: Path) -> bool:
    return start.root == path.root and start.names == path.names[: len(start.names)]


def _paths(one: Gate | Vacuous) -> Iterator[Path]:
    """The paths of the objects that something is held of."""
    if isinstance(one, Gate):
        yield from (path for path in (one.through, one.only and one.only[0]) if path is not None)
    else:
        yield from one.through
        yield from () if one.unless is None else (one.unless[0],)
