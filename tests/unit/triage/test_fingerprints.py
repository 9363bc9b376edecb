"""Fingerprints name a finding by what it is: they survive edits elsewhere and tell findings apart."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.triage import ReportedFinding, fingerprint
from tests.unit.gating.programs import ENGINE, reported

PARTS = {
    "plain": """
class PlainPool(KVCache):
    def get_key_buffer(self, layer_id):
        index = layer_id - self.start_layer
        storage = self.k_buffer[index]
        return storage
""",
    "some": """
class SomePool(KVCache):
    def get_key_buffer(self, layer_id, rows=0):
        if rows:
            self.layer_transfer_counter.wait_until(layer_id - self.start_layer)
        return self.k_buffer[layer_id - self.start_layer]

    def get_value_buffer(self, layer_id):
        return self.v_buffer[layer_id]
""",
    "raw": """
def raw(layer_id, q):
    pool = PlainPool(4)
    Controller(pool)
    result = q @ pool.k_buffer[layer_id]
    return result
""",
    "plain reader": """
def serve(layer_id, q):
    pool = PlainPool(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
""",
    "some reader": """
def serve_some(layer_id, q):
    pool = SomePool(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id) @ pool.get_value_buffer(layer_id)
""",
}


def told(parts: list[str], edit: Callable[[str], str] = str) -> list[ReportedFinding]:
    return reported(edit(ENGINE + "".join(parts)))


def marks(parts: list[str], edit: Callable[[str], str] = str) -> set[str]:
    return {one.fingerprint for one in told(parts, edit)}


BASE = list(PARTS.values())
EDITS: dict[str, Callable[[str], str]] = {
    "lines above": lambda text: "# one\n# two\n\n" + text,
    "a docstring": lambda text: '"""What this is."""\n' + text,
    "lines inside": lambda text: text.replace("        storage =", "        # why\n\n        storage ="),
    "a statement inside": lambda text: text.replace("        storage =", "        print(index)\n        storage ="),
    "a local renamed": lambda text: text.replace("storage", "rows_of_keys").replace("result", "product"),
    "a parameter renamed": lambda text: text.replace("rows", "count"),
    "a function added": lambda text: text + "\ndef unrelated(x):\n    return x\n",
    "a class added in front": lambda text: text.replace(
        "class PlainPool", "class Unrelated:\n    x = 1\n\nclass PlainPool"
    ),
    "a caller added": lambda text: text + "\ndef more(layer_id, q):\n    return serve(layer_id, q)\n",
    "a reader added": lambda text: text + PARTS["plain reader"].replace("serve", "serve_again"),
    "split over lines": lambda text: text.replace(
        "q @ pool.get_key_buffer(layer_id)\n",
        "(\n        q\n        @ pool.get_key_buffer(\n            layer_id)\n    )\n",
    ),
    "an annotation": lambda text: text.replace(
        "def get_key_buffer(self, layer_id):", "def get_key_buffer(self, layer_id: int):"
    ),
    "a temporary": lambda text: text.replace("        return storage", "        kept = storage\n        return kept"),
}


def test_there_is_something_to_tell() -> None:
    assert {one.check for one in told(BASE)} == {"ungated-access", "gate-on-some-paths", "bypassed-owner"}
    assert len(told(BASE)) == 4


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edits_elsewhere_change_none(edit: Callable[[str], str]) -> None:
    text = ENGINE + "".join(BASE)
    assert edit(text) != text
    assert marks(BASE, edit) == marks(BASE)


@settings(max_examples=15)
@given(st.permutations(BASE))
def test_the_order_of_functions_does_not_matter(parts: list[str]) -> None:
    assert marks(parts) == marks(BASE)


@settings(max_examples=15)
@given(st.integers(0, 2**16), st.integers(0, 8))
def test_blank_lines_and_comments_do_not_matter(seed: int, count: int) -> None:
    chance = random.Random(seed)

    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        for _ in range(count):
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(["\n", "# a comment\n"]))
        return "".join(lines)

    assert marks(BASE, edit) == marks(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PlainPool", "OtherPool"),
        ("get_key_buffer", "get_new_key_buffer"),
        ("k_buffer", "kv_buffer"),
        ("def raw(", "def raw_again("),
    ],
)
def test_other_names_are_other_findings(old: str, new: str) -> None:
    assert marks(BASE, lambda text: text.replace(old, new)) != marks(BASE)


def test_each_finding_has_its_own() -> None:
    assert len(marks(BASE)) == len(told(BASE))


@pytest.mark.parametrize("gone", PARTS)
def test_the_others_stay_when_one_is_mended(gone: str) -> None:
    kept = [text for name, text in PARTS.items() if name != gone]
    if gone == "plain":
        kept = [text for text in kept if "PlainPool" not in text]
    if gone == "some":
        kept = [text for text in kept if "SomePool" not in text]
    assert marks(kept) <= marks(BASE)


def test_another_module_is_another_finding() -> None:
    source = ENGINE + "".join(BASE)
    here, there = (reported({name: source}) for name in ("m", "n"))
    assert not {one.fingerprint for one in here} & {one.fingerprint for one in there}


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_a_fingerprint_is_sixteen_digits(parts: list[str]) -> None:
    mark = fingerprint(*parts)
    assert len(mark) == 16
    assert int(mark, 16) >= 0
    assert mark == fingerprint(*parts)


def test_parts_do_not_run_together() -> None:
    known = [fingerprint(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""))]
    assert all(left != right for left, right in combinations(known, 2))
