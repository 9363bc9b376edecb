"""Operations and what is between them: edges that order, races where an edge is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from cuda_probe.sim.clock import Agent, Clock
from cuda_probe.sim.memory import Access

Kind = Literal["kernel", "copy", "record", "wait", "host"]
Run = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the code that launched an operation."""

    file: str
    line: int
    function: str


@dataclass(slots=True, eq=False)
class Operation:
    """One piece of work of an agent.

    ``number`` counts the operations of streams in order of launch (-1: of the host); ``after`` are the direct edges:
    what it waits for; ``clock`` is their join with its own tick. ``run`` is the effect, None if it has none; it
    happens when a schedule says so.
    """

    number: int
    agent: Agent
    tick: int
    kind: Kind
    name: str
    run: Run | None
    accesses: tuple[Access, ...]
    after: tuple[Operation, ...]
    clock: Clock
    site: tuple[Frame, ...] = ()
    done: bool = field(default=False)

    def happens_before(self, clock: Clock) -> bool:
        """Tell whether who has this clock comes after this operation."""
        return clock.get(self.agent, 0) >= self.tick

    def __str__(self) -> str:
        number = f"#{self.number} " if self.number >= 0 else ""
        return f"{number}{self.kind} {self.name} on {self.agent}"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses of common bytes, at least one a write, that nothing orders. ``first`` was launched first."""

    first: Operation
    second: Operation
    earlier: Access
    later: Access

    @property
    def kind(self) -> Literal["RAW", "WAR", "WAW"]:
        """Return what the second is after the first: a read after a write (RAW), and so on."""
        if not self.later.write:
            return "RAW"
        return "WAW" if self.earlier.write else "WAR"

    @property
    def missing_edge(self) -> str:
        """Say which order is missing: what the second is known to come after, and what it would have to."""
        known = self.second.clock.get(self.first.agent, 0)
        return (
            f"{self.second.agent} comes after {self.first.agent} only up to its operation {known}; "
            f"it has to come after operation {self.first.tick} ({self.first.kind} {self.first.name})"
        )
