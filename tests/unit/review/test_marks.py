"""The hidden mark of a comment: written and read alike, and made by nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.review.marks import Mark, Marks, same, unmarked

MARK = Mark("finding", "0123456789abcdef", "open", "a" * 40)
PLAIN, SIGNED = Marks("hub/acme/engine#7"), Marks("hub/acme/engine#7", b"key")

marks = st.builds(
    Mark,
    st.sampled_from(["finding", "summary"]),
    st.sampled_from(["", "0123456789abcdef"]),
    st.sampled_from(["", "open", "fixed"]),
    st.sampled_from(["", "a" * 40]),
    lists := st.lists(st.sampled_from(["1" * 16, "2" * 16]), unique=True).map(tuple),
    lists,
)


@given(marks, st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from([PLAIN, SIGNED]))
def test_written_and_read_is_the_same(mark: Mark, text: str, own: Marks) -> None:
    body = own.put(mark, text)
    read = own.read(body)
    assert read is not None
    assert replace(read, digest="") == mark
    assert same(read, text)
    assert not same(read, text + "x")


def test_hosts_that_change_line_ends_leave_it_readable() -> None:
    body = SIGNED.put(MARK, "one\ntwo").replace("\n", "\r\n")
    assert SIGNED.read(body) is not None
    assert unmarked(body) == "one\r\ntwo"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "text",
        "text " + PLAIN.put(MARK, "a mark that is not at the head"),
        "<!-- bufgate:v1 nonsense -->",
        "<!-- bufgate:v1 kind=finding -->",
        "<!-- bufgate:v1 kind=finding digest=0 shell=1 -->",
        "<!-- bufgate:v2 kind=finding digest=0 -->",
    ],
)
def test_what_is_no_mark(body: str) -> None:
    assert PLAIN.read(body) is None


def test_a_signature_is_of_one_pull_request_and_one_key() -> None:
    body = SIGNED.put(MARK, "text")
    assert Marks("hub/acme/engine#8", b"key").read(body) is None
    assert Marks("hub/acme/engine#7", b"other").read(body) is None
    assert SIGNED.read(PLAIN.put(MARK, "text")) is None
    assert SIGNED.read(body.replace("state=open", "state=fixed")) is None
