"""Certificates that were checked again, in the report."""

from __future__ import annotations

from auditor.audit.verified import counted, refuted
from auditor.certificates import Certificate
from auditor.verify import Opinion

ONE = Certificate("pool.py:7", (), ())


def test_numbers() -> None:
    opinions = [Opinion(ONE, (), ()), Opinion(ONE, (), ("the layer",)), Opinion(ONE, ("no wait",), ("the layer",))]
    assert counted(opinions) == {"certificates": 3, "hold": 2, "partly": 1}


def test_none_were_asked_for() -> None:
    assert counted(()) == {}


def test_a_certificate_that_does_not_hold_is_a_relevant_problem_told_once() -> None:
    (problem,) = refuted([Opinion(ONE, ("no wait",), ()), Opinion(ONE, ("no wait",), ())])
    assert (problem.path, problem.line, problem.relevant) == ("pool.py", 7, True)
    assert problem.what.endswith("does not hold: no wait")
