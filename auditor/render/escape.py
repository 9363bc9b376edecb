"""The one way for text of audited code into HTML and Markdown: shown as it is, never obeyed.

Markup is written as character references, which neither HTML nor Markdown takes for structure. That is not enough where
a host looks at the *shown* text and makes links of it (``@name`` notifies a person, ``#7`` writes into an issue,
``:100:`` is a picture): those patterns are broken by a space of no width.
"""

from __future__ import annotations

import re

from auditor.render.plain import clean

BREAK = "\u200b"
"""The space of no width. ``clean`` leaves none, so each one in a text is ours."""

_HTML = {ord(mark): f"&#{ord(mark)};" for mark in "&<>\"'"}
_MARKDOWN = _HTML | {ord(mark): f"&#{ord(mark)};" for mark in f"\\`*[]|~${BREAK}"}
_PLACED = re.compile(r"(?<![^\W_])_|_(?![^\W_])|^[#+=-]|^ +| +$")
"""What Markdown obeys in some places only: ``_`` unless it is inside a word, marks of lists and headings, spaces."""
_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)])")
"""The start of a numbered list."""

_LINKED = re.compile(
    r"@"  # people, teams, mail addresses
    r"|[#!$%&~^](?=[\w\"])"  # issues, merge requests, snippets, milestones, epics, labels, alerts
    r"|:(?=\d*[a-z_+-][\w+-]*:|100:|1234:)"  # pictures
    r"|:(?=//)"  # addresses with a scheme ...
    r"|www(?=\.)"  # ... and without
    r"|\bgh(?=-\d)",
    re.IGNORECASE,
)


def escape(text: str, *, markdown: bool = False) -> str:
    """Return one line of HTML that shows ``text``, in elements and in quoted attributes; or of Markdown.

    Control characters, line breaks and bidi marks become visible. Markdown comes out as one run of text, also at the
    start of a line and in a table, and no host turns any of it into a link, a mention or a picture.
    """
    if not markdown:
        return clean(text).translate(_HTML)
    marked = _PLACED.sub(_referenced, unlinked(text).translate(_MARKDOWN))
    number = _NUMBER.match(marked)
    return f"{number[0]}&#{ord(marked[number.end()])};{marked[number.end() + 1 :]}" if number else marked


def _referenced(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(mark)};" for mark in found[0])


def prose(text: str, *, markdown: bool = False) -> str:
    """Escape a sentence of ours; what it quotes in backticks becomes ``<code>``."""
    parts = escape(text, markdown=markdown).split("&#96;" if markdown else "`")
    if len(parts) % 2 == 0:  # a backtick of the audited code
        return escape(text, markdown=markdown)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def unlinked(text: str) -> str:
    """Return a clean text in which no host finds anything to link; for text that is shown without markup."""
    return _LINKED.sub(lambda found: found[0] + BREAK, clean(text))
