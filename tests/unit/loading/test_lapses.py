# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Each lapse beside its neighbour that is none. Whole programs are in fixtures/."""

from __future__ import annotations

import pytest

from tests.unit.loading.programs import FENCE, HOST, kinds, loader, loading, told

ON_STREAM = "with torch.cuda.stream(self.stream):\n    for layer in range(4):\n"
GOOD = f"{FENCE}\n{ON_STREAM}        self.copy(layer)\n        self.done.complete(layer)\n"


def test_the_usual_loader_has_none() -> None:
    assert told(loading(loader(GOOD))) == []


SIGNALS = [
    ("early", "        self.done.complete(layer)\n        self.copy(layer)\n"),
    ("", "        self.done.complete(layer - 1)\n        self.copy(layer)\n"),
    ("early", "        self.copy(layer)\n        self.done.complete(layer)\n        self.other.k_buffer[layer][rows] = 0\n"),
    ("", "        self.copy(layer)\n        self.done.complete(layer)\n        self.host[layer][rows] = 0\n"),
    ("early", "        self.copy(layer)\n    for layer in range(4):\n        self.done.complete(layer)\n        self.copy(layer)\n"),
    ("", "        self.copy(layer)\n    for layer in range(4):\n        self.done.complete(layer)\n"),
    ("", "        if rows:\n            self.copy(layer)\n            self.done.complete(layer)\n            continue\n        self.copy(layer)\n        self.done.complete(layer)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body"), SIGNALS)
def test_signals_and_copies_of_a_layer(kind: str, body: str) -> None:
    assert kinds(loading(loader(f"{FENCE}\n{ON_STREAM}{body}"))) == ({kind} if kind else set())


HOSTED = [
    ("early", "self.copy(layer)\n        self.done.complete()", "medium"),
    ("", "self.copy(layer)\n        self.stream.synchronize()\n        self.done.complete()", ""),
    ("early", "self.copy(layer)\n        if rows:\n            self.stream.synchronize()\n        self.done.complete()", "high"),
    ("early", "self.stream.synchronize()\n        self.copy(layer)\n        self.done.complete()", "high"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body", "confidence"), HOSTED)
def test_a_host_counter_says_what_is_over(kind: str, body: str, confidence: str) -> None:
    found = loading(loader(f"{FENCE}\n{ON_STREAM}        {body}\n", HOST)).early
    assert [one.confidence for one in found] == ([confidence] if kind else [])


FENCES = [
    ("unfenced", GOOD.replace(FENCE, "")),
    ("", GOOD.replace(FENCE, "torch.cuda.synchronize()")),
    ("", GOOD.replace(FENCE, "event.wait(self.stream)")),
    ("", GOOD.replace(FENCE, "self.stream.wait_event(rows)")),
    ("", GOOD.replace(FENCE, "if event is not None:\n    self.stream.wait_event(event)")),  # no sibling passes it
    ("unfenced", GOOD.replace(FENCE, "self.asked.wait(timeout=1)")),
    ("unfenced", GOOD.replace(FENCE, "") + FENCE),
    ("", GOOD.replace(FENCE, "self.order()")),
]


@pytest.mark.parametrize(("kind", "body"), FENCES)
def test_fences(kind: str, body: str) -> None:
    order = f"def order(self):\n    {FENCE}\n"
    assert kinds(loading(loader(body, beside=order))) == ({kind} if kind else set())


def test_a_fence_of_the_caller_counts() -> None:
    body = GOOD.replace(FENCE, "")
    assert told(loading(loader(body, calls="torch.cuda.synchronize(); loader.load(rows)"))) == []


def test_an_event_that_one_call_passes_and_another_does_not() -> None:
    body = GOOD.replace(FENCE, "if event is not None:\n    self.stream.wait_event(event)")
    (lapse,) = loading(loader(body, calls="loader.load(rows, event=q)\n    loader.load(rows)")).unfenced
    assert "`event`" in lapse.message
    passed = loading(loader(body, calls="loader.load(rows, event=q)\n    loader.load(rows, q)"))
    assert passed.unfenced == ()


def test_a_decorated_copy_is_asked_for_by_who_names_it() -> None:
    """One decorator hands back what it was given for any of its functions: those of other names and other classes
    ask for other copies."""
    decorator = "def annotate(message):\n    def decorate(func):\n        return func\n    return decorate\n\ndef timed(func):\n    return annotate(message=func.__qualname__)(func)\n\nclass Loader:"
    beside = "@timed\ndef size(self, rows):\n    return 0\n@timed\ndef reload(self, rows):\n    self.load(rows)\n"
    other = "class Other:\n    @timed\n    def load(self, rows):\n        return 0\n    def run(self, rows):\n        self.load(rows)\n\ndef serve("
    text = loader(
        GOOD.replace(FENCE, ""),
        beside=beside,
        calls="loader.size(rows)\n    Other().run(rows)\n    loader.reload(rows)",
    )
    text = (
        text.replace("class Loader:", decorator)
        .replace("    def load(", "    @timed\n    def load(")
        .replace("def serve(", other)
    )
    (lapse,) = loading(text).unfenced
    assert [one.what for one in lapse.steps[:-1]] == [
        "Loader(KeyPool(4), KeyPool(4)).reload(rows) asks for it",
        "self.load(rows) asks for it",
    ]


CALLS = [
    ("reused", "loader.load(rows)\n    loader.load(rows)"),
    ("reused", "for row in rows:\n        loader.load(row)"),
    ("", "loader.load(rows)\n    torch.cuda.synchronize()\n    loader.load(rows)"),
    ("", "if rows:\n        loader.load(rows)\n    else:\n        loader.load(q)"),
]


@pytest.mark.parametrize(("kind", "calls"), CALLS)
def test_loads_that_share_one_set_of_signals(kind: str, calls: str) -> None:
    assert kinds(loading(loader(GOOD, calls=calls))) == ({kind} if kind else set())


def test_what_a_loader_leaves_of_a_pool() -> None:
    body = GOOD.replace("self.copy(layer)", "self.pool.k_buffer[layer].copy_(self.host[layer])")
    pool = "    def get_key_buffer(self, layer_id):\n"
    values = "    def get_value_buffer(self, layer_id):\n        return self.v_buffer[layer_id]\n"
    text = loader(body)
    assert kinds(loading(text)) == set(), "no accessor hands the values out"
    (lapse,) = loading(text.replace(pool, values + pool)).left
    assert (lapse.subject, lapse.classes) == ("v_buffer", ("m.KeyPool",))
