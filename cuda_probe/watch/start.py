"""Starting: the environment that brings the hook into every process of a command, and the hook."""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from cuda_probe.plan import Experiment, Plan, PlanError, load_plan
from cuda_probe.watch.engines import DELAY_VARIABLE, ENGINES, Engine
from cuda_probe.watch.judge import Judge

PLAN, OUT, DELAY, ROOT = "CUDA_PROBE_PLAN", "CUDA_PROBE_OUT", "CUDA_PROBE_DELAY_CYCLES", "CUDA_PROBE_ROOT"
LAYERED = ("layer_id", "layer", "local_layer_id")
WATCHED = "__cuda_probe__"
"""An attribute of what has been wrapped."""

Hook = Callable[[ModuleType], None]


def launch(plan: Path, out: Path, command: Sequence[str], delay_cycles: int = 0) -> NoReturn:
    """Become a command, with the hook in it and in every Python that it starts. A server that already runs cannot be
    watched.

    Raises:
        PlanError: the plan cannot be read, the engine is not known, nothing can be written, there is no such command.
    """
    _engine_of(load_plan(plan))
    _try_to_append(out)
    here = Path(__file__).resolve().parent
    path = [str(here / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        PLAN: str(plan.resolve()),
        OUT: str(out.resolve()),
        ROOT: str(here.parents[1]),
        "PYTHONPATH": os.pathsep.join(path),
    }
    if delay_cycles:
        environment |= {DELAY: str(delay_cycles), DELAY_VARIABLE: str(delay_cycles)}
    try:
        os.execvpe(command[0], list(command), {**os.environ, **environment})
    except OSError as error:
        raise PlanError(f"cannot run {command[0]}: {error.strerror or error}") from error


def _try_to_append(out: Path) -> None:
    """Append nothing, or the end of a line that a run before was kept from ending."""
    try:
        with out.open("ab+") as file:
            if file.seekable() and file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
    except OSError as error:
        raise PlanError(f"cannot write {out}: {error.strerror or error}") from error


def _engine_of(plan: Plan) -> Engine:
    packages = {experiment.module.partition(".")[0] for experiment in plan.experiments}
    known = packages & set(ENGINES)
    if not known:
        raise PlanError(f"nobody knows where {', '.join(sorted(packages)) or 'an empty plan'} signals its loads")
    return ENGINES[min(known)]


def install(environment: Mapping[str, str] = os.environ) -> Judge:
    """Hook into this process: wrap what the plan names whenever its module is executed."""
    plan = load_plan(Path(environment[PLAN]))
    engine, tell = _engine_of(plan), functools.partial(_write, Path(environment[OUT]))
    judge = Judge(engine, functools.partial(_current_stream, engine), tell)
    hooks: dict[str, list[Hook]] = {}
    module, _, name = engine.signals.partition(":")
    hooks.setdefault(module, []).append(functools.partial(_hook_signals, judge, name))
    hooks.setdefault("torch.cuda", []).append(functools.partial(_hook_captures, judge))
    for experiment in {(one.module, one.class_, one.method): one for one in plan.experiments}.values():
        hooks.setdefault(experiment.module, []).append(functools.partial(_hook_accessor, judge, experiment))
    if cycles := int(environment.get(DELAY, "0")):
        for place in engine.load:
            module, _, name = place.partition(":")
            hooks.setdefault(module, []).append(functools.partial(_hook_load, judge, name, cycles))
    after_import = AfterImport(judge, hooks)
    sys.meta_path.insert(0, after_import)
    for name in set(hooks) & set(sys.modules):  # by a .pth file of the environment
        after_import.call(name, sys.modules[name])
    os.register_at_fork(after_in_child=judge.forked)
    atexit.register(judge.summarise)
    return judge


def _current_stream(engine: Engine) -> Any:
    module, _, name = engine.stream.partition(":")
    return getattr(importlib.import_module(module), name)()


# ---------------------------------------------------------------- hooks


def _hook_accessor(judge: Judge, experiment: Experiment, module: ModuleType) -> None:
    class_, method = getattr(module, experiment.class_, None), experiment.method
    accessor = f"{experiment.module}.{experiment.class_}.{method}"
    original = inspect.getattr_static(class_, method, None)
    if not inspect.isfunction(original):
        judge.count(accessor, "not watched: no such method" if original is None else "not watched: no plain method")
        return
    if getattr(vars(class_).get(method), WATCHED, False):
        return
    names = list(inspect.signature(original).parameters)
    position = next((names.index(name) for name in LAYERED if name in names), None)

    @functools.wraps(original)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if type(self) is class_ and not _compiling():
            _quietly(judge, accessor, lambda: _judged(judge, accessor, self, names, position, args, kwargs))
        return result

    setattr(watched, WATCHED, True)
    setattr(class_, method, watched)


def _compiling() -> bool:
    """Tell whether PyTorch traces this call to compile it; what the watch does must not be traced."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())


def _judged(
    judge: Judge,
    accessor: str,
    pool: Any,
    names: Sequence[str],
    position: int | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> None:
    given = None
    if position is not None:
        given = kwargs.get(names[position], args[position - 1] if len(args) >= position else None)
    layer = getattr(given, "layer_id", given)
    if isinstance(layer, int):
        judge.called(accessor, pool, layer)
    else:
        judge.count(accessor, "not judged: it is told no layer")


def _hook_signals(judge: Judge, name: str, module: ModuleType) -> None:
    class_ = getattr(module, name)
    complete, wait = class_.complete, class_.wait
    if getattr(complete, WATCHED, False):
        return

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

    setattr(completing, WATCHED, True)
    class_.complete, class_.wait = completing, waiting


def _hook_captures(judge: Judge, module: ModuleType) -> None:
    graph = module.CUDAGraph
    begin, end = graph.capture_begin, graph.capture_end
    if getattr(begin, WATCHED, False):
        return

    @functools.wraps(begin)
    def beginning(self: Any, *args: Any, **kwargs: Any) -> Any:
        judge.capturing(1)
        try:
            return begin(self, *args, **kwargs)
        except BaseException:
            judge.capturing(-1)
            raise

    @functools.wraps(end)
    def ending(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return end(self, *args, **kwargs)
        finally:
            judge.capturing(-1)

    setattr(beginning, WATCHED, True)
    graph.capture_begin, graph.capture_end = beginning, ending


def _hook_load(judge: Judge, name: str, cycles: int, module: ModuleType) -> None:
    """Delay before each copy: after it, only the next layer would be late."""
    owner, _, method = name.partition(".")
    class_ = getattr(module, owner)
    original = getattr(class_, method)
    if getattr(original, WATCHED, False):
        return

    def sleep() -> None:
        import torch

        if torch.cuda.is_available():
            torch.cuda._sleep(random.randint(cycles // 2, cycles))

    @functools.wraps(original)
    def delayed(self: Any, *args: Any, **kwargs: Any) -> Any:
        _quietly(judge, name, sleep)
        return original(self, *args, **kwargs)

    setattr(delayed, WATCHED, True)
    setattr(class_, method, delayed)


def _quietly(judge: Judge, what: str, step: Callable[[], None]) -> None:
    """Never raise into the server: what goes wrong is counted, and told in the summary."""
    try:
        step()
    except Exception as error:  # noqa: BLE001 -- the server goes on whatever the watch does wrong
        judge.failed(what, error)


# ---------------------------------------------------------------- import and output


class AfterImport(MetaPathFinder):
    """Calls hooks whenever a module that they wait for has been executed: a failed import may be tried again, a module
    reloaded."""

    def __init__(self, judge: Judge, hooks: Mapping[str, Sequence[Hook]]):
        self._judge, self._hooks = judge, hooks

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find the module as anyone would, and have the hooks called after it."""
        if name not in self._hooks:
            return None
        found = (one.find_spec(name, path, target) for one in sys.meta_path if one is not self)
        spec = next((one for one in found if one is not None), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Calling(spec.loader, functools.partial(self.call, name))
        return spec

    def call(self, name: str, module: ModuleType) -> None:
        """Call the hooks of a module that has been executed; what it calls itself is its own affair."""
        for hook in self._hooks[name]:
            _quietly(self._judge, name, functools.partial(hook, module))


class _Calling(Loader):
    """The loader of a module, and a call after it; the module never sees it."""

    def __init__(self, loader: Any, after: Hook):
        self._loader, self._after = loader, after

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._after(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _write(out: Path, record: Mapping[str, Any]) -> None:
    """Append a line; one write, so that processes do not mix theirs."""
    line = json.dumps({"schema": "watch-v1", "pid": os.getpid(), "time": time.time(), **record}) + "\n"
    file = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
