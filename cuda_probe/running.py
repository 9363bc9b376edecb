"""From a plan and a tree to evidence: import, run each experiment, write records."""

from __future__ import annotations

import hashlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from cuda_probe.evidence import Backend, Observation
from cuda_probe.plan import Experiment, Plan
from cuda_probe.recipes import recipe_for
from cuda_probe.records import Record, Target


def run_plan(
    plan: Plan, tree: Path, *, schedules: Sequence[str] | None = None, tell: Callable[[str], None] = lambda line: None
) -> list[Record]:
    """Run every experiment of a plan on the classes of a tree. This executes the code of the tree.

    Args:
        tree: the folder that has the engine's package.
        tell: is told the label of each experiment when it is known.
    """
    records = []
    for record in _records(plan, tree.resolve(), schedules):
        tell(f"{record.to_json()['label']:<24} {_title(record)}")
        records.append(record)
    return records


def _records(plan: Plan, tree: Path, schedules: Sequence[str] | None) -> Iterator[Record]:
    packages = dict.fromkeys(experiment.module.partition(".")[0] for experiment in plan.experiments)
    for package in packages:
        mine = [one for one in plan.experiments if one.module.partition(".")[0] == package]
        reason = _missing(package, tree)
        if reason is None:
            yield from _run(mine, package, plan, tree, schedules)
        else:
            for experiment in mine:
                target = Target(package, plan.version)
                yield Record(experiment.to_json(), target, Observation(Backend("sim", ""), failure=reason), None)


def _missing(package: str, tree: Path) -> str | None:
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed (pip install 'bufgate[probe]')"
    if recipe_for(package) is None:
        return f"there is no recipe for {package}"
    return None if (tree / package).is_dir() else f"the tree has no package {package}"


def _run(
    experiments: Sequence[Experiment], package: str, plan: Plan, tree: Path, schedules: Sequence[str] | None
) -> Iterator[Record]:
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # of PyTorch, which does not need it here
    from cuda_probe.dispatch import Machine, running
    from cuda_probe.experiment import SCHEDULES, Measured, SimExperiment
    from cuda_probe.loading import imported_tree

    recipe = recipe_for(package)
    assert recipe is not None
    with imported_tree(recipe.importer(tree)) as importer:
        with running(Machine(), available=recipe.available):
            recipe.prepare()
            for module in dict.fromkeys(experiment.module for experiment in experiments):
                with suppress(ImportError):  # told by each experiment that needs it
                    import_module(module)
        measured: Measured = {}
        for experiment in experiments:
            sim = SimExperiment(experiment, recipe, tree, measured)
            observation, fidelity = sim.run(schedules or SCHEDULES)
            if fidelity is not None:
                fidelity = replace(fidelity, stubs=tuple(sorted(importer.stubbed)))
            target = Target(package, plan.version, _hashes(experiment.module, tree))
            yield Record(experiment.to_json(), target, observation, fidelity)


def _hashes(module: str, tree: Path) -> dict[str, str]:
    file = tree.joinpath(*module.split(".")).with_suffix(".py")
    if not file.is_file():
        return {}
    return {file.relative_to(tree).as_posix(): f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"}


def _title(record: Record) -> str:
    one = record.experiment
    return f"{one['class']}.{one['method']}  {one['scenario']}"
