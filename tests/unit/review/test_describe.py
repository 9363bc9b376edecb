"""The plan in words."""

from __future__ import annotations

from typing import get_args

import pytest

from auditor.review import described
from auditor.review.pull import (
    Annotate,
    Annotation,
    Edit,
    EditSummary,
    Hide,
    Inline,
    PostCheck,
    PostOnFile,
    PostReview,
    PostSummary,
    Reopen,
    Resolve,
    Show,
    Write,
)

HEAD = "a" * 40
NOTE = Annotation("a.py", 3, "failure", "t", "m")
TOLD = (
    (
        PostReview(HEAD, "2 findings\x1b[2J", (Inline("g1", "a\n.py", 3, "LEFT", "b"),)),
        ["post a review of 1 comment: 2 findings\\x1b[2J", "  comment on a\\n.py:3 LEFT for g1"],
    ),
    (PostOnFile(HEAD, "g1", "a.py", "b"), ["comment on the file a.py for g1"]),
    (Edit("9", "g1", "b", "fixed"), ["edit comment 9 for g1: fixed"]),
    (Hide("C9", "RESOLVED"), ["minimise C9 as resolved"]),
    (Show("C9"), ["show C9 again"]),
    (Resolve("T9"), ["resolve thread T9"]),
    (Reopen("T9"), ["reopen thread T9"]),
    (PostSummary("b"), ["post the summary"]),
    (EditSummary("8", "b"), ["edit the summary 8"]),
    (PostCheck(HEAD, "k", "failure", "t", "s", (NOTE,)), ["post the check run: failure, t, 1 annotation"]),
    (Annotate("7", "t", "s", (NOTE, NOTE)), ["append 2 annotations to the check run"]),
)


@pytest.mark.parametrize(("write", "lines"), TOLD, ids=lambda value: type(value).__name__)
def test_each_write_is_told_on_a_line_of_its_own(write: Write, lines: list[str]) -> None:
    assert list(described([write])) == lines


def test_every_kind_of_write_is_told() -> None:
    assert {type(write) for write, _ in TOLD} == set(get_args(Write))
