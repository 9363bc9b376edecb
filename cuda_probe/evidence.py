"""Evidence: what one experiment saw, as values and as JSON (``evidence-v1``, schema in reports/schema).

A record holds what was measured and nothing that follows from it: verdict and label are made by ``labels`` alone when
it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

BackendKind = Literal["sim", "cuda"]


@dataclass(frozen=True, slots=True)
class Fidelity:
    """What was real. ``stubs``: modules that were replaced because they are not installed or not needed."""

    pool: Literal["real-init", "bare-instance"]
    counter: Literal["real", "none"]
    loader: Literal["real-controller", "generic-copy"]
    kernels: Literal["real", "triton-interpreter", "reference", "opaque-stub", "none"]
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


@dataclass(frozen=True, slots=True)
class Target:
    """The tree that was probed: the engine's name and version, and the hash of the file of the probed class."""

    package: str
    version: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """The evidence of one experiment of a plan."""

    experiment: Mapping[str, Any]
    target: Target
    observation: Observation
    fidelity: Fidelity | None

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values, with its verdict and label."""
        from cuda_probe.labels import label, verdict

        return {
            "experiment": dict(self.experiment),
            "target": _plain(self.target),
            "fidelity": None if self.fidelity is None else _plain(self.fidelity),
            **_plain(self.observation),
            "verdict": verdict(self.observation),
            "label": label(self.observation),
        }


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = _lists(asdict(value))
    return plain


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lists(item) for key, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, (tuple, list)) else value
