"""What the documentation says of a check, for the terminal; and which checks it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.render.page import Page
from auditor.render.plain import wrapped

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


def _blocks(section: str, page: Page) -> Iterator[str]:
    for number, block in enumerate(_FENCE.split(section + "\n")):
        if number % 2:
            yield from ("", *(f"    {_painted(line, page)}".rstrip() for line in block.rstrip("\n").split("\n")))
        else:
            for paragraph in filter(None, block.strip("\n").split("\n\n")):
                yield from ("", *wrapped(" ".join(paragraph.split("\n")), page.width))


def _painted(line: str, page: Page) -> str:
    return _VERDICT.sub(lambda found: (page.error if found[1] == "bad" else page.good)(found[0]), line)
