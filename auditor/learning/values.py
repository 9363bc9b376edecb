"""What was learned: entries of a pack, each with the places that show it. All frozen."""

from __future__ import annotations

from dataclasses import dataclass

HIGH, MEDIUM, LOW = "high", "medium", "low"
"""How sure an entry is: seen in full; seen in part; a guess that a person has to look at."""


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """A place of the text and what it shows."""

    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Named:
    """A name for a pack, how sure it is, and what shows it (the most telling place first)."""

    name: str
    confidence: str
    shown: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """``<owner>.<counter>.<method>(layer)`` and the index space that the layer is in."""

    method: str
    counter: str
    argument: int
    index: str
    confidence: str
    shown: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Arming:
    """The method that stores a counter on an object, and at which position it takes it."""

    method: str
    argument: int
    confidence: str
    shown: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class InFlight:
    """``<counter>.<attribute> <operator> <value>``: without it the wait of the counter returns at once."""

    attribute: str
    operator: str
    value: int
    confidence: str
    shown: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Hooks:
    """A family of plugins with a wait for the layer at hand: the class that they derive from, its methods, and what is
    false or None where nothing is loaded."""

    root: str
    wait: str
    load: str
    offer: str
    absent: tuple[str, ...]
    idle: tuple[str, ...]
    confidence: str
    shown: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """Everything that a tree shows. ``siblings`` hand out what accessors do and do not wait, ``stand_ins`` are pools
    without storage; ``told`` are groups of identifiers that one file of it holds together; ``waits`` are all
    waits, gates or not."""

    gates: tuple[Gate, ...] = ()
    arming: tuple[Arming, ...] = ()
    pools: tuple[Named, ...] = ()
    accessors: tuple[Named, ...] = ()
    siblings: tuple[Named, ...] = ()
    stand_ins: tuple[Named, ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    buffers: tuple[Named, ...] = ()
    parameters: tuple[Named, ...] = ()
    transfers: tuple[Named, ...] = ()
    host_side: tuple[Named, ...] = ()
    hooks: Hooks | None = None
    told: tuple[tuple[str, ...], ...] = ()
    waits: tuple[Evidence, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether no wait for a layer was found: then there is nothing to write down."""
        return not (self.gates or self.hooks)
