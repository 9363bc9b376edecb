# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Each check on what it tells and on its neighbours' cases; the order; who is the culprit; what is one finding."""

from __future__ import annotations

from itertools import pairwise

import pytest

from auditor.checks import CHECKS, Check, Finding
from tests.unit.gating.programs import GATED, READ, SERVE, WAIT, Judged, engine, judged

WAITS = "self.layer_transfer_counter.wait_until(layer_id - self.start_layer)"
READS = "return self.k_buffer[layer_id - self.start_layer]"


def accessor(*lines: str, parameters: str = "layer_id, rows=0") -> str:
    return f"def get_key_buffer(self, {parameters}):\n" + "".join(f"    {line}\n" for line in lines)


OVERRIDE = """
class Late(KeyPool):
    def get_key_buffer(self, layer_id):
        return self.k_buffer[layer_id - self.start_layer]

def serve(layer_id, q):
    pool = Late(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""
RAW = "def serve(layer_id, q):\n    pool = KeyPool(4)\n    Controller(pool)\n    return q @ pool.k_buffer[layer_id]\n"
KEPT = (
    "def serve(layer_id, x):\n    pool = KeyPool(4)\n    Controller(pool)\n    x.kept = pool.get_key_buffer(layer_id)\n"
)
NOTHING = """
class Nothing:
    def wait_until(self, layer):
        pass

def serve(layer_id, q):
    pool = KeyPool(4)
    pool.register_layer_transfer_counter(Nothing())
    return q @ pool.get_key_buffer(layer_id)
"""
OPTIONAL = """
def serve(layer_id, q):
    pool = KeyPool(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""
WRAPPED = """
class Wrapper(KVCache):
    def __init__(self, layer_num):
        super().__init__(layer_num)
        self.inner = KeyPool(layer_num)
    def register_layer_transfer_counter(self, counter):
        self.layer_transfer_counter = counter
        self.inner.register_layer_transfer_counter(None)
    def get_key_buffer(self, layer_id):
        return self.inner.get_key_buffer(layer_id)

def serve(layer_id, q):
    pool = Wrapper(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""
REPLAYED = """
class Runner:
    def __init__(self):
        self.pool = KeyPool(4)
        Controller(self.pool)
        self.graph = torch.cuda.CUDAGraph()
    def capture(self, layer_id, q):
        with torch.cuda.graph(self.graph):
            self.out = q @ self.pool.get_key_buffer(layer_id)
    def replay(self):
        self.graph.replay()
"""

SIDE = """
class Reader:
    def __init__(self):
        self.pool = KeyPool(4)
        Controller(self.pool)
        self.side = torch.cuda.Stream()
    def read(self, layer_id, q):
        k = self.pool.get_key_buffer(layer_id)
        with torch.cuda.stream(self.side):
            return q @ k
"""

BAD = {
    "wrong-stream-gate": (GATED, SIDE),
    "replay-skips-gate": (GATED, REPLAYED),
    "buffer-escape": (READ, KEPT),
    "bypassed-owner": (GATED, RAW),
    "override-drops-gate": (GATED, OVERRIDE),
    "wrong-layer-gate": (
        accessor("self.layer_transfer_counter.wait_until(layer_id - 1)", "return self.k_buffer[layer_id]"),
        SERVE,
    ),
    "optional-gate-not-passed": (
        accessor(
            "if counter is not None:",
            "    counter.wait_until(layer_id)",
            "return self.k_buffer[layer_id]",
            parameters="layer_id, counter=None",
        ),
        OPTIONAL,
    ),
    "noop-gate": (GATED, NOTHING),
    "disarmed-gate": (GATED, WRAPPED),
    "gate-after-access": (
        accessor("k = self.k_buffer[layer_id].clone()", "self.layer_transfer_counter.wait_until(layer_id)", "return k"),
        SERVE,
    ),
    "gate-on-some-paths": (accessor("if rows:", f"    {WAITS}", READS), SERVE),
    "ungated-access": (READ, SERVE),
}
OK = {
    "wrong-stream-gate": (
        GATED,
        SIDE.replace("        with", "        self.side.wait_stream(torch.cuda.current_stream())\n        with"),
    ),
    "replay-skips-gate": (
        GATED,
        REPLAYED.replace(
            "self.graph.replay()",
            "self.pool.layer_transfer_counter.wait_until(self.pool.layer_num - 1)\n        self.graph.replay()",
        ),
    ),
    "buffer-escape": (GATED, KEPT),
    "bypassed-owner": (GATED, RAW.replace("return", "pool.layer_transfer_counter.wait_until(layer_id)\n    return")),
    "override-drops-gate": (GATED, OVERRIDE.replace("return self.k", WAITS + "\n        return self.k")),
    "wrong-layer-gate": (
        accessor("self.layer_transfer_counter.wait_until(layer_id + 1)", "return self.k_buffer[layer_id]"),
        SERVE,
    ),
    "optional-gate-not-passed": (
        BAD["optional-gate-not-passed"][0],
        "def serve(layer_id, q):\n    pool = KeyPool(4)\n    counter = Counter(4)\n    pool.register_layer_transfer_counter(counter)\n"
        "    return q @ pool.get_key_buffer(layer_id, counter)\n",
    ),
    "noop-gate": (GATED, NOTHING.replace("pass", "torch.wait(layer)")),
    "disarmed-gate": (GATED, WRAPPED.replace("(None)", "(counter)")),
    "gate-after-access": (
        accessor("self.layer_transfer_counter.wait_until(layer_id)", "return self.k_buffer[layer_id].clone()"),
        SERVE,
    ),
    "gate-on-some-paths": (accessor("if self.layer_transfer_counter:", f"    {WAITS}", READS), SERVE),
    "ungated-access": (GATED, SERVE),
}


OF_READS = CHECKS[: [one.id for one in CHECKS].index("ungated-access") + 1]
"""Those behind them are about loaders (test_lapses.py) or tell of what is no uncovered read (test_remarks.py)."""


def told(pool: str, code: str) -> Judged:
    return judged(engine(pool, code))


@pytest.mark.parametrize("check", OF_READS, ids=lambda one: one.id)
def test_applies(check: Check) -> None:
    findings = told(*BAD[check.id]).findings
    assert {one.check for one in findings} == {check.id}
    assert {one.severity for one in findings} == {check.severity}
    assert {one.latent for one in findings} == {False}


@pytest.mark.parametrize("check", OF_READS, ids=lambda one: one.id)
def test_does_not_apply(check: Check) -> None:
    assert told(*OK[check.id]).findings == ()


@pytest.mark.parametrize("check", OF_READS, ids=lambda one: one.id)
def test_a_message_names_method_and_storage(check: Check) -> None:
    for one in told(*BAD[check.id]).findings:
        assert one.method in one.message
        assert f".{one.buffer}" in one.message or check.id == "override-drops-gate"
        assert not one.message.endswith(".")


def test_every_check_has_a_case() -> None:
    assert {one.id for one in OF_READS} == set(BAD) == set(OK)


def test_the_order_is_from_special_to_general() -> None:
    """The last of those about reads applies to everything; the first that applies speaks."""
    assert [one.id for one in CHECKS if one not in OF_READS] == [
        "signal-before-copy",
        "unfenced-transfer",
        "untransferred-buffer",
        "layer-range-mismatch",
        "counter-reuse",
        "false-annotation",
        "unresolved-receiver",
        "redundant-gate",
        "pack-gap",
    ]
    assert len({one.id for one in CHECKS}) == len(CHECKS)
    assert {one.severity for one in CHECKS} <= {"error", "warning", "note"}


MIXED = [
    # both apply, the first is told
    (
        "override-drops-gate",
        "gate-after-access",
        GATED,
        OVERRIDE.replace(
            "return self.k_buffer[layer_id - self.start_layer]",
            f"k = self.k_buffer[layer_id - self.start_layer].clone()\n        {WAITS}\n        return k",
        ),
    ),
    (
        "wrong-layer-gate",
        "gate-on-some-paths",
        accessor(
            "self.layer_transfer_counter.wait_until(layer_id - 1)",
            "if rows:",
            "    self.layer_transfer_counter.wait_until(layer_id)",
            "return self.k_buffer[layer_id]",
        ),
        SERVE,
    ),
    ("buffer-escape", "gate-on-some-paths", accessor("if rows:", f"    {WAITS}", READS), KEPT),
    (
        "wrong-layer-gate",
        "gate-after-access",
        accessor(
            "self.layer_transfer_counter.wait_until(layer_id - 1)",
            "k = self.k_buffer[layer_id].clone()",
            "self.layer_transfer_counter.wait_until(layer_id)",
            "return k",
        ),
        SERVE,
    ),
]


@pytest.mark.parametrize(
    ("first", "second", "pool", "code"), MIXED, ids=[f"{first} before {second}" for first, second, *_ in MIXED]
)
def test_the_most_specific_is_told(first: str, second: str, pool: str, code: str) -> None:
    ids = [one.id for one in CHECKS]
    assert ids.index(first) < ids.index(second)
    assert {one.check for one in told(pool, code).findings} == {first}


# ------------------------------------------------------------------ culprit


def culprit(pool: str, code: str) -> tuple[str, str]:
    one = told(pool, code).finding()
    return one.check, one.function


def test_the_accessor_of_the_armed_object_should_have_waited() -> None:
    assert culprit(READ, SERVE) == ("ungated-access", "m.KeyPool.get_key_buffer")


def test_of_nested_accessors_the_outermost() -> None:
    pool = READ + "def get_kv_buffer(self, layer_id):\n    return self.get_key_buffer(layer_id)\n"
    assert culprit(pool, SERVE.replace("get_key_buffer", "get_kv_buffer")) == (
        "ungated-access",
        "m.KeyPool.get_kv_buffer",
    )


def test_a_raw_read_is_the_readers_fault() -> None:
    assert culprit(GATED, RAW) == ("bypassed-owner", "m.serve")


def test_a_private_method_called_from_outside() -> None:
    pool = GATED + "def _storage(self, layer_id):\n    return self.k_buffer[layer_id]\n"
    code = RAW.replace("pool.k_buffer[layer_id]", "pool._storage(layer_id)")
    found = told(pool, code)
    assert [(one.check, one.function) for one in found.findings] in ([("bypassed-owner", "m.serve")], [])


def test_the_wrapper_of_a_disarmed_pool() -> None:
    assert culprit(GATED, WRAPPED) == ("disarmed-gate", "m.Wrapper.get_key_buffer")


def test_an_inner_pool_called_directly() -> None:
    code = WRAPPED.replace("q @ pool.get_key_buffer", "q @ pool.inner.get_key_buffer")
    one = told(READ, code).finding()
    assert (one.check, one.function) == ("bypassed-owner", "m.serve")


def test_an_override_names_what_it_overrides() -> None:
    one = told(GATED, OVERRIDE).finding()
    assert (one.function, one.cls, one.method) == ("m.Late.get_key_buffer", "m.Late", "get_key_buffer")
    assert "KeyPool.get_key_buffer" in one.message


def test_a_finding_about_a_gate_is_where_that_gate_is_near() -> None:
    """One handle is read twice: where nothing waits, and behind the gate that the call does not ask for."""
    lines = (
        "keys = self.k_buffer[layer_id - self.start_layer]",
        "if not rows:",
        "    return launch(keys)",
        "if counter is not None:",
        "    counter.wait_until(layer_id - self.start_layer)",
        "return launch(keys)  # there",
    )
    found = told(accessor(*lines, parameters="layer_id, rows=0, counter=None"), OPTIONAL)
    assert found.finding().check == "optional-gate-not-passed"
    assert [found.finding().place.line] == [line for _, line in found.lines("there")]


# ------------------------------------------------------------------ one missing edge


def test_forty_callers_are_one_finding() -> None:
    readers = "".join(
        f"def read_{number}(pool, layer_id, q):\n    return q @ pool.get_key_buffer(layer_id)\n\n"
        for number in range(40)
    )
    calls = "".join(f"    read_{number}(pool, layer_id, q)\n" for number in range(40))
    one = told(
        READ, f"{readers}def serve(layer_id, q):\n    pool = KeyPool(4)\n    Controller(pool)\n{calls}"
    ).finding()
    assert len([place for place in one.sites if place[3] == "get_key_buffer"]) == 40


def test_two_buffers_are_two_findings() -> None:
    pool = READ + "def get_value_buffer(self, layer_id):\n    return self.v_buffer[layer_id]\n"
    code = SERVE.replace(
        "q @ pool.get_key_buffer(layer_id)", "q @ pool.get_key_buffer(layer_id) @ pool.get_value_buffer(layer_id)"
    )
    assert {(one.function.rpartition(".")[2], one.buffer) for one in told(pool, code).findings} == {
        ("get_key_buffer", "k_buffer"),
        ("get_value_buffer", "v_buffer"),
    }


def test_two_readers_that_go_round_are_two() -> None:
    code = RAW + RAW.replace("serve", "other")
    assert {one.function for one in told(GATED, code).findings} == {"m.serve", "m.other"}


def test_an_edge_that_is_missing_for_a_read_and_for_a_keeper_is_told_once() -> None:
    keeper = "\ndef kept(layer_id, x):\n    pool = KeyPool(4)\n    Controller(pool)\n    x.kept = pool.get_key_buffer(layer_id)\n"
    (one,) = told(READ, SERVE + keeper).findings
    assert (one.check, one.severity, len(one.sites)) == ("ungated-access", "error", 3)


def test_what_only_a_declaration_leads_to_has_low_confidence() -> None:
    """Nobody builds the class: an annotation alone says that it comes here."""
    declared = (
        "\nclass Other(KeyPool):\n    pass\n"
        "\ndef serve(pool: Other, layer_id, q):\n    return q @ pool.get_key_buffer(layer_id)\n"
    )
    (one,) = told(READ, declared).findings
    assert one.confidence == "low"
    (built,) = told(READ, SERVE).findings
    assert built.confidence == "high"


def test_findings_stand_worst_first() -> None:
    code = (
        SERVE
        + "\ndef kept(layer_id, x):\n    pool = KeyPool(4)\n    Controller(pool)\n    x.kept = pool.k_buffer[layer_id]\n"
        + (
            "\nclass Idle(KVCache):\n    def get_key_buffer(self, layer_id):\n        return self.k_buffer[layer_id]\n"
            "\ndef idle(layer_id, q):\n    return q @ Idle(4).get_key_buffer(layer_id)\n"
        )
    )
    found = told(READ, code).findings
    severities = [one.severity for one in found]
    assert set(severities) == {"error", "warning", "note"}
    assert all(rank(left) <= rank(right) for left, right in pairwise(found))


def rank(one: Finding) -> int:
    return ("error", "warning", "note").index(one.severity)


def test_a_finding_carries_its_path_and_advice() -> None:
    pool = (
        WAIT
        + READ
        + "def get_value_buffer(self, layer_id):\n    self.wait(layer_id)\n    return self.v_buffer[layer_id]\n"
    )
    one = told(pool, SERVE).finding()
    assert one.witness
    assert one.touches
    assert one.sites
    assert any(
        hint.startswith("nothing orders this read behind the load of layer_id on the copy stream") for hint in one.hints
    )
    assert any("nearest gate" in hint for hint in one.hints)


def test_a_latent_hole_is_a_note() -> None:
    one = told(READ, SERVE.replace("    Controller(pool)\n", "")).finding()
    assert (one.severity, one.latent) == ("note", True)
    assert any(hint.startswith("latent: ") for hint in one.hints)


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (GATED, "override-drops-gate"),
        (WAIT + accessor("self.wait(layer_id)", READS), "override-drops-gate"),
        (READ, "ungated-access"),
        (accessor("if rows:", f"    {WAITS}", READS), "ungated-access"),
        (WAIT + accessor("if rows:", "    self.wait(layer_id)", READS), "ungated-access"),
        (accessor("if self.layer_transfer_counter is not None:", f"    {WAITS}", READS), "override-drops-gate"),
    ],
)
def test_the_overridden_method_waits_though_nobody_runs_it(base: str, expected: str) -> None:
    assert told(base, OVERRIDE).finding().check == expected
