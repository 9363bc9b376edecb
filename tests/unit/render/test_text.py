"""The text format: one golden for its wording; the rest looks at places, ids and promises."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.render import FORMATS, Page, clean, sentence, short
from tests.unit.render import sample

PAGE = Page(lines=sample.lines)
WIDE = Page(lines=sample.lines, width=10_000)
CONFIG = sample.REPORT.configuration


def text(report: object = sample.REPORT, page: Page = PAGE) -> str:
    return FORMATS["text"](report, page)  # type: ignore[arg-type]


def test_golden(golden: Callable[[Path, str], None], root: Path) -> None:
    golden(root / "tests/golden/report.txt", text())


def test_worst_first_and_every_step_with_its_place() -> None:
    """An error stands before a warning, a warning before notes; the whole witness is there."""
    written = text(page=WIDE)
    places = [written.index(mark) for mark in ("error[bypassed-owner]", "warning[gate-on-some", "note[pack-gap]")]
    assert places == sorted(places)
    for step in sample.UNGATED.witness:
        assert f"{step.path}:{step.line}  " in written


def test_caret_stands_under_the_read() -> None:
    """Tabs are widened, the caret with them."""
    lines = text(page=WIDE).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("140 |"))
    caret, length = lines[at + 1].index("^"), lines[at + 1].count("^")
    source = sample.lines(sample.INDEXER)[139]
    assert lines[at][caret : caret + length] == source[9:112]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_source_lines_keep_to_the_width(width: int) -> None:
    """A long line is cut around the caret, with an ellipsis on each side that was cut."""
    lines = text(page=replace(PAGE, width=width)).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("166 |"))
    assert all(len(line) <= width for line in lines if line.startswith(("140 |", "166 |", "    | ")))
    assert "…" in lines[at]
    caret = lines[at + 1].index("^")
    assert lines[at][caret:].startswith("pool.index_k_buffer")


def test_a_long_line_is_cut_on_the_right_where_the_read_still_fits() -> None:
    """How a statement begins tells more than the comment at its end."""
    first = replace(sample.FINDINGS[1], column=20, end_column=24)
    begins = "        return self.k_buffer[layer]"
    page = Page(lines=lambda _: [begins + "  # why" * 40] * 200, width=80)
    (line,) = (one for one in text(replace(sample.REPORT, findings=(first,)), page).splitlines() if begins in one)
    assert line.startswith(f"{first.line} | {begins}")
    assert line.endswith("…")


def test_wide_characters_move_the_caret() -> None:
    """A character of two columns takes two."""
    finding = replace(sample.FINDINGS[1], line=1, end_line=1, column=9, end_column=13, method="", buffer="")
    report = replace(sample.REPORT, findings=(finding,))
    written = text(report, Page(lines=lambda _path: ["字 = 字 + pool"])).splitlines()
    at = next(i for i, line in enumerate(written) if line.startswith("1 |"))
    assert written[at + 1] == "  | " + " " * 10 + "^^^^"  # 8 characters, two of them wide, stand before it


@pytest.mark.parametrize("lines", [[], [""], ["short"]], ids=["none", "empty", "short"])
def test_missing_source_is_fine(lines: list[str]) -> None:
    """A place without its line is still a place."""
    report = replace(sample.REPORT, findings=(replace(sample.FINDINGS[1], line=1, column=40, end_column=50),))
    assert f"{sample.INDEXER}:1:40" in text(report, Page(lines=lambda _path: lines))


def test_a_finding_about_the_loader_has_no_read_to_order() -> None:
    """The missing edge is said of reads only."""
    report = replace(sample.REPORT, findings=(replace(sample.FINDINGS[1], check="signal-before-copy"),))
    assert "= missing:" in text()
    assert "= missing:" not in text(report)


def test_notes_are_short_and_counted() -> None:
    """Five notes of one check: three shown, two counted."""
    written = text()
    assert "note[unresolved-receiver]: 5 findings" in written
    assert written.count("cannot be bound") == 3
    assert "and 2 more" in written


@pytest.mark.parametrize("report", [sample.REPORT, sample.CLEAN_REPORT], ids=["rich", "clean"])
def test_footer_is_always_there(report: object) -> None:
    """No answer without its coverage."""
    rows = [line.split()[0] for line in text(report).splitlines() if line and not line.startswith(" ")]
    needed = ["engine", "read", "sites", "bindings", "scenarios", "assumed", "problems", "config", "time"]
    assert [row for row in rows if row in needed] == needed


def test_relevant_problems_are_all_listed() -> None:
    """Relevant ones are named one by one, of the others the first few."""
    written = text()
    assert f" relevant  {sample.INDEXER}:12" in written
    assert written.count("not Python 3") == 5
    assert "1 in relevant files, 7 in other files" in written


def test_no_timing_leaves_the_time_out() -> None:
    report = replace(sample.REPORT, stats=replace(sample.REPORT.stats, seconds=None))
    assert "\ntime " not in text(report)


def test_colours_only_when_asked() -> None:
    assert "\x1b[" not in text()
    coloured = text(page=replace(PAGE, color=True))
    assert "\x1b[" in coloured


def test_colours_change_no_word() -> None:
    """The same lines break at the same places."""
    import click

    assert click.unstyle(text(page=replace(PAGE, color=True))) == text()


@pytest.mark.parametrize(
    ("confidence", "told"),
    [("high", "1 error and 6 notes"), ("medium", "1 error, 1 warning and 6 notes"), ("low", "2 errors, 1 warning")],
)
def test_sentence_counts_what_is_sure_enough(confidence: str, told: str) -> None:
    assert sentence(sample.REPORT, confidence).startswith(told)


def test_sentence_never_claims_more_than_is_known() -> None:
    """Without findings: unknown sites and problems are said in the same breath."""
    quiet = replace(sample.REPORT, findings=())
    assert "1 could not be decided and 1 relevant problem leaves the audit incomplete" in sentence(quiet)
    assert sentence(sample.CLEAN_REPORT).endswith("every site was decided.")


# ---------------------------------------------------------------- text from audited code

anything = st.text(st.characters(), max_size=12)


@given(anything, st.sampled_from(["\x1b[31m", "\u202e", "\n", "\r", "\x07", "\x9b", "\u2028", "\ud800", "\x00"]))
def test_no_control_character_comes_through(noise: str, mark: str) -> None:
    """Whatever audited code is called, a terminal sees printable characters and our newlines only."""
    dirty = f"{noise}{mark}{noise}"
    finding = replace(
        sample.FINDINGS[1],
        check=dirty, message=dirty, path=dirty, function=dirty, class_=dirty, method=dirty, buffer=dirty,
        executions=(dirty,), confirmation=dirty, hints=(dirty,),
        witness=(replace(sample.UNGATED.witness[0], path=dirty, what=dirty, function=dirty),),
        related=(replace(sample.UNGATED.witness[0], path=dirty, what=dirty, function=dirty),),
    )  # fmt: skip
    report = replace(
        sample.REPORT,
        engine=replace(sample.REPORT.engine, name=dirty, version=dirty, pack=dirty),
        scenarios=(replace(sample.REPORT.scenarios[0], what=dirty, path=dirty),),
        stats=replace(sample.REPORT.stats, unknown_reasons={dirty: 1}),
        findings=(finding, replace(finding, severity="note"), replace(finding, status="known")),
        problems=(replace(sample.REPORT.problems[0], what=dirty, path=dirty),),
        configuration=dirty,
        notes=(dirty,),
    )
    page = Page(lines=lambda _path: [dirty] * 400)
    for written in (text(report, page), sentence(report)):
        assert all(character.isprintable() or character == "\n" for character in written)


@given(anything)
def test_clean_text_is_left_alone(noise: str) -> None:
    assert clean(clean(noise)) == clean(noise)
    assert clean("plain – text 字") == "plain – text 字"


def test_a_suppressed_finding_gives_its_reason() -> None:
    hidden = replace(sample.FINDINGS[0], status="suppressed", justification="decode \x1b only")
    told = FORMATS["text"](replace(sample.REPORT, findings=(hidden,)), Page(width=200))
    assert "-- decode \\x1b only" in told


@pytest.mark.parametrize("check", ["invalid-suppression", "unused-suppression"])
def test_a_finding_about_a_suppression_offers_no_suppression(check: str) -> None:
    told = FORMATS["text"](replace(sample.REPORT, findings=(replace(sample.FINDINGS[1], check=check),)), Page())
    assert "# bufgate: ignore" not in told
    assert "a wait for the load" not in told


def test_findings_that_differ_in_the_buffer_alone_are_told_as_one() -> None:
    """One headline, one path, one edge for all buffers; of each other one what is read, and its fingerprint."""
    first, other = sample.ALIKE
    told = text(replace(sample.REPORT, findings=(first, other)), Page(lines=sample.lines, width=10_000))
    last = other.witness[-1]
    assert f"{first.message} (1 more buffer likewise)\n" in told
    assert f"{last.path}:{last.line}  {short(last.function)}: {last.what} (fingerprint f0)\n" in told
    assert "a wait for the load of `k_buffer` and `v_buffer` in" in told
    assert "before they are read" in told
    assert told.count("= path:") == told.count("= missing:") == told.count("error[") == 1


def test_what_every_object_that_is_read_needs_is_told() -> None:
    """A condition of one object alone is no condition of the finding."""
    site = next(one for one in sample.SITES if sample.UNGATED in one.bindings)
    first = replace(sample.UNGATED, when=("fp4", "platform == cuda"))
    second = replace(sample.UNGATED, when=("platform == cuda",), classes=("Other",))
    for bindings, told in (
        ((first,), "= when: fp4; platform == cuda\n"),
        ((first, second), "= when: platform == cuda\n"),
    ):
        here = replace(site, bindings=(*bindings, sample.GATED))
        finding = replace(sample.FINDINGS[0], path=site.path, line=site.line, sites=(site.id,), executions=())
        report = replace(sample.REPORT, sites=(here,), findings=(finding,))
        assert told in text(replace(report, findings=(replace(finding, check="bypassed-owner"),)))


def test_every_path_starts_where_the_reader_stands() -> None:
    """Also those in sentences, if they are files of the tree; nothing else changes."""
    page = Page(width=10_000, lines=lambda path: sample.lines(path) or [""] if path.startswith("sglang/") else [])
    plain = text(page=page)
    told = text(page=replace(page, here="top/"))
    assert told == re.sub(r"\bsglang/", "top/sglang/", plain).replace(f" {CONFIG}\n", f" top/{CONFIG}\n")
    assert text(page=replace(page, here="../")) == told.replace("top/", "../")
    hint = replace(sample.FINDINGS[1], hints=("as at nowhere.py:3, (sglang/a.py:4) `sglang/b.py:5`; at 12:30",))
    said = text(replace(sample.REPORT, findings=(hint,)), replace(page, here="top/"))
    assert "as at nowhere.py:3, (top/sglang/a.py:4) `top/sglang/b.py:5`; at 12:30" in said


def test_no_path_leads_to_what_is_read_beside_the_tree() -> None:
    step = replace(sample.UNGATED.witness[0], path="<with:plugin>/p.py")
    finding = replace(sample.FINDINGS[1], witness=(step, *sample.UNGATED.witness))
    assert "\n      <with:plugin>/p.py:" in text(
        replace(sample.REPORT, findings=(finding,)), replace(PAGE, here="top/")
    )
