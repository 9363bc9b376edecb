"""``bufgate probe``: from a report to a plan, from a plan to evidence (in the engine's environment), and back into
the report."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from auditor.interfaces.failures import Failure
from auditor.interfaces.output import deliver, writable

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(short_help="Test the claims of a report by running them.")
def probe() -> None:
    """Test the claims of a report by running them under a delayed load.

    \b
    bufgate check ENGINE -o json:report.json
    bufgate probe plan report.json -o plan.json
    bufgate probe run plan.json --tree ENGINE --execute -o evidence.json
    bufgate probe merge report.json evidence.json -o probed.json --html probed.html --tree ENGINE

    Only `run` executes code of the engine, and only with --execute.
    """


@probe.command(short_help="Write the experiments that test a report.")
@click.argument("report", type=_FILE)
@click.option("--scenario", "scenarios", multiple=True, default=("base",), metavar="NAME", help="May be repeated.")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Replace a file instead of writing to stdout.")
def plan(report: Path, scenarios: tuple[str, ...], output: Path | None) -> None:
    """Write a plan (probe-plan-v1) with an experiment for each finding and each certificate of REPORT (report-v1)."""
    from auditor.triage import probe_plan

    file = None if output is None else writable(output)
    made = probe_plan(_read(report), scenarios)
    deliver(_text(made), file)
    _say(f"{len(made['experiments'])} experiments; {len(made['skipped'])} claims that none can test, with reasons")


@probe.command(short_help="Run a plan: executes the code of the engine.")
@click.argument("plan", type=_FILE)
@click.option("--tree", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder with the package.")
@click.option("--python", default=sys.executable, metavar="FILE", help="The Python of the engine's environment.")
@click.option("--execute", is_flag=True, help="Yes, import and execute the code in DIR.")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Replace a file instead of writing to stdout.")
@click.pass_context
def run(ctx: click.Context, plan: Path, tree: Path, python: str, execute: bool, output: Path | None) -> None:
    """Run PLAN with `python -m cuda_probe run`, in the Python of the engine.

    Exit status: 0 all ordered, 1 something confirmed, 2 something could not run or is not conclusive.
    """
    command = [python, "-m", "cuda_probe", "run", str(plan), "--tree", str(tree)]
    command += ["--execute"] if execute else []
    command += ["-o", str(writable(output))] if output else []
    try:
        done = subprocess.run(command, check=False)
    except OSError as error:
        raise Failure(f"cannot run {python}: {error.strerror or error}") from error
    ctx.exit(done.returncode)


@probe.command(short_help="Put the labels of evidence into a report.")
@click.argument("report", type=_FILE)
@click.argument("evidence", type=_FILE)
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Replace a file instead of writing to stdout.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write it as a page too, with a timeline of each record.")
@click.option("--tree", type=click.Path(path_type=Path), metavar="DIR", help="What was audited: source for the page.")
def merge(report: Path, evidence: Path, output: Path | None, html: Path | None, tree: Path | None) -> None:
    """Write REPORT again, each probed finding with its label, and tell where audit and probe disagree."""
    from auditor.triage import merge_evidence

    file = None if output is None else writable(output)
    page = None if html is None else writable(html)
    before, seen = _read(report), _read(evidence)
    merged, agreement = merge_evidence(before, seen)
    if page is not None:
        deliver(_page(merged, seen["records"], tree), page)
    if file is not None or page is None:
        deliver(_text(merged), file)
    for line in agreement.lines():
        _say(line)
    for claim, label, id_ in agreement.disagreements:
        _say(f"disagree: the audit says {claim}, the probe: {label} ({id_})")


def _page(merged: Any, evidence: Any, tree: Path | None) -> str:
    from auditor.interfaces.options import plain_page, source_lines
    from auditor.render import FORMATS
    from auditor.triage import report_of

    page = replace(plain_page(color=False, to_stdout=False), evidence=evidence)
    if tree is not None:
        from auditor.source import open_tree

        page = replace(page, lines=source_lines(open_tree([tree])))
    return FORMATS["html"](report_of(merged), page)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise Failure(f"{file} is no JSON: {error}") from error


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _say(line: str) -> None:
    click.echo(f"bufgate: {line}", err=True)
