"""Memos of waits: in which forms they are seen, and when what they say is enough."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tests.unit.gating.programs import judged
from tests.unit.verify.test_verify import Proofs

PROGRAM = """
import torch

class Counter:
    def __init__(self, layers):
        self.events = [torch.cuda.Event() for _ in range(layers)]
    def complete(self, layer):
        self.events[layer].record()
    def wait_until(self, layer):
        torch.cuda.current_stream().wait_event(self.events[layer])

class KVCache:
    def __init__(self, layer_num):
        self.start_layer = 0
        self.layer_num = layer_num
        self.layer_transfer_counter = None
        self.k_buffer = [torch.zeros(64, 8) for _ in range(layer_num)]
        self.waited = {nothing}
    def register_layer_transfer_counter(self, counter):
        self.layer_transfer_counter = counter
    def forget(self):
        self.waited{forget}

class KeyPool(KVCache):
    def get_key_buffer(self, layer_id):
{body}
        return self.k_buffer[layer_id - self.start_layer]  # here

class Controller:
    def __init__(self, pool):
        self.pool = pool
        self.counter = Counter(4)
        pool.register_layer_transfer_counter(self.counter)
    def load(self):
        {reset}
        for layer in range(4):
            self.pool.k_buffer[layer].copy_(self.host[layer])
            self.counter.complete(layer)

def serve(q):
    pool = KeyPool(4)
    Controller(pool).load()
    for layer_id in range(4):
        q = q @ pool.get_key_buffer(layer_id)
"""
WAIT = "self.layer_transfer_counter.wait_until(layer_id - self.start_layer)"
ALL = "self.layer_transfer_counter.wait_until(self.layer_num - 1)"


def program(body: str, nothing: str = "set()", forget: str = ".clear()", reset: str = "self.pool.forget()") -> str:
    text = indent(dedent(body).strip("\n").replace("WAIT", WAIT).replace("ALL", ALL), " " * 8)
    return PROGRAM.format(nothing=nothing, forget=forget, body=text, reset=reset)


FORMS = {
    "a set": ("if layer_id not in self.waited:\n    WAIT\n    self.waited.add(layer_id)", "set()", ".clear()"),
    "the other way round": (
        "if layer_id in self.waited:\n    pass\nelse:\n    WAIT\n    self.waited.add(layer_id)",
        "set()",
        " = set()",
    ),
    "flags": (
        "if not self.waited[layer_id]:\n    WAIT\n    self.waited[layer_id] = True",
        "[False] * layer_num",
        " = [False for _ in range(self.layer_num)]",
    ),
    "a dictionary": (
        "if layer_id not in self.waited:\n    WAIT\n    self.waited[layer_id] = True",
        "{}",
        " = {}",
    ),
    "the last layer": ("if self.waited != layer_id:\n    WAIT\n    self.waited = layer_id", "-1", " = -1"),
    "a flag for all": ("if not self.waited:\n    ALL\n    self.waited = True", "False", " = False"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_memo_that_each_load_resets_is_enough(form: tuple[str, str, str]) -> None:
    found = Proofs({"m": program(*form)})
    assert judged(program(*form)).answer() == "gated"
    assert not any(found.objections().values())


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_memo_that_nothing_resets_is_unknown(form: tuple[str, str, str]) -> None:
    assert judged(program(*form, reset="pass")).answer() == "unknown: memoised-gate"


def test_a_memo_that_is_told_before_the_wait_is_unknown() -> None:
    body = "if layer_id not in self.waited:\n    self.waited.add(layer_id)\n    WAIT"
    assert judged(program(body)).answer() == "unknown: memoised-gate"


NONE = {
    "told of another layer": "if layer_id not in self.waited:\n    WAIT\n    self.waited.add(layer_id + 1)",
    "asked for another layer": "if layer_id + 1 not in self.waited:\n    WAIT\n    self.waited.add(layer_id)",
    "a flag for one layer": "if not self.waited:\n    WAIT\n    self.waited = True",
}


@pytest.mark.parametrize("body", NONE.values(), ids=NONE)
def test_what_is_no_memo(body: str) -> None:
    assert judged(program(body)).answer() == "gate-on-some-paths"
