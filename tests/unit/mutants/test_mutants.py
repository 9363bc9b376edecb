"""The mutants of a small engine, the reference that says what each opens, and what the audit makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.certificates import Step
from tests.mutants.kinds import BEHIND, DELETED, DISARMED, HIGHER, LOWER, Text, mutants
from tests.mutants.sources import Moves
from tests.mutants.trial import Trial

POOL = """\
class Pool:
    def get(self, layer_id):
        if self.counter is not None:
            self.counter.wait_until(layer_id - self.start)
        # the read
        return self.rows[layer_id]

def arm(pool, counter):
    pool.register(counter)
"""
GATE = Step("pool.py", 4, 26, "pool.Pool.get")
ARMED = Step("pool.py", 9, -1, "pool.arm")


def written(kind: str) -> str:
    text = Text("pool.py", POOL)
    return next(one for one in mutants(text, [GATE], [ARMED], {"wait_until": 0}) if one.kind == kind).written(POOL)


def test_each_kind_is_made_of_the_gate_that_a_certificate_names() -> None:
    wait = "self.counter.wait_until(layer_id - self.start)"
    assert written(DELETED) == POOL.replace(wait, "pass")
    assert written(LOWER) == POOL.replace("(layer_id - self.start)", "((layer_id - self.start) - 1)")
    assert written(HIGHER) == POOL.replace("(layer_id - self.start)", "((layer_id - self.start) + 1)")
    assert written(DISARMED) == POOL + "    pool.register(None)\n"


def test_a_gate_behind_the_read_keeps_its_guard_and_comes_before_the_return() -> None:
    assert written(BEHIND).splitlines()[1:7] == [
        "    def get(self, layer_id):",
        "        # the read",
        "        found = self.rows[layer_id]",
        "        if self.counter is not None:",
        "            self.counter.wait_until(layer_id - self.start)",
        "        return found",
    ]


def test_places_are_found_again() -> None:
    text = Text("pool.py", POOL)
    found = {one.kind: Moves(one, POOL) for one in mutants(text, [GATE], [ARMED], {"wait_until": 0})}
    assert found[DELETED].carried(4, 26) is None
    assert found[DELETED].carried(6, 16) == (6, 16)
    assert found[BEHIND].carried(4, 26) == (6, 26)
    assert found[BEHIND].carried(6, 16) == (4, 17)
    assert found[LOWER].carried(4, 26) == (4, 26)


@pytest.fixture(scope="module")
def trial(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(root / "fixtures" / "engine", cache=tmp_path_factory.mktemp("cache"))


OPENING = [
    f"{DELETED} minikv/pools.py:44",
    f"{DELETED} minikv/router.py:34",
    f"{LOWER} minikv/router.py:34",
    f"{DELETED} minikv/attention.py:85",
    f"{BEHIND} minikv/attention.py:85",
    f"{DISARMED} minikv/controller.py:22",
]
SILENT = [f"{DELETED} minikv/pools.py:49", f"{HIGHER} minikv/pools.py:44", f"{BEHIND} minikv/pools.py:44"]
"""Readers of values read the keys before, which are waited for; a higher layer comes later; a handle is no read."""


def mutant(trial: Trial, name: str):
    return next(one for one in trial.mutants() if str(one).startswith(f"{name} "))


@pytest.mark.parametrize("name", OPENING)
def test_what_a_mutant_opens_is_flagged_and_nothing_else_changes(trial: Trial, name: str) -> None:
    one = mutant(trial, name)
    row = trial.row(one, trial.opened(one))
    assert row.opened
    assert row.caught, row.told()
    assert not row.others, row.told()


@pytest.mark.parametrize("name", SILENT)
def test_a_mutant_that_opens_nothing_changes_nothing(trial: Trial, name: str) -> None:
    one = mutant(trial, name)
    opened = trial.opened(one)
    row = trial.row(one, opened)
    assert not opened.readers
    assert (row.others, row.findings) == ((), 0)
