"""What a rule pack knows of conditions: other names of the same one, and which hold together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from auditor.conditions.formulas import TRUTH, Formula, Literal, Term, consistent, simplified
from auditor.spec import EngineSpec, Implication

_COMPARED = re.compile(r"(?P<subject>.+?) (?P<operator>[=!]=) (?P<value>.+)\Z")


def parse(text: str) -> Literal:
    """Read a condition: ``X``, ``not X``, ``X == V`` or ``X != V``."""
    compared = _COMPARED.match(text)
    if compared is not None:
        return Literal(compared["subject"], compared["value"], compared["operator"] == "==")
    return Literal(text.removeprefix("not "), TRUTH, not text.startswith("not "))


def shown(one: Literal) -> str:
    """Write a condition in the same way."""
    if one.value == TRUTH:
        return one.subject if one.holds else f"not {one.subject}"
    return f"{one.subject} {'==' if one.holds else '!='} {one.value}"


class Knowledge:
    """The meanings and implications of a pack."""

    def __init__(self, spec: EngineSpec) -> None:
        self._means = {parse(one.test): parse(one.means) for one in spec.meanings}
        self._implied = [
            (re.compile(re.escape(one.when).replace(r"\*", ".*") + r"\Z"), [parse(then) for then in one.then])
            for one in spec.implications
            if one.when and not one.scope and not one.classes
        ]
        self._local = [one for one in spec.implications if one.scope or one.classes]
        self._of_functions: dict[str, Term] = {}

    def meant(self, subject: str, value: str) -> tuple[str, str]:
        """The subject and the value that a test of ``subject`` is really about."""
        means = self._means.get(Literal(subject, value, True))
        return (means.subject, means.value) if means is not None else (subject, value)

    def values(self, subject: str) -> tuple[str, ...]:
        """The values that the pack knows of a subject, other than that it is true."""
        return tuple(sorted({one.value for one in self._means.values() if one.subject == subject} - {TRUTH}))

    def subjects(self) -> frozenset[str]:
        """The subjects that the pack itself names."""
        return frozenset(one.subject for one in self._means.values())

    def of_function(self, function: str) -> Term:
        """What holds where ``function`` runs."""
        if function not in self._of_functions:
            found = (one for one in self._local if any(fnmatchcase(function, pattern) for pattern in one.scope))
            self._of_functions[function] = _unconditional(found)
        return self._of_functions[function]

    def of_class(self, cls: str) -> Term:
        """What holds where an object of ``cls`` exists."""
        name = cls.rpartition(".")[2]
        found = (one for one in self._local if any(fnmatchcase(name, pattern) for pattern in one.classes))
        return _unconditional(found)

    def closed(self, formula: Formula, also: Term = frozenset()) -> Formula:
        """The formula with ``also`` and what its literals imply."""
        return simplified(term for one in formula if (term := self._closed(one | also)) is not None)

    def _closed(self, term: Term) -> Term | None:
        known = term
        while consistent(known):
            texts = [shown(one) for one in known]
            more = {one for pattern, then in self._implied for one in then if any(map(pattern.match, texts))} - known
            if not more:
                return known
            known |= more
        return None


def _unconditional(rows: Iterable[Implication]) -> Term:
    return frozenset(parse(then) for one in rows if not one.when for then in one.then)
