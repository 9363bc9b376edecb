"""One suite of laws, kept by every lattice (the habit of SPARTA's AbstractDomainPropertyTest)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.dataflow import CONFLICT, UNREACHED, Flat, FlatValue, MapOf, MaySet, Must, MustSet, Product

FACTS = st.frozensets(st.sampled_from("abcd"))
MUST = FACTS | st.just(UNREACHED)
FLAT = st.sampled_from(["x", "y", "z", UNREACHED, CONFLICT])

BOTH: Product[Must[str], FlatValue[str]] = Product(MustSet[str](), Flat[str]())

LATTICES = [
    pytest.param(MustSet(), MUST, id="MustSet"),
    pytest.param(MaySet(), FACTS, id="MaySet"),
    pytest.param(Flat(), FLAT, id="Flat"),
    pytest.param(BOTH, st.tuples(MUST, FLAT), id="Product"),
    pytest.param(MapOf(MaySet()), st.dictionaries(st.sampled_from("kl"), FACTS.filter(bool)), id="MapOf-MaySet"),
    pytest.param(
        MapOf(Flat()), st.dictionaries(st.sampled_from("kl"), FLAT.filter(lambda v: v != UNREACHED)), id="MapOf-Flat"
    ),
]


@pytest.mark.parametrize(("lattice", "states"), LATTICES)
class TestLaws:
    def test_join_is_associative_commutative_and_idempotent(self, lattice, states):
        @given(states, states, states)
        def law(a, b, c):
            assert lattice.join(a, lattice.join(b, c)) == lattice.join(lattice.join(a, b), c)
            assert lattice.join(a, b) == lattice.join(b, a)
            assert lattice.join(a, a) == a

        law()

    def test_bottom_is_below_all_and_the_unit_of_join(self, lattice, states):
        @given(states)
        def law(a):
            assert lattice.leq(lattice.bottom, a)
            assert lattice.join(lattice.bottom, a) == a == lattice.join(a, lattice.bottom)

        law()

    def test_top_if_there_is_one_is_above_all(self, lattice, states):
        if not hasattr(lattice, "top"):
            return

        @given(states)
        def law(a):
            assert lattice.leq(a, lattice.top)
            assert lattice.join(a, lattice.top) == lattice.top

        law()

    def test_leq_is_a_partial_order(self, lattice, states):
        @given(states, states, states)
        def law(a, b, c):
            assert lattice.leq(a, a)
            assert not (lattice.leq(a, b) and lattice.leq(b, a)) or a == b
            assert not (lattice.leq(a, b) and lattice.leq(b, c)) or lattice.leq(a, c)

        law()

    def test_leq_agrees_with_join(self, lattice, states):
        @given(states, states)
        def law(a, b):
            assert lattice.leq(a, b) == (lattice.join(a, b) == b)

        law()

    def test_join_is_the_least_upper_bound(self, lattice, states):
        @given(states, states, states)
        def law(a, b, c):
            joined = lattice.join(a, b)
            assert lattice.leq(a, joined)
            assert lattice.leq(b, joined)
            assert not (lattice.leq(a, c) and lattice.leq(b, c)) or lattice.leq(joined, c)

        law()


def test_what_must_hold_after_a_join_held_on_both_paths():
    assert MustSet[str]().join(frozenset("ab"), frozenset("bc")) == frozenset("b")


def test_an_unreached_path_takes_nothing_away():
    assert MustSet[str]().join(UNREACHED, frozenset("a")) == frozenset("a")


def test_nothing_held_is_the_top_of_must_and_far_from_unreached():
    assert MustSet().top == frozenset()
    assert not MustSet().leq(MustSet().top, UNREACHED)


def test_two_values_conflict():
    assert Flat[str]().join("x", "y") is CONFLICT


def test_a_key_on_one_path_only_keeps_its_value():
    lattice = MapOf[str, FlatValue[str]](Flat())
    assert lattice.join({"k": "x", "l": "x"}, {"l": "y"}) == {"k": "x", "l": CONFLICT}
