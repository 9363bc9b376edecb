"""Formulas that depend on one another: the least solution of a system of equations that grows with what is asked."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

from auditor.conditions.formulas import FALSE, TRUE, Formula, Term
from auditor.conditions.questions import Question

Get: TypeAlias = Callable[[Question], Formula]

MAX_RISES = 12
"""How often a formula may change before it is given up as ``TRUE``: terms can come round a cycle for long."""


class Equations:
    """``formula(key) = right(key, get)``, each at first ``FALSE``; ``right`` asks ``get`` for what it depends on.

    Chaotic iteration (Kleene), what was asked for last first, so that a key is mostly worked out once its own
    dependencies are; it is worked out again when one of them has changed. What agrees
    with all equations is not less than the least solution, so it is right even where a formula was weakened.
    """

    def __init__(self, right: Callable[[Question, Get], Formula]) -> None:
        self._right = right
        self._known: dict[Question, Formula] = {}
        self._order: dict[Question, int] = {}
        self._keys: list[Question] = []
        self._askers: dict[Question, dict[Question, None]] = {}
        self._rises: dict[Question, int] = {}
        self._formulas: dict[Formula, Formula] = {TRUE: TRUE, FALSE: FALSE}
        self._terms: dict[Term, Term] = {}

    def solve(self, key: Question) -> Formula:
        """The least solution for ``key``."""
        if key not in self._known:
            waiting: list[int] = []
            self._meet(key, waiting)
            while waiting:
                place = heapq.heappop(waiting)
                while waiting and waiting[0] == place:
                    heapq.heappop(waiting)
                self._work_out(self._keys[-place], waiting)
        return self._known[key]

    def _meet(self, key: Question, waiting: list[int]) -> None:
        self._known[key] = FALSE
        self._order[key] = -len(self._keys)
        self._keys.append(key)
        heapq.heappush(waiting, self._order[key])

    def _work_out(self, key: Question, waiting: list[int]) -> None:
        def get(other: Question) -> Formula:
            self._askers.setdefault(other, {})[key] = None
            if other not in self._known:
                self._meet(other, waiting)
            return self._known[other]

        before = self._known[key]
        if before == TRUE:
            return
        after = self._right(key, get)
        if after == before:
            return
        self._rises[key] = self._rises.get(key, 0) + 1
        self._known[key] = self._shared(after) if self._rises[key] <= MAX_RISES else TRUE
        for asker in self._askers.get(key, ()):
            heapq.heappush(waiting, self._order[asker])

    def _shared(self, formula: Formula) -> Formula:
        """The same formula, kept once: few are different."""
        known = self._formulas.get(formula)
        if known is None:
            known = frozenset(self._terms.setdefault(term, term) for term in formula)
            self._formulas[known] = known
        return known
