# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Which objects have a counter: registrations, order, refusals, assignments (DESIGN.md §2.5)."""

from __future__ import annotations

import pytest

from tests.unit.gating.programs import ENGINE, GATED, READ, engine, judged

WRAPPER = """
class Wrapper(KVCache):
    def __init__(self, layer_num):
        super().__init__(layer_num)
        self.inner = KeyPool(layer_num)
    def register_layer_transfer_counter(self, counter):
        self.layer_transfer_counter = counter
        self.inner.register_layer_transfer_counter({given})
    def get_key_buffer(self, layer_id):
        {wait}
        return self.inner.get_key_buffer(layer_id)  # delegates

def serve(layer_id, q):
    pool = Wrapper(4)
    {arm}
    return q @ pool.get_key_buffer(layer_id)  # reader
"""


def wrapped(given: str = "None", wait: str = "pass", arm: str = "Controller(pool)", pool: str = GATED) -> str:
    return engine(pool, WRAPPER.format(given=given, wait=wait, arm=arm))


def simple(arm: str, pool: str = GATED, code: str = "") -> str:
    body = f"def serve(layer_id, q, flag):\n    pool = KeyPool(4)\n    {arm}\n    return q @ pool.get_key_buffer(layer_id)  # reader\n"
    return engine(pool, f"{code}\n{body}")


def test_registered() -> None:
    found = judged(simple("Controller(pool)"))
    assert found.state("KeyPool") == "armed"
    assert found.answer("reader") == "gated"


def test_registered_by_name_of_the_argument() -> None:
    assert judged(simple("pool.register_layer_transfer_counter(counter=Counter(4))")).state("KeyPool") == "armed"


def test_never_registered_is_latent() -> None:
    found = judged(simple("pass", READ))
    assert found.state("KeyPool") == "unset"
    assert found.answer("reader") == "latent"
    assert found.finding().severity == "note"


def test_never_registered_and_gated() -> None:
    """The gate is dead, but so is every load: nothing that deserves an error."""
    found = judged(simple("pass"))
    assert found.answer("reader") == "latent"
    assert all(one.severity == "note" for one in found.findings)


def test_only_none() -> None:
    found = judged(simple("pool.register_layer_transfer_counter(None)"))
    assert found.state("KeyPool") == "disarmed"


def test_none_last_by_the_wrapper() -> None:
    found = judged(wrapped())
    assert found.state("Wrapper") == "armed"
    assert found.state("KeyPool") == "disarmed"
    assert found.answer("reader") == "disarmed-gate"


def test_the_wrapper_waits_for_the_inner_pool() -> None:
    wait = "self.layer_transfer_counter.wait_until(layer_id)"
    found = judged(wrapped(wait=wait))
    assert found.state("KeyPool") == "disarmed"
    assert found.answer("reader") == "gated"


def test_the_wrapper_hands_its_counter_on() -> None:
    found = judged(wrapped(given="counter"))
    assert found.state("KeyPool") == "armed"
    assert found.answer("reader") == "gated"


def test_armed_inner_then_wrapper() -> None:
    """Real code arms the inner pool, replaces the counter, then arms the wrapper."""
    found = judged(wrapped(arm="Controller(pool.inner)\n    Controller(pool)"))
    assert found.state("Wrapper") == "armed"
    assert found.state("KeyPool") == "disarmed"


@pytest.mark.xfail(
    strict=True, reason="a wrapper's None counts as last, wherever the calls stand (§2.5: expand callees in place)"
)
def test_armed_wrapper_then_inner() -> None:
    found = judged(wrapped(arm="Controller(pool)\n    Controller(pool.inner)"))
    assert found.state("KeyPool") == "armed"


@pytest.mark.parametrize(
    ("first", "second", "expected"), [("Counter(4)", "None", "disarmed"), ("None", "Counter(4)", "armed")]
)
def test_both_in_one_function_the_last_counts(first: str, second: str, expected: str) -> None:
    arm = f"pool.register_layer_transfer_counter({first})\n    pool.register_layer_transfer_counter({second})"
    assert judged(simple(arm)).state("KeyPool") == expected


def test_order_of_two_functions_cannot_be_told() -> None:
    code = "def off(pool):\n    pool.register_layer_transfer_counter(None)"
    found = judged(simple("Controller(pool)\n    off(pool) if flag else None", code=code))
    assert found.state("KeyPool") == "unclear"
    assert found.answer("reader") == "unknown: arming-order"


REFUSES = """
class Loader:
    def __init__(self, pool):
        if isinstance(pool, OtherPool):
            pool.register_layer_transfer_counter(Counter(4))
        else:
            raise ValueError(pool)

class OtherPool(KVCache):
    pass
"""


NONE = "pool.register_layer_transfer_counter(None)"


@pytest.mark.parametrize(
    ("body", "state"),
    [
        (f"made(pool)\n    {NONE}", "disarmed"),
        (f"{NONE}\n    made(pool)", "armed"),
        ("made(pool)\n    cleared(pool)", "disarmed"),
        ("made(pool)\n    cleared_or_not(pool)", "unclear"),
        (f"made(pool)\n    if flag:\n        {NONE}", "unclear"),
        (f"if flag:\n        made(pool)\n    {NONE}", "disarmed"),
        (f"made(pool)\n    if flag:\n        {NONE}\n    else:\n        {NONE}", "disarmed"),
        (f"for _ in range(2):\n        made(pool)\n        {NONE}", "disarmed"),
        (f"for _ in range(2):\n        {NONE}\n        made(pool)", "armed"),
        (f"made(pool)\n    if not flag:\n        raise ValueError\n    {NONE}", "disarmed"),
        (f"made(pool)\n    if not flag:\n        return None\n    {NONE}", "unclear"),
        ("made(pool)\n    looping(pool)", "unclear"),
    ],
)
def test_order_by_expanding_the_calls(body: str, state: str) -> None:
    """``cleared_or_not`` may return before it clears, and the loop of ``looping`` may have no round."""
    helpers = f"""
def made(pool):
    return Controller(pool)

def cleared(pool):
    {NONE}

def cleared_or_not(pool):
    if pool.layer_num > 8:
        return
    {NONE}

def looping(pool):
    while pool.layer_num:
        {NONE}
"""
    assert judged(simple(body, code=helpers)).state("KeyPool") == state


def test_a_way_that_takes_nothing_away() -> None:
    """Nobody calls ``keeps``, so what it is given may be the pool."""
    helpers = "def made(pool):\n    return Controller(pool)\n\ndef keeps(pool):\n    return made(pool)\n"
    assert judged(simple(f"made(pool)\n    {NONE}", code=helpers)).state("KeyPool") == "unclear"


def test_the_loader_refuses_the_class() -> None:
    found = judged(simple("Loader(pool)", READ, REFUSES))
    assert found.state("KeyPool") == "unset"
    assert found.answer("reader") == "latent"


def test_the_loader_takes_the_class() -> None:
    found = judged(simple("Loader(pool)", READ, REFUSES.replace("OtherPool", "KeyPool").split("class KeyPool")[0]))
    assert found.state("KeyPool") == "armed"
    assert found.answer("reader") == "ungated-access"


def test_register_that_raises() -> None:
    pool = READ + "def register_layer_transfer_counter(self, counter):\n    raise NotImplementedError\n"
    found = judged(simple("Controller(pool)", pool))
    assert found.state("KeyPool") == "unset"
    assert found.answer("reader") == "latent"
    assert any("refuses" in one for one in found.finding().hints)


def test_register_that_raises_on_one_path_still_arms() -> None:
    pool = READ + (
        "def register_layer_transfer_counter(self, counter):\n    if counter is None:\n        raise ValueError\n"
        "    self.layer_transfer_counter = counter\n"
    )
    assert judged(simple("Controller(pool)", pool)).state("KeyPool") == "armed"


@pytest.mark.parametrize(
    ("test", "state"),
    [
        ("counter is None", "unset"),
        ("not counter", "unset"),
        ("not (counter is not None)", "unset"),
        ("counter is not None", "armed"),
        ("counter", "armed"),
        ("self.k_buffer is None", "armed"),
        ("counter == 0", "armed"),
    ],
)
def test_register_that_returns_only_where_a_test_holds(test: str, state: str) -> None:
    """Only a counter of None is none."""
    register = (
        f"def register_layer_transfer_counter(self, counter):\n    if {test}:\n        return\n    raise ValueError\n"
    )
    assert judged(simple("Controller(pool)", READ + register)).state("KeyPool") == state


def test_assignment_from_outside_arms() -> None:
    found = judged(simple("pool.layer_transfer_counter = Counter(4)"))
    assert found.state("KeyPool") == "armed"
    assert found.answer("reader") == "gated"


def test_assignment_of_none_from_outside_does_not() -> None:
    assert judged(simple("pool.layer_transfer_counter = None")).state("KeyPool") == "disarmed"


def test_two_objects_of_a_class_are_two() -> None:
    code = """
    def serve(layer_id, q):
        armed = KeyPool(4)
        Controller(armed)
        plain = KeyPool(8)
        q @ armed.get_key_buffer(layer_id)  # armed
        return q @ plain.get_key_buffer(layer_id)  # plain
    """
    found = judged(engine(READ, code))
    assert found.answer("armed") == "ungated-access"
    assert found.answer("plain") == "latent"


def test_what_an_armed_pool_is_made_of_is_loaded() -> None:
    found = judged(wrapped(given="None", pool=READ))
    loaded = {one.cls.rpartition(".")[2] for one in found.judgement.armed.loaded}
    assert loaded >= {"Wrapper", "KeyPool"}


def test_scenarios_are_the_outermost_arming_calls() -> None:
    found = judged(wrapped(given="counter"))
    controller = next(number for number, line in enumerate(ENGINE.splitlines(), 1) if "pool.register" in line)
    assert [(one.path, one.line) for one in found.judgement.armed.scenarios] == [("m.py", controller)]


def test_every_state_says_why() -> None:
    found = judged(wrapped())
    for made in found.linker.instances.values():
        for one in made:
            assert found.judgement.armed.state(one).why


def test_a_field_that_loops_choose_is_asked_once() -> None:
    """Choices that lead round two loops: whether a field holds the first layer is asked of every pool."""
    loops = "class Table:\n    def __init__(self, rows):\n        at = before = 0\n        for row in rows:\n            while row:\n                at, before = before, at\n        self.at = at\n"
    assert judged(simple("Controller(pool)", code=loops)).state("KeyPool") == "armed"
