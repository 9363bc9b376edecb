"""vLLM, from 0.23: offloading workers, by what they do. A worker that stores: the forward pass writes blocks, and what
has to be ordered is the store behind it. One that loads: blocks are read once the worker has waited for its transfers.

A worker takes ``register_kv_caches`` and has a backend that copies blocks in a thread; its queue is worked off where it
is filled, which orders no less. The batched copy of the driver is replaced by copies in PyTorch on the same stream.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch

from cuda_probe.arguments import Arguments
from cuda_probe.comparing import fill
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.recipe import Build, NotApplicable, Rig, Wanted
from cuda_probe.recipes import vllm_connectors

BLOCKS, BYTES = 8, 64
STORED = [1, 2, 5]
PLACED = SimpleNamespace(layers=["layer"], block_stride=BYTES, layer_stride=BLOCKS * BYTES, offset=0)
CONFIG = SimpleNamespace(num_blocks=BLOCKS, kv_cache_tensors=[PLACED])
OFFLOAD = "vllm.v1.simple_kv_offload"
FOCUS = tuple(f"{OFFLOAD}.{name}" for name in ("worker", "copy_backend", "metadata"))
VALUES: Mapping[str, Any] = {"vllm_config": None, "kv_cache_config": CONFIG, "cpu_capacity_bytes": BLOCKS * BYTES}


class VLLM:
    """Needs stubs for all but the workers."""

    package = "vllm"
    available = True
    pools = ("vllm/v1/simple_kv_offload/worker.py",)
    layered: frozenset[str] = frozenset()

    def importer(self, tree: Path, modules: Iterable[str] = (), *, kernels: bool = False) -> TreeImporter:
        """Execute the worker and its backend."""
        return TreeImporter(tree, "vllm", (*FOCUS, *vllm_connectors.FOCUS, *modules))

    def prepare(self) -> None:
        """Put copies in PyTorch in the place of the driver's, on the stream that the backend asks for."""
        backend: ModuleType = import_module(f"{OFFLOAD}.copy_backend")
        backend.build_params = _parameters  # type: ignore[attr-defined]
        backend.copy_blocks = _copy_blocks  # type: ignore[attr-defined]
        vllm_connectors.prepare()

    def builds(self, wanted: Wanted) -> Iterator[tuple[str, Build]]:
        """Return the worker in a step in which blocks are to be stored, then in one in which they are loaded."""
        if hasattr(wanted.class_, "wait_for_layer_load"):
            yield f"{wanted.class_.__name__} that reads", partial(vllm_connectors.connects, wanted.class_)
        elif hasattr(wanted.class_, "register_kv_caches"):
            yield f"{wanted.class_.__name__} that stores", partial(self._stores, wanted.class_)
            yield f"{wanted.class_.__name__} that loads", partial(self._loads, wanted.class_)

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments by name."""
        return {"finished_req_ids": set(), "layer": layer}

    def _worker(self, class_: type) -> Any:
        """Build a worker with its backend, whose queue is worked off where it is filled."""
        worker: Any = Arguments(VALUES, self.package).build(class_, {"num_cpu_blocks": BLOCKS})
        backend = import_module(f"{OFFLOAD}.copy_backend")
        with patch.object(backend.threading, "Thread"):
            worker.register_kv_caches({"layer": torch.zeros((BLOCKS, BYTES), dtype=torch.int8, device="cuda")})
        if not hasattr(worker, "_backend"):
            raise NotApplicable(f"{class_.__name__} has no backend that copies")
        streams = {name: getattr(worker, name, None) for name in ("load_stream", "store_stream")}
        copies = worker._backend
        copies._queue = _WorkedOff(partial(copies._copy_loop, device=worker.device, **streams))
        return worker

    def _step(self, worker: Any, **blocks: Any) -> None:
        metadata = import_module(f"{OFFLOAD}.metadata").SimpleCPUOffloadMetadata
        worker.bind_connector_metadata(metadata(**blocks))

    def _stores(self, class_: type, machine: Machine | None) -> Rig:
        worker, forward = self._worker(class_), torch.cuda.Stream()
        self._step(worker, store_event=0, store_gpu_blocks=STORED, store_cpu_blocks=list(range(len(STORED))))

        def start_forward(buffers: Sequence[torch.Tensor], _: int) -> int:
            with torch.cuda.stream(forward):
                for buffer in buffers:
                    fill(buffer)
            return 0

        for name in ("get_finished", "wait_for_save"):  # called where the forward pass was launched
            if hasattr(worker, name):
                setattr(worker, name, _called_on(forward, getattr(worker, name)))
        return _rig(worker, worker, forward, start_forward)

    def _loads(self, class_: type, machine: Machine | None) -> Rig:
        """The whole of the step launches the load: in some versions its beginning, in others its end. No request is
        told of it: the host would poll."""
        worker = self._worker(class_)
        begin, finish, blocks = worker.start_load_kv, worker.get_finished, worker.gpu_kv_caches
        for host in worker.cpu_kv_caches.values():
            fill(host)

        def start_load(_: Sequence[torch.Tensor], __: int) -> int:
            self._step(worker, load_gpu_blocks=STORED, load_cpu_blocks=list(range(len(STORED))))
            begin()
            finish(set())
            return 0

        def start_load_kv() -> list[torch.Tensor]:
            worker._flush_and_sync_all()
            return list(blocks.values())

        worker.start_load_kv = start_load_kv
        return _rig(blocks, worker, worker.load_stream, start_load)


def _rig(pool: Any, worker: Any, stream: Any, start: Callable[[Sequence[torch.Tensor], int], int]) -> Rig:
    counter = SimpleNamespace(set_consumer=lambda index: None)
    fidelity = Fidelity("real-init", "real", "real-controller", "reference")
    return Rig(pool, 1, counter, stream, fidelity, start, holder=worker)


def _called_on(stream: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        with torch.cuda.stream(stream):
            return method(*args, **kwargs)

    return called


class _WorkedOff:
    """A queue whose items are worked off as they come, by the loop of the thread that would."""

    def __init__(self, loop: Callable[..., None]):
        self._loop = loop

    def put(self, item: Any) -> None:
        items = deque([item, None])
        self._loop(SimpleNamespace(get=items.popleft))


def _parameters(
    sources: Mapping[str, torch.Tensor], targets: Mapping[str, torch.Tensor], stream: Any, **_: Any
) -> tuple[list[tuple[torch.Tensor, torch.Tensor]], Any]:
    return [(sources[name], targets[name]) for name in sources], stream


def _copy_blocks(source_blocks: Sequence[int], target_blocks: Sequence[int], parameters: Any) -> None:
    pairs, stream = parameters
    with torch.cuda.stream(stream):
        for source, target in pairs:
            for of, to in zip(source_blocks, target_blocks, strict=True):
                target[to].copy_(source[of], non_blocking=True)
