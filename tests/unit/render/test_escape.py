"""Text of audited code in HTML and Markdown: shown as it is, never obeyed."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given
from hypothesis import strategies as st

from auditor.render import clean, escape
from auditor.render.escape import BREAK, prose, unlinked

HOSTILE = (
    "@someone", "@org/team", "mail@example.com", "#12", "org/repo#7", "GH-7", "!3", "$4", "~label", "%5", "&6",
    "https://example.com", "HTTP://x", "www.example.com", "javascript:alert(1)", "xmpp:a@b", ":smile:", ":100:", ":+1:",
    "<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- -->", "-->", "</code>", "&lt;", "&#60;", "<wbr>",
    "[x](y)", "![x](y)", "[^1]", "[ ] x", "`", "```", "~~~", "~~x~~", "*x*", "**x**", "_x_", "__init__", "a_b", "$x$",
    "|",
    "\\", "\\*", "# x", "- x", "+ x", "* x", "1. x", "2) x", "> x", "===", "---", "***", ": x", "    x", "x  ", "\t",
    "\n", "\r\n", "\n\n# x", "\n| a | b |\n| - | - |", "\x00", "\x1b[31m", "\x85", "\u2028", "\u202e", "\u2066",
    "\u200b", "\u200d", "\ufeff", "\u00ad", "\ud800", "\U000e0041", "字", "é", "\"", "'", "=", "{{ x }}", "{% x %}",
)  # fmt: skip
hostile = st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=3), max_size=8).map("".join)

MENTION = re.compile(r"(?:^|\W)@[a-z0-9][a-z0-9-]*", re.IGNORECASE)
"""What GitHub's mention filter looks for in shown text; the next two likewise."""
REFERENCE = re.compile(r"(?:^|[^&\w])(?:#|gh-)\d+", re.IGNORECASE)
ADDRESS = re.compile(r"\b(?:https?|ftp)://\w|\bwww\.\w|[\w.+-]@\w", re.IGNORECASE)
PICTURE = re.compile(r":(?:\+1|-1|100|1234|[a-z_]+):", re.IGNORECASE)


class Shown(HTMLParser):
    """What a browser shows of a piece of HTML: its elements and its text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[str | None] = []
        self.other: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


@given(hostile)
@example("&lt;")
@example("&#60;")
def test_html_shows_the_text_and_nothing_else(text: str) -> None:
    """One line without an element; a quoted attribute keeps the whole of it."""
    written = escape(text)
    shown = Shown(f"<p>{written}</p>")
    assert (shown.tags, shown.other, shown.text) == (["p"], [], clean(text))
    assert Shown(f'<p title="{written}">').attributes == [clean(text)]
    assert Shown(f"<p title='{written}'>").attributes == [clean(text)]
    assert all(character.isprintable() for character in written)


def rendered(source: str) -> Shown:
    """Markdown as GitHub's own library shows it, with every extension."""
    return Shown(cmarkgfm.github_flavored_markdown_to_html(source, options=Options.CMARK_OPT_UNSAFE))


@given(hostile)
@example("1. x")
@example("    x")
@example("a_b_c __x__")
def test_markdown_shows_the_text_and_nothing_else(text: str) -> None:
    """At the start of a line, behind other text and in a cell of a table it is text: no element, link or picture."""
    written = escape(text, markdown=True)
    for before, after in (("", ""), ("x ", " x"), ("<code>", "</code>"), ("- ", "")):
        shown = rendered(f"{before}{written}{after}")
        assert set(shown.tags) <= {"p", "code", "ul", "li"}, shown.tags
        assert clean(text).strip(" ") in shown.text.replace(BREAK, "")
    row = rendered(f"| a | b |\n| --- | --- |\n| {written} | last cell |")
    assert [tag for tag in row.tags if tag in ("td", "a", "img")] == ["td", "td"]
    assert clean(text).strip(" ") in row.text.replace(BREAK, "")
    assert "last cell" in row.text


@given(hostile)
def test_a_host_finds_nothing_to_link(text: str) -> None:
    """What a host would look for in the shown text is broken, and taking the breaks out gives the text back."""
    shown = html.unescape(escape(text, markdown=True))
    for pattern in (MENTION, REFERENCE, ADDRESS, PICTURE):
        assert not pattern.search(shown), pattern.search(shown)
        assert not pattern.search(unlinked(text))
    assert shown.replace(BREAK, "") == clean(text)


@pytest.mark.parametrize(
    "text",
    ["pkg/mem_cache/pool.py:105:32", "Pool._get_key_buffer reads k_buffer, not v_buffer (line 7).", "layer_id - 1"],
)
def test_plain_text_stays_readable(text: str) -> None:
    """Markdown is read raw as well: paths and sentences stand there as they are."""
    assert html.unescape(escape(text, markdown=True)) == text
    assert escape(text, markdown=True).count("&#") <= 1


@given(hostile, hostile)
def test_prose_makes_code_of_what_it_quotes(outside: str, inside: str) -> None:
    """A backtick of the audited code cannot open an element."""
    shown = rendered("x " + prose(f"{outside}`{inside}`", markdown=True))
    assert set(shown.tags) <= {"p", "code"}
    assert prose("when `a_b` <c>", markdown=True) == prose("when `a_b` <c>") == "when <code>a_b</code> &#60;c&#62;"
    assert prose("a ` b", markdown=True) == "a &#96; b"
