"""What is written is short enough, and nothing that came from others is obeyed in it."""

from __future__ import annotations

import re
from dataclasses import replace

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import assume, given
from hypothesis import strategies as st

from auditor.review import Policy, wording
from auditor.review.marks import Mark, Marks
from auditor.triage import Fix, Step
from tests.review.stage import GONE, HEAD, LINKS, READER, artifact, finding

OURS = {"s", "del", "p", "strong", "a", "code", "ul", "ol", "li", "details", "summary", "sub", "h2"} | {
    *("table", "thead", "tbody", "tr", "th", "td", "pre")
}
"""Elements that our own Markdown makes."""
HOST = "https://github.example/"

PIECES = (
    *("@ada", "#1", "<img src=x onerror=1>", "-->", "<!--", "</details>", "&lt;", ":tada:", "~~", "*", "_", "|"),
    *("`", "```", "\\", "](http://e)", "https://e.example", "www.e.example", "- ", "1. ", "# "),
    *("\n", "\r", "\u202e", "\x1b[31m"),
)
pieces = st.sampled_from(PIECES)
hostile = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


def shown(markdown: str) -> str:
    """Render as GitHub does, raw HTML included: ours is meant to work, so nothing may hide behind it."""
    options = Options.CMARK_OPT_UNSAFE
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options))


def obeys_nobody(markdown: str) -> None:
    html = shown(markdown)
    elements = set(re.findall(r"<([a-zA-Z][a-zA-Z0-9]*)", html))
    assert elements <= OURS, elements - OURS
    assert all(link.startswith(HOST) for link in re.findall(r'href="([^"]*)"', html))
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "@ada" not in html
    assert html.count("<details>") == html.count("</details>")


@given(hostile, hostile, hostile)
def test_a_comment_obeys_nobody(one: str, other: str, third: str) -> None:
    told = artifact(
        finding(
            message=one,
            function=other,
            path=third,
            hints=(one, other),
            witness=(Step(one, 1, other, third),),
            gates=(Step(other, 2, third, one),),
        )
    )
    text = wording.told(told.introduced, told, LINKS)
    obeys_nobody(text)
    obeys_nobody(wording.closed(text, wording.fixed(HEAD)))
    body = Marks("x").put(Mark("finding"), text)
    assert body.count("-->") == 1, "the mark is the only comment"


@given(hostile, hostile)
def test_a_summary_obeys_nobody(one: str, other: str) -> None:
    told = artifact(
        finding(1, message=one, path=other),
        finding(2, message=one, severity="note"),
        finding(3, status="suppressed", justification=one),
        fixed=(replace(GONE, function=other, path=one),),
        problems=(one,),
        coverage=other,
    )
    obeys_nobody(wording.summary(told, Policy(), LINKS, {}))


def test_texts_end_before_the_limits_of_hosts() -> None:
    long = "*" * 3000
    steps = tuple(Step(long, n, long, long) for n in range(60))
    many = artifact(*(finding(n, message=long, witness=steps, hints=(long,) * 60) for n in range(900)), coverage=long)
    told = wording.told(many.introduced, many, LINKS)
    summary = wording.summary(many, Policy(), LINKS, {})
    assert max(len(told), len(wording.closed(told, "x")), len(summary)) < 65_000
    assert re.search(r"… and \d+ more lines", told)
    assert re.search(r"… and \d+ more lines", summary)
    obeys_nobody(told)


def test_a_path_of_another_root_is_no_link() -> None:
    assert "](" not in LINKS.place("<with:plugin>/a.py", 3, HEAD)
    assert LINKS.place("a b/ü(1).py", 3, HEAD).endswith("/a%20b/%C3%BC%281%29.py#L3)")
    assert "%3F" in LINKS.place("\udcff.py", 3, HEAD)


def test_workflow_commands_are_ten_of_a_level_and_one_line_each() -> None:
    told = artifact(*(finding(n, message="a\n::warning::b") for n in range(30)), finding(99, severity="warning"))
    lines = list(wording.commands(told))
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"]
    assert not any("\n" in line for line in lines)


def suggestion(text: str) -> str:
    told = artifact(finding(fix=Fix("a.py", 3, 3, text, "wait()", "b.py:9")))
    return wording.told(told.introduced, told, LINKS, suggested=True)


def test_findings_with_one_missing_wait_are_told_as_one() -> None:
    """The hint stands once; of the other it says what is read there."""
    first = finding(1)
    steps = (first.witness[0], replace(first.witness[1], what="reads v"))
    other = finding(
        1, fingerprint="f" * 16, buffer="v_buffer", witness=steps, message=first.message.replace("k_buf", "v_buf")
    )
    one = wording.told((first, other), artifact(first, other), LINKS)
    assert one.count("put the wait back") == 1
    assert f"- likewise: [<code>{READER}:10</code>]" in one
    assert "reads v" in one
    assert other.fingerprint in one
    apart = replace(other, check="bypassed-owner")
    assert wording.told((first, apart), artifact(first, apart), LINKS).count("put the wait back") == 2


def test_a_fix_is_a_block_that_can_be_taken_over() -> None:
    assert "\n```suggestion\n\twait()\n    return x\n```\n" in suggestion("\twait()\n    return x")
    assert "\n````suggestion\nx = '''```'''\n````\n" in suggestion("x = '''```'''")


@pytest.mark.parametrize("text", ["x = 1  # \u202e", "a\x0bb", "y" * 9000])
def test_a_fix_that_does_not_show_what_it_is_is_none(text: str) -> None:
    assert "suggestion" not in suggestion(text)


@given(hostile)
def test_a_fix_does_not_end_its_block(text: str) -> None:
    """What is in a block of code is neither markup nor a mention; what comes after it is ours."""
    html = shown(suggestion(text))
    assume("<pre" in html)
    before, block, after = re.split(r"(?s)(<pre.*</pre>)", html)
    assert (block.count("<pre"), block.count("<details>"), after.count("<details>")) == (1, 0, 1)
    assert "@ada" not in before + after
