"""``bufgate diff`` and ``bufgate history``: the same audit of several trees, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.errors import UsageError
from auditor.interfaces.exits import CLEAN, COULD_NOT, FAIL_ON, FINDINGS, counts
from auditor.interfaces.options import Request, color_option, plain_page, reading_options
from auditor.interfaces.output import deliver, require_known, writable
from auditor.interfaces.sides import audit_sides, open_sides
from auditor.scales import CONFIDENCES

if TYPE_CHECKING:
    from auditor.triage import Report

part_option = click.option(
    "--path",
    "parts",
    multiple=True,
    metavar="PATH",
    help="Audit only this part of each tree, from its top. Repeatable.",
)
file_option = click.option("-o", "--output", metavar="FILE", help="Replace a file instead of writing to stdout.")


@click.command(short_help="Compare two releases, revisions or trees.")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@reading_options
@part_option
@click.option("--format", "format_", default="text", show_default=True, metavar="FORMAT", help="text or json.")
@file_option
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="What is new counts from here on.  [default: error]")
@click.option(
    "--min-confidence", type=click.Choice(CONFIDENCES), help="What is less sure does not count.  [default: medium]"
)
@color_option
@click.pass_context
def diff(
    ctx: click.Context,
    request: Request,
    before: str,
    after: str,
    parts: tuple[str, ...],
    format_: str,
    output: str | None,
    fail_on: str | None,
    min_confidence: str | None,
    color: bool | None,
) -> None:
    """Compare A with B: findings that are new, worse or gone, gates that moved or were lost.

    A and B are releases (NAME==VERSION), revisions of the repository here, or paths. Exit status 1 if B is worse.
    """
    from auditor.render import DIFFERENCE_FORMATS
    from auditor.triage import difference_of

    require_known(format_, tuple(DIFFERENCE_FORMATS), "format")
    file = None if output in (None, "-") else writable(Path(str(output)))
    with request.progress() as progress:
        reports = audit_sides(request, open_sides(ctx, request, (before, after), parts), progress)
    found = difference_of(*(_report(name, made) for name, made in zip((before, after), reports, strict=True)))
    deliver(DIFFERENCE_FORMATS[format_](found, plain_page(color=color, to_stdout=file is None)), file)
    limits = fail_on or request.configuration["fail-on"], min_confidence or request.configuration["min-confidence"]
    worse = [*found.findings.new, *(one for one, _ in found.findings.worse)]
    incomplete = any(problem.relevant for side in (found.before, found.after) for problem in side.problems)
    if incomplete:
        request.say("bufgate: an audit is not complete (exit status 2): `bufgate check` tells the problems")
        ctx.exit(COULD_NOT)
    ctx.exit(FINDINGS if any(counts(one, *limits) for one in worse) else CLEAN)


@click.command(short_help="Lay the verdicts of releases, revisions or trees side by side.")
@click.argument("trees", metavar="TREE...", nargs=-1, required=True)
@reading_options
@part_option
@click.option("--format", "format_", default="text", show_default=True, metavar="FORMAT", help="text, json or html.")
@file_option
@color_option
@click.pass_context
def history(
    ctx: click.Context,
    request: Request,
    trees: tuple[str, ...],
    parts: tuple[str, ...],
    format_: str,
    output: str | None,
    color: bool | None,
) -> None:
    """Write a matrix: a row an accessor, a column a TREE, in it the worst verdict of the accessor's calls.

    TREEs are releases (NAME==VERSION), revisions of the repository here, or paths; --jobs of them go at a time.
    """
    from auditor.render import HISTORY_FORMATS
    from auditor.triage import matrix_of

    require_known(format_, tuple(HISTORY_FORMATS), "format")
    file = None if output in (None, "-") else writable(Path(str(output)))
    with request.progress() as progress:
        made = audit_sides(request, open_sides(ctx, request, trees, parts), progress)
    found = matrix_of(list(zip(trees, made, strict=True)))
    if all(column.remark for column in found.columns):
        raise UsageError("\n".join(f"{column.name}: {column.remark}" for column in found.columns))
    deliver(HISTORY_FORMATS[format_](found, plain_page(color=color, to_stdout=file is None)), file)


def _report(name: str, made: Report | str) -> Report:
    if isinstance(made, str):
        raise UsageError(f"{name}: {made}")
    return made
