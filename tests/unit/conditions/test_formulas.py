"""Formulas: contradiction, simplification, and that weakening never forgets a way."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from auditor.conditions.formulas import (
    FALSE,
    MAX_TERMS,
    TRUE,
    TRUTH,
    Formula,
    Literal,
    clash,
    common,
    conjoin,
    consistent,
    disjoin,
    literal,
)

A, NOT_A = literal("a", TRUTH, holds=True), literal("a", TRUTH, holds=False)
B = literal("b", TRUTH, holds=True)
ONE, TWO = literal("x", "'one'", holds=True), literal("x", "'two'", holds=True)


def test_a_condition_and_its_negation_exclude_each_other():
    assert conjoin(A, NOT_A) == FALSE
    assert disjoin((A, NOT_A)) == TRUE


def test_a_subject_has_one_value():
    assert conjoin(ONE, TWO) == FALSE
    assert conjoin(ONE, literal("x", "'two'", holds=False)) != FALSE


def test_none_is_not_true():
    assert conjoin(literal("x", "None", holds=True), literal("x", TRUTH, holds=True)) == FALSE
    assert conjoin(literal("x", "None", holds=True), literal("x", TRUTH, holds=False)) != FALSE
    assert conjoin(ONE, literal("x", TRUTH, holds=False)) == FALSE


def test_what_holds_either_way_is_left_out():
    assert disjoin((conjoin(A, B), conjoin(NOT_A, B))) == B
    assert disjoin((conjoin(A, B), A)) == A


def test_true_and_false_are_neutral():
    assert conjoin(A, TRUE) == A == disjoin((A, FALSE))
    assert conjoin(A, FALSE) == FALSE
    assert disjoin((A, TRUE)) == TRUE


def test_a_clash_names_both_sides():
    (one,), (other,) = A, NOT_A
    assert clash(one, other) == (Literal("a", TRUTH, True), Literal("a", TRUTH, False))
    assert clash(one, one) is None


def test_a_large_formula_keeps_what_its_terms_have_in_common():
    ways = [conjoin(A, literal("x", f"'{number}'", holds=True)) for number in range(MAX_TERMS + 1)]
    assert disjoin(ways) == A
    assert common(disjoin(ways[:2])) == common(A)


LITERALS = st.builds(Literal, st.sampled_from("abc"), st.just(TRUTH), st.booleans())
FORMULAS = st.frozensets(st.frozensets(LITERALS, max_size=3).filter(consistent), max_size=4).map(
    lambda terms: disjoin([frozenset(terms)])
)


def holds(formula: Formula, world: dict[str, bool]) -> bool:
    return any(all(world[one.subject] == one.holds for one in term) for term in formula)


@given(FORMULAS, FORMULAS)
def test_and_and_or_mean_what_they_say(one, other):
    """In every world, whatever terms were merged."""
    for values in product((True, False), repeat=3):
        world = dict(zip("abc", values, strict=True))
        assert holds(conjoin(one, other), world) == (holds(one, world) and holds(other, world))
        assert holds(disjoin((one, other)), world) == (holds(one, world) or holds(other, world))
