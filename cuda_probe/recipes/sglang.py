"""SGLang 0.5.10 to 0.5.23: its pools and its counter are built as they are; its loader is replaced by copies in the
same order.

Kernels in Triton (if they are not interpreted) and those of sgl_kernel are opaque: they count as reads of the buffers
that they are given.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from cuda_probe.arguments import Arguments, refuse
from cuda_probe.comparing import fill
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.loading.stubs import StubModule
from cuda_probe.makers import Maker, makers_of
from cuda_probe.recipe import ARMED_BY, Build, NotApplicable, Rig, Wanted
from cuda_probe.recipes.sglang_loader import make_controller
from cuda_probe.recipes.sglang_values import CONFIGURATIONS, LAYERS, PAGE, SERVER, VALUES, Named, read_with

LAYERED = frozenset({"layer", "layer_id", "local_layer_id"})
BEGINS = ("begin_shard_extend", "register_mapping")
"""By these a pool is told of a batch over several ranks, or where the tokens of a sparse one are."""

FOCUS = (
    "sglang.srt.mem_cache",
    "sglang.srt.managers.cache_controller",
    "sglang.srt.utils",
    "sglang.srt.environ",
    "sglang.srt.constants",
    "sglang.srt.runtime_context",
    "sglang.srt.layers.attention.nsa.index_buf_accessor",
    "sglang.srt.layers.attention.dsa.index_buf_accessor",
    "sglang.srt.layers.attention.dsv4.index_buf_accessor",
    "sglang.srt.layers.attention.dsv4.kv_layout",
    "sglang.srt.layers.quantization.fp4_kv_cache_quant_method",
    "sglang.srt.layers.quantization.kv_cache_quant_method",
    "sglang.srt.layers.quantization.kvfp4_tensor",
    "sglang.srt.layers.cp.utils",
    "sglang.srt.hardware_backend.npu.memory_pool_npu",
    "sglang.srt.hardware_backend.npu.dsv4.dsv4_memory_pool",
    "sglang.kernels.ops.kvcache",
    "sglang.kernels.ops.memory",
    "sglang.kernels.ops.attention.dsv4.kv_layout",
)

MAKERS = (
    "sglang/srt/mem_cache/**/*.py",
    "sglang/srt/model_executor/**/*.py",
    "sglang/srt/hardware_backend/**/*.py",
    "sglang/srt/disaggregation/*.py",
)
"""Where pools are made."""


class SGLang:
    """Needs stubs for most of the tree: quantisation, distribution, kernels."""

    package = "sglang"
    available = False
    pools = ("sglang/srt/mem_cache/*pool*.py",)
    layered = LAYERED

    def importer(self, tree: Path, modules: Iterable[str] = (), *, kernels: bool = False) -> TreeImporter:
        """Execute the memory pools, the cache controller, what these need, and the modules that are asked about."""
        self._tree = tree
        self._importer = TreeImporter(tree, "sglang", (*FOCUS, *modules), absent=() if kernels else ("triton",))
        return self._importer

    def prepare(self) -> None:
        """Answer what pools ask of the running server: one rank of one, everything else off."""
        context = import_module("sglang.srt.runtime_context")
        if not isinstance(context, StubModule):
            for name in [name for name in vars(context) if name.startswith("get_")]:
                setattr(context, name, _Answers(SERVER))

    def builds(self, wanted: Wanted) -> Iterator[tuple[str, Build]]:
        """Return the functions that make one, then the class itself where one is made alone, then the pools that
        make one for themselves."""
        makers = wanted.makers or makers_of(wanted.class_.__name__, self._files(), self._tree)
        owners = {maker: _pool(maker) for maker in makers}
        for maker in makers:
            if owners[maker] is None and maker.class_ is None and maker.function:
                yield from self._builds_by(maker)
        if hasattr(wanted.class_, ARMED_BY) and (not makers or not all(owners.values())):
            yield from self._builds_of(wanted.class_)
        for owner in dict.fromkeys(owner for owner in owners.values() if owner not in (None, wanted.class_)):
            assert owner is not None
            yield from self._builds_of(owner)

    def _files(self) -> list[Path]:
        return sorted({file for pattern in MAKERS for file in self._tree.glob(pattern)})

    def _builds_of(self, class_: type) -> Iterator[tuple[str, Build]]:
        for name, options in _distinct(self._arguments().parameters_of(class_)):
            yield f"{class_.__name__}({name}) with its controller", partial(self._build_loaded, class_, options)
            yield f"{class_.__name__}({name})", partial(self._build, class_, options)
        if any(hasattr(class_, begin) for begin in BEGINS):
            for name, options in _distinct(self._arguments().parameters_of(class_)):
                yield f"{class_.__name__}({name}), begun", partial(self._build, class_, options, begins=BEGINS)

    def _builds_by(self, maker: Maker) -> Iterator[tuple[str, Build]]:
        function = getattr(import_module(maker.module), maker.function, None)
        if inspect.isfunction(function):
            for name, options in _distinct(inspect.signature(function).parameters):
                yield f"{maker.function}({name})", partial(self._build_by, function, options)

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments by name."""
        return read_with(layer)

    def _arguments(self) -> Arguments:
        return Arguments(VALUES, self.package, self._made_up)

    def _made_up(self, owner: str, parameter: inspect.Parameter) -> Any:
        """Give what answers by name in the place of an object of a class that is not executed, and tell so."""
        written = parameter.annotation
        if not isinstance(written, str) or not written.isidentifier() or written in vars(builtins):
            return refuse(owner, parameter)
        self._importer.stubbed[f"{owner}({parameter.name})"] = f"made up: {written} is not executed"
        return _Answers(VALUES)

    def _given(self, options: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[int, Any] = {}
        return {name: self._resolved(value, made) for name, value in options.items()}

    def _resolved(self, value: Any, made: dict[int, Any]) -> Any:
        if isinstance(value, dict):
            return {key: self._resolved(one, made) for key, one in value.items()}
        if isinstance(value, list):
            return [self._resolved(one, made) for one in value]
        if not isinstance(value, Named):
            return value
        if id(value) not in made:
            class_ = _class(*value.name.split(":"))
            if class_ is None:
                raise NotApplicable(f"there is no {value.name}")
            given = self._resolved(dict(value.given), made)
            made[id(value)] = self._arguments().build(class_, given) if value.built else class_
        return made[id(value)]

    def _build_loaded(self, class_: type, options: Mapping[str, Any], machine: Machine | None) -> Rig:
        """Build a pool with the engine's own controller and host pool; all its layers are loaded, so all are
        attention layers."""
        arguments = self._arguments()
        windows = "swa_attention_layer_ids" in arguments.parameters_of(class_)
        every = {} if windows else {"full_attention_layer_ids": list(range(LAYERS))}
        pool: Any = arguments.build(class_, self._given({**options, **every}))
        rows = torch.arange(PAGE, 3 * PAGE)
        try:
            controller = make_controller(pool, PAGE, rows)
        except Exception as error:
            raise NotApplicable(f"its controller cannot be built: {error}") from error

        def start_load(_: Sequence[torch.Tensor], __: int) -> int:
            controller.load(rows)
            index: int = controller.start_loading()
            return index

        fidelity = Fidelity("real-init", "real", "real-controller", "reference")
        return Rig(pool, LAYERS, controller.layer_done_counter, controller.load_stream, fidelity, start_load)

    def _build(
        self, class_: type, options: Mapping[str, Any], machine: Machine | None, *, begins: Sequence[str] = ()
    ) -> Rig:
        pool: Any = self._arguments().build(class_, self._given(options))
        return replace(self._armed(pool, (pool,)), begins=begins)

    def _build_by(self, function: Callable[..., Any], options: Mapping[str, Any], machine: Machine | None) -> Rig:
        """Let a function of the engine make its pools, and arm those that it hands out, as its callers do."""
        made: Any = function(**self._arguments().of(function, self._given(options)))
        parts = (
            made if isinstance(made, tuple) else tuple(vars(made).values()) if hasattr(made, "__dict__") else (made,)
        )
        return self._armed(parts, [part for part in parts if hasattr(part, ARMED_BY)])

    def _armed(self, holder: Any, pools: Sequence[Any]) -> Rig:
        counter = import_module("sglang.srt.managers.cache_controller").LayerDoneCounter(LAYERS)
        for pool in pools:
            pool.register_layer_transfer_counter(counter)
        load_stream = torch.cuda.Stream()
        completes = [_in_order]

        def start_load(buffers: Sequence[torch.Tensor], layer: int) -> int:
            index: int = counter.update_producer()
            event = counter.events[index]
            event.start_event.record()
            with torch.cuda.stream(load_stream):
                load_stream.wait_event(event.start_event)
                completes[-1](event.complete, lambda one: _copy(buffers) if one == layer else None)
            return index

        @contextmanager
        def early() -> Iterator[None]:
            completes.append(_signals_first)
            try:
                yield
            finally:
                completes.pop()

        fidelity = Fidelity("real-init", "real", "generic-copy", "opaque-stub")
        return Rig(holder, LAYERS, counter, load_stream, fidelity, start_load, early=early, layered=LAYERED)


def _distinct(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the configurations that differ in what has these parameters."""
    seen: list[Mapping[str, Any]] = []
    for name, options in CONFIGURATIONS.items():
        mine = {key: value for key, value in options.items() if key in parameters}
        if mine not in seen:
            seen.append(mine)
            yield name, mine


def _in_order(complete: Callable[[int], None], copy: Callable[[int], None]) -> None:
    for layer in range(LAYERS):
        copy(layer)
        complete(layer)


def _signals_first(complete: Callable[[int], None], copy: Callable[[int], None]) -> None:
    for layer in range(LAYERS):
        complete(layer)
        copy(layer)


def _copy(buffers: Sequence[torch.Tensor]) -> None:
    for buffer in buffers:
        fill(buffer)


def _class(module: str, name: str) -> type | None:
    try:
        imported: ModuleType = import_module(module)
    except ImportError:
        return None
    found = vars(imported).get(name)
    return found if isinstance(found, type) else None


def _pool(maker: Maker) -> type | None:
    """Return the class that makes it, if that is a pool."""
    class_ = None if maker.class_ is None else _class(maker.module, maker.class_)
    return class_ if hasattr(class_, ARMED_BY) else None


class _Answers:
    """What a server, or one of its parts, would say of itself: what is in the table, else sizes are 1, ranks 0, and
    everything else is off."""

    def __init__(self, table: Mapping[str, Any]):
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._table:
            return self._table[name]
        return 1 if name.endswith("_size") else 0 if name.endswith("_rank") else _Answers(self._table)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Answers(self._table)

    def __enter__(self) -> _Answers:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return not other

    def __hash__(self) -> int:
        return 0
