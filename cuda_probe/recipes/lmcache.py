"""LMCache, from 0.3.1: loads and stores layer by layer, by generators that are advanced as a forward pass goes on.

An engine has ``retrieve_layer`` and ``store_layer``; its connector, ``batched_to_gpu`` and ``batched_from_gpu``. Both
are built as they are, and the engine's generators drive those of the connector. Of a load, a read of a layer of the
paged cache is judged behind the step that waits for it; of a store, the copy of a layer behind the forward pass that
writes it. Keys and memory objects are made up: where they come from is not what is asked. The compiled copy is replaced
by copies in PyTorch on the same stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch

from cuda_probe.arguments import Arguments
from cuda_probe.comparing import fill
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.loading.stubs import Stub
from cuda_probe.recipe import Build, Rig, Wanted

LAYERS, TOKENS, WIDTH = 3, 8, 4
SHAPE = (TOKENS, 2, WIDTH)
"""Of a memory object: tokens, keys and values, elements."""

ENGINE, CONNECTORS = "lmcache.v1.cache_engine", "lmcache.v1.gpu_connector"
CONNECTOR = "VLLMPagedMemLayerwiseGPUConnector"
VALUES: Mapping[str, Any] = {"hidden_dim_size": WIDTH, "num_layers": LAYERS}
UNNAMED: Mapping[str, Any] = {"use_gpu": True, "chunk_size": TOKENS, "dtype": torch.float32, "device": "cuda"}
"""What a connector takes by keyword."""


class LMCache:
    """Needs stubs for all but the engine and its connectors."""

    package = "lmcache"
    available = True
    pools = ("lmcache/v1/gpu_connector.py", "lmcache/v1/gpu_connector/gpu_connectors.py")
    layered: frozenset[str] = frozenset()

    def importer(self, tree: Path, modules: Iterable[str] = (), *, kernels: bool = False) -> TreeImporter:
        """Execute the engine and the connectors."""
        split = (tree / "lmcache/v1/gpu_connector").is_dir()
        self._connectors = f"{CONNECTORS}.gpu_connectors" if split else CONNECTORS
        return TreeImporter(tree, self.package, (ENGINE, self._connectors, f"{CONNECTORS}.kv_format", *modules))

    def prepare(self) -> None:
        """Put copies in PyTorch in the place of the compiled ones, under the names that these have had."""
        copies = SimpleNamespace(single_layer_kv_transfer=_copy_layer)
        places: Mapping[str, Mapping[str, Any]] = {
            "lmcache": {"device_ops": copies},
            "lmcache.c_ops": vars(copies),
            "lmcache.lmcache_native": {"TransferDirection": SimpleNamespace(H2D=False, D2H=True)},
            "lmcache.utils": {"CacheEngineKey": _Key},
        }
        for name, values in places.items():
            vars(import_module(name)).update(values)

    def builds(self, wanted: Wanted) -> Iterator[tuple[str, Build]]:
        """Return an engine that loads and one that stores."""
        if hasattr(wanted.class_, "retrieve_layer"):
            connector = vars(import_module(self._connectors))[CONNECTOR]
            yield f"{wanted.class_.__name__} that loads", partial(_loads, wanted.class_, connector)
            yield f"{wanted.class_.__name__} that stores", partial(_stores, wanted.class_, connector)

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments by name."""
        return {"layer": layer}


class _Made:
    """An engine with its connector, a paged cache, and the generator that is advanced."""

    def __init__(self, engine: type, connector: type, *, stored: bool):
        arguments = Arguments({**VALUES, **_made_up()}, LMCache.package)
        self.connector: Any = connector(**arguments.of_class(connector, VALUES), **UNNAMED)
        self.connector.gpu_buffer_allocator = SimpleNamespace(allocate=lambda *_: _MemoryObject(device="cuda"))
        self.connector.engine_kv_format = None  # of the copy that is replaced
        with patch("multiprocessing.set_start_method"):
            self.engine: Any = arguments.build(engine, {"gpu_connector": self.connector})
        self.stored = stored
        self.objects = [_MemoryObject(pinned=True) for _ in range(LAYERS)]
        self.engine.storage_manager = _Storage(self.objects, holds=stored)
        self.paged = [torch.zeros((2, 2 * TOKENS, WIDTH), device="cuda") for _ in range(LAYERS)]
        self.connector.kvcaches = self.paged
        self._steps: Iterator[Any] | None = None

    def begin(self, generator: Callable[..., Iterator[Any]]) -> None:
        """Make the generator of a request."""
        self._steps = generator(torch.arange(TOKENS), kvcaches=self.paged, slot_mapping=torch.arange(TOKENS), sync=True)

    def advance(self, steps: int) -> None:
        """Advance it, if there is one."""
        for _ in range(steps if self._steps is not None else 0):
            next(self._steps)  # type: ignore[arg-type]

    def end(self) -> None:
        """Let go of it."""
        self._steps = None

    @property
    def begun(self) -> bool:
        """Tell whether there is one."""
        return self._steps is not None

    def rig(
        self, stream: Any, start: Callable[[Sequence[torch.Tensor], int], int], layers: int = LAYERS, **rest: Any
    ) -> Rig:
        """Return it as a rig."""
        parts = {"engine": self.engine, "paged": self.paged}
        stored = {} if self.stored else {"memory": [one.tensor for one in self.objects]}  # what a load reads stays
        fidelity = Fidelity("real-init", "real", "real-controller", "reference")
        counter = rest.pop("counter", SimpleNamespace(set_consumer=lambda index: None))
        return Rig({**parts, **stored}, layers, counter, stream, fidelity, start, **rest)


def _loads(engine: type, connector: type, machine: Machine | None) -> Rig:
    made, waits = _Made(engine, connector, stored=True), False
    retrieve_layer = made.engine.retrieve_layer

    def start(_: Sequence[torch.Tensor], layer: int) -> int:
        made.begin(retrieve_layer)
        made.advance(2 + layer)  # twice before the forward pass, then before each layer
        return 0

    def read(layer: int) -> torch.Tensor:
        if waits:
            made.advance(1)
        return made.paged[layer]

    def set_consumer(index: int) -> None:
        nonlocal waits
        waits = index >= 0

    made.engine.retrieve_layer = read
    counter = SimpleNamespace(set_consumer=set_consumer, wait_until=lambda _: made.advance(1))
    return made.rig(made.connector.load_stream, start, counter=counter)


def _stores(engine: type, connector: type, machine: Machine | None) -> Rig:
    """Of the layers the last is judged: a step that copies another than its own shows nothing there."""
    made, forward, last = _Made(engine, connector, stored=False), torch.cuda.Stream(), LAYERS - 1
    store_layer = made.engine.store_layer

    def steps_before(*, forward_pass: bool) -> None:
        made.begin(store_layer)
        with torch.cuda.stream(forward):
            for layer in range(last):
                if forward_pass:
                    fill(made.paged[layer])
                torch.cuda.synchronize()
                made.advance(1)
        torch.cuda.synchronize()

    def start(_: Sequence[torch.Tensor], __: int) -> int:
        steps_before(forward_pass=True)
        with torch.cuda.stream(forward):
            fill(made.paged[last])
        return 0

    def begin() -> None:
        if not made.begun:
            steps_before(forward_pass=False)

    def store() -> None:
        with torch.cuda.stream(forward):  # it is called where the forward pass was launched
            made.advance(1)
        made.end()

    made.engine.store_layer, made.engine.begin_step = store, begin
    return made.rig(forward, start, layers=1, begins=("begin_step",))


def _copy_layer(memory: torch.Tensor, *given: Any, **_: Any) -> None:
    """Copy between a memory object and the keys and values of a layer, which come in one tensor or in two."""
    *paged, slots = [one for one in given if isinstance(one, torch.Tensor)]
    to_memory = next(one for one in given if isinstance(one, bool))
    for side, half in enumerate(paged if len(paged) == 2 else paged[0]):
        if to_memory:
            memory[:, side].copy_(half[slots], non_blocking=True)
        else:
            half[slots] = memory[:, side]


# ---------------------------------------------------------------- what is made up


class _Key:
    chunk_hash = 0

    def split_layers(self, layers: int) -> list[_Key]:
        return [self] * layers


class _MemoryObject(Stub):
    def __init__(self, *, device: str = "cpu", pinned: bool = False):
        super().__init__("memory object")
        self.tensor = torch.ones(SHAPE, device=device, pin_memory=pinned)
        self.metadata = SimpleNamespace(fmt=import_module("lmcache.v1.memory_management").MemoryFormat.KV_T2D)


class _Storage(Stub):
    """Hands out the same memory object of each layer."""

    def __init__(self, objects: Sequence[_MemoryObject], *, holds: bool):
        super().__init__("storage")
        self._objects, self._holds = objects, holds

    def contains(self, *_: Any) -> str | None:
        return "memory" if self._holds else None

    def batched_allocate(self, *_: Any, **__: Any) -> list[_MemoryObject]:
        return list(self._objects)

    def layerwise_batched_get(self, *_: Any, **__: Any) -> Iterator[_Found]:
        for one in self._objects:
            yield _Found([SimpleNamespace(result=partial(_itself, one))])


class _Found(list[Any]):
    """What is found of a layer: one future of all, or one of each."""

    def result(self) -> list[_MemoryObject]:
        return [one.result() for one in self]


def _itself(one: _MemoryObject) -> _MemoryObject:
    return one


def _made_up() -> Mapping[str, Any]:
    config: Any = Stub("config")
    config.use_layerwise = config.py_enable_gc = True
    metadata = SimpleNamespace(kv_shape=(LAYERS, 2, TOKENS, 1, WIDTH), kv_dtype=torch.float32, use_mla=False)
    metadata.role, metadata.worker_id, metadata.world_size = "worker", 0, 1
    tokens = SimpleNamespace(process_tokens=lambda *_, **__: iter([(0, TOKENS, _Key())]))
    others = dict.fromkeys(("memory_allocator", "broadcast_fn", "broadcast_object_fn"))
    return {"config": config, "metadata": metadata, "token_database": tokens, **others}
