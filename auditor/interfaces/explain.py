"""``bufgate explain``: the documentation of a check, or the whole story of a finding."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

import click

from auditor.interfaces.audits import audited
from auditor.interfaces.failures import Failure
from auditor.interfaces.options import Request, check_ids, color_option, completing, page_for, plain_page, tree_options
from auditor.interfaces.output import deliver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from auditor.triage import Report, ReportedFinding, Site

LISTED = 10
"""Sites of a finding that are named."""
_FINGERPRINT = re.compile(r"[0-9a-f]{4,16}")


@click.command(short_help="Explain a check, or tell the whole story of a finding.")
@click.argument("what", metavar="CHECK|FINGERPRINT", shell_complete=completing(check_ids))
@tree_options
@color_option
def explain(request: Request, what: str, color: bool | None) -> None:
    """Print the documentation of a check, with a bad and a good example; or the whole story of a finding.

    A finding is named by its fingerprint (the first four digits or more), as reports give it; PATHS are audited for it.
    """
    if not _FINGERPRINT.fullmatch(what):
        deliver(_documentation(what, color=color), None)
        return
    from auditor.render import explain_finding, explain_sites

    with request.progress() as progress:
        tree = request.open()
        report = audited(request, tree, progress, timing=False)
    page = page_for(request, tree, color=color, to_stdout=True)
    finding = _meant(report, what)
    sites = [site for site in report.sites if site.id in finding.sites]
    parts = [explain_finding(report, finding, page)]
    if sites:
        sites.sort(key=lambda site: (site.path, site.line) != (finding.path, finding.line))
        parts.append(explain_sites(report, sites[:1], page))
    if len(sites) > 1:
        parts.append("".join(_asking(sites[1:], request.arguments)))
    deliver("\n".join(parts), None)


def _asking(sites: Sequence[Site], arguments: str) -> Iterator[str]:
    """The commands that tell of the other sites."""
    places = [f"{site.path}:{site.line}" for site in sites]
    yield f"It is read at {'1 other place' if len(places) == 1 else f'{len(places)} other places'}, too:\n"
    yield from (f"  bufgate why {one} {arguments}".rstrip() + "\n" for one in places[:LISTED])
    if len(places) > LISTED:
        yield f"  and {len(places) - LISTED} more\n"


def _documentation(name: str, *, color: bool | None) -> str:
    from auditor.render import explain_check, read_documentation

    sections = read_documentation()
    if name not in sections:
        near = difflib.get_close_matches(name, sections, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"{name!r} is neither a check nor a fingerprint.{hint} Checks: {', '.join(sections)}.")
    return explain_check(name, sections[name], plain_page(color=color, to_stdout=True))


def _meant(report: Report, start: str) -> ReportedFinding:
    found = [one for one in report.findings if one.fingerprint.startswith(start)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Failure(f"no finding has a fingerprint that starts with {start}: it is gone, or of another tree")
    rows = "".join(f"\n  {one.fingerprint}  {one.path}:{one.line}  {one.check}" for one in found)
    raise Failure(f"{len(found)} findings start with {start}. Write more of the one that is meant:{rows}")
