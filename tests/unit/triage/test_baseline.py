"""The baseline: what is known, what is new, what became worse, what is gone; and the file that keeps it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.triage import (
    Baseline,
    BaselineError,
    Comparison,
    Entry,
    Report,
    ReportedFinding,
    baseline_of,
    compare,
    fingerprint,
    from_json,
    marked,
    to_json,
)
from tests.unit.render import sample


def finding(function: str, check: str = "ungated-access", buffer: str = "k_buffer", copy: int = 1, **changes):
    made = sample.finding(check, "error", 7, fingerprint(check, function, buffer, str(copy)))
    return replace(made, function=function, buffer=buffer, classes=("pool.KeyPool",), **changes)


A, B, C = finding("a.Pool.get"), finding("b.read"), finding("c.read")
TEXTS = st.text(alphabet="abc.\ud800é\n", max_size=4)


def report(*findings: ReportedFinding, unknown: int = 1) -> Report:
    stats = replace(sample.REPORT.stats, verdicts={**sample.REPORT.stats.verdicts, "unknown": unknown})
    return replace(sample.REPORT, findings=findings, stats=stats)


def against(before: Sequence[ReportedFinding], after: Sequence[ReportedFinding]) -> Comparison:
    return compare(report(*after), baseline_of(report(*before)))


def names(findings: Sequence[ReportedFinding | Entry]) -> list[str]:
    return [one.function for one in findings]


# ---------------------------------------------------------------- matching


def test_new_known_and_gone() -> None:
    found = against([A, B], [B, C])
    assert (names(found.new), names(found.known), names(found.gone)) == (["c.read"], ["b.read"], ["a.Pool.get"])


def test_a_second_copy_is_not_absorbed() -> None:
    """The hole of baselines that are sets: three copies against one."""
    copies = [finding("a.read", copy=number) for number in (1, 2, 3)]
    found = against(copies[:1], copies)
    assert (len(found.known), len(found.new)) == (1, 2)


def test_one_that_is_mended_pays_for_no_other() -> None:
    """The hole of baselines that count: mend one, add another."""
    found = against([A], [finding("a.Pool.get_other")])
    assert (len(found.new), len(found.gone)) == (1, 1)


@pytest.mark.parametrize("part", ["check", "function", "buffer"])
def test_another_check_function_or_storage_is_new(part: str) -> None:
    other = {"check": "noop-gate", "function": "a.Pool.put", "buffer": "v_buffer"}[part]
    parts: dict[str, Any] = {"function": "a.Pool.get", "check": "ungated-access", "buffer": "k_buffer", part: other}
    assert len(against([A], [finding(**parts)]).new) == 1


def test_lines_and_paths_are_not_compared() -> None:
    assert len(against([A], [replace(A, line=99, path="elsewhere.py", message="in other words")]).known) == 1


def test_a_finding_that_moved_to_another_module_is_known() -> None:
    found = against([A], [finding("new_home.Pool.get")])
    assert (len(found.known), found.new, found.gone) == (1, (), ())


def test_a_copy_in_another_module_is_new() -> None:
    found = against([A], [A, finding("copy.Pool.get")])
    assert names(found.new) == ["copy.Pool.get"]


def test_one_entry_covers_one_move() -> None:
    found = against([A], [finding("x.Pool.get"), finding("y.Pool.get")])
    assert (len(found.known), len(found.new)) == (1, 1)


def test_a_class_that_joins_opens_it_again() -> None:
    joined = replace(A, classes=("pool.KeyPool", "pool.DraftPool"))
    found = against([A], [joined])
    assert [what for _, what in found.worse] == ["it concerns DraftPool, too"]
    assert (found.new, found.known, found.gone) == ((), (), ())
    (told,) = marked(report(joined), found).findings
    assert told.status == "new"
    assert "DraftPool" in told.hints[-1]


def test_a_class_that_leaves_does_not() -> None:
    assert len(against([replace(A, classes=("pool.KeyPool", "pool.DraftPool"))], [A]).known) == 1


def test_a_class_that_moved_with_its_module_is_no_new_one() -> None:
    assert len(against([A], [replace(A, classes=("home.KeyPool",))]).known) == 1


def test_a_latent_one_that_becomes_real_is_opened_again() -> None:
    found = against([replace(A, severity="note")], [A])
    assert [what for _, what in found.worse] == ["it was a note and is an error"]


def test_a_milder_one_is_known() -> None:
    assert len(against([A], [replace(A, severity="note")]).known) == 1


def test_suppressed_findings_stay_out() -> None:
    """A suppression that is taken away shows its finding, baseline or not."""
    hidden = replace(A, status="suppressed")
    assert baseline_of(report(hidden)).entries == ()
    assert len(against([hidden], [A]).new) == 1
    found = against([A], [hidden])
    assert (found.known, names(found.gone)) == ((), ["a.Pool.get"])
    assert marked(report(hidden), found).findings == (hidden,)


def test_growth_of_the_undecided_is_counted() -> None:
    assert compare(report(unknown=5), Baseline(3, ())).unknown == 2


def test_known_ones_get_their_status() -> None:
    made = marked(report(A, B), against([A], [A, B]))
    assert [one.status for one in made.findings] == ["known", "new"]


findings = st.lists(
    st.builds(
        finding,
        function=st.sampled_from(["a.P.get", "b.P.get", "a.read", "b.read"]),
        buffer=st.sampled_from(["k", "v"]),
        copy=st.integers(1, 2),
    ),
    unique_by=lambda one: one.fingerprint,
)


@given(findings, findings)
def test_nothing_is_lost_and_nothing_counts_twice(before, after) -> None:
    found = against(before, after)
    worse = [one for one, _ in found.worse]
    assert sorted(one.fingerprint for one in (*found.new, *found.known, *worse)) == sorted(
        one.fingerprint for one in after
    )
    assert len(before) - len(found.gone) == len(found.known) + len(worse)


@given(findings)
def test_against_itself_nothing_is_new(same) -> None:
    found = against(same, same)
    assert (found.new, found.gone, found.unknown) == ((), (), 0)


# ---------------------------------------------------------------- the file

entries = st.builds(
    Entry,
    fingerprint=TEXTS,
    check=TEXTS,
    severity=st.sampled_from(["error", "warning", "note"]),
    function=TEXTS,
    buffer=TEXTS,
    classes=st.lists(TEXTS).map(tuple),
    path=TEXTS,
    line=st.integers(0, 99),
)


@given(st.integers(0, 9), st.lists(entries))
def test_what_is_written_is_read(unknown: int, listed: list[Entry]) -> None:
    text = to_json(Baseline(unknown, tuple(listed)), "1.0")
    assert text.isascii()
    read = from_json(text, "b.json")
    assert (read.unknown, sorted(map(repr, read.entries))) == (unknown, sorted(map(repr, listed)))
    assert to_json(read, "1.0") == text


def test_one_line_an_entry_in_the_order_of_paths() -> None:
    text = to_json(baseline_of(report(B, A)), "1.0")
    rows = [json.loads(line.rstrip(",")) for line in text.split("\n") if line.startswith("  ")]
    assert [row["function"] for row in rows] == ["a.Pool.get", "b.read"]


GOOD = json.loads(to_json(baseline_of(report(A)), "1.0"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no baseline: "),
        ("[]", "schema is None"),
        ("{" * 50_000, "no baseline: "),
        (json.dumps({**GOOD, "schema": "baseline-v9"}), "schema is 'baseline-v9'"),
        (json.dumps({**GOOD, "unknown": "4"}), "unknown must be a number"),
        (json.dumps({**GOOD, "entries": {}}), "entries a list"),
        (json.dumps({**GOOD, "entries": [1]}), "entry 1 is damaged"),
        (json.dumps({**GOOD, "entries": [*GOOD["entries"], {}]}), "entry 2 is damaged"),
        (json.dumps({**GOOD, "entries": [{**GOOD["entries"][0], "line": "7"}]}), "entry 1 is damaged"),
        (json.dumps({**GOOD, "entries": [{**GOOD["entries"][0], "severity": "bad"}]}), "entry 1 is damaged"),
        (json.dumps({**GOOD, "entries": [{**GOOD["entries"][0], "classes": "A"}]}), "entry 1 is damaged"),
        (json.dumps({**GOOD, "entries": [{**GOOD["entries"][0], "more": 1}]}), "entry 1 is damaged"),
    ],
)
def test_what_is_no_baseline_is_refused(text: str, what: str) -> None:
    with pytest.raises(BaselineError, match=r"^b\.json .*") as error:
        from_json(text, "b.json")
    assert what in str(error.value)
    assert "\n" not in str(error.value)
    assert "bufgate baseline write" in str(error.value)
