"""The command ``bufgate``. A verb opens the tree, calls one function of the spine and renders what it returns."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace

import click

from auditor import __version__
from auditor.interfaces.baseline import against, baseline
from auditor.interfaces.compare import diff, history
from auditor.interfaces.config import config
from auditor.interfaces.exits import CLEAN, COULD_NOT, FAIL_ON, exit_status
from auditor.interfaces.explain import explain
from auditor.interfaces.failures import Failure, Verbs
from auditor.interfaces.fix import fix
from auditor.interfaces.options import (
    Request,
    baseline_option,
    color_option,
    completing,
    page_for,
    report_formats,
    tree_options,
)
from auditor.interfaces.output import (
    Destination,
    deliver,
    parse_destination,
    require_distinct,
    require_known,
    writable,
)
from auditor.interfaces.probe import probe
from auditor.interfaces.review import review
from auditor.interfaces.rules import rules
from auditor.interfaces.serve import serve
from auditor.interfaces.setup import completion, init
from auditor.scales import CONFIDENCES

SECTIONS = (
    ("Audit", ("check", "why", "explain", "fix", "baseline", "diff", "history", "review", "serve")),
    ("Look inside", ("graph", "rules", "doctor")),
    ("Test by running", ("probe",)),
    ("Set up", ("init", "config", "completion")),
)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="bufgate", message="%(prog)s %(version)s")
def main() -> None:
    """Find reads of KV-cache buffers that do not wait for their transfer, each with the path that leads to it.

    Nothing of the audited code is imported or run, and nothing is fetched unless --release or --with name a release.

    Exit status: 0 clean, 1 findings, 2 could not do it.
    """


# ---------------------------------------------------------------- check


@main.command(short_help="Audit PATHS and report what is not gated.")
@tree_options
@click.option(
    "-o",
    "--output",
    "--output-format",
    "outputs",
    multiple=True,
    metavar="FORMAT[:FILE]",
    shell_complete=completing(report_formats),
    help="text (default), json, sarif, html, markdown, github, gitlab, junit or rdjson; to stdout, or to a file that "
    "is replaced. Repeatable.",
)
@click.option("--since", metavar="REF", help="Tell only what is new since the work parted from this revision.")
@click.option("--hook", is_flag=True, help="Tell only what the commit in the making introduces (for pre-commit).")
@baseline_option
@click.option("--no-baseline", is_flag=True, help="Tell accepted findings like all others.")
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="Exit 1 from here on.  [default: error]")
@click.option(
    "--min-confidence",
    type=click.Choice(CONFIDENCES),
    help="Findings below it get a line in the report and do not change the exit status.  [default: medium]",
)
@click.option("--verify", is_flag=True, help="Have every certificate checked again, by a program that knows no solver.")
@click.option("--strict", is_flag=True, help="Exit 2 for every problem, not only for those in relevant files.")
@click.option("--no-timing", is_flag=True, help="Leave the time out: the same input gives the same bytes.")
@click.option("--watch", "watching", is_flag=True, help="Check again after each change of a file, until Ctrl-C.")
@color_option
@click.pass_context
def check(
    ctx: click.Context,
    request: Request,
    outputs: tuple[str, ...],
    since: str | None,
    hook: bool,
    file: str | None,
    no_baseline: bool,
    fail_on: str | None,
    min_confidence: str | None,
    verify: bool,
    strict: bool,
    no_timing: bool,
    watching: bool,
    color: bool | None,
) -> None:
    """Audit PATHS (default: the current folder) and report every read that is not ordered after its transfer."""
    if sum(map(bool, (since, hook, request.release))) > 1:
        raise click.UsageError("--since, --hook and --release exclude each other: name one of them.")
    if watching and (hook or request.release):
        raise click.UsageError("--watch waits for changes of your files: neither --hook nor --release goes with it.")
    request = replace(request, verify=verify)
    from auditor.render import FORMATS

    destinations = [parse_destination(output, tuple(FORMATS)) for output in outputs] or [Destination("text", None)]
    require_distinct(destinations)
    if watching:
        from auditor.interfaces.watch import watch

        watch(request, [word for word in sys.argv[1:] if word != "--watch"])

    from auditor.interfaces.audits import audited, audited_commit, audited_since
    from auditor.render import sentence

    fail_on = fail_on or request.configuration["fail-on"]
    min_confidence = min_confidence or request.configuration["min-confidence"]
    with request.progress() as progress:
        if hook:
            made = audited_commit(ctx, request, progress, timing=not no_timing)
            if made is None:
                ctx.exit(CLEAN)
            shown, report = made
        elif since:
            shown, report = audited_since(ctx, request, progress, since, timing=not no_timing)
        else:
            shown = tree = request.open()
            report = audited(request, tree, progress, timing=not no_timing)
    accepted = None if no_baseline else request.baseline_file(file)
    if accepted is not None and (accepted.exists() or file or "baseline" in request.configuration.lines):
        report = against(report, accepted)
    texts = []
    for destination in destinations:
        page = page_for(
            request,
            shown,
            color=color,
            to_stdout=destination.file is None,
            min_confidence=min_confidence,
        )
        texts.append((FORMATS[destination.format](report, page), destination.file))
    for text, target in sorted(texts, key=lambda item: item[1] is None):  # files first: stdout may break
        deliver(text, target)

    if all(destination.file for destination in destinations):
        request.say(f"bufgate: {sentence(report, min_confidence)}")
    status = exit_status(
        report, fail_on=fail_on, min_confidence=min_confidence, strict=strict or request.configuration["strict"]
    )
    if status == COULD_NOT:
        request.say("bufgate: the audit is not complete (exit status 2): see the problems in the report")
    ctx.exit(status)


# ---------------------------------------------------------------- why


@main.command(short_help="Tell everything known of the reads on one line.")
@click.argument("place", metavar="FILE:LINE")
@tree_options
@color_option
@click.pass_context
def why(ctx: click.Context, request: Request, place: str, color: bool | None) -> None:
    """Tell everything that is known of the reads on one line.

    What they bind to and how that is proved, the verdict with its gate or with the path that has none, and what would
    change it. FILE is a path below the audited root, or from the current folder, or the end of a path.
    """
    from auditor.interfaces.place import parse_place, sites_at

    meant = parse_place(place)

    from auditor.audit import audit
    from auditor.render import explain_sites

    with request.progress() as progress:
        tree = request.open()
        report = audit(tree, request.options(progress, timing=False))
    page = page_for(request, tree, color=color, to_stdout=True)
    deliver(explain_sites(report, sites_at(report, tree.files, tree.root, meant), page), None)
    ctx.exit(CLEAN)


# ---------------------------------------------------------------- graph


@main.command(short_help="Write the call graph, or the part that reaches an accessor.")
@tree_options
@click.option("--format", "format_", default="json", show_default=True, metavar="FORMAT", help="json, dot or graphml.")
@click.option("--to", metavar="ACCESSOR", help="Only what reaches a function of this name.")
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Replace a file instead of writing to stdout.")
def graph(request: Request, format_: str, to: str | None, output: str | None) -> None:
    """Write the call graph of PATHS: every function by its qualified name, with the functions that it may call."""
    from pathlib import Path

    from auditor.render import GRAPH_FORMATS, callers_of

    require_known(format_, tuple(GRAPH_FORMATS), "format")
    file = None if output in (None, "-") else writable(Path(str(output)))

    from auditor.audit import call_graph

    with request.progress() as progress:
        calls = call_graph(request.open(), request.options(progress))
    if to is not None:
        calls, whole = callers_of(calls, to), calls
        if not calls:
            raise Failure(_no_function(to, whole))
    deliver(GRAPH_FORMATS[format_](calls), file)


def _no_function(name: str, functions: Iterable[str]) -> str:
    import difflib

    names = sorted({function.rpartition(".")[2] for function in functions})
    near = difflib.get_close_matches(name.rpartition(".")[2], names, n=3)
    return f"no function is called {name!r}" + (f". Did you mean {', '.join(near)}?" if near else "")


# ---------------------------------------------------------------- doctor


@main.command(short_help="Tell what is installed and which engines are recognised.")
@tree_options
def doctor(request: Request) -> None:
    """Tell what is installed, which rule packs there are, which engine is recognised in PATHS and why."""
    from auditor.interfaces.doctor import examine

    deliver("\n".join(examine(request)) + "\n", None)


for verb in (explain, fix, baseline, diff, history, review, serve, rules, probe, init, config, completion):
    main.add_command(verb)
main.sections = SECTIONS
