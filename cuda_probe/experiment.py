"""An experiment on the simulated device: find a rig that holds the object, run trials and controls, make a witness of
each race."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from cuda_probe.dispatch import Machine, running
from cuda_probe.evidence import (
    Backend,
    Controls,
    Edge,
    Fidelity,
    Observation,
    OperationSeen,
    RaceSeen,
    Tally,
    Timeline,
)
from cuda_probe.makers import maker_at
from cuda_probe.objects import allocations, instances
from cuda_probe.plan import Experiment
from cuda_probe.recipe import Build, NotApplicable, Reader, Recipe, Rig, ShowsNothing, Wanted
from cuda_probe.scenarios import NEGATIVE, POSITIVE, SCENARIOS, Scenario
from cuda_probe.sim import Earliest, Latest, Operation, Race, Random, Schedule, Starve, schedule_named
from cuda_probe.trial import Outcome, Trial

SCHEDULES = ("latest", "earliest", *(Random(seed).name for seed in range(18)))
MOST_WITNESSES = 4
MOST_OPERATIONS = 200

LOOKS_ONLY = "the accessor reads no byte, it asks for shapes; what was tested is a read behind it"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known already, by all that it depends on: claims about several objects or methods of one class come to
    the same. ``measured``: observations; ``inspected``: rigs, and why one cannot be built or holds no such object."""

    measured: dict[tuple[object, ...], tuple[Observation, Fidelity]] = field(default_factory=dict)
    inspected: dict[tuple[object, ...], Candidate | CouldNotRun] = field(default_factory=dict)


class CouldNotRun(Exception):
    """Indicates an experiment that could not be set up, with the reason."""


class NotHere(CouldNotRun):
    """Indicates a rig that does not hold the object; another may."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to build a rig, and the object in it."""

    name: str
    build: Build
    path: str
    layers: int
    fidelity: Fidelity


@dataclass(frozen=True, slots=True)
class Setup:
    """How to build the rig, which object of it reads (its path from the pool), and which layer."""

    name: str
    build: Build
    path: str
    layer: int
    fidelity: Fidelity
    buffers: tuple[str, ...]


class SimExperiment:
    """An experiment of a plan on the classes of an imported tree."""

    def __init__(self, experiment: Experiment, recipe: Recipe, root: Path, known: Known | None = None):
        self.experiment, self.recipe, self.root = experiment, recipe, root
        self.setup: Setup | None = None
        self._known = known or Known()

    def run(self, schedules: Sequence[str] = SCHEDULES) -> tuple[Observation, Fidelity | None]:
        """Return what was measured, and what was real."""
        nothing = Observation(Backend("sim", torch=str(torch.__version__)))
        try:
            scenario = self._scenario()
            setup = self.setup = self._set_up()
            key = (setup.name, setup.path, setup.layer, self.experiment.method, self.experiment.scenario, *schedules)
            if key not in self._known.measured:
                self._known.measured[key] = self._observation(setup, scenario, schedules, nothing)
            return self._known.measured[key]
        except CouldNotRun as reason:
            return replace(nothing, failure=str(reason)), None
        except ShowsNothing as reason:
            return replace(nothing, doubt=str(reason)), None

    def _scenario(self) -> Scenario:
        name = self.experiment.scenario
        if name not in SCENARIOS:
            raise CouldNotRun(f"no scenario is called {name!r}; known are {', '.join(SCENARIOS)}")
        return SCENARIOS[name]

    def _observation(
        self, setup: Setup, scenario: Scenario, schedules: Sequence[str], nothing: Observation
    ) -> tuple[Observation, Fidelity]:
        outcomes = [self._attempt(setup, schedule_named(name), scenario) for name in schedules]
        first = outcomes[0]
        if first.looks_only and first.races:
            raise ShowsNothing(f"{self.experiment.method} asks for shapes only; a read behind it would not be ordered")
        both: tuple[Callable[[], Schedule], ...] = (Latest, Earliest)
        controls = Controls(
            positive=_tally([self._attempt(setup, make(), POSITIVE) for make in both]),
            negative=_tally([self._attempt(setup, make(), NEGATIVE) for make in both]),
        )
        fidelity = replace(setup.fidelity, kernels="interpreted") if first.interpreted else setup.fidelity
        return replace(
            nothing,
            trials=_tally(outcomes),
            controls=controls,
            races=tuple(self._witnessed(setup, scenario, race) for race in _distinct(first.races)[:MOST_WITNESSES]),
            path=() if first.races else tuple(self._seen(operation) for operation in _hops(first.path)),
            layer=setup.layer,
            buffers=setup.buffers,
            schedules=tuple(schedules),
            timeline=self._timeline(first.operations[:MOST_OPERATIONS]),
            notes=(*first.notes, *([LOOKS_ONLY] if first.looks_only else [])),
        ), fidelity

    # ---------------------------------------------------------------- setting up

    def _set_up(self) -> Setup:
        """Find the rig and the last layer at which the accessor reads what the loader writes."""
        unbuilt: list[Exception] = []
        untold: list[Exception] = []
        for name, build in self.recipe.builds(self._wanted()):
            candidate = self._inspected(name, build)
            if isinstance(candidate, CouldNotRun):
                unbuilt.append(candidate)
                continue
            for layer in reversed(range(candidate.layers)):
                setup = Setup(candidate.name, candidate.build, candidate.path, layer, candidate.fidelity, ())
                try:
                    with self._trial(setup, Latest()) as trial:
                        return replace(setup, buffers=trial.buffers)
                except (CouldNotRun, ShowsNothing) as reason:
                    untold.append(reason)
        raise _most_telling([*untold, *unbuilt], f"the recipe builds no {self.experiment.class_}")

    def _wanted(self) -> Wanted:
        makers = (maker_at(place, self.root) for place in self.experiment.objects)
        return Wanted(self._class(), tuple(dict.fromkeys(maker for maker in makers if maker is not None)))

    def _class(self) -> type:
        module, name = self.experiment.module, self.experiment.class_
        try:
            class_ = getattr(import_module(module), name, None)
        except ImportError as error:
            raise CouldNotRun(f"{module} cannot be imported: {error}") from error
        if not isinstance(class_, type):
            raise CouldNotRun(f"{module} has no class {name}: it is a stub or was renamed")
        return class_

    def _inspected(self, name: str, build: Build) -> Candidate | CouldNotRun:
        key = (name, self._class(), self.experiment.objects)
        if key not in self._known.inspected:
            try:
                self._known.inspected[key] = self._inspect(name, build)
            except CouldNotRun as reason:
                self._known.inspected[key] = reason
        return self._known.inspected[key]

    def _inspect(self, name: str, build: Build) -> Candidate:
        """Build once and look for the object that the claim is about: made where it says, or by the recipe."""
        machine = Machine(Latest())
        with running(machine, available=self.recipe.available), allocations(self._class()) as places:
            rig = _guarded(lambda: build(machine), "cannot build")
            found = instances(rig.within, self.recipe.package, self._class())
            if not found:
                raise NotHere(f"{type(rig.within).__name__} holds no {self.experiment.class_}")
            for path, one in found:
                place = places[id(one)].within(self.root) if id(one) in places else None
                if place is None or not self.experiment.objects or place in self.experiment.objects:
                    return Candidate(name, build, path, rig.layers, rig.fidelity)
            raise NotHere(f"no {self.experiment.class_} is made at {', '.join(self.experiment.objects)}")

    @contextmanager
    def _trial(self, setup: Setup, schedule: Schedule) -> Iterator[Trial]:
        machine = Machine(schedule)
        with running(machine, available=self.recipe.available):
            rig = _guarded(lambda: setup.build(machine), "cannot build")
            reader = self._reader(rig, setup.path)
            failing = f"{reader.method} of layer {setup.layer} fails"
            yield _guarded(lambda: Trial(machine, rig, reader, setup.layer), failing)

    def attempts(self) -> tuple[int, Callable[[Schedule], Outcome]]:
        """Set it up; return how many bytes the buffers that it reads have, and what runs it under a schedule.

        Raises:
            CouldNotRun, ShowsNothing: it cannot be set up, with the reason.
        """
        scenario, setup = self._scenario(), self._set_up()
        with self._trial(setup, Latest()) as trial:
            return trial.bytes, lambda schedule: self._attempt(setup, schedule, scenario)

    def real_rig(self) -> tuple[Rig, Reader]:
        """Build the rig that was set up, outside of any machine: on the GPU, of the classes that are imported now."""
        assert self.setup is not None
        build = dict(self.recipe.builds(self._wanted()))[self.setup.name]
        rig: Rig = _guarded(lambda: build(None), "cannot build")
        return rig, self._reader(rig, self.setup.path)

    def _reader(self, rig: Rig, path: str) -> Reader:
        found = dict(instances(rig.within, self.recipe.package, self._class()))
        values = partial(self.recipe.values, rig)
        reader = Reader(found[path], self.experiment.method, values, self.recipe.package, rig.begins)
        if not hasattr(reader.target, reader.method):
            raise CouldNotRun(f"{self.experiment.class_} has no method {reader.method}")
        return reader

    def _attempt(self, setup: Setup, schedule: Schedule, scenario: Scenario) -> Outcome:
        with self._trial(setup, schedule) as trial:
            return _guarded(lambda: trial.measure(scenario), "the scenario fails")

    # ---------------------------------------------------------------- for people

    def _witnessed(self, setup: Setup, scenario: Scenario, race: Race) -> RaceSeen:
        """Hold back the one, and if that was right the other: which of both has to come first is not in the race."""
        ends = (race.second, race.first) if race.kind == "WAR" else (race.first, race.second)
        for end in ends:
            witness = Starve(end.number)
            outcome = self._attempt(setup, witness, scenario)
            if outcome.wrong:
                break
        return RaceSeen(
            race.kind,
            race.later.name or race.earlier.name,
            self._seen(race.first),
            self._seen(race.second),
            race.missing_edge,
            witness.name,
            outcome.wrong,
            outcome.due,
        )

    def _seen(self, operation: Operation) -> OperationSeen:
        site = [
            f"{Path(frame.file).relative_to(self.root).as_posix()}:{frame.line} {frame.function}"
            for frame in operation.site
            if Path(frame.file).is_relative_to(self.root)
        ]
        return OperationSeen(operation.number, str(operation.agent), operation.kind, operation.name, tuple(site))

    def _timeline(self, operations: Sequence[Operation]) -> Timeline:
        numbers = {operation.number for operation in operations}
        edges = [
            Edge(before.number, operation.number)
            for operation in operations
            for before in _from_other_streams(operation)
            if before.number in numbers
        ]
        return Timeline(tuple(self._seen(operation) for operation in operations), tuple(edges))


def _guarded(step: Callable[[], Any], what: str) -> Any:
    """Run code of the engine; whatever it raises is a reason."""
    try:
        return step()
    except (CouldNotRun, ShowsNothing):
        raise
    except NotApplicable as reason:
        raise NotHere(str(reason)) from reason
    except Exception as error:
        raise CouldNotRun(f"{what}: {type(error).__name__}: {error}"[:300]) from error


def _most_telling(reasons: Sequence[Exception], otherwise: str) -> Exception:
    """Prefer a reason that came after more had worked: it ran and showed nothing, it did not run, it was not there."""

    def rank(reason: Exception) -> int:
        return 0 if isinstance(reason, ShowsNothing) else 2 if isinstance(reason, NotHere) else 1

    return min(reasons, key=rank) if reasons else CouldNotRun(otherwise)


def _tally(outcomes: Sequence[Outcome]) -> Tally:
    return Tally(
        trials=len(outcomes),
        wrong=sum(outcome.wrong > 0 for outcome in outcomes),
        torn=sum(outcome.torn for outcome in outcomes),
        raced=sum(bool(outcome.races) for outcome in outcomes),
    )


def _distinct(races: Sequence[Race]) -> list[Race]:
    by_first = {race.first.number: race for race in reversed(races)}
    return [by_first[number] for number in sorted(by_first)]


def _hops(chain: Sequence[Operation]) -> list[Operation]:
    """Leave out what only follows in its stream: the ends stay, and both sides of each step to another agent."""
    last = len(chain) - 1
    return [
        operation
        for position, operation in enumerate(chain)
        if position in (0, last)
        or chain[position - 1].agent != operation.agent
        or chain[position + 1].agent != operation.agent
    ]


def _from_other_streams(operation: Operation) -> list[Operation]:
    """Return the operations of other streams that are direct edges, through steps of the host."""
    found, todo, seen = [], list(operation.after), set[int]()
    while todo:
        edge = todo.pop()
        if id(edge) in seen:
            continue
        seen.add(id(edge))
        if edge.number < 0:
            todo.extend(edge.after)
        elif edge.agent != operation.agent:
            found.append(edge)
    return sorted(found, key=lambda edge: edge.number)
