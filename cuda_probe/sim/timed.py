"""A schedule with a clock: work takes time, streams run side by side, and what is done first is done first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from cuda_probe.sim.operation import Operation

LAUNCH, KERNEL = 5.0, 5.0
"""Microseconds that the host needs for a launch, and a kernel for its work: the usual order of size."""
JITTER = 0.5
"""Each of these times is between (1 - JITTER) and (1 + JITTER) of its mean."""


@dataclass(frozen=True, slots=True)
class Window:
    """How long a load takes: ``delay`` microseconds before each of its copies, and ``bandwidth`` bytes a microsecond
    (1,000 are 1 GB/s) for bytes that are ``scale`` times as many as the simulated ones."""

    delay: float
    bandwidth: float = 50_000.0
    scale: float = 1.0


class Timed:
    """Runs what is ready in the order of a clock: a copy has its effect when it ends, a kernel when it begins."""

    def __init__(self, seed: int, window: Window):
        self.seed, self.window = seed, window
        self._random = random.Random(seed)
        self._host = 0.0
        self._launched: list[float] = []
        self._free: dict[object, float] = {}
        self._end: dict[int, float] = {}

    @property
    def name(self) -> str:
        """Return ``timed:SEED:DELAY:BANDWIDTH:SCALE``."""
        return f"timed:{self.seed}:{self.window.delay:g}:{self.window.bandwidth:g}:{self.window.scale:g}"

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Note when it was launched; nothing runs before the host waits, for nobody could tell."""
        self._host += self._about(LAUNCH)
        self._launched.append(self._host)
        return None

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Run what has its effect first."""
        ends = {operation.number: self._ends(operation) for operation in ready}
        chosen = min(ready, key=lambda one: (self._effect(one, ends[one.number]), one.number))
        self._free[chosen.agent] = self._end[chosen.number] = ends[chosen.number]
        self._host = max(self._host, ends[chosen.number])
        return chosen

    def finishes(self, record: Operation) -> bool:
        """Leave it undone: whoever asks goes on."""
        return False

    def _starts(self, operation: Operation) -> float:
        launched = self._launched[operation.number] if operation.number < len(self._launched) else self._host
        edges = (self._end.get(edge.number, 0.0) for edge in operation.after)
        return max(launched, self._free.get(operation.agent, 0.0), *edges, 0.0)

    def _ends(self, operation: Operation) -> float:
        return self._starts(operation) + self._takes(operation)

    def _effect(self, operation: Operation, end: float) -> float:
        return end if operation.kind == "copy" else self._starts(operation)

    def _takes(self, operation: Operation) -> float:
        if operation.kind == "copy":
            written = sum(high - low for access in operation.accesses if access.write for low, high in access.ranges)
            return self.window.delay + written * self.window.scale / self.window.bandwidth
        return self._about(KERNEL) if operation.kind == "kernel" else 0.0

    def _about(self, mean: float) -> float:
        return mean * self._random.uniform(1 - JITTER, 1 + JITTER)
