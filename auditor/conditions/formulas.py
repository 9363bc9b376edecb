"""Conditions as formulas: disjunctions of terms, each a set of literals over the configuration of one process.

A formula is what is *necessary*: where it cannot hold, the place cannot be reached. So the order is implication, the
top is ``TRUE`` (nothing is known), and whatever is too large to be kept is weakened, never strengthened.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple, TypeAlias

TRUTH = "true"
"""The value of a literal about whether its subject is true, not which value it has."""

MAX_TERMS = 12
"""Terms of a formula that are told apart; a larger one keeps what all its terms have in common."""

_FALSY = frozenset({"None", "False", "0", "''", "0.0"})


class Literal(NamedTuple):
    """``subject`` has the constant ``value`` (its source text), or, where not ``holds``, has not."""

    subject: str
    value: str
    holds: bool

    def negated(self) -> Literal:
        return self._replace(holds=not self.holds)


DECLARED = Literal("declared", TRUTH, True)
"""A mark, no condition: on this way nothing but a declaration says that the object comes here."""

Term: TypeAlias = frozenset[Literal]
Formula: TypeAlias = frozenset[Term]

TRUE: Formula = frozenset({frozenset()})
FALSE: Formula = frozenset()


def literal(subject: str, value: str, *, holds: bool) -> Formula:
    """The formula of one literal."""
    return frozenset({frozenset({Literal(subject, value, holds)})})


def conjoin(*formulas: Formula) -> Formula:
    """All of them hold: terms that contradict themselves are dropped."""
    result = TRUE
    for formula in sorted(formulas, key=len):
        if result == TRUE:
            result = formula
        elif formula != TRUE:
            result = simplified(
                both for one in result for other in formula if (both := _joined(one, other)) is not None
            )
    return result


def disjoin(formulas: Iterable[Formula]) -> Formula:
    """At least one of them holds."""
    return simplified(term for formula in formulas for term in formula)


def either(one: Formula, other: Formula) -> Formula:
    """One of two holds."""
    return one if one == other else disjoin((one, other))


def clash(one: Term, other: Term) -> tuple[Literal, Literal] | None:
    """Two literals that cannot hold together, the first of ``one`` and the second of ``other``."""
    by_subject: dict[str, list[Literal]] = {}
    for literal in other:
        by_subject.setdefault(literal.subject, []).append(literal)
    found = [(a, b) for a in one for b in by_subject.get(a.subject, ()) if _contrary(a, b)]
    return min(found) if found else None


def consistent(term: Term) -> bool:
    """Whether no two literals of a term contradict each other."""
    return clash(term, term) is None


def _joined(one: Term, other: Term) -> Term | None:
    return None if clash(one, other) is not None else one | other


def _contrary(a: Literal, b: Literal) -> bool:
    if a.value == b.value:
        return a.holds != b.holds
    for truth, other in ((a, b), (b, a)):
        if truth.value == TRUTH:
            return other.holds and truth.holds == (other.value in _FALSY)
    return a.holds and b.holds  # two values at once


def simplified(terms: Iterable[Term]) -> Formula:
    """The same disjunction with fewer terms; a weaker one where they are too many."""
    found: set[Term] | None = set(terms)
    while found is not None:
        if frozenset() in found:
            return TRUE
        kept = _absorbed(found)
        found = _merged(kept) if len(kept) <= 4 * MAX_TERMS else None
    return frozenset(kept) if len(kept) <= MAX_TERMS else frozenset({frozenset.intersection(*kept)})


def _absorbed(terms: set[Term]) -> set[Term]:
    """Without the terms that say more than another."""
    ordered = sorted(terms, key=len)
    kept: list[Term] = []
    for term in ordered:
        if not any(one <= term for one in kept):
            kept.append(term)
    return set(kept)


def _merged(terms: set[Term]) -> set[Term] | None:
    """With two terms that differ in whether one literal holds made one, if there are such: x·l + x·¬l = x."""
    for one, other in combinations(sorted(terms, key=sorted), 2):
        if len(one) == len(other):
            apart = one ^ other
            if len(apart) == 2:
                a, b = apart
                if a.negated() == b:
                    return (terms - {one, other}) | {one & other}
    return None


def common(formula: Formula) -> Term:
    """The literals that hold whichever of its terms holds."""
    return frozenset.intersection(*formula) if formula else frozenset()
