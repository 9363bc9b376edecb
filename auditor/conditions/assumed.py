"""What a user says of the configuration, ``use_mla=true`` or ``platform=cuda``, as a formula over literals of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.callgraph import CallGraph
from auditor.conditions.formulas import FALSE, TRUE, Formula, conjoin, literal
from auditor.conditions.knowledge import Knowledge
from auditor.conditions.subjects import Subjects
from auditor.conditions.ways import Ways
from auditor.errors import UsageError
from auditor.facts import Attr, Branch, Call, Import, Name, Op, Param, Value
from auditor.link import Frame
from auditor.spec import did_you_mean

_BOOLEANS = {"true": True, "false": False}


class Assumed:
    """Turns ``K=V`` into formulas, by the names that tests use."""

    def __init__(self, graph: CallGraph, ways: Ways, subjects: Subjects, knowledge: Knowledge) -> None:
        self._graph = graph
        self._ways = ways
        self._subjects = subjects
        self._knowledge = knowledge

    def formula(self, assumed: Sequence[str]) -> Formula:
        """The conjunction of all of them.

        Raises:
            UsageError: one is not of the form ``K=V``, contradicts another, or nothing that is tested is called so.
        """
        found = conjoin(*(self._one(text) for text in assumed))
        if found == FALSE:
            raise UsageError(f"--assume {' --assume '.join(assumed)}: they cannot hold together. Leave one out.")
        return found

    def _one(self, text: str) -> Formula:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise UsageError(
                f"--assume {text}: write NAME=VALUE, as in --assume platform=cuda or --assume use_mla=true."
            )
        values = self._knowledge.values(name)
        if values and value not in values and value not in _BOOLEANS:
            raise UsageError(
                f"--assume {text}: {name} has no value {value!r}{did_you_mean(value, values)}"
                f" (there are: {', '.join(values)})"
            )
        places = list(self._tests(name))
        formulas = {self._said(frame, tested, value) for frame, tested in places} - {TRUE}
        if values:
            formulas.add(literal(name, value, holds=True))
        if not formulas:
            known = sorted(self._names() | self._knowledge.subjects())
            raise UsageError(
                f"--assume {text}: no condition that keeps its value is called {name!r}{did_you_mean(name, known)}"
            )
        return conjoin(*sorted(formulas, key=sorted))

    def _said(self, frame: Frame, value: Value, wanted: str) -> Formula:
        """What it says of a tested value that it is ``wanted``."""
        if wanted in _BOOLEANS:
            return self._ways.true(frame, value, holds=_BOOLEANS[wanted])
        subject = self._subjects.subject(frame, value)
        if subject is None:
            return TRUE
        texts = self._subjects.compared(subject)
        fitting = [text for text in sorted(texts) if text in (wanted, repr(wanted)) or text.endswith(f".{wanted}")]
        return literal(*self._knowledge.meant(subject, fitting[0] if fitting else repr(wanted)), holds=True)

    def _tests(self, name: str) -> Iterator[tuple[Frame, Value]]:
        for frame, value, called in self._tested():
            if called == name:
                yield frame, value

    def _names(self) -> set[str]:
        return {name for _, _, name in self._tested()}

    def _tested(self) -> Iterator[tuple[Frame, Value, str]]:
        """What branches test, and what is compared elsewhere: (frame, value, its name)."""
        for frame in self._graph.frames.values():
            for block in frame.code.facts.blocks:
                for one in block.instructions:
                    if isinstance(one, Op):
                        yield from _named(frame, one.dst)
                if isinstance(block.end, Branch):
                    yield from _named(frame, block.end.test)


def _named(frame: Frame, value: Value) -> Iterator[tuple[Frame, Value, str]]:
    one = frame.code.defined.get(value)
    match one:
        case Op(operands=operands):
            for operand in operands:
                yield from _named(frame, operand)
        case Attr(name=name) | Name(name=name) | Param(name=name) | Import(name=name):
            yield frame, value, name
        case Call(func=func):
            called = frame.code.defined.get(func)
            if isinstance(called, Attr | Name | Import):
                yield frame, value, called.name
