"""Values as a reader knows them."""

from __future__ import annotations

import pytest

from auditor.facts import Return, definitions, expression, places
from tests.unit.extract.dump import function


@pytest.mark.parametrize(
    "source",
    [
        "self.pool.get_key_buffer(layer_id - self.start_layer)",
        "a[i + 1:, ::2][0]",
        "f(*a, k=b.c, **d)",
        "(-(a + b)) * c",
        "(a, [b], {c}, {d: 1}, 'x')",
        "a.b == None",
        "not a",
        "(a + b).c",
        "(a,)",
        "a[1:2:3]",
        "lambda",
    ],
)
def test_source_comes_back(source: str):
    given = source.replace("lambda", "lambda: 1")
    assert _returned(f"def f(self, a, b, c, d, i, layer_id):\n    return {given}\n") == source


def test_a_variable_is_chased_to_its_definition():
    assert _returned("def f(self):\n    pool = self.pool\n    return pool.get(1)\n") == "self.pool.get(1)"


def test_a_joined_variable_has_its_name():
    assert _returned("def f(a):\n    x = a.b\n    if a: x = a.c\n    return x.d\n") == "x.d"


def test_a_loop_variable_and_unpacked_ones_have_their_names():
    assert _returned("def f(a):\n    for x in a:\n        y, z = x\n        return x, z\n") == "(x, z)"


def test_long_expressions_are_cut():
    text = _returned("def f(a):\n    return a(" + ", ".join("abcdefghijk" * 2 for _ in range(20)) + ")\n")
    assert len(text) == 80
    assert text.endswith("…")


def test_deep_expressions_are_cut():
    assert len(_returned("def f(a):\n    return " + "a(" * 100 + ")" * 100 + "\n")) <= 80
    assert "…" in _returned("def f(a):\n    return a" + ".b" * 100 + "\n")


def test_definitions_and_places():
    made = function("def f(a):\n    a.b = 1\n    return a.c\n")
    assert sorted(definitions(made)) == sorted(places(made)) == [0, 1, 2]
    assert [made.blocks[block].instructions[index] for block, index in places(made).values()] == list(
        definitions(made).values()
    )


def _returned(source: str) -> str:
    made = function(source)
    ends = [block.end for block in made.blocks if isinstance(block.end, Return)]
    end = ends[0]
    return expression(made, end.value)
