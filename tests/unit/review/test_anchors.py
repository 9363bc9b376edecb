"""Where a finding is told, and which lines of a diff can carry it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.review.anchors import Anchor, anchor
from auditor.review.hunks import Hunks, hunks
from auditor.review.pull import LEFT, RIGHT, ChangedFile, by_path
from auditor.triage import Fix, Step
from tests.review.stage import DELETION, FAR, PATCH, POOL, READER, finding

FILES = by_path([ChangedFile(READER, READER, hunks(PATCH)), ChangedFile(POOL, POOL, hunks(DELETION))])


def test_hunks() -> None:
    assert hunks(PATCH).right == {8, 9, 10, 11, 12}
    assert hunks(PATCH).deleted == set()
    assert hunks(DELETION).deleted == {31}


def test_what_stands_before_the_first_hunk_is_no_line() -> None:
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
    assert hunks(head + PATCH) == hunks(PATCH)


def test_marks_of_the_diff_inside_of_lines_and_missing_line_ends() -> None:
    found = hunks("@@ -1,2 +1,3 @@\n+@@ -9 +9 @@\n--- a\n+++ b\n same\n\\ No newline at end of file")
    assert found == Hunks(frozenset({1, 2, 3}), frozenset({1}))


@given(st.lists(st.tuples(st.sampled_from(" +-"), st.text(st.characters(exclude_characters="\n\r"), max_size=8))))
def test_every_line_of_a_hunk_is_counted_on_its_side(lines: list[tuple[str, str]]) -> None:
    old, new = 5, 9
    right, deleted = set(), set()
    for mark, _ in lines:
        if mark != "-":
            right.add(new)
            new += 1
        if mark == "-":
            deleted.add(old)
        if mark != "+":
            old += 1
    found = hunks("\n".join(["@@ -5,1 +9,1 @@", *(mark + text for mark, text in lines)]))
    assert found == Hunks(frozenset(right), frozenset(deleted))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Anchor(READER, 10, RIGHT, "reader")),
        (
            {"line": 99, "witness": (Step(READER, 8, "far"), Step(READER, 9, "near"), Step(READER, 99, "reads"))},
            Anchor(READER, 9, RIGHT, "path"),
        ),
        ({"path": FAR, "witness": ()}, Anchor(POOL, 31, LEFT, "lost gate")),
        ({"line": 99, "witness": (), "gates": ()}, Anchor(READER, 0, RIGHT, "file")),
        ({"path": FAR, "witness": (), "gates": (Step(POOL, 30, "stays"),)}, Anchor(POOL, 0, RIGHT, "file")),
        ({"path": FAR, "witness": (), "gates": ()}, None),
    ],
)
def test_the_first_that_the_diff_has(changes: dict[str, Any], expected: Anchor | None) -> None:
    assert anchor(finding(**changes), FILES) == expected


def test_a_gate_of_a_file_that_was_renamed() -> None:
    """The host knows the deleted line by the new path."""
    files = by_path([ChangedFile("engine/moved.py", POOL, hunks(DELETION))])
    assert anchor(finding(), files) == Anchor("engine/moved.py", 31, LEFT, "lost gate")


def test_a_file_whose_lines_are_not_known() -> None:
    files = by_path([ChangedFile(READER, READER, None)])
    assert anchor(finding(), files) == Anchor(READER, 0, RIGHT, "file")


@pytest.mark.parametrize(
    ("first", "last", "changes", "expected"),
    [
        (9, 11, {}, Anchor(READER, 11, RIGHT, "fix", 9)),
        (9, 13, {}, Anchor(READER, 10, RIGHT, "reader")),
        (9, 9, {"line": 99, "witness": ()}, Anchor(POOL, 31, LEFT, "lost gate")),
    ],
)
def test_the_lines_of_a_fix_where_the_diff_has_them(
    first: int, last: int, changes: dict[str, Any], expected: Anchor
) -> None:
    """Only the host's own view of the diff makes a line one that can be replaced."""
    fix = Fix(READER, first, last, "x", "x", "a.py:1")
    assert anchor(finding(fix=fix, **changes), FILES) == expected
