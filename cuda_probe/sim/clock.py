"""Vector clocks: what an operation is known to come after (Lamport 1978, Mattern 1989).

An *agent* runs operations one after the other: a stream, or a thread of the host. A clock says of each agent up to
which of its operations everything has happened before. Order: pointwise; join: pointwise maximum; bottom: the empty
clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Agent:
    """``kind`` is ``stream`` or ``host``; numbers count from 0 in order of first use."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


Clock = Mapping[Agent, int]


def join(clocks: Iterable[Clock]) -> dict[Agent, int]:
    """Return the least clock that is not before any of these."""
    joined: dict[Agent, int] = {}
    for clock in clocks:
        for agent, ticks in clock.items():
            if joined.get(agent, 0) < ticks:
                joined[agent] = ticks
    return joined
