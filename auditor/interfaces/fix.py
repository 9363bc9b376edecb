"""``bufgate fix``: adds the missing gates, and audits the changed tree before a byte is written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from auditor.interfaces.audits import audited
from auditor.interfaces.exits import CLEAN, COULD_NOT, FINDINGS
from auditor.interfaces.failures import Failure
from auditor.interfaces.options import Request, check_ids, color_option, completing, page_for, tree_options
from auditor.interfaces.output import deliver, replace_files, require_known

if TYPE_CHECKING:
    from auditor.interfaces.progress import Progress
    from auditor.render import Page
    from auditor.source import SourceTree
    from auditor.triage import Report, ReportedFinding

ROUNDS = 4
"""Audits of a changed tree: a function that lacks several gates, or reads on several branches, gets one a round."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which findings are meant: those that fit all that is given."""

    fingerprints: tuple[str, ...]
    checks: tuple[str, ...]
    parts: tuple[str, ...]

    def admits(self, one: ReportedFinding) -> bool:
        """Whether a finding is meant; notes and what is suppressed only if they are named by their fingerprint."""
        if self.fingerprints:
            meant = one.fingerprint.startswith(self.fingerprints)
        else:
            meant = one.status == "new" and one.severity != "note"
        below = (one.path == part.rstrip("/") or one.path.startswith(f"{part.rstrip('/')}/") for part in self.parts)
        return meant and (not self.checks or one.check in self.checks) and (not self.parts or any(below))


@click.command(short_help="Add missing gates: as a diff, or in the files.")
@tree_options
@click.option("--diff/--write", "diff", default=True, help="Print what would change (default), or change the files.")
@click.option("--fingerprint", "fingerprints", multiple=True, metavar="START", help="Only this finding. Repeatable.")
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CHECK",
    shell_complete=completing(check_ids),
    help="Only findings of this check. Repeatable.",
)
@click.option(
    "--path", "parts", multiple=True, metavar="PATH", help="Only findings in this file or folder. Repeatable."
)
@color_option
@click.pass_context
def fix(
    ctx: click.Context,
    request: Request,
    diff: bool,
    fingerprints: tuple[str, ...],
    checks: tuple[str, ...],
    parts: tuple[str, ...],
    color: bool | None,
) -> None:
    """Add the gate that is missing where a finding says, as other methods of the class wait.

    The changed tree is audited before anything is shown or written: the findings have to be gone, and nothing else may
    become worse. PATHS are audited; --path names what may be changed, as reports write it.

    Exit status: 0 nothing is left, 1 something is, 2 could not do it. With --diff, what it shows is left.
    """
    from auditor.checks import CHECKS

    if request.release and not diff:
        raise click.UsageError(
            "--write changes files, and a release has none of yours. Name PATHS, or leave --write out."
        )
    for check in checks:
        require_known(check, [one.id for one in CHECKS], "check")
    selection = Selection(fingerprints, checks, parts)
    with request.progress() as progress:
        tree = request.open()
        before = audited(request, tree, progress, timing=False)
        meant = [one for one in before.findings if selection.admits(one)]
        if not meant and (fingerprints or parts):
            raise Failure("no finding fits the selection: `bufgate check` tells which there are")
        changed, after, tried = _fixed(request, tree, before, selection, progress)
    left = [one for one in after.findings if selection.admits(one)]
    troubles = _troubles(before, after, tried) if changed else []
    if troubles:
        request.say("".join(f"bufgate: {one}\n" for one in troubles) + "bufgate: so nothing is changed")
        ctx.exit(FINDINGS)
    if diff:
        deliver(_diff(tree, changed, page_for(request, tree, color=color, to_stdout=True)), None)
    else:
        _write(tree, changed)
    _tell(request, before, after, left, changed, written=not diff)
    if any(problem.relevant for problem in after.problems):
        request.say("bufgate: the audit is not complete (exit status 2): `bufgate check` tells the problems")
        ctx.exit(COULD_NOT)
    ctx.exit(FINDINGS if left or (diff and changed) else CLEAN)


def _fixed(
    request: Request, tree: SourceTree, report: Report, selection: Selection, progress: Progress
) -> tuple[Mapping[str, bytes], Report, frozenset[str]]:
    """Give the files as they would be, the audit of the tree that has them, and which findings were to be closed."""
    from auditor.fix import apply, compatible
    from auditor.source import declared_encoding

    changed: dict[str, bytes] = {}
    tried: set[str] = set()
    for _ in range(ROUNDS):
        meant = [one for one in report.findings if selection.admits(one) and one.fix]
        chosen = compatible(meant)
        if not chosen:
            break
        tried.update(one.fingerprint for one in meant if one.fix in chosen)
        for path in sorted({one.path for one in chosen}):
            data = tree.read(path) or b""
            try:
                changed[path] = apply(data, declared_encoding(data), [one for one in chosen if one.path == path])
            except (UnicodeError, LookupError) as error:
                raise Failure(f"{path} cannot be written in its encoding: {error}") from error
        tree = tree.changed(changed)
        report = audited(request, tree, progress, timing=False)
    return changed, report, frozenset(tried)


def _troubles(before: Report, after: Report, tried: frozenset[str]) -> list[str]:
    """What speaks against the change: findings that it does not close, and what became worse."""
    from auditor.triage import VERDICTS, baseline_of, changes, compare

    found = compare(after, baseline_of(before))
    told = [f"{_named(one)} would still be found" for one in after.findings if one.fingerprint in tried]
    told += [f"{_named(one)} would be new: {one.message}" for one in found.new]
    told += [f"{_named(one)} would be worse: {what}" for one, what in found.worse]
    for change in changes(before, after):
        was, site = change.before.verdict, change.after
        worse = site.verdict not in ("gated", "exempt") and VERDICTS.index(site.verdict) < VERDICTS.index(was)
        if worse or (was, site.verdict) == ("ungated", "unknown"):
            told.append(f"{site.path}:{site.line} would be {site.verdict} ({was} before)")
    return told


def _tell(
    request: Request,
    before: Report,
    after: Report,
    left: Iterable[ReportedFinding],
    changed: Mapping[str, bytes],
    *,
    written: bool,
) -> None:
    remaining = {one.fingerprint for one in after.findings}
    gone = [one for one in before.findings if one.fingerprint not in remaining]
    verb = "closed" if written else "would be closed"
    for one in gone:
        request.say(
            f"bufgate: {_named(one)} {verb}" + (f" by {one.fix.gate.splitlines()[-1].strip()}" if one.fix else "")
        )
    for one in left:
        request.say(f"bufgate: {_named(one)} is left: {one.unfixed or 'it needs another run'}")
    files = "1 file" if len(changed) == 1 else f"{len(changed)} files"
    request.say(f"bufgate: {len(gone)} {verb}, in {files}; the changed tree was audited: nothing else is worse")


def _named(one: ReportedFinding) -> str:
    return f"{one.path}:{one.line} {one.check} {one.fingerprint[:8]}"


# ---------------------------------------------------------------- files


def _write(tree: SourceTree, changed: Mapping[str, bytes]) -> None:
    for path in changed:
        if tree.file(path).read_bytes() != tree.read(path):
            raise Failure(f"{path} was changed while it was audited, so nothing is written. Run it again")
    replace_files({tree.file(path): data for path, data in changed.items()})


def _diff(tree: SourceTree, changed: Mapping[str, bytes], page: Page) -> str:
    """Write a unified diff that ``git apply`` and ``patch -p1`` take."""
    from auditor.source import decode

    parts: list[str] = []
    for path, data in sorted(changed.items()):
        old, new = (_LINE.findall(decode(one)) for one in (tree.read(path) or b"", data))
        names = f"a/{page.hosted(path)}", f"b/{page.hosted(path)}"
        for line in difflib.unified_diff(old, new, *names):
            parts.append(_painted(line, page) if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


_LINE = re.compile("[^\n]*\n|[^\n]+")
"""Lines as a diff counts them: a carriage return belongs to its line."""


def _painted(line: str, page: Page) -> str:
    paint = {"+": page.good, "-": page.error, "@": page.frame}.get(line[0])
    return f"{paint(line.rstrip())}\n" if paint and page.color else line
