"""Starting: the environment that brings the hook into every process of a command, and the hook."""

from __future__ import annotations

import atexit
import functools
import importlib
import importlib.util
import inspect
import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from cuda_probe.plan import Experiment, Plan, PlanError, load_plan
from cuda_probe.watch.engines import DELAY_VARIABLE, ENGINES, Engine
from cuda_probe.watch.judge import Judge

PLAN, OUT, DELAY = "CUDA_PROBE_PLAN", "CUDA_PROBE_OUT", "CUDA_PROBE_DELAY_CYCLES"
LAYERED = ("layer_id", "layer", "local_layer_id")

Hook = Callable[[ModuleType], None]


def launch(plan: Path, out: Path, command: Sequence[str], delay_cycles: int = 0) -> NoReturn:
    """Become a command, with the hook in it and in every Python that it starts. A server that already runs cannot be
    watched.

    Raises:
        PlanError: the plan cannot be read, the engine is not known, or there is no such command.
    """
    _engine_of(load_plan(plan))
    here = Path(__file__).resolve().parent
    path = [str(here / "site"), str(here.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {PLAN: str(plan.resolve()), OUT: str(out.resolve()), "PYTHONPATH": os.pathsep.join(path)}
    if delay_cycles:
        environment |= {DELAY: str(delay_cycles), DELAY_VARIABLE: str(delay_cycles)}
    try:
        os.execvpe(command[0], list(command), {**os.environ, **environment})
    except OSError as error:
        raise PlanError(f"cannot run {command[0]}: {error.strerror or error}") from error


def _engine_of(plan: Plan) -> Engine:
    packages = {experiment.module.partition(".")[0] for experiment in plan.experiments}
    known = packages & set(ENGINES)
    if not known:
        raise PlanError(f"nobody knows where {', '.join(sorted(packages)) or 'an empty plan'} signals its loads")
    return ENGINES[min(known)]


def install(environment: Mapping[str, str] = os.environ) -> Judge:
    """Hook into this process: wrap what the plan names as soon as it is imported."""
    plan = load_plan(Path(environment[PLAN]))
    engine, out = _engine_of(plan), Path(environment[OUT])
    judge = Judge(engine, functools.partial(_current_stream, engine), lambda call: _write(out, asdict(call)))
    hooks: dict[str, list[Hook]] = {}
    module, _, name = engine.signals.partition(":")
    hooks.setdefault(module, []).append(functools.partial(_hook_signals, judge, name))
    hooks.setdefault("torch.cuda", []).append(functools.partial(_hook_captures, judge))
    for experiment in {(one.module, one.class_, one.method): one for one in plan.experiments}.values():
        hooks.setdefault(experiment.module, []).append(functools.partial(_hook_accessor, judge, experiment))
    if cycles := int(environment.get(DELAY, "0")):
        for place in engine.load:
            module, _, name = place.partition(":")
            hooks.setdefault(module, []).append(functools.partial(_hook_load, name, cycles))
    sys.meta_path.insert(0, AfterImport(hooks))
    atexit.register(lambda: _write(out, _summary(judge)))
    return judge


def _current_stream(engine: Engine) -> Any:
    module, _, name = engine.stream.partition(":")
    return getattr(importlib.import_module(module), name)()


# ---------------------------------------------------------------- hooks


def _hook_accessor(judge: Judge, experiment: Experiment, module: ModuleType) -> None:
    class_ = getattr(module, experiment.class_, None)
    original = getattr(class_, experiment.method, None)
    if class_ is None or original is None:
        return
    accessor = f"{experiment.module}.{experiment.class_}.{experiment.method}"
    names = list(inspect.signature(original).parameters)
    position = next((names.index(name) for name in LAYERED if name in names), None)

    @functools.wraps(original)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if type(self) is class_:
            _quietly(judge, accessor, lambda: _judged(judge, accessor, self, names, position, args, kwargs))
        return result

    setattr(class_, experiment.method, watched)


def _judged(
    judge: Judge,
    accessor: str,
    pool: Any,
    names: Sequence[str],
    position: int | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> None:
    if position is None:
        return
    given = kwargs.get(names[position], args[position - 1] if len(args) >= position else None)
    layer = getattr(given, "layer_id", given)
    if isinstance(layer, int):
        judge.called(accessor, pool, layer)


def _hook_signals(judge: Judge, name: str, module: ModuleType) -> None:
    class_ = getattr(module, name, None)
    if class_ is None:
        return
    complete, wait = class_.complete, class_.wait

    @functools.wraps(complete)
    def completing(self: Any, layer: int, *args: Any, **kwargs: Any) -> Any:
        result = complete(self, layer, *args, **kwargs)
        _quietly(judge, name, lambda: judge.recorded(self, layer))
        return result

    @functools.wraps(wait)
    def waiting(self: Any, layer: int, *args: Any, **kwargs: Any) -> Any:
        result = wait(self, layer, *args, **kwargs)
        _quietly(judge, name, lambda: judge.waited(self, layer))
        return result

    class_.complete, class_.wait = completing, waiting


def _hook_captures(judge: Judge, module: ModuleType) -> None:
    graph = getattr(module, "CUDAGraph", None)
    if graph is None:
        return
    begin, end = graph.capture_begin, graph.capture_end

    @functools.wraps(begin)
    def beginning(self: Any, *args: Any, **kwargs: Any) -> Any:
        judge.captures += 1
        return begin(self, *args, **kwargs)

    @functools.wraps(end)
    def ending(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return end(self, *args, **kwargs)
        finally:
            judge.captures -= 1

    graph.capture_begin, graph.capture_end = beginning, ending


def _hook_load(name: str, cycles: int, module: ModuleType) -> None:
    """Delay before each copy: after it, only the next layer would be late."""
    owner, _, method = name.partition(".")
    class_ = getattr(module, owner)
    original = getattr(class_, method)

    @functools.wraps(original)
    def delayed(self: Any, *args: Any, **kwargs: Any) -> Any:
        import torch

        if torch.cuda.is_available():
            torch.cuda._sleep(random.randint(cycles // 2, cycles))
        return original(self, *args, **kwargs)

    setattr(class_, method, delayed)


def _quietly(judge: Judge, what: str, step: Callable[[], None]) -> None:
    """Never raise into the server: what goes wrong is counted, and told in the summary."""
    try:
        step()
    except Exception as error:  # noqa: BLE001 -- the server goes on whatever the watch does wrong
        judge.counts[what, f"error: {type(error).__name__}: {error}"[:120]] += 1


# ---------------------------------------------------------------- import and output


class AfterImport(MetaPathFinder):
    """Calls hooks when the modules that they wait for have been executed."""

    def __init__(self, hooks: Mapping[str, Sequence[Hook]]):
        self._hooks = dict(hooks)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find the module as anyone would, and have the hooks called after it."""
        if name not in self._hooks:
            return None
        hooks = self._hooks.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Calling(spec.loader, hooks)
        return spec


class _Calling(Loader):
    def __init__(self, loader: Any, hooks: Sequence[Hook]):
        self._loader, self._hooks_after = loader, hooks

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        for hook in self._hooks_after:
            hook(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _summary(judge: Judge) -> dict[str, Any]:
    counts = sorted(judge.counts.items())
    return {"summary": [{"accessor": accessor, "verdict": verdict, "calls": n} for (accessor, verdict), n in counts]}


def _write(out: Path, record: dict[str, Any]) -> None:
    """Append a line; one write, so that processes do not mix theirs."""
    line = json.dumps({"schema": "watch-v1", "pid": os.getpid(), "time": time.time(), **record}) + "\n"
    with open(out, "a", encoding="utf-8") as stream:
        stream.write(line)
