# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""What is written where: each kind of function that can lack its gate, then what is refused and why. ``mended`` is the
one place that calls the code; it also judges the result, so every expected text is a fix that works."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from auditor.fix import apply, compatible
from tests.unit.gating.programs import ENGINE, GATED, READ, SERVE, WAIT, engine, reported

SIBLING = """
def get_value_buffer(self, layer_id):
    if self.layer_transfer_counter is not None:
        # the loader may still copy
        self.layer_transfer_counter.wait_until(layer_id - self.start_layer)  # local index
    return self.v_buffer[layer_id - self.start_layer]
"""
GUARDED = """\
if self.layer_transfer_counter is not None:
    self.layer_transfer_counter.wait_until(layer_id - self.start_layer)
"""


def mended(source: str) -> str:
    """Apply what is proposed, and judge the result: nothing may be found any more."""
    findings = [one for one in reported(source) if one.severity != "note"]
    assert findings, "there is nothing to mend"
    fixes = compatible(findings)
    assert fixes, [one.unfixed for one in findings]
    new = apply(source.encode(), "utf-8", fixes).decode()
    assert [one.message for one in reported(new) if one.severity != "note"] == []
    return new


def refused(source: str) -> str:
    """Why there is no fix."""
    (finding,) = (one for one in reported(source) if one.severity != "note")
    assert finding.fix is None
    return finding.unfixed


def added(source: str) -> str:
    """The lines that the fix adds, without the indentation that they share; all others are as before."""
    old, new = source.split("\n"), mended(source).split("\n")
    first = next(number for number, line in enumerate(new) if line != old[number])
    count = len(new) - len(old)
    assert new[:first] + new[first + count :] == old
    return dedent("\n".join(new[first : first + count]) + "\n")


def pool(*methods: str, code: str = SERVE) -> str:
    return engine("".join(methods), code)


# ---------------------------------------------------------------- how the class waits


def test_an_accessor_waits_as_its_sibling_does() -> None:
    """Guard and index are taken over; the sibling's comments are not."""
    assert added(pool(SIBLING, READ)) == GUARDED


def test_the_class_s_own_method_for_waiting_is_called() -> None:
    assert added(pool(WAIT, READ)) == "self.wait(layer_id)\n"


def test_the_nearest_class_is_followed() -> None:
    """The base has a method for it, the class itself waits in place."""
    base = f"class Base(KVCache):\n{indent(WAIT, '    ')}\n"
    source = engine(SIBLING + READ, SERVE).replace("class KeyPool(KVCache)", f"{base}\nclass KeyPool(Base)")
    assert added(source) == GUARDED


def test_a_base_class_in_another_file_is_followed() -> None:
    findings = reported(
        {
            "base": ENGINE + f"\nclass Base(KVCache):\n{indent(WAIT, '    ')}\n",
            "m": f"from base import *\n\nclass KeyPool(Base):\n{indent(READ, '    ')}\n{SERVE}",
        }
    )
    assert [one.fix.gate for one in findings if one.fix] == ["self.wait(layer_id)"]


def test_other_names_of_self_and_layer_are_translated() -> None:
    other = READ.replace("self", "this").replace("layer_id", "number")
    assert added(pool(SIBLING, other)) == GUARDED.replace("self", "this").replace("layer_id", "number")


def test_a_keyword_that_is_called_like_the_layer_keeps_its_name() -> None:
    waiter = (
        WAIT
        + "def get_value_buffer(self, layer_id):\n    self.wait(layer_id=layer_id)\n    return self.v_buffer[layer_id - self.start_layer]\n"
    )
    waiter = waiter.replace("def wait(self, layer_id):", "def wait(self, layer_id, twice=False):")
    assert added(pool(waiter, READ.replace("layer_id", "number"))) == "self.wait(layer_id=number)\n"


def test_a_wait_for_the_last_layer_needs_no_layer() -> None:
    waiter = "def get_value_buffer(self, layer_id):\n    self.layer_transfer_counter.wait_until(self.layer_num - 1)\n    return self.v_buffer[layer_id]\n"
    assert added(pool(waiter, READ)) == "self.layer_transfer_counter.wait_until(self.layer_num - 1)\n"


# ---------------------------------------------------------------- kinds of functions


def test_a_docstring_and_assertions_stay_first() -> None:
    body = '    """Keys."""\n    assert layer_id >= 0\n'
    source = pool(WAIT, READ.replace(":\n    return", f":\n{body}    # the keys\n    return"))
    assert "assert layer_id >= 0\n        self.wait(layer_id)\n        # the keys\n" in mended(source)


def test_a_one_line_function_gets_lines() -> None:
    one_line = "def get_key_buffer(self, layer_id): return self.k_buffer[layer_id - self.start_layer]  # keys\n"
    assert (
        "    def get_key_buffer(self, layer_id):\n        self.wait(layer_id)\n        return self.k_buffer[layer_id - self.start_layer]  # keys\n"
        in mended(pool(WAIT, one_line))
    )


def test_decorators_stay_above() -> None:
    assert added(pool(WAIT, READ.replace("def", "@torch.no_grad()\ndef"))) == "self.wait(layer_id)\n"


def test_an_async_function_waits_as_the_others() -> None:
    code = SERVE.replace("def serve", "async def serve").replace("q @ pool", "q @ await pool")
    assert added(pool(WAIT, READ.replace("def", "async def"), code=code)) == "self.wait(layer_id)\n"


def test_a_property_gets_what_needs_no_layer() -> None:
    every = "def everything(self):\n    self.layer_transfer_counter.wait_until(self.layer_num - 1)\n    return self.k_buffer[0].sum()\n"
    source = pool(
        every,
        "@property\ndef key_buffer(self):\n    return self.k_buffer[0].sum()\n",
        code=SERVE.replace("get_key_buffer(layer_id)", "key_buffer"),
    )
    assert added(source) == "self.layer_transfer_counter.wait_until(self.layer_num - 1)\n"


def test_a_class_in_a_class_keeps_its_depth() -> None:
    source = (
        pool(WAIT, READ)
        .replace("class KeyPool(KVCache):", "class Pools:\n  class KeyPool(KVCache):")
        .replace("KeyPool(4)", "Pools.KeyPool(4)")
    )
    assert added(source) == "self.wait(layer_id)\n"


@pytest.mark.parametrize("unit", ["\t", "  "])
def test_indentation_is_that_of_the_function(unit: str) -> None:
    source = pool(SIBLING, READ).replace("    ", unit)
    assert added(source) == GUARDED.replace("    ", unit)


def test_line_ends_are_those_of_the_file() -> None:
    new = mended(pool(SIBLING, READ).replace("\n", "\r\n"))
    assert new.count("\n") == new.count("\r\n") == pool(SIBLING, READ).count("\n") + 2


def test_an_override_waits_as_the_method_that_it_overrides() -> None:
    late = "class Late(KeyPool):\n    def get_key_buffer(self, layer_id):\n        return self.k_buffer[layer_id - self.start_layer].float()\n"
    assert (
        added(pool(GATED, code=late + SERVE.replace("KeyPool(4)", "Late(4)")))
        == "self.layer_transfer_counter.wait_until(layer_id - self.start_layer)\n"
    )


# ---------------------------------------------------------------- wrappers

WRAPPER = """
class Wrapper(KVCache):
    def __init__(self, layer_num):
        super().__init__(layer_num)
        self.inner = KeyPool(layer_num)
        self.dense = {{}}
    def register_layer_transfer_counter(self, counter):
        self.layer_transfer_counter = counter
        self.inner.register_layer_transfer_counter(None)
    def wait(self, layer_id):
        if self.layer_transfer_counter is not None:
            self.layer_transfer_counter.wait_until(layer_id - self.start_layer)
    def get_key_buffer(self, {parameters}):
        {body}

def serve({parameters}, q):
    pool = Wrapper(4)
    Controller(pool)
    return q @ pool.get_key_buffer({parameters})
"""


@pytest.mark.parametrize(
    ("parameters", "body", "gate"),
    [
        ("layer_id", "return self.inner.get_key_buffer(layer_id)", "self.wait(layer_id)"),
        ("layer_id", "return self.inner.get_key_buffer(self.dense[layer_id])", "self.wait(layer_id)"),
        ("layer_id", "layer_id = self.dense[layer_id]\n        return self.inner.get_key_buffer(layer_id)", "self.wait(layer_id)"),
        ("layer", "return self.inner.get_key_buffer(layer.layer_id)", "self.wait(layer.layer_id)"),
        ("layer", "number = self.dense[layer.layer_id]\n        return self.inner.get_key_buffer(number)", "self.wait(layer.layer_id)"),
        ("layer_id", "return self.inner.get_key_buffer(layer_id + 1)", "self.wait((layer_id + 1))"),
    ],
)  # fmt: skip
def test_a_wrapper_waits_for_the_layer_before_it_is_mapped(parameters: str, body: str, gate: str) -> None:
    assert added(pool(GATED, code=WRAPPER.format(parameters=parameters, body=body))) == f"{gate}\n"


# ---------------------------------------------------------------- readers


def test_a_reader_waits_on_the_pool_that_it_reads_from() -> None:
    code = SERVE.replace("pool.get_key_buffer(layer_id)", "pool.k_buffer[layer_id]")
    assert added(pool(WAIT, GATED, code=code)) == "pool.wait(layer_id)\n"


def test_a_reader_of_an_inner_pool_waits_on_its_owner() -> None:
    code = WRAPPER.format(
        parameters="layer_id", body="self.wait(layer_id)\n        return self.inner.get_key_buffer(layer_id)"
    )
    source = pool(GATED, code=code.replace("q @ pool.get_key_buffer", "q @ pool.inner.get_key_buffer"))
    assert added(source) == "pool.wait(layer_id)\n"


def test_a_reader_waits_in_the_branch_that_reads() -> None:
    """Elsewhere the object may be another one, or none."""
    code = SERVE.replace(
        "    return q @ pool.get_key_buffer(layer_id)",
        "    if rows:\n        return q @ pool.k_buffer[layer_id]\n    return q",
    )
    assert "    if rows:\n        pool.wait(layer_id)\n        return q @ pool.k_buffer[layer_id]\n" in mended(
        pool(WAIT, GATED, code=code)
    )


def test_a_loop_waits_for_the_layer_of_each_round() -> None:
    code = "def serve(q):\n    pool = KeyPool(4)\n    Controller(pool)\n    for layer in range(4):\n        q = q @ pool.k_buffer[layer]\n    return q\n"
    assert "range(4):\n        pool.wait(layer)\n" in mended(pool(WAIT, GATED, code=code))


# ---------------------------------------------------------------- several


def test_several_in_one_file_are_made_together() -> None:
    values = READ.replace("key", "value").replace("k_", "v_")
    code = SERVE.replace(
        "pool.get_key_buffer(layer_id)", "pool.get_key_buffer(layer_id) @ pool.get_value_buffer(layer_id)"
    )
    assert mended(pool(WAIT, READ, values, code=code)).count("self.wait(layer_id)") == 2


def test_two_buffers_in_one_function_need_one_gate() -> None:
    both = "def get_key_buffer(self, layer_id):\n    return self.k_buffer[layer_id] @ self.v_buffer[layer_id]\n"
    assert len([one for one in reported(pool(WAIT, both)) if one.fix]) == 2
    assert added(pool(WAIT, both)) == "self.wait(layer_id)\n"


# ---------------------------------------------------------------- what is refused

TERMS = "the other methods wait in the middle of larger statements, or in terms that this function does not have"


def values(*lines: str) -> str:
    return "def get_value_buffer(self, layer_id):\n" + "".join(f"    {line}\n" for line in lines)


def test_a_class_in_which_nothing_waits_is_refused() -> None:
    assert refused(pool(READ)) == "no method of KeyPool waits, so there is no way of waiting to follow"


@pytest.mark.parametrize(
    "lines",
    [
        ["return self.v_buffer[self.layer_transfer_counter.wait_until(layer_id) or layer_id]"],
        ["counter = self.layer_transfer_counter", "counter.wait_until(layer_id)", "return self.v_buffer[layer_id]"],
    ],
    ids=["in an expression", "by a local variable"],
)
def test_a_wait_that_cannot_be_taken_out_is_refused(lines: list[str]) -> None:
    assert refused(pool(values(*lines), READ)) == TERMS


def test_a_function_that_does_not_know_the_layer_is_refused() -> None:
    every = "def get_key_buffer(self):\n    return sum(self.k_buffer)\n"
    code = SERVE.replace("get_key_buffer(layer_id)", "get_key_buffer()")
    assert (
        refused(pool(WAIT, every, code=code))
        == "which expression of this function is the layer that is read cannot be told"
    )


def test_a_layer_by_a_name_that_is_assigned_twice_is_refused() -> None:
    code = "def serve(rows, q):\n    pool = KeyPool(4)\n    Controller(pool)\n    layer = 1\n    if rows:\n        layer = rows\n    return q @ pool.k_buffer[layer]\n"
    assert (
        refused(pool(WAIT, GATED, code=code))
        == "which expression of this function is the layer that is read cannot be told"
    )


def test_an_object_that_nothing_arms_is_refused() -> None:
    """What is read there is latent: a wait would be dead code."""
    (note,) = reported(pool(WAIT, READ, code=SERVE.replace("    Controller(pool)\n", "")))
    assert (note.severity, note.unfixed) == ("note", "nothing arms the object, so a wait would change nothing")


def test_a_gate_that_needs_another_change_is_refused() -> None:
    late = "def get_key_buffer(self, layer_id):\n    read = self.k_buffer[layer_id].sum()\n    self.wait(layer_id)\n    return read\n"
    assert refused(pool(WAIT, late)) == "there is a wait already: it has to stand before the read"


def test_a_name_of_the_same_statement_is_refused() -> None:
    """A comprehension gives its variable a value where no statement fits in."""
    code = "def serve(q):\n    pool = KeyPool(4)\n    Controller(pool)\n    return sum([pool.k_buffer[layer].sum() for layer in range(4)])\n"
    told = [one for one in reported(pool(WAIT, GATED, code=code)) if one.severity != "note"]
    assert [one.fix for one in told] == [None]
    assert told[0].unfixed.startswith("no place in the function has both the object and the layer")


def test_a_lambda_is_refused() -> None:
    code = "def serve(layer_id, q):\n    pool = KeyPool(4)\n    Controller(pool)\n    read = lambda: q @ pool.k_buffer[layer_id]\n    return read()\n"
    assert [one.unfixed for one in reported(pool(WAIT, GATED, code=code))] == ["a lambda has no place for a statement"]
