"""The code that makes objects of a class is found by reading it."""

import textwrap
from pathlib import Path

import pytest

from cuda_probe.makers import Maker, maker_at, makers_of

POOLS = """
    from base import Inner

    class Outer:
        def __init__(self):
            self.inner = Inner()

    class Extends(Inner): ...

    def asks(pool: Inner) -> Inner:
        return isinstance(pool, Inner) or type(pool) is Inner

    def makes():
        def deep():
            return {"kind": Inner}
        return deep

    CHOICE = Inner
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "e").mkdir()
    (tmp_path / "e/pools.py").write_text(textwrap.dedent(POOLS))
    (tmp_path / "e/other.py").write_text("x = 1")
    return tmp_path


def test_who_names_a_class_as_a_value_makes_it(tree):
    """Not who imports it, extends it, is annotated with it, or asks for it."""
    files = sorted(tree.glob("e/*.py"))
    expected = {Maker("e.pools", "Outer", "__init__"), Maker("e.pools", None, "makes"), Maker("e.pools", None, "")}
    assert set(makers_of("Inner", files, tree)) == expected
    assert makers_of("Nothing", files, tree) == ()


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("e/pools.py:6", Maker("e.pools", "Outer", "__init__")),
        ("e/pools.py:15", Maker("e.pools", None, "makes")),
        ("e/missing.py:1", None),
        ("e/pools.py:x", None),
    ],
)
def test_a_place_is_in_the_code_around_it(tree, place, expected):
    """As reports name places; what is no place of the tree is none."""
    assert maker_at(place, tree) == expected
