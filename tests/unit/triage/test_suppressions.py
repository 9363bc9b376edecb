"""Suppressions: where they are, what they cover, when they end, and what is wrong with them."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.triage import ReportedFinding, read_suppressions, suppress
from tests.unit.render import sample

TODAY = datetime.date(2026, 11, 30)
READ = "x = pool.k_buffer[0]"
GOOD = "# bufgate: ignore[ungated-access] -- decode only"


def finding(line: int, check: str = "ungated-access", path: str = "m.py") -> ReportedFinding:
    return replace(sample.finding(check, "error", line, f"{path}:{line}"), path=path, status="new")


def told(text: str, *findings: ReportedFinding, today: datetime.date | None = TODAY) -> list[tuple[int, str, str]]:
    """Line, check and status of everything that is told of a file."""
    made = suppress(findings, read_suppressions("m.py", "m", text), today)
    return sorted((one.line, one.check, one.status) for one in made)


SUPPRESSED = [(1, "ungated-access", "suppressed")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{READ}  {GOOD}\n", 1),
        (f"{READ}  # noqa: E501 {GOOD}\n", 1),
        (f"{READ}  #bufgate:ignore[ungated-access]--decode only\n", 1),
        (f"{READ}  {GOOD}", 1),
        (f"{GOOD}\n{READ}\n", 2),
        (f"{GOOD}\n# another comment\n\n{READ}\n", 4),
        (f"x = (\n    pool  {GOOD}\n    .k_buffer[0]\n)\n", 3),
        (f"x = (\n    pool\n    .k_buffer[0]\n)  {GOOD}\n", 3),
        (f"def f(pool):\n    {GOOD}\n    return pool.k_buffer[0]\n", 3),
        (f"if x:  # a block\n    y = 1\n{READ}  {GOOD}\n", 3),
        (f"{READ}  # bufgate: ignore[noop-gate, ungated-access] -- both\n", 1),
        (f"{READ}  # bufgate: ignore[ungated-access] until=2026-11-30 -- this is its last day\n", 1),
    ],
)
def test_covered(text: str, line: int) -> None:
    assert (line, "ungated-access", "suppressed") in told(text, finding(line))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{READ}\n{GOOD}\n", 1),
        (f"{READ}  {GOOD}\n{READ}\n", 2),
        (f"{GOOD}\ny = 1\n{READ}\n", 3),
        (f"def f(pool):  {GOOD}\n    return pool.k_buffer[0]\n", 2),
        (f"y = '{GOOD}'; {READ}\n", 1),
        (f'"""\n{GOOD}\n"""\n{READ}\n', 4),
        (f"{READ}  # bufgate: ignore[noop-gate] -- another check\n", 1),
        (f"{READ}  # bufgate: ignore[ungated-access] until=2026-11-29 -- over\n", 1),
    ],
)
def test_not_covered(text: str, line: int) -> None:
    assert (line, "ungated-access", "new") in told(text, finding(line))


def test_the_reason_is_kept_up_to_the_next_comment() -> None:
    text = f"{READ}  {GOOD}, see issue #12  # noqa\n"
    (one,) = suppress([finding(1)], read_suppressions("m.py", "m", text), TODAY)
    assert one.justification == "decode only, see issue #12"


def test_another_file_is_another_file() -> None:
    assert (1, "ungated-access", "new") in told(f"{READ}  {GOOD}\n", finding(1, path="n.py"))


def test_one_comment_for_two_findings() -> None:
    assert told(f"{READ}  {GOOD}\n", finding(1), finding(1)) == SUPPRESSED * 2


def test_a_used_one_is_not_told() -> None:
    assert told(f"{READ}  {GOOD}\n", finding(1)) == SUPPRESSED


def test_an_unused_one_is_told_for_each_check() -> None:
    text = f"{READ}  # bufgate: ignore[noop-gate, ungated-access, buffer-escape] -- why\n"
    assert told(text, finding(1)) == [*SUPPRESSED, *[(1, "unused-suppression", "new")] * 2]


def test_the_last_day_is_the_one_it_says() -> None:
    text = f"{READ}  # bufgate: ignore[ungated-access] until=2027-01-01 -- until the refactoring\n"
    for today, status in (("2027-01-01", "suppressed"), ("2027-01-02", "new")):
        assert told(text, finding(1), today=datetime.date.fromisoformat(today)) == [(1, "ungated-access", status)]
    assert told(text, finding(1), today=None) == SUPPRESSED


def test_one_that_is_over_is_named_at_the_finding() -> None:
    text = f"{READ}  # bufgate: ignore[ungated-access] until=2026-11-29 -- over\n"
    (one,) = suppress([finding(1)], read_suppressions("m.py", "m", text), TODAY)
    assert "the suppression at m.py:1 ended on 2026-11-29" in one.hints


@pytest.mark.parametrize(
    ("comment", "what"),
    [
        ("ignore[ungated-access]", "gives no reason"),
        ("ignore[ungated-access] --", "gives no reason"),
        ("ignore[ungated-access] --   ", "gives no reason"),
        ("ignore[ungated-access] because", "is not understood"),
        ("ignore[ungated-access] until=soon -- why", "until=YYYY-MM-DD"),
        ("ignore[ungated-access] till=2027-01-01 -- why", "until=YYYY-MM-DD"),
        ("ignore[ungated-access] until=2027-13-01 -- why", "until=YYYY-MM-DD"),
        ("ignore -- why", "names no check"),
        ("ignore[] -- why", "names no check"),
        ("ignore[ungated-acess] -- why", "Did you mean `ungated-access`?"),
        ("ignore[*] -- why", "no check is called `*`"),
        ("ingore[ungated-access] -- why", "Did you mean ignore[…]?"),
        ("", "is not understood"),
        ("ignore[ungated-access", "names no check"),
    ],
)
def test_what_is_wrong_is_told_and_suppresses_nothing(comment: str, what: str) -> None:
    made = suppress([finding(1)], read_suppressions("m.py", "m", f"{READ}  # bufgate: {comment}\n"), TODAY)
    assert [one.status for one in made if one.check == "ungated-access"] == ["new"]
    remarks = [one for one in made if one.check != "ungated-access"]
    assert {one.check for one in remarks} == {"invalid-suppression"}
    assert any(what in one.message for one in remarks)
    assert {(one.severity, one.confidence, one.path, one.line, one.column) for one in remarks} == {
        ("warning", "high", "m.py", 1, len(READ) + 3)
    }


def test_an_unknown_check_does_not_spoil_the_known_one() -> None:
    text = f"{READ}  # bufgate: ignore[ungated-access, nonsense] -- why\n"
    assert told(text, finding(1)) == [(1, "invalid-suppression", "new"), *SUPPRESSED]


def test_order_is_that_of_the_report() -> None:
    note = replace(finding(1), severity="note")
    made = suppress([finding(9), note], read_suppressions("m.py", "m", f"{READ}  # bufgate: ignore\n"), TODAY)
    assert [one.severity for one in made] == ["error", "warning", "warning", "note"]


def test_a_broken_file_keeps_those_before_the_break() -> None:
    assert told(f"{READ}  {GOOD}\ndef f(:\n  x = (\n", finding(1)) == SUPPRESSED


def test_remarks_keep_their_fingerprint_when_lines_move() -> None:
    text = f"{READ}  # bufgate: ignore[ungated-access]\n{READ}  {GOOD}\n{READ}  {GOOD}\n"
    here = [one.fingerprint for one in suppress([], read_suppressions("m.py", "m", text), TODAY)]
    there = [one.fingerprint for one in suppress([], read_suppressions("m.py", "m", "# x\n\n" + text), TODAY)]
    assert here == there
    assert len(set(here)) == 3


@given(st.text(alphabet="# bufgate:ignore[,]-=until2027\n'\"()\t\\é\0", max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    """Each comment that is told lies where it says."""
    lines = text.split("\n")
    for one in read_suppressions("m.py", "m", text):
        assert lines[one.line - 1][one.column - 1] == "#"
        assert one.first <= one.last
        assert one.checks == () or one.reason
