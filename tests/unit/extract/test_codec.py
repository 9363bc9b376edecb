"""Facts to bytes and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.extract import extract
from auditor.facts import FACTS_VERSION, ModuleFacts, decode, encode
from tests.unit.extract.corpus import files
from tests.unit.extract.dump import facts
from tests.unit.extract.programs import program
from tests.unit.extract.test_positions import AWKWARD


@given(st.integers(0, 10**9), st.integers(1, 3))
def test_round_trip_of_random_programs(seed: int, size: int):
    made = facts(program(seed, size))
    assert decode(encode(made)) == made


def test_round_trip_of_everything():
    made = facts(AWKWARD + "x = 1e999, '\\ud800', 10**2, True, None, -0.0\n")
    again = decode(encode(made))
    assert again == made
    assert repr(again) == repr(made), "also bool and int, tuple and list are kept apart"


def test_round_trip_of_problems():
    made = extract("a.py", "a", True, b"(")
    assert decode(encode(made)) == made


def test_corpus():
    for file in files(every=60, offset=3):
        made = extract("x.py", "a.b.c.d.e.f.g", False, file.read_bytes())
        assert decode(encode(made)) == made


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"nonsense", b"\xff", b"[" * 100_000, b"[1,2,3]", b"null", b"[1e999]"]
)
def test_what_is_no_encoding_is_refused(data: bytes):
    with pytest.raises(ValueError, match="not facts"):
        decode(data)


def test_another_version_is_refused():
    document = json.loads(encode(facts("x = 1\n")))
    assert document[0] == FACTS_VERSION
    for version in (FACTS_VERSION + 1, str(FACTS_VERSION), float(FACTS_VERSION), True):
        with pytest.raises(ValueError, match="version"):
            decode(json.dumps([version, *document[1:]]).encode())


@given(st.data())
def test_damage_is_refused_or_harmless(data: Any):
    """Any part replaced by any other gives facts of the right types, or a ValueError."""
    document = json.loads(
        encode(facts("import a\ndef f(x: A = 1, *y):\n for z in x.b(y, k=1): a[z:].c = {z: y}\n return x\n"))
    )
    places = list(_places(document, ()))
    place = data.draw(st.sampled_from(places))
    noise = data.draw(st.sampled_from([None, True, -2, 10**9, "x", [], [1], {}, 1.5, ["J", 0], "a"]))
    _replace(document, place, noise)
    try:
        made = decode(json.dumps(document).encode())
    except ValueError:
        return
    assert isinstance(made, ModuleFacts)
    assert decode(encode(made)) == made


def _places(part: Any, path: tuple[int, ...]) -> Any:
    if isinstance(part, list):
        for index, inner in enumerate(part):
            yield (*path, index)
            yield from _places(inner, (*path, index))


def _replace(document: Any, path: tuple[int, ...], noise: Any) -> None:
    for index in path[:-1]:
        document = document[index]
    document[path[-1]] = noise
