"""vLLM, from 0.23: offloading workers, by what they do. The other direction: the forward pass writes blocks, and the
worker stores them to the host; what has to be ordered is the store behind the forward pass.

A worker takes ``register_kv_caches`` and has a backend that copies blocks in a thread; its queue is worked off where it
is filled, which orders no less. The batched copy of the driver is replaced by copies in PyTorch on the same stream.
"""

from __future__ import annotations

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
from cuda_probe.comparing import raw_bytes
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.recipe import Build, NotApplicable, Rig, Wanted

BLOCKS, BYTES = 8, 64
STORED = [1, 2, 5]
CONFIG = SimpleNamespace(num_blocks=BLOCKS)
OFFLOAD = "vllm.v1.simple_kv_offload"
FOCUS = tuple(f"{OFFLOAD}.{name}" for name in ("worker", "copy_backend", "metadata"))
VALUES: Mapping[str, Any] = {"vllm_config": None, "kv_cache_config": CONFIG, "cpu_capacity_bytes": BLOCKS * BYTES}


class VLLM:
    """Needs stubs for all but the workers."""

    package = "vllm"
    available = True
    pools = ("vllm/v1/simple_kv_offload/worker.py",)
    layered: frozenset[str] = frozenset()

    def importer(self, tree: Path, modules: Iterable[str] = (), *, gpu: bool = False) -> TreeImporter:
        """Execute the worker and its backend."""
        return TreeImporter(tree, "vllm", (*FOCUS, *modules))

    def prepare(self) -> None:
        """Put copies in PyTorch in the place of the driver's, on the stream that the backend asks for."""
        backend: ModuleType = import_module(f"{OFFLOAD}.copy_backend")
        backend.build_params = _parameters  # type: ignore[attr-defined]
        backend.copy_blocks = _copy_blocks  # type: ignore[attr-defined]

    def builds(self, wanted: Wanted) -> Iterator[tuple[str, Build]]:
        """Return the worker after a step in which blocks are to be stored."""
        if hasattr(wanted.class_, "register_kv_caches"):
            yield f"{wanted.class_.__name__} that stores", partial(self._build, wanted.class_)

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments by name."""
        return {"finished_req_ids": set()}

    def _build(self, class_: type, machine: Machine | None) -> Rig:
        worker: Any = Arguments(VALUES, self.package).build(class_)
        backend = import_module(f"{OFFLOAD}.copy_backend")
        with patch.object(backend.threading, "Thread"):
            worker.register_kv_caches({"layer": torch.zeros((BLOCKS, BYTES), dtype=torch.int8, device="cuda")})
        if not hasattr(worker, "_backend"):
            raise NotApplicable(f"{class_.__name__} has no backend that copies")
        copies = worker._backend
        copies._queue = _WorkedOff(
            partial(copies._copy_loop, device=worker.device, load_stream=None, store_stream=worker.store_stream)
        )
        metadata = import_module(f"{OFFLOAD}.metadata").SimpleCPUOffloadMetadata
        worker.bind_connector_metadata(
            metadata(store_event=0, store_gpu_blocks=STORED, store_cpu_blocks=list(range(len(STORED))))
        )
        forward = torch.cuda.Stream()
        finished = worker.get_finished

        def get_finished(finished_req_ids: set[str]) -> Any:
            with torch.cuda.stream(forward):  # it is called where the forward pass was launched
                return finished(finished_req_ids)

        def start_forward(buffers: Sequence[torch.Tensor], _: int) -> int:
            with torch.cuda.stream(forward):
                for buffer in buffers:
                    raw = raw_bytes(buffer)
                    raw.copy_((torch.arange(raw.numel()) * 37 % 200 + 1).to(torch.uint8), non_blocking=True)
            return 0

        worker.get_finished = get_finished
        counter = SimpleNamespace(set_consumer=lambda index: None)
        fidelity = Fidelity("real-init", "real", "real-controller", "reference")
        return Rig(worker, 1, counter, forward, fidelity, start_forward)


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
