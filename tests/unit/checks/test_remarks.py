# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""What is told of places that are no uncovered reads: each remark on what it is about, and on its neighbours."""

from __future__ import annotations

import pytest

from auditor.checks import Finding
from tests.unit.gating.programs import GATED, SERVE, WAIT, engine, judged

HOLDER = "def serve(holder, name, layer_id, q):\n    pool = KeyPool(4)\n    Controller(pool)\n    return q @ {receiver}.get_key_buffer(layer_id)\n"
TABLE = """
class Table:
    def __init__(self):
        self.layer_transfer_counter = None
        self.{storage} = []
    def register_layer_transfer_counter(self, counter):
        self.layer_transfer_counter = counter
"""
TOTAL = """
def get_total_buffer(self, layer_id, rows=0):
    {first}
    self.wait(layer_id)
    return self.k_buffer[layer_id - self.start_layer]
"""
TOTALLED = SERVE.replace("key", "total")


def told(pool: str, code: str) -> list[Finding]:
    return list(judged(engine(pool, code)).findings)


def repeated(first: str) -> list[tuple[str, str]]:
    """The findings for a wait behind another statement."""
    pool = WAIT + TOTAL.format(first=first).replace("self.wait", "self.layer_transfer_counter.wait_until")
    return [(one.check, one.severity) for one in told(pool, TOTALLED)]


def test_a_receiver_of_which_nothing_is_known_is_told() -> None:
    (one,) = told(GATED, HOLDER.format(receiver="getattr(holder, name)"))
    assert (one.check, one.severity) == ("unresolved-receiver", "note")
    assert one.message == "what `getattr(holder, name)` is cannot be told, so nothing is known of its get_key_buffer"
    assert [site[3] for site in one.sites] == ["get_key_buffer"]


def test_a_receiver_that_is_known_is_not_told() -> None:
    assert told(GATED, HOLDER.format(receiver="pool")) == []


@pytest.mark.parametrize(
    "first",
    ["self.layer_transfer_counter.wait_until(layer_id)", "for _ in range(2): pass\n    self.layer_transfer_counter.wait_until(layer_id)"],
    ids=["at once", "behind a loop"],
)  # fmt: skip
def test_a_wait_for_what_is_held_is_told(first: str) -> None:
    assert repeated(first) == [("redundant-gate", "note")]


@pytest.mark.parametrize(
    "first",
    [
        "rows = 1",
        "if rows: self.layer_transfer_counter.wait_until(layer_id)",
        "self.layer_transfer_counter.wait_until(layer_id - 1)",
        "self.layer_transfer_counter.wait_until(rows)",
    ],
    ids=["once", "on one path", "for a lower layer", "for another layer"],
)
def test_a_wait_that_gives_something_is_not_told(first: str) -> None:
    assert repeated(first) == []


def test_a_wait_in_a_loop_does_not_repeat_itself() -> None:
    code = "def serve(q):\n    pool = KeyPool(4)\n    Controller(pool)\n    for layer in range(4):\n        pool.layer_transfer_counter.wait_until(layer)\n        q = q @ pool.k_buffer[layer]\n    return q\n"
    assert told(WAIT, code) == []


def test_a_class_that_takes_a_counter_and_stores_nothing_known_is_told() -> None:
    (one,) = told(GATED, TABLE.format(storage="states") + SERVE)
    assert (one.check, one.severity, one.buffer) == ("pack-gap", "note", "Table")


def test_a_class_with_storage_that_is_guarded_is_not_told() -> None:
    assert told(GATED, TABLE.format(storage="k_buffer") + SERVE) == []


def test_a_loader_is_not_told() -> None:
    assert told(GATED, TABLE.format(storage="states").replace("Table", "HostStorage") + SERVE) == []


def test_a_remark_has_no_fix_and_says_why() -> None:
    (one,) = told(GATED, HOLDER.format(receiver="getattr(holder, name)"))
    assert one.remedy == "what the receiver is has to be known first"
