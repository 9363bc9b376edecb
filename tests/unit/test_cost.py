"""What a command costs is its own, however large the process is that asks."""

from __future__ import annotations

import sys

from tests.cost import measured


def test_the_memory_of_who_measures_is_not_counted_to_the_command() -> None:
    own = bytearray(300_000_000)
    cost, _ = measured(sys.executable, "-c", "0")
    assert len(own) / 1e9 > cost.peak * 3


def test_the_memory_of_the_command_is() -> None:
    cost, _ = measured(sys.executable, "-c", "bytearray(300_000_000)")
    assert 0.3 < cost.peak < 0.4


def test_how_it_ended_and_what_it_said_come_along() -> None:
    cost, said = measured(sys.executable, "-c", "import sys; print('no', file=sys.stderr); sys.exit(3)")
    assert (cost.exit, said) == (3, "no")
    assert 0 < cost.cpu <= cost.wall * 2
