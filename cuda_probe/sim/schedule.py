"""Schedules: when the work of streams is done, within what its edges allow.

A schedule has a name from which it can be made again (``schedule_named``): evidence names the schedule, and the run
can be repeated. The verdict does not depend on it (happens-before is read off one run); what is read does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from cuda_probe.sim.operation import Operation
from cuda_probe.sim.timed import Timed, Window

T = TypeVar("T")


class Schedule(Protocol):
    """Decides at three moments. ``ready`` are the operations that may run now, one a stream at most, in order of
    launch."""

    @property
    def name(self) -> str:
        """Return the text that ``schedule_named`` reads."""

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Choose what runs after a launch; asked again until it says None."""

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Choose what runs while the host waits; None: no more than what it waits for needs."""

    def finishes(self, record: Operation) -> bool:
        """Tell whether an event that the host asks about (query) gets done first."""


class Latest:
    """The adversary: nothing runs until the host waits for it, then only what that needs."""

    name = "latest"

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Run nothing."""
        return None

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Run no more than is needed."""
        return None

    def finishes(self, record: Operation) -> bool:
        """Leave it undone."""
        return False


class Earliest:
    """The lucky one: everything runs when it is launched, as if there were one stream."""

    name = "earliest"

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Run all there is."""
        return ready[0] if ready else None

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Run in order of launch."""
        return ready[0]

    def finishes(self, record: Operation) -> bool:
        """Finish it."""
        return True


class Random:
    """After each launch runs another operation with probability ``p``."""

    def __init__(self, seed: int, p: float = 0.35):
        self.seed, self.p = seed, p
        self._random = random.Random(seed)

    @property
    def name(self) -> str:
        """Return ``random:SEED:P``."""
        return f"random:{self.seed}:{self.p:g}"

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Run one of them, or stop."""
        return self._random.choice(ready) if self._random.random() < self.p and ready else None

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Run one of them."""
        return self._random.choice(ready)

    def finishes(self, record: Operation) -> bool:
        """Toss a coin."""
        return self._random.random() < 0.5


class Starve:
    """The witness of a race: holds one operation back until nothing else can run."""

    def __init__(self, number: int):
        self.number = number

    @property
    def name(self) -> str:
        """Return ``starve:NUMBER``."""
        return f"starve:{self.number}"

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Run nothing."""
        return None

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Run the first that is not the starved one."""
        return next((operation for operation in ready if operation.number != self.number), ready[0])

    def finishes(self, record: Operation) -> bool:
        """Leave it undone."""
        return False


class Choices:
    """Follows a list of choices, then the first each time; keeps what it could have chosen (stateless search)."""

    def __init__(self, choices: Sequence[int] = ()):
        self._given = tuple(choices)
        self.taken: list[tuple[int, int]] = []

    @property
    def name(self) -> str:
        """Return ``choices:0.2.1``."""
        return "choices:" + ".".join(str(choice) for choice, _ in self.taken or ((c, 0) for c in self._given))

    def after_launch(self, ready: Sequence[Operation]) -> Operation | None:
        """Run nothing: nobody can see memory before the host waits."""
        return None

    def pick(self, ready: Sequence[Operation]) -> Operation | None:
        """Run the chosen one."""
        return ready[self._choose(len(ready))]

    def finishes(self, record: Operation) -> bool:
        """Be a choice as well: no first, then yes."""
        return self._choose(2) == 1

    def _choose(self, options: int) -> int:
        position = len(self.taken)
        choice = self._given[position] if position < len(self._given) else 0
        if choice >= options:
            raise ValueError(
                f"choice {choice} of {options} at step {position}: the schedule belongs to another program"
            )
        self.taken.append((choice, options))
        return choice


def explore(program: Callable[[Choices], T], limit: int = 20_000) -> Iterator[tuple[T, Choices]]:
    """Run a program under every schedule there is, depth first (VeriSoft, CHESS); for small ones.

    Raises:
        RuntimeError: there are more than ``limit`` schedules.
    """
    prefix: list[int] = []
    for _ in range(limit):
        schedule = Choices(prefix)
        yield program(schedule), schedule
        taken = list(schedule.taken)
        while taken and taken[-1][0] + 1 >= taken[-1][1]:
            taken.pop()
        if not taken:
            return
        prefix = [choice for choice, _ in taken[:-1]] + [taken[-1][0] + 1]
    raise RuntimeError(f"more than {limit} schedules")


def schedule_named(name: str) -> Schedule:
    """Make a schedule again from its name.

    Raises:
        ValueError: no schedule has this name.
    """
    head, _, rest = name.partition(":")
    try:
        match head:
            case "latest" | "earliest" if not rest:
                return Latest() if head == "latest" else Earliest()
            case "random":
                seed, _, p = rest.partition(":")
                return Random(int(seed), float(p or 0.35))
            case "starve":
                return Starve(int(rest))
            case "timed":
                seed, *window = rest.split(":")
                return Timed(int(seed), Window(*map(float, window)))
            case "choices":
                return Choices([int(choice) for choice in rest.split(".") if choice])
    except (ValueError, TypeError) as error:
        raise ValueError(f"the schedule {name!r} cannot be read: {error}") from None
    raise ValueError(
        f"no schedule is called {name!r}; known are latest, earliest, random:SEED[:P], starve:N, choices:N.N…, "
        "timed:SEED:DELAY[:BANDWIDTH[:SCALE]]"
    )
