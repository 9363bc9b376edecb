"""The command ``python -m cuda_probe``: runs plans, and runs what it ran again."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cuda_probe.plan import Plan, PlanError, experiment_from, load_plan
from cuda_probe.records import Record, earned

ORDERED, CONFIRMED, COULD_NOT = 0, 1, 2
"""Exit statuses: all is ordered; something is confirmed; of something nothing can be said, whatever else."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except PlanError as error:
        _say(str(error))
        return COULD_NOT
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m cuda_probe",
        description="Run paths of a report under a delayed load. This imports and executes the code of the tree.",
        epilog="Exit status: 0 all ordered, 1 something confirmed, 2 something could not run or is not conclusive.",
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    run = verbs.add_parser("run", help="run the experiments of a plan")
    run.add_argument("plan", type=Path, help="probe-plan-v1, from `bufgate probe plan`")
    _tree_options(run)
    run.add_argument("--gpu", action="store_true", help="run on the GPU of this machine as well")
    run.add_argument("--interpret", action="store_true", help="run Triton kernels, in Triton's interpreter (slow)")
    run.add_argument("--only", metavar="ID", action="append", default=[], help="run these experiments only; repeatable")
    run.add_argument("-o", "--output", type=Path, metavar="FILE", help="write evidence-v1 here instead of to stdout")
    run.set_defaults(run=_run)

    replay = verbs.add_parser("replay", help="run the experiment of a record again, under one schedule")
    replay.add_argument("evidence", type=Path, help="evidence-v1, from `run`")
    replay.add_argument("id", help="the id of the experiment")
    replay.add_argument("--schedule", metavar="NAME", help="default: the witness of its first race, or `latest`")
    _tree_options(replay)
    replay.set_defaults(run=_replay)

    sweep = verbs.add_parser("sweep", help="judge every accessor of every pool class of a tree, without a report")
    sweep.add_argument("package", help="the engine: sglang, minikv, or one with a recipe of its own")
    _tree_options(sweep)
    sweep.add_argument("-o", "--output", type=Path, metavar="FILE", help="write evidence-v1 here as well")
    sweep.set_defaults(run=_sweep)

    window = verbs.add_parser(
        "sweep-window", help="how often a read is stale, against delay and size of the load (table, SVG)"
    )
    window.add_argument("plan", type=Path, help="probe-plan-v1, from `bufgate probe plan`")
    window.add_argument("id", help="the id of the experiment")
    _tree_options(window)
    window.add_argument("-o", "--output", type=Path, metavar="FILE", help="draw it here (SVG) as well")
    window.set_defaults(run=_sweep_window)

    watch = verbs.add_parser("watch", help="judge the accessors of a plan in a server, call by call")
    watch.add_argument("--plan", type=Path, required=True, help="probe-plan-v1, from `bufgate probe plan`")
    watch.add_argument("--out", type=Path, required=True, metavar="FILE", help="append records (JSON lines) here")
    watch.add_argument(
        "--delay-cycles", type=int, default=0, help="delay the copy of each layer; for test servers only"
    )
    watch.add_argument("command", nargs="+", metavar="-- COMMAND", help="what starts the server")
    watch.set_defaults(run=_watch)

    picture = verbs.add_parser(
        "picture", help="draw the streams of each record, with the edge that is missing (HTML, SVG)"
    )
    picture.add_argument("evidence", type=Path, help="evidence-v1, from `run`")
    picture.add_argument("-o", "--output", type=Path, metavar="FILE", help="write here instead of to stdout")
    picture.set_defaults(run=_picture)
    return parser


def _tree_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tree", type=Path, required=True, metavar="DIR", help="folder with the engine's package")
    parser.add_argument("--execute", action="store_true", help="yes, execute the code of the tree")


def _run(options: argparse.Namespace) -> int:
    plan = _chosen(options.plan, options.only)
    _require_execute(options)
    records = _executed(plan, options.tree, None, gpu=options.gpu, interpret=options.interpret)
    return _finish(records, options.output)


def _chosen(file: Path, ids: Sequence[str]) -> Plan:
    """Return the experiments of a plan that have these ids; all if none is given."""
    plan = load_plan(file)
    unknown = set(ids) - {experiment.id for experiment in plan.experiments}
    if unknown:
        raise PlanError(f"{file} has no experiment {min(unknown)!r}")
    chosen = tuple(one for one in plan.experiments if not ids or one.id in ids)
    return Plan(plan.engine, plan.version, chosen)


def _sweep_window(options: argparse.Namespace) -> int:
    plan = _chosen(options.plan, [options.id])
    _require_execute(options)
    from cuda_probe.running import window_of
    from cuda_probe.window import picture, table

    cells = window_of(plan, options.tree)
    if options.output is not None:
        one = plan.experiments[0]
        _replace(options.output, picture(f"{one.class_}.{one.method}, {one.scenario}", cells))
    _write(table(cells), None)
    return ORDERED


def _sweep(options: argparse.Namespace) -> int:
    _require_execute(options)
    from cuda_probe.sweep import sweep_plan, table

    plan = sweep_plan(options.package, options.tree)
    records = [record.to_json() for record in _executed(plan, options.tree, ("latest", "earliest"))]
    if options.output is not None:
        _replace(options.output, _evidence_text(records))
    _write(table(records), None)
    return ORDERED


def _watch(options: argparse.Namespace) -> int:
    from cuda_probe.watch import launch

    launch(options.plan, options.out, options.command, options.delay_cycles)


def _picture(options: argparse.Namespace) -> int:
    from cuda_probe.timeline import page

    _write(page(_evidence(options.evidence)), options.output)
    return ORDERED


def _evidence(file: Path) -> list[dict[str, Any]]:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        if plain["schema"] != "evidence-v1":
            raise ValueError(plain["schema"])
        records: list[dict[str, Any]] = plain["records"]
        for record in records:  # each has all that it needs
            experiment_from(record["experiment"])
            earned(record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlanError(f"{file} is no evidence-v1 ({type(error).__name__}: {error})") from error
    return records


def _replay(options: argparse.Namespace) -> int:
    record = next((one for one in _evidence(options.evidence) if one["experiment"]["id"] == options.id), None)
    if record is None:
        raise PlanError(f"{options.evidence} has no record of {options.id!r}")
    _require_execute(options)
    witnesses = [race["witness"] for race in record["races"] if race["witness"]]
    schedule = options.schedule or next(iter(witnesses), "latest")
    plan = Plan(record["target"]["package"], record["target"]["version"], (experiment_from(record["experiment"]),))
    return _finish(_executed(plan, options.tree, (schedule,)), None)


def _executed(
    plan: Plan, tree: Path, schedules: Sequence[str] | None, *, gpu: bool = False, interpret: bool = False
) -> list[Record]:
    from cuda_probe.running import run_plan

    return run_plan(plan, tree, schedules=schedules, gpu=gpu, interpret=interpret, tell=_say)


def _require_execute(options: argparse.Namespace) -> None:
    if not options.execute:
        raise PlanError(f"this imports and executes the code in {options.tree}: say --execute if you trust it")
    if not options.tree.is_dir():
        raise PlanError(f"there is no folder {options.tree}")


def _finish(records: Sequence[Record], output: Path | None) -> int:
    plain = [record.to_json() for record in records]
    _write(_evidence_text(plain), output)
    verdicts = {record["verdict"] for record in plain}
    if not verdicts <= {"confirmed", "ordered"}:
        return COULD_NOT
    return CONFIRMED if "confirmed" in verdicts else ORDERED


def _evidence_text(records: Sequence[dict[str, Any]]) -> str:
    return json.dumps({"schema": "evidence-v1", "records": records}, indent=1) + "\n"


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        _replace(output, text)


def _replace(file: Path, text: str) -> None:
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise PlanError(f"cannot write {file}: {error.strerror or error}") from error


def _say(line: str) -> None:
    sys.stderr.write(f"cuda_probe: {line}\n")
