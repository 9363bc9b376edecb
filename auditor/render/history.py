"""A matrix of accessors over releases, as text, as JSON (history-v1) and as a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from auditor.render.page import Page
from auditor.render.plain import clean
from auditor.triage import Matrix

SIGNS = {"ungated": "!", "unknown": "?", "latent": "~", "gated": "+", "exempt": "."}
"""How a verdict looks in the text format; a space is an accessor that is not there."""
COLUMNS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


Row = tuple[str, tuple[str, ...]]


def to_text(matrix: Matrix, page: Page) -> str:
    """Write a line an accessor and a sign a release, what changes first; what the columns are, and what signs mean."""
    wide = max((len(clean(name)) for name, _ in matrix.rows), default=0)
    head = f"{'':<{wide}}  {' '.join(map(_label, range(len(matrix.columns))))}"
    rows: list[str] = []
    for title, members in _groups(matrix):
        rows += [page.strong(f"{title} ({len(members)}):")] if members else []
        rows += (f"{clean(name):<{wide}}  {' '.join(_sign(cell, page) for cell in cells)}" for name, cells in members)
    legend = ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
    return (
        "\n".join([page.strong(head.rstrip()), *(row.rstrip() for row in rows), "", *_columns(matrix), "", legend])
        + "\n"
    )


def _groups(matrix: Matrix) -> list[tuple[str, list[Row]]]:
    """The accessors whose verdict changes first; one that comes or goes has not changed."""
    changed = [row for row in matrix.rows if len({cell for cell in row[1] if cell}) > 1]
    return [
        ("The verdict changes", changed),
        ("The same wherever it is", [row for row in matrix.rows if row not in changed]),
    ]


def _label(number: int) -> str:
    return COLUMNS[number % len(COLUMNS)]


def _columns(matrix: Matrix) -> Iterator[str]:
    for number, column in enumerate(matrix.columns):
        remark = f": {clean(column.remark.partition(chr(10))[0])}" if column.remark else ""
        version = f" ({clean(column.version)})" if column.version and column.version not in column.name else ""
        yield f"{_label(number)}  {clean(column.name)}{version}{remark}"


def _sign(verdict: str, page: Page) -> str:
    paint: Mapping[str, Callable[[str], str]] = {"ungated": page.error, "unknown": page.warning, "gated": page.good}
    return paint.get(verdict, str)(SIGNS.get(verdict, " "))


def to_json(matrix: Matrix, _page: Page) -> str:
    """Write everything, one column and one row a line; a cell that is null is an accessor that is not there."""
    columns = [{"name": one.name, "version": one.version, "remark": one.remark} for one in matrix.columns]
    rows = [{"accessor": name, "verdicts": [cell or None for cell in cells]} for name, cells in matrix.rows]
    return "".join(
        ('{\n"schema": "history-v1",\n', f'"columns": {_lines(columns)},\n', f'"rows": {_lines(rows)}\n', "}\n")
    )


def _lines(values: Sequence[Mapping[str, object]]) -> str:
    return "[\n  " + ",\n  ".join(map(json.dumps, values)) + "\n]" if values else "[]"


def to_html(matrix: Matrix, _page: Page) -> str:
    """Write a page that needs nothing but itself."""
    from jinja2 import Environment, StrictUndefined

    from auditor.spec import data

    template = data("reports").joinpath("history.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(matrix=matrix, signs=SIGNS, groups=_groups(matrix))


HISTORY_FORMATS = {"text": to_text, "json": to_json, "html": to_html}
"""The formats of ``history``."""
