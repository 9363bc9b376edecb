# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Needs on their way up: where the consuming use stands, who covers it, by which path it is told."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from textwrap import dedent

import pytest

from auditor.spec import EntryPoint, find_pack
from tests.unit.gating.programs import GATED, READ, WAIT, engine, judged

SETUP = """
def serve(layer_id, q):
    pool = KeyPool(4)
    Controller(pool)
    return top(pool, layer_id, q)
"""


def reader(code: str, pool: str = WAIT + READ, mark: str = "here") -> str:
    return judged(engine(pool, dedent(code) + SETUP)).answer(mark)


# ------------------------------------------------------------------ a handle is not a read


def test_handle_before_the_gate_used_after() -> None:
    code = """
    def top(pool, layer_id, q):
        buf = pool.get_key_buffer(layer_id)  # here
        pool.wait(layer_id)
        return q @ buf
    """
    assert reader(code) == "gated"


def test_handle_and_use_before_the_gate() -> None:
    code = """
    def top(pool, layer_id, q):
        buf = pool.get_key_buffer(layer_id)  # here
        out = q @ buf
        pool.wait(layer_id)
        return out
    """
    assert reader(code) == "gate-after-access"


def test_gate_before_the_handle() -> None:
    code = """
    def top(pool, layer_id, q):
        pool.wait(layer_id)
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code) == "gated"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("kernel(pool.get_gated_buffer(layer_id), pool.get_key_buffer(layer_id))", "gated"),
        ("kernel(pool.get_key_buffer(layer_id), pool.get_gated_buffer(layer_id))", "gated"),
        ("kernel(pool.get_key_buffer(layer_id).clone(), pool.get_gated_buffer(layer_id))", "gate-after-access"),
    ],
)
def test_arguments_are_evaluated_in_order(call: str, expected: str) -> None:
    """A view is taken before the kernel runs; a clone is a kernel of its own (§2.2)."""
    gated = "def get_gated_buffer(self, layer_id):\n    self.wait(layer_id)\n    return self.v_buffer[layer_id]\n"
    found = judged(engine(WAIT + READ + gated, f"def top(pool, layer_id, q):\n    return {call}  # here\n{SETUP}"))
    answers = {one.name: found._answer(one) for one in found.sites()}
    assert answers == {"get_key_buffer": expected, "get_gated_buffer": "gated"}


def test_read_inside_the_accessor() -> None:
    """The accessor launches the kernel itself: a wait behind it comes too late."""
    pool = WAIT + "def get_key_buffer(self, layer_id):\n    return self.k_buffer[layer_id].float()  # inside\n"
    code = """
    def top(pool, layer_id, q):
        buf = pool.get_key_buffer(layer_id)  # here
        pool.wait(layer_id)
        return q @ buf
    """
    assert reader(code, pool) not in ("gated", "exempt: metadata")
    assert reader(code, pool, "inside") not in ("gated", "exempt: metadata")


def test_wait_before_an_accessor_that_reads() -> None:
    pool = WAIT + "def get_key_buffer(self, layer_id):\n    return self.k_buffer[layer_id].float()  # inside\n"
    code = """
    def top(pool, layer_id, q):
        pool.wait(layer_id)
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code, pool) == "gated"
    assert reader(code, pool, "inside") == "gated"


# ------------------------------------------------------------------ callers


def test_the_caller_waits() -> None:
    code = """
    def top(pool, layer_id, q):
        pool.wait(layer_id)
        return middle(pool, layer_id, q)

    def middle(pool, index, q):
        return bottom(pool, index, q)

    def bottom(pool, layer, q):
        return q @ pool.get_key_buffer(layer)  # here
    """
    assert reader(code) == "gated"


def test_one_of_two_callers_waits() -> None:
    code = """
    def top(pool, layer_id, q):
        pool.wait(layer_id)
        bottom(pool, layer_id, q)
        return other(pool, layer_id + 1, q)

    def other(pool, layer_id, q):
        return bottom(pool, layer_id, q)

    def bottom(pool, layer, q):
        return q @ pool.get_key_buffer(layer)  # here
    """
    assert reader(code) == "wrong-layer-gate"


def test_the_caller_waits_for_another_layer() -> None:
    code = """
    def top(pool, layer_id, q):
        pool.wait(layer_id)
        return bottom(pool, layer_id + 1, q)

    def bottom(pool, layer, q):
        return q @ pool.get_key_buffer(layer)  # here
    """
    assert reader(code) == "wrong-layer-gate"


def test_the_caller_waits_for_a_later_layer() -> None:
    code = """
    def top(pool, layer_id, q):
        pool.wait(layer_id + 1)
        return bottom(pool, layer_id, q)

    def bottom(pool, layer, q):
        return q @ pool.get_key_buffer(layer)  # here
    """
    assert reader(code) == "gated"


def test_the_caller_waits_too_late() -> None:
    code = """
    def top(pool, layer_id, q):
        out = bottom(pool, layer_id, q)
        pool.wait(layer_id)
        return out

    def bottom(pool, layer, q):
        return q @ pool.get_key_buffer(layer)  # here
    """
    assert reader(code) not in ("gated", "no site")


def test_the_caller_waits_on_another_pool() -> None:
    code = """
    def top(pool, layer_id, q):
        other = KeyPool(8)
        other.wait(layer_id)
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code) != "gated"


def test_a_counter_that_is_waited_on_by_itself() -> None:
    code = """
    def top(pool, layer_id, q):
        pool.layer_transfer_counter.wait_until(layer_id)
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code, READ) == "gated"


# ------------------------------------------------------------------ witness


DEEP = """
def top(pool, layer_id, q):
    return middle(pool, layer_id, q)  # top

def middle(pool, index, q):
    return bottom(pool, index, q)  # middle

def bottom(pool, layer, q):
    return q @ pool.get_key_buffer(layer)  # bottom
"""


def test_the_witness_leads_down_to_the_read() -> None:
    found = judged(engine(READ, DEEP + SETUP))
    hops = found.finding().witness
    functions = [hop.place.function.rpartition(".")[2] for hop in hops]
    order = [name for name in ("serve", "top", "middle", "bottom", "get_key_buffer") if name in functions]
    assert [name for index, name in enumerate(functions) if functions[:index].count(name) == 0] == order
    assert functions[-1] == "get_key_buffer"
    assert "bottom" in functions
    for hop in hops:
        assert hop.place.path == "m.py"
        assert hop.place.line
        assert hop.what


@pytest.mark.xfail(
    strict=True, reason="needs stop where no caller waits; the witness does not start at the entry point"
)
def test_the_witness_starts_at_the_entry() -> None:
    """DESIGN.md §3: a witness carries the call string."""
    found = judged(engine(READ, DEEP + SETUP))
    assert found.finding().witness[0].place.function == "m.serve"


def test_each_hop_is_called_by_the_one_before() -> None:
    found = judged(
        engine(
            WAIT + READ, DEEP + SETUP.replace("return top", "pool.wait(layer_id + 1) if q else None\n    return top")
        )
    )
    hops = found.finding().witness
    for upper, lower in pairwise(hops):
        callees = {site.callee for site in found.graph.calls[upper.frame]}
        assert upper.frame == lower.frame or lower.frame in callees


def test_the_shortest_witness_is_told() -> None:
    code = """
    def top(pool, layer_id, q):
        long_way(pool, layer_id, q)
        return q @ pool.get_key_buffer(layer_id)

    def long_way(pool, layer_id, q):
        return longer(pool, layer_id, q)

    def longer(pool, layer_id, q):
        return q @ pool.get_key_buffer(layer_id)
    """
    found = judged(engine(READ, dedent(code) + SETUP))
    assert found.finding().function == "m.KeyPool.get_key_buffer"
    assert len(found.finding().sites) == 3
    assert len(found.finding().witness) == 3


# ------------------------------------------------------------------ entries


def test_an_entry_holds_nothing() -> None:
    """A function without a caller in the tree is an entry with nothing held (§2.14)."""
    code = """
    def top(pool, layer_id, q):
        return pool

    def from_outside(pool: KeyPool, layer_id, q):
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code) == "ungated-access"


def test_an_entry_that_waits_itself() -> None:
    code = """
    def top(pool, layer_id, q):
        return pool

    def from_outside(pool: KeyPool, layer_id, q):
        pool.wait(layer_id)
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code) == "gated"


def test_a_callback_is_an_entry() -> None:
    code = """
    def top(pool, layer_id, q):
        def later():
            return q @ pool.get_key_buffer(layer_id)  # here
        pool.wait(layer_id)
        schedule(later)
    """
    assert reader(code) != "gated"


def test_an_accessor_nobody_calls() -> None:
    found = judged(
        engine(READ.replace("start_layer]", "start_layer]  # here"), "pool = KeyPool(4)\nController(pool)\n")
    )
    assert found.answer() == "unknown: unreached"


def test_an_accessor_that_reads_and_nobody_calls() -> None:
    """It is an entry: a test or a plugin may call it."""
    pool = "def get_key_buffer(self, layer_id):\n    return self.k_buffer[layer_id].float()  # here\n"
    found = judged(engine(pool, "pool = KeyPool(4)\nController(pool)\n"))
    assert found.answer() == "ungated-access"


def test_an_entry_without_a_load() -> None:
    pack = find_pack("sglang")
    quiet = replace(
        pack, entries=(*pack.entries, EntryPoint(function="*.top", mode="eager", phase="no-load", why="a test"))
    )
    code = "def top(pool, layer_id, q):\n    return q @ pool.get_key_buffer(layer_id)  # here\n"
    assert judged(engine(READ, code + SETUP), quiet).answer() == "exempt: no-load"
    assert judged(engine(READ, code + SETUP), pack).answer() == "ungated-access"


def test_a_host_pool_is_the_transfer() -> None:
    code = """
    class CopyController:
        def __init__(self, pool):
            self.pool = pool

        def load(self, layer_id):
            return self.pool.k_buffer[layer_id].cpu()  # here

    def top(pool, layer_id, q):
        CopyController(pool).load(layer_id)
    """
    assert reader(code) == "exempt: transfer-side"


def test_an_assumption_is_named() -> None:
    pool = "def set_rows(self, layer_id, loc):\n    self.k_buffer[layer_id][loc].add(1)  # here\n"
    code = "def top(pool, layer_id, q):\n    pool.set_rows(layer_id, q)\n"
    pack = find_pack("sglang")
    found = judged(engine(pool, code + SETUP), pack)
    assert found.answer() == "exempt: store"
    assert {one.assumption for binding in found.bindings() for one in binding.outcomes} == {"fresh-slots"}
    assert judged(engine(pool, code + SETUP), replace(pack, assumptions=())).answer() == "ungated-access"


# ------------------------------------------------------------------ verdicts


def test_a_certificate_says_what_holds() -> None:
    found = judged(
        engine(GATED, "def top(pool, layer_id, q):\n    return q @ pool.get_key_buffer(layer_id)  # here\n" + SETUP)
    )
    (binding,) = found.bindings()
    ((gate, why),) = binding.gates
    assert binding.classes == ("m.KeyPool",)
    assert binding.method == "m.KeyPool.get_key_buffer"
    assert gate.owners
    assert {found.judgement.armed.state(one).kind for one in gate.owners} == {"armed"}
    assert why
    assert binding.derivation


def test_an_unknown_receiver_is_told() -> None:
    found = judged(
        engine(
            GATED, "def top(pool, layer_id, q):\n    return q @ mystery().get_key_buffer(layer_id)  # here\n" + SETUP
        )
    )
    assert found.answer() == "unknown: receiver-unresolved"


def test_a_receiver_that_is_no_pool() -> None:
    code = """
    class Ring:
        def get_key_buffer(self, layer_id):
            return layer_id

    def top(pool, layer_id, q):
        return q @ Ring().get_key_buffer(layer_id)  # here
    """
    assert reader(code) == "exempt: not-a-pool"


def test_bindings_stand_worst_first() -> None:
    code = """
    class Late(KVCache):
        def get_key_buffer(self, layer_id):
            return self.k_buffer[layer_id]

    def serve(flag, layer_id, q):
        pool = KeyPool(4) if flag else Late(4)
        Controller(pool)
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    (site,) = judged(engine(GATED, code)).sites()
    assert [one.verdict for one in site.bindings] == ["ungated", "gated"]
    assert site.verdict == "ungated"


def test_a_helper_of_one_pool_is_not_that_of_another() -> None:
    pool = """
    def __init__(self, layer_num):
        super().__init__(layer_num)
        self.keys = Keys()

    def get_key_buffer(self, layer_id):
        self.layer_transfer_counter.wait_until(layer_id)
        return self.keys.get_local_buffer(layer_id)
    """
    code = """
    class Keys:
        def __init__(self):
            self.buffer = [torch.zeros(4)]

        def get_local_buffer(self, layer_id):
            return self.buffer[layer_id]  # helper

    def top(pool, layer_id, q):
        return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code, pool) == "gated"
    assert reader(code, pool, "helper") == "gated"


# ------------------------------------------------------------------ cycles, limits, with


@pytest.mark.parametrize("names", ["abcd", "dcba", "bdac", "cadb"])
@pytest.mark.parametrize("entered", range(4))
def test_a_read_in_a_cycle_reaches_whoever_enters_it(names: str, entered: int) -> None:
    """The entry waits for another layer; the read is three calls round the cycle."""
    functions = [f"walk_{name}" for name in names]
    cycle = "".join(
        f"def {one}(pool, layer_id, depth, q):\n    {'q @ pool.get_key_buffer(layer_id)  # here' if not index else 'pass'}\n"
        f"    return {functions[(index + 1) % 4]}(pool, layer_id, depth - 1, q) if depth else q\n\n"
        for index, one in enumerate(functions)
    )
    top = f"def top(pool, layer_id, q):\n    WAIT\n    return {functions[entered]}(pool, layer_id, 9, q)\n"
    for wait, expected in (("pool.wait(layer_id)", "gated"), ("pool.wait(layer_id - 1)", "wrong-layer-gate")):
        assert reader(cycle + top.replace("WAIT", wait)) == expected


def test_more_needs_than_are_followed_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a limit leaves out is unknown, never passed silently."""
    monkeypatch.setattr("auditor.gating.needs.MAX_NEEDS", 40)
    reads = "".join(f"    q @ pool.get_key_buffer(layer_id + {number})\n" for number in range(60))
    code = f"def many(pool, layer_id, q):\n{reads}\ndef top(pool, layer_id, q):\n    pool.wait(layer_id + 999)\n    many(pool, layer_id, q)\n"
    found = judged(engine(WAIT + READ, code + SETUP))
    verdicts = {one.verdict for one in found.judgement.sites if one.function == "m.many"}
    assert "unknown" in verdicts
    assert verdicts <= {"gated", "unknown"}


def test_a_with_block_that_reads() -> None:
    code = """
    class Session:
        def __init__(self, pool):
            self.pool = pool
        def __enter__(self):
            return self.pool.get_key_buffer(0)  # here
        def __exit__(self, *why):
            pass

    def top(pool, layer_id, q):
        with Session(pool) as keys:
            q @ keys
    """
    assert reader(code) == "ungated-access"
    assert reader(code, GATED) == "gated"


def test_a_with_block_that_waits() -> None:
    code = """
    class Waited:
        def __init__(self, pool):
            self.pool = pool
        def __enter__(self):
            self.pool.layer_transfer_counter.wait_until(self.pool.layer_num - 1)
        def __exit__(self, *why):
            pass

    def top(pool, layer_id, q):
        with Waited(pool):
            return q @ pool.get_key_buffer(layer_id)  # here
    """
    assert reader(code) == "gated"
