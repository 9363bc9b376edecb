"""Accessors over several reports: a row an accessor, a column a report, a cell the worst verdict of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.triage.report import VERDICTS, Report


@dataclass(frozen=True, slots=True)
class Column:
    """One audited tree; ``remark`` says why there is no report, "" if there is one."""

    name: str
    version: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """``rows``: accessor as ``Class.method`` to a cell for each column: a verdict, or "" where it is not there."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def matrix_of(sides: Sequence[tuple[str, Report | str]]) -> Matrix:
    """Lay reports side by side; a sentence in place of a report says why there is none.

    Modules are left out of the names, since files move between releases. Accessors whose calls are exempt wherever
    they are have no row.
    """
    columns = tuple(
        Column(name, remark=made) if isinstance(made, str) else Column(name, made.engine.version)
        for name, made in sides
    )
    cells = [{} if isinstance(made, str) else _worst(made) for _, made in sides]
    names = sorted({name for column in cells for name, verdict in column.items() if verdict != "exempt"})
    return Matrix(columns, tuple((name, tuple(column.get(name, "") for column in cells)) for name in names))


def _worst(report: Report) -> dict[str, str]:
    found: dict[str, str] = {}
    for site in report.sites:
        for binding in site.bindings:
            if site.kind == "call" and binding.method:
                name = ".".join(binding.method.rsplit(".", 2)[-2:])
                found[name] = min(found.get(name, binding.verdict), binding.verdict, key=VERDICTS.index)
    return found
