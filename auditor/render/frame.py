"""The two pictures of a report: a source line with carets under it, and a path as an indented tree."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.render.page import Page
from auditor.render.plain import cells, clean, short, wrapped
from auditor.triage import Step

TAB = "    "
DEEPEST = 12
"""A tree stops moving to the right after so many levels."""


def caret_frame(page: Page, path: str, start: tuple[int, int], end: tuple[int, int], label: str) -> list[str]:
    """Draw the source line at ``start`` with carets up to ``end`` (line and column from 1, the end is exclusive)."""
    line, column = start
    gutter = " " * len(str(line))
    lines = [f"{gutter}{page.frame('-->')} {page.strong(f'{page.place(path, line)}:{column}')}"]
    source = page.source(path, line)
    if source is None:
        return lines
    last = end[1] if end[0] == line else len(source) + 1
    text, before, under = _window(source.rstrip("\r\n"), column - 1, last - 1, max(20, page.width - len(gutter) - 3))
    bar = page.frame("|")
    carets = " " * before + page.error("^" * under)
    room = page.width - len(gutter) - 3 - before - under - 1
    beside = label if label and cells(label) <= room else ""
    lines += [f"{gutter} {bar}", f"{page.frame(str(line))} {bar} {text}"]
    lines.append(f"{gutter} {bar} {carets}" + (f" {page.error(beside)}" if beside else ""))
    if label and not beside:
        indent = " " * before if before + cells(label) <= page.width - len(gutter) - 3 else ""
        lines += [f"{gutter} {bar} {indent}{page.error(part)}" for part in wrapped(label, page.width - len(gutter) - 3)]
    return lines


def _window(source: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """Return what fits of a line around [start, end), the columns before the carets and those under them."""
    start = min(max(start, 0), max(len(source) - 1, 0))
    end = min(max(end, start + 1), max(len(source), start + 1))
    fits = len(source) <= room and sum(cells(_visible(character)) for character in source) <= room
    room -= 0 if fits else 2  # for the ellipses
    reached = sum(cells(_visible(character)) for character in source[:end]) <= room
    left = 0 if reached else max(0, min(start - room // 3, len(source) - room))
    shown = _fitting(source[left : left + room], room)
    right = left + len(shown)
    head, tail = "…" if left else "", "…" if right < len(source) else ""
    before = cells(head) + sum(cells(part) for part in shown[: start - left])
    under = sum(cells(part) for part in shown[start - left : end - left])
    return head + "".join(shown) + tail, before, max(under, 1)


def _fitting(source: str, room: int) -> list[str]:
    """Return the characters as they are shown, as many as there is room for."""
    shown: list[str] = []
    for character in source:
        part = _visible(character)
        room -= cells(part)
        if room < 0:
            break
        shown.append(part)
    return shown


def _visible(character: str) -> str:
    return TAB if character == "\t" else clean(character)


def tree(page: Page, steps: Sequence[Step], indent: str) -> list[str]:
    """Draw the steps of a path, each one under the step that leads to it."""
    lines: list[str] = []
    for depth, (step, after) in enumerate(zip(steps, [*steps[1:], None], strict=True)):
        branch = "   " * min(depth - 1, DEEPEST) + "└─ " if depth else ""
        rest = indent + " " * (len(branch) + 2)
        text = step_text(page, step, "" if after and _leads_to(step, after) else page.prose(step.what))
        lines += wrapped(text, page.width, indent + page.frame(branch), rest)
    return lines


def _leads_to(step: Step, after: Step) -> bool:
    """Whether a step says no more than that the function of the next one is called."""
    called = step.what.removeprefix("calls ")
    return called != step.what and f".{after.function}".endswith(f".{called}")


def step_text(page: Page, step: Step, what: str | None = None) -> str:
    """Return ``path:line  Function: what``."""
    parts = [short(step.function)] if step.function else []
    parts += [text for text in (page.prose(step.what) if what is None else what,) if text]
    return f"{page.strong(page.place(step.path, step.line))}  {': '.join(parts)}"
