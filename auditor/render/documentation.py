"""What the documentation says of a check; and which checks it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.render.page import Page
from auditor.render.plain import wrapped
from auditor.spec import data

_HEADING = re.compile(r"^## `(.+)`$", re.MULTILINE)
_FENCE = re.compile(r"^```(?:python)?\n", re.MULTILINE)
_VERDICT = re.compile(r"# (bad|good)\b.*")


def documented(text: str) -> dict[str, str]:
    """Return the section of each check by its id, in order."""
    parts = _HEADING.split(text)[1:]
    return {name: body.strip("\n") for name, body in zip(parts[::2], parts[1::2], strict=True)}


def explain_check(name: str, section: str, page: Page) -> str:
    """Write a section: paragraphs as wide as the page, examples as they are."""
    return "\n".join([page.strong(name), *_blocks(section, page)]) + "\n"


def read_documentation() -> dict[str, str]:
    """Return the section of each check by its id, from the documentation that comes with the tool."""
    return documented(data("docs").joinpath("checks.md").read_text(encoding="utf-8"))


def parts(section: str) -> Iterator[tuple[str, str]]:
    """Give the paragraphs of a section, each as one line (``text``), and its examples as they are (``code``)."""
    for number, block in enumerate(_FENCE.split(section + "\n")):
        if number % 2:
            yield "code", block.rstrip("\n")
        else:
            yield from (("text", " ".join(one.split("\n"))) for one in block.strip("\n").split("\n\n") if one)


def _blocks(section: str, page: Page) -> Iterator[str]:
    for kind, text in parts(section):
        if kind == "code":
            yield from ("", *(f"    {_painted(line, page)}".rstrip() for line in text.split("\n")))
        else:
            yield from ("", *wrapped(text, page.width))


def _painted(line: str, page: Page) -> str:
    return _VERDICT.sub(lambda found: (page.error if found[1] == "bad" else page.good)(found[0]), line)
