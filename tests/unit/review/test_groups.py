"""Which findings are told together."""

from __future__ import annotations

from dataclasses import replace

from auditor.review.groups import NAMED, grouped
from tests.review.stage import finding

ONE, OTHER = finding(1), finding(2)
SAME = replace(finding(3), function=ONE.function, check="gate-after-access", line=11)
SILENT = replace(finding(4), function=ONE.function, status="suppressed")


def test_those_of_one_function_in_their_order() -> None:
    first, second = grouped([ONE, OTHER, SAME, SILENT])
    assert (first.findings, second.findings) == ((ONE, SAME, SILENT), (OTHER,))
    assert (first.open, first.members) == ((ONE, SAME), (ONE.fingerprint, SAME.fingerprint))


def test_the_name_of_a_group_survives_what_changes_in_it() -> None:
    (before,) = grouped([ONE, SAME])
    (after,) = grouped([replace(SAME, line=99, message="other words")])
    assert before.id == after.id


def test_code_outside_of_functions_is_told_by_file() -> None:
    alone = [replace(one, function="", path=path) for one, path in ((ONE, "a.py"), (OTHER, "b.py"), (SAME, "a.py"))]
    assert [len(group.findings) for group in grouped(alone)] == [2, 1]


def test_so_many_members_that_no_mark_has_room_for_them() -> None:
    """The names are cut, and still differ where one of those that are left out does."""
    many = [replace(finding(number), function="f") for number in range(300)]
    (group,), (other,) = grouped(many), grouped(many[:-1])
    assert len(group.members) == NAMED
    assert group.members != other.members
