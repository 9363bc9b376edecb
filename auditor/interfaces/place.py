"""FILE:LINE as a person writes it, to the sites that are meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.interfaces.failures import Failure

if TYPE_CHECKING:
    from auditor.triage import Report, Site

NEAR = 3
"""How many lines or files are offered when there is no site."""


def parse_place(text: str) -> tuple[str, int]:
    """Read ``FILE:LINE``, also as it is copied from a report: ``FILE:LINE:COLUMN``."""
    found = re.fullmatch(r"(.+?):([0-9]+)(?::[0-9]+)?:?", text, re.DOTALL)
    if not found:
        raise click.UsageError(f"{text!r} is not FILE:LINE, as in python/pkg/module.py:120.")
    return found[1], int(found[2])


def sites_at(report: Report, files: Sequence[str], root: Path, place: tuple[str, int]) -> list[Site]:
    """Return the sites on a line, or fail with the nearest ones."""
    written, line = place
    with_sites = sorted({site.path for site in report.sites})
    path = _meant(written, with_sites, root) or _meant(written, files, root)
    if path is None:
        raise Failure(_no_file(written, with_sites))
    here = [site for site in report.sites if site.path == path]
    found = [site for site in here if site.line == line]
    if not found:
        raise Failure(_no_site(path, line, here))
    return found


def _meant(written: str, paths: Iterable[str], root: Path) -> str | None:
    """A path below the root, a path from the working directory, or the only path that ends so."""
    known = list(paths)
    plain = os.path.normpath(written).replace(os.sep, "/")
    from_here = os.path.relpath(os.path.realpath(written), os.path.realpath(root)).replace(os.sep, "/")
    for candidate in (plain, from_here):
        if candidate in known:
            return candidate
    ending = [path for path in known if path.endswith(f"/{plain}")]
    if len(ending) > 1:
        shown = "".join(f"\n  {path}" for path in sorted(ending)[:10])
        raise Failure(f"{written!r} may be any of {len(ending)} files:{shown}\nWrite more of the path.")
    return ending[0] if ending else None


def _no_file(written: str, with_sites: Sequence[str]) -> str:
    import difflib

    by_name = {path.rpartition("/")[2]: path for path in reversed(with_sites)}
    near = difflib.get_close_matches(written, with_sites, n=NEAR)
    near += [by_name[name] for name in difflib.get_close_matches(written.rpartition("/")[2], by_name, n=NEAR)]
    hint = "".join(f"\n  {path}" for path in list(dict.fromkeys(near))[:NEAR])
    return f"no such file in the audited tree: {written}" + (f"\nDid you mean{hint}" if hint else "")


def _no_site(path: str, line: int, here: Sequence[Site]) -> str:
    if not here:
        return f"{path} has no site: nothing in it reads a guarded buffer by a name that the rule pack knows"
    near = sorted(here, key=lambda site: (abs(site.line - line), site.line, site.column))[:NEAR]
    shown = "".join(f"\n  {path}:{s.line}  {s.name} ({s.verdict})" for s in sorted(near, key=lambda s: s.line))
    return f"no site on line {line} of {path}. The nearest:{shown}"
