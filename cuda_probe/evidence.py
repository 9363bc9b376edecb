"""What one experiment measured, as values. What follows from it is said by ``labels``; ``records`` writes it down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BackendKind = Literal["sim", "cuda"]


@dataclass(frozen=True, slots=True)
class Fidelity:
    """What was real. ``stubs``: modules that were replaced because they are not installed or not needed."""

    pool: Literal["real-init"]
    counter: Literal["real"]
    loader: Literal["real-controller", "generic-copy"]
    kernels: Literal["real", "interpreted", "reference", "opaque-stub"]
    stubs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Backend:
    """Where it ran. ``sm`` and what follows are of the GPU; None on the simulated device."""

    kind: BackendKind
    torch: str
    device: str | None = None
    sm: str | None = None
    driver: str | None = None
    cuda: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Trials of one kind: how many read wrong bytes, how many of these were torn (some bytes right), how many had a
    race (simulated device), how many had read before the load was done (GPU)."""

    trials: int
    wrong: int = 0
    torn: int = 0
    raced: int = 0
    early: int = 0


@dataclass(frozen=True, slots=True)
class Controls:
    """The same read without any gate (positive: has to be caught) and behind a finished load (negative: has to be
    clean)."""

    positive: Tally
    negative: Tally


@dataclass(frozen=True, slots=True)
class OperationSeen:
    """An operation for people: ``agent`` is ``stream 1``; ``site`` has ``path:line function`` from the inside out."""

    number: int
    agent: str
    kind: str
    name: str
    site: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceSeen:
    """A race, and what its witness schedule read: wrong bytes of all bytes that the read was due."""

    kind: Literal["RAW", "WAR", "WAW"]
    buffer: str
    first: OperationSeen
    second: OperationSeen
    missing_edge: str
    witness: str | None
    witness_wrong: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Edge:
    """Operation ``after`` of the timeline comes after operation ``before`` of it (another stream, or the host
    between)."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """What one run launched, in order of launch, with the edges between streams."""

    operations: tuple[OperationSeen, ...] = ()
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """All that was measured in one experiment. ``failure``: why it could not run; ``doubt``: why it shows nothing.

    ``path`` is the proof of order: from the load to the read. ``schedules`` repeat the trials on the simulated device.
    """

    backend: Backend
    trials: Tally = Tally(0)
    controls: Controls | None = None
    races: tuple[RaceSeen, ...] = ()
    path: tuple[OperationSeen, ...] = ()
    layer: int | None = None
    buffers: tuple[str, ...] = ()
    schedules: tuple[str, ...] = ()
    timeline: Timeline = Timeline()
    notes: tuple[str, ...] = ()
    failure: str | None = None
    doubt: str | None = None
