"""From a plan and a tree to evidence: import, run each experiment, write records."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from cuda_probe.evidence import Backend, Fidelity, Observation
from cuda_probe.plan import Experiment, Plan, PlanError
from cuda_probe.recipes import recipe_for
from cuda_probe.records import Record, Target

if TYPE_CHECKING:
    from cuda_probe.experiment import SimExperiment
    from cuda_probe.recipe import Recipe
    from cuda_probe.window import Cell


def run_plan(
    plan: Plan,
    tree: Path,
    *,
    schedules: Sequence[str] | None = None,
    gpu: bool = False,
    interpret: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Record]:
    """Run every experiment of a plan on the classes of a tree. This executes the code of the tree.

    Args:
        tree: the folder that has the engine's package.
        schedules: of the simulated device; None: twenty of them.
        gpu: run on the GPU of this machine as well, after the simulated device.
        interpret: run kernels in Triton on the simulated device as well, in Triton's interpreter.
        tell: is told the label of each experiment when it is known.
    """
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # of PyTorch, which does not need it here
    records = []
    for record in _records(plan, tree.resolve(), schedules, gpu=gpu, interpret=interpret):
        tell(f"{record.to_json()['label']:<24} {_title(record)}")
        records.append(record)
    return records


def window_of(plan: Plan, tree: Path) -> list[Cell]:
    """Return how often the first experiment of a plan reads stale bytes, by delay and size of the load. This executes
    the code of the tree.

    Raises:
        PlanError: the experiment cannot be run, with the reason.
    """
    from cuda_probe.dispatch import Machine, running
    from cuda_probe.experiment import CouldNotRun, SimExperiment
    from cuda_probe.loading import imported_tree
    from cuda_probe.recipe import ShowsNothing
    from cuda_probe.window import swept

    experiment, tree = plan.experiments[0], tree.resolve()
    package = experiment.module.partition(".")[0]
    reason = _missing(package, tree)
    recipe = recipe_for(package)
    if reason is not None or recipe is None:
        raise PlanError(f"{experiment.id}: {reason}")
    with imported_tree(recipe.importer(tree, [experiment.module])):
        with running(Machine(), available=recipe.available):
            _import(recipe, [experiment])
        try:
            return swept(*SimExperiment(experiment, recipe, tree).attempts())
        except (CouldNotRun, ShowsNothing) as why:
            raise PlanError(f"{experiment.id}: {why}") from why


def _records(
    plan: Plan, tree: Path, schedules: Sequence[str] | None, *, gpu: bool, interpret: bool
) -> Iterator[Record]:
    if interpret:
        _interpret()
    packages = dict.fromkeys(experiment.module.partition(".")[0] for experiment in plan.experiments)
    for package in packages:
        mine = [one for one in plan.experiments if one.module.partition(".")[0] == package]
        reason = _missing(package, tree)
        if reason is None:
            yield from _run(mine, package, plan, tree, schedules, gpu=gpu, interpret=interpret)
        else:
            for experiment in mine:
                target = Target(package, plan.version)
                yield Record(experiment.to_json(), target, Observation(Backend("sim", ""), failure=reason), None)


def _interpret() -> None:
    """Let Triton interpret its kernels. It asks as it is imported, which PyTorch does before an engine is imported."""
    if any(importlib.util.find_spec(name) is None for name in ("triton", "numpy")):
        raise PlanError("Triton is not installed (pip install 'bufgate[triton]')")
    if "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") != "1":
        raise PlanError("Triton has been imported to compile its kernels; interpret them in a process of its own")
    os.environ["TRITON_INTERPRET"] = "1"


def _missing(package: str, tree: Path) -> str | None:
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed (pip install 'bufgate[probe]')"
    if recipe_for(package) is None:
        return f"there is no recipe for {package}"
    return None if (tree / package).is_dir() else f"the tree has no package {package}"


def _run(
    experiments: Sequence[Experiment],
    package: str,
    plan: Plan,
    tree: Path,
    schedules: Sequence[str] | None,
    *,
    gpu: bool,
    interpret: bool,
) -> Iterator[Record]:
    from cuda_probe.dispatch import Machine, running
    from cuda_probe.experiment import SCHEDULES, Known, SimExperiment
    from cuda_probe.loading import imported_tree

    recipe = recipe_for(package)
    assert recipe is not None
    known = Known()
    sims = [SimExperiment(experiment, recipe, tree, known) for experiment in experiments]

    def record(
        experiment: Experiment, observation: Observation, fidelity: Fidelity | None, stubs: Iterable[str]
    ) -> Record:
        target = Target(package, plan.version, _hashes(experiment.module, tree))
        real = None if fidelity is None else replace(fidelity, stubs=tuple(sorted(stubs)))
        return Record(experiment.to_json(), target, observation, real)

    modules = dict.fromkeys(experiment.module for experiment in experiments)
    with imported_tree(recipe.importer(tree, modules, kernels=interpret)) as importer:
        with running(Machine(), available=recipe.available):
            _import(recipe, experiments)
        for sim in sims:
            yield record(sim.experiment, *sim.run(schedules or SCHEDULES), importer.stubbed)
    if gpu:
        with imported_tree(recipe.importer(tree, modules, kernels=True)) as importer:
            _import(recipe, experiments)
            for sim in sims:
                yield record(sim.experiment, *_on_gpu(sim), importer.stubbed)


def _import(recipe: Recipe, experiments: Iterable[Experiment]) -> None:
    recipe.prepare()
    for module in dict.fromkeys(experiment.module for experiment in experiments):
        with suppress(ImportError):  # told by each experiment that needs it
            import_module(module)


def _on_gpu(sim: SimExperiment) -> tuple[Observation, Fidelity | None]:
    """Run on the GPU what the simulated run has set up."""
    from cuda_probe.cuda import CudaExperiment, why_not
    from cuda_probe.cuda.capability import backend
    from cuda_probe.experiment import CouldNotRun
    from cuda_probe.recipe import ShowsNothing
    from cuda_probe.scenarios import SCENARIOS

    nowhere = Observation(Backend("cuda", torch=""), failure=why_not())
    if nowhere.failure is not None:
        return nowhere, None
    nothing = Observation(backend())
    if sim.setup is None:
        return replace(nothing, failure="it could not be set up on the simulated device either"), None
    try:
        fidelity = replace(sim.setup.fidelity, kernels="real")
        run = CudaExperiment(sim.real_rig, sim.setup.layer, sim.setup.buffers, nothing.backend)
        return run.run(SCENARIOS[sim.experiment.scenario]), fidelity
    except CouldNotRun as reason:
        return replace(nothing, failure=str(reason)), None
    except ShowsNothing as reason:
        return replace(nothing, doubt=str(reason)), None
    except Exception as error:  # noqa: BLE001 -- the engine and the driver may raise anything
        return replace(nothing, failure=f"{type(error).__name__}: {error}"[:300]), None


def _hashes(module: str, tree: Path) -> dict[str, str]:
    file = tree.joinpath(*module.split(".")).with_suffix(".py")
    if not file.is_file():
        return {}
    return {file.relative_to(tree).as_posix(): f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"}


def _title(record: Record) -> str:
    one = record.experiment
    return f"{one['class']}.{one['method']}  {one['scenario']}"
