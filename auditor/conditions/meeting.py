"""The front of the room: can an object be what a value is, at a place, and under which conditions?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditor.callgraph import CallGraph
from auditor.conditions.assumed import Assumed
from auditor.conditions.dynamic import Dynamic
from auditor.conditions.formulas import (
    DECLARED,
    FALSE,
    TRUE,
    TRUTH,
    Formula,
    Literal,
    Term,
    clash,
    common,
    conjoin,
    disjoin,
)
from auditor.conditions.knowledge import Knowledge, shown
from auditor.conditions.origins import Origins
from auditor.conditions.presence import Presence
from auditor.conditions.subjects import Subjects
from auditor.conditions.truth import Truth
from auditor.conditions.ways import Ways
from auditor.facts import Value
from auditor.link import Frame, Instance, Linker, Node
from auditor.spec import EngineSpec, matcher

MAX_SHOWN = 3
"""Alternatives that are told one by one."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """An object at a place. ``formula`` is what is necessary for it, ``against`` why that cannot be ("" if it can)."""

    formula: Formula
    against: str = ""

    @property
    def possible(self) -> bool:
        return self.formula != FALSE

    @property
    def proved(self) -> bool:
        """Whether some way leads from where the object is made, not only from a declaration of its class."""
        return any(DECLARED not in term for term in self.formula)

    def joined(self, others: Iterable[Meeting]) -> Meeting:
        """The meeting of the same place, or of an object like this, by any of these ways."""
        known = [self, *others]
        formula = disjoin(one.formula for one in known)
        return Meeting(formula, next((one.against for one in known if one.against), "") if formula == FALSE else "")

    @property
    def when(self) -> tuple[str, ...]:
        """The conditions as text: those that always hold, then what is left of a few alternatives."""
        kept = frozenset(term - {DECLARED} for term in self.formula)
        always = common(kept)
        texts = _texts(always)
        rest = sorted({tuple(_texts(term - always)) for term in kept})
        if 1 < len(rest) <= MAX_SHOWN and all(rest):
            texts.append(" or ".join(" and ".join(one) for one in rest))
        return tuple(texts)


class Conditions:
    """Asks the other modules of the room."""

    def __init__(self, linker: Linker, graph: CallGraph, spec: EngineSpec, assumed: Sequence[str] = ()) -> None:
        origins = Origins(linker, graph)
        is_configuration = matcher(spec.configuration)
        subjects = Subjects(origins, lambda cls: is_configuration(cls) is not None)
        self._knowledge = Knowledge(spec)
        self._truth = Truth(origins, subjects, self._knowledge.meant)
        self._ways = Ways(linker, graph, origins, self._truth)
        self._presence = Presence(origins)
        self._dynamic = Dynamic(origins)
        self._passing: dict[tuple[Formula, Formula], Formula] = {}
        self._steps: dict[tuple[int, int], Formula] = {}
        self._assumed = TRUE
        if assumed:
            self._assumed = Assumed(graph, self._ways, subjects, self._knowledge).formula(assumed)

    def dynamic(self, frame: Frame, value: Value) -> tuple[str, int, str] | None:
        """Tell where (path, line, what) an unknown ``value`` was come by in a way that only running tells."""
        return self._dynamic.place(frame, value)

    def lacking(self, frame: Frame, value: Value, block: int, use: Value, one: Instance) -> tuple[str, int] | None:
        """Tell which attribute, read in which line of ``value`` before its ``use`` in ``block``, ``one`` has not."""
        return self._presence.missing(frame, value, block, use, one)

    def made(self, one: Instance) -> Meeting:
        """Tell what is necessary for ``one`` to be made."""
        formula = self._knowledge.closed(self._ways.built(one), self._knowledge.of_class(one.cls))
        return Meeting(formula, "" if formula != FALSE else "it is never made")

    def existing(self, one: Instance) -> Formula:
        """Tell what is necessary for ``one`` to exist where what is assumed holds."""
        made = frozenset(term - {DECLARED} for term in self.made(one).formula)
        return conjoin(made, self._knowledge.closed(self._assumed))

    def passing(self, when: Formula, frame: Frame, block: int) -> Formula:
        """Tell what is necessary for control to come to a block of a frame that runs where ``when`` holds."""
        step = self._step(frame, block)
        if step == TRUE:
            return when
        known = self._passing.get((when, step))
        if known is None:
            known = self._passing[when, step] = conjoin(when, step)
        return known

    def _step(self, frame: Frame, block: int) -> Formula:
        """What is necessary for control to come to a block of a frame that runs, with all that this implies."""
        key = (frame.base, block)
        known = self._steps.get(key)
        if known is None:
            where = self._knowledge.of_function(frame.code.name)
            known = self._steps[key] = self._knowledge.closed(self._ways.within(frame, block), where)
        return known

    def parting(self, when: Formula, frame: Frame, block: int) -> str:
        """Tell why control that is where ``when`` holds never comes to a block of a frame."""
        pair = _most_common(when, self._step(frame, block))
        if pair is None:
            return "every path from here to a read contradicts itself"
        return f"every path from here to a read needs {shown(pair[0])} and {shown(pair[1])}"

    def meeting(self, frame: Frame, value: Value, block: int, use: Value, one: Instance) -> Meeting:
        """Tell what is necessary for ``value`` to be ``one`` at its ``use``, a value of ``block`` of ``frame``."""
        missing = self.lacking(frame, value, block, use, one)
        if missing is not None:
            return Meeting(FALSE, f"it has no `{missing[0]}`, which is read before in line {missing[1]}")
        here = self._ways.here(frame, block)
        there = self._ways.there(frame.node(value), one)
        where, what = self._knowledge.of_function(frame.code.name), self._knowledge.of_class(one.cls)
        formula = self._knowledge.closed(conjoin(here, there), where | what)
        if formula != FALSE and self._knowledge.closed(conjoin(formula, self._assumed)) == FALSE:
            return Meeting(
                FALSE, f"it is assumed that {' or '.join(' and '.join(_texts(term)) for term in self._assumed)}"
            )
        if formula != FALSE:
            return Meeting(formula)
        if there == FALSE:  # on the way itself: tell of where it is made
            there = self._ways.built(one)
        return Meeting(FALSE, _against(self._knowledge.closed(there, what), self._knowledge.closed(here, where)))

    def handed_on(self, meeting: Meeting, node: Node, one: Instance) -> Meeting:
        """Tell what is necessary where an object that meets a place hands on to ``one``, which ``node`` holds."""
        there = self._ways.there(node, one)
        formula = self._knowledge.closed(conjoin(meeting.formula, there), self._knowledge.of_class(one.cls))
        if formula != FALSE or not meeting.possible:
            return Meeting(formula, meeting.against)
        return Meeting(FALSE, _against(self._knowledge.closed(there), self._knowledge.closed(meeting.formula)))


def _against(there: Formula, here: Formula) -> str:
    """The contradiction between the ways of the object and those to the place: the most common one."""
    if here == FALSE:
        return "what leads here contradicts itself"
    pair = _most_common(there, here)
    if pair is None:
        return "the conditions between where it is made and here exclude each other"
    return f"it is made only where {shown(pair[0])}, control comes here only where {shown(pair[1])}"


def _most_common(there: Formula, here: Formula) -> tuple[Literal, Literal] | None:
    """The pair of literals that most of the ways of two formulas clash by."""
    pairs = Counter(pair for one in there for other in here if (pair := clash(one, other)) is not None)
    return min(pairs, key=lambda pair: (-pairs[pair], pair)) if pairs else None


def _texts(term: Term) -> list[str]:
    """The literals as text; without those that another value of the same subject says as well."""
    having = {one.subject: one for one in term if one.holds and one.value != TRUTH}
    return sorted(shown(one) for one in term if having.get(one.subject, one) == one)
