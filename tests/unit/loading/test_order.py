"""Paths between two places of a function."""

from __future__ import annotations

import pytest

from auditor.extract import extract
from auditor.facts import Call
from auditor.link import Linker
from auditor.loading.order import START, At, path


def places(body: str) -> tuple[object, dict[str, At]]:
    """The code of a function and where the functions of one letter are called in it."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    facts = extract("m.py", "m", False, f"def f(x):\n{lines}".encode())
    linker = Linker({"m": "m.py"}, lambda cls, hierarchy: False)
    linker.add([facts])
    code = linker.codes["m.f"]
    found = {
        code.defined[one.func].name: (number, index)  # type: ignore[union-attr]
        for number, block in enumerate(code.facts.blocks)
        for index, one in enumerate(block.instructions)
        if isinstance(one, Call)
    }
    return code, found


@pytest.mark.parametrize(
    ("body", "reaches"),
    [
        ("a()\nb()", True),
        ("b()\na()", False),
        ("if x:\n    a()\nelse:\n    b()", False),
        ("a()\nif x:\n    s()\nb()", True),
        ("a()\nif x:\n    s()\nelse:\n    s2()\nb()", True),
        ("a()\ns()\nb()", False),
        ("while x:\n    b()\n    a()", True),
        ("while x:\n    b()\n    a()\n    s()", False),
        ("a()\nreturn\nb()", False),
        ("try:\n    a()\n    s()\nexcept Exception:\n    b()", False),
    ],
)
def test_from_a_to_b_round_s(body: str, reaches: bool) -> None:
    code, at = places(body)
    stops = [at["s"]] if "s" in at else []
    if "b" not in at:
        assert not reaches, "what is never reached is not in the facts"
        return
    assert (path(code, at["a"], at["b"], stops) is not None) == reaches  # type: ignore[arg-type]


def test_from_the_start() -> None:
    code, at = places("s()\nb()")
    assert path(code, START, at["b"]) == (0,)  # type: ignore[arg-type]
    assert path(code, START, at["b"], [at["s"]]) is None  # type: ignore[arg-type]


def test_a_place_comes_by_itself_again_only_in_a_loop() -> None:
    code, at = places("while x:\n    a()")
    assert path(code, at["a"], at["a"]) is not None  # type: ignore[arg-type]
    code, at = places("a()")
    assert path(code, at["a"], at["a"]) is None  # type: ignore[arg-type]
