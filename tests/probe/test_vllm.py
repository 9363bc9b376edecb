"""The recipe for vLLM's offloading workers, on a tree of ours in which the same things have the same names; the
releases are in the table of ``tests.probed_releases``."""

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.plan import Experiment, Plan
from cuda_probe.running import run_plan

WORKER = """
    import torch
    from vllm.config import VllmConfig
    from vllm.v1.simple_kv_offload.copy_backend import DmaCopyBackend

    class Worker:
        def __init__(self, vllm_config: VllmConfig, kv_cache_config, cpu_capacity_bytes: int):
            self._backend, self._metadata, self._done, self.fenced = DmaCopyBackend(), None, None, {fenced}
        def register_kv_caches(self, kv_caches):
            self.gpu, self.device = kv_caches, next(iter(kv_caches.values())).device
            self.cpu = {{name: torch.zeros_like(one, device="cpu") for name, one in kv_caches.items()}}
            low, _ = torch.cuda.Stream.priority_range()
            self.store_stream = torch.cuda.Stream(priority=low)
            self._backend.init(self.gpu, self.cpu, self.store_stream)
        def bind_connector_metadata(self, metadata): self._metadata = metadata
        def get_finished(self, finished_req_ids):
            event = torch.Event()
            if self.fenced:
                event.record(torch.cuda.current_stream())
            blocks = self._metadata.store_gpu_blocks, self._metadata.store_cpu_blocks
            self._backend.launch_copy(*blocks, event if self.fenced else None)
            return None, None
        def get_nothing(self, finished_req_ids): return None

    class Other:
        def get_finished(self, finished_req_ids): ...
"""

BACKEND = """
    import queue
    import threading
    from vllm.v1.simple_kv_offload.cuda_mem_ops import build_params, copy_blocks

    class DmaCopyBackend:
        def init(self, gpu, cpu, store_stream):
            self.params, self._queue = build_params(gpu, cpu, store_stream), queue.SimpleQueue()
            threading.Thread(target=self._copy_loop, args=(self._queue, None, None, store_stream)).start()
        def launch_copy(self, *item): self._queue.put((*item, self.params))
        @staticmethod
        def _copy_loop(q, device, load_stream, store_stream):
            while (item := q.get()) is not None:
                sources, targets, event, params = item
                if event is not None:
                    store_stream.wait_event(event)
                copy_blocks(sources, targets, params)
"""

METADATA = """
    from dataclasses import dataclass, field
    from vllm.distributed.base import KVConnectorMetadata

    @dataclass
    class SimpleCPUOffloadMetadata(KVConnectorMetadata):
        store_event: int = -1
        store_gpu_blocks: list = field(default_factory=list)
        store_cpu_blocks: list = field(default_factory=list)
"""


def labels(folder: Path, *names: str, fenced: bool) -> list[str]:
    offload = folder / "vllm/v1/simple_kv_offload"
    offload.mkdir(parents=True)
    texts = {"worker": WORKER.format(fenced=fenced), "copy_backend": BACKEND, "metadata": METADATA}
    for module, text in texts.items():
        (offload / f"{module}.py").write_text(textwrap.dedent(text))
    module = "vllm.v1.simple_kv_offload.worker"
    ways = [(name, *name.split(".")) for name in names]
    experiments = [Experiment(name, "ungated", None, (), module, c, m, (), None, "base") for name, c, m in ways]
    plan = Plan("vllm", "1", tuple(experiments))
    records = run_plan(plan, folder, schedules=("latest", "earliest"))
    return [record.to_json()["label"] for record in records]


def test_a_store_that_does_not_wait_for_the_forward_pass_is_confirmed(tmp_path):
    """What it leaves on the host are blocks that the forward pass had not written."""
    assert labels(tmp_path, "Worker.get_finished", fenced=False) == ["confirmed on sim"]


def test_a_store_behind_an_event_of_the_forward_pass_is_ordered(tmp_path):
    """And what shows nothing says so: a method that stores nothing, a class that is no worker."""
    told = labels(tmp_path, "Worker.get_finished", "Worker.get_nothing", "Other.get_finished", fenced=True)
    assert told[0] == "ordered on sim"
    assert told[1].startswith("inconclusive: get_nothing hands out no tensor")
    assert told[2] == "could not run: the recipe builds no Other"
