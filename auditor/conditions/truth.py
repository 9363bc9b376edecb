"""What has to hold where a value is true, or is not."""

from __future__ import annotations

from collections.abc import Callable

from auditor.conditions.formulas import FALSE, TRUE, TRUTH, Formula, conjoin, disjoin, literal
from auditor.conditions.origins import Origins
from auditor.conditions.questions import IsTrue, Takes
from auditor.conditions.solving import Get
from auditor.conditions.subjects import Subjects
from auditor.facts import Attr, Build, Call, Import, Name, Op, Value
from auditor.link import Frame

_EQUAL = {"==": True, "is": True, "!=": False, "is not": False}
_AMONG = {"in": True, "not in": False}
_FALSY = frozenset({"None", "False", "0", "''", "0.0"})


MAX_ALTERNATIVES = 2
"""A field whose truth has more ways than these counts as a condition of its own."""


class Truth:
    """Formulas of truth values. ``meant`` turns a subject and a value into those that a rule pack gives for them."""

    def __init__(self, origins: Origins, subjects: Subjects, meant: Callable[[str, str], tuple[str, str]]) -> None:
        self._origins = origins
        self._subjects = subjects
        self._meant = meant

    def literal(self, subject: str, value: str, *, holds: bool) -> Formula:
        """The formula of one test."""
        self._subjects.note(subject, value)
        return literal(*self._meant(subject, value), holds=holds)

    def true(self, frame: Frame, value: Value, holds: bool, get: Get) -> Formula:
        """What is necessary for ``value`` to be true (not ``holds``: to be false)."""
        constant = self._subjects.constant(frame, value)
        if constant is not None:
            return TRUE if (constant not in _FALSY) == holds else FALSE
        one = frame.code.defined.get(value)
        if isinstance(one, Op):
            return self._operator(frame, one, holds, get)
        if isinstance(one, Call) and frame.code.externals.get(one.func) == "builtins.bool" and len(one.arguments) == 1:
            return get(IsTrue(frame, one.arguments[0].value, holds))
        own = self._subjects.own(frame, value)
        if own is not None and (isinstance(one, Call) or self._subjects.is_configured(frame, value)):
            return self.literal(own, TRUTH, holds=holds)
        behind = self._origins.behind(frame, value)
        if not behind or not self._subjects.looks_behind(frame, value):
            subject = self._subjects.subject(frame, value)
            return TRUE if subject is None else self.literal(subject, TRUTH, holds=holds)
        constants = {self._subjects.constant(origin.frame, origin.value) for origin in behind}
        if isinstance(one, Attr) and len(constants) == 1 and None not in constants:
            return TRUE  # a switch that nothing in the tree turns
        found = disjoin(
            conjoin(get(Takes(one.frame, one.block, one.target)), get(IsTrue(one.frame, one.value, holds)))
            for one in behind
        )
        if len(found) > MAX_ALTERNATIVES and own is not None:
            return self.literal(own, TRUTH, holds=holds)
        return found

    def _operator(self, frame: Frame, one: Op, holds: bool, get: Get) -> Formula:
        if one.operator == "not":
            return get(IsTrue(frame, one.operands[0], not holds))
        if one.operator in _EQUAL and len(one.operands) == 2:
            return self._equal(frame, *one.operands, holds == _EQUAL[one.operator])
        if one.operator in _AMONG and len(one.operands) == 2:
            among = self._elements(frame, one.operands[1])
            if among is None:
                return TRUE
            found = [self._equal_to(frame, one.operands[0], value, holds == _AMONG[one.operator]) for value in among]
            return disjoin(found) if holds == _AMONG[one.operator] else conjoin(*found)
        return TRUE

    def _equal(self, frame: Frame, left: Value, right: Value, holds: bool) -> Formula:
        for one, other in ((left, right), (right, left)):
            constant = self._subjects.constant(frame, other)
            if constant is not None:
                return self._equal_to(frame, one, constant, holds)
        return TRUE

    def _equal_to(self, frame: Frame, value: Value, constant: str, holds: bool) -> Formula:
        known = self._subjects.constant(frame, value)
        if known is not None:
            return TRUE if (known == constant) == holds or not _plain(known, constant) else FALSE
        subject = self._subjects.subject(frame, value)
        return TRUE if subject is None else self.literal(subject, constant, holds=holds)

    def _elements(self, frame: Frame, value: Value) -> list[str] | None:
        """The constants that a display holds, also one that a variable was bound to."""
        for _ in range(8):
            one = frame.code.defined.get(value)
            if isinstance(one, Build) and one.kind in ("tuple", "list", "set"):
                found = [self._subjects.constant(frame, element) for element in one.elements]
                return None if None in found else [text for text in found if text is not None]
            behind = self._origins.behind(frame, value) if isinstance(one, Name | Import) else None
            if not behind or len(behind) != 1:
                return None
            frame, value = behind[0].frame, behind[0].value
        return None


def _plain(*constants: str) -> bool:
    """Whether they are literals, which are equal only if they are the same."""
    return all(one in ("None", "True", "False") or one[0] in "'\"" or one.isdigit() for one in constants)
