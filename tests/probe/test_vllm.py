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
            self.gpu_kv_caches, self.device = kv_caches, next(iter(kv_caches.values())).device
            self.cpu_kv_caches = {{name: torch.zeros_like(one, device="cpu") for name, one in kv_caches.items()}}
            low, _ = torch.cuda.Stream.priority_range()
            self.store_stream, self.load_stream = torch.cuda.Stream(priority=low), torch.cuda.Stream(priority=low)
            self._backend.init(self.gpu_kv_caches, self.cpu_kv_caches, self.load_stream, self.store_stream)
        def bind_connector_metadata(self, metadata): self._metadata = metadata
        def start_load_kv(self):
            blocks = self._metadata.load_cpu_blocks, self._metadata.load_gpu_blocks
            if self.fenced:
                self.load_stream.wait_stream(torch.cuda.current_stream())
            self._backend.launch_copy(*blocks, None, is_store=False)
        def _flush_and_sync_all(self): self.load_stream.synchronize()
        def get_finished(self, finished_req_ids):
            event = torch.Event()
            if self.fenced:
                event.record(torch.cuda.current_stream())
            blocks = self._metadata.store_gpu_blocks, self._metadata.store_cpu_blocks
            if any(blocks):
                self._backend.launch_copy(*blocks, event if self.fenced else None, is_store=True)
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
        def init(self, gpu, cpu, load_stream, store_stream):
            self.params = {True: build_params(gpu, cpu, store_stream), False: build_params(cpu, gpu, load_stream)}
            self._queue = queue.SimpleQueue()
            threading.Thread(target=self._copy_loop, args=(self._queue, None, load_stream, store_stream)).start()
        def launch_copy(self, *item, is_store): self._queue.put((*item, self.params[is_store]))
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
        load_gpu_blocks: list = field(default_factory=list)
        load_cpu_blocks: list = field(default_factory=list)
"""

CONNECTOR = """
    from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, SupportsHMA
    from vllm.distributed.kv_transfer.kv_connector.v1.moriio.moriio_common import (
        MoRIIOConfig, MoRIIOMode, get_moriio_mode,
    )
    from vllm.distributed.parallel_state import get_tensor_model_parallel_world_size

    class Worker:
        def __init__(self, vllm_config):
            assert get_tensor_model_parallel_world_size() == 1
            self.moriio_wrapper, self._recving_transfers = type("Wrapper", (), {{}})(), {{}}
            self.built_write_session, self.remote_moriio_metadata = {{}}, {{}}
            self.config, self._eager_handshaked_engines = MoRIIOConfig.from_vllm_config(vllm_config), set()
        def get_engine_name_with_dp(self, engine, rank): return f"{{engine}}_{{rank}}"
        def start_load_kv(self, metadata):
            for name, meta in metadata.reqs_to_recv.items():
                engine = f"{{meta.remote_host}}:{{meta.remote_handshake_port}}"
                assert engine in self._eager_handshaked_engines and self.moriio_wrapper.local_memory_registered
                sessions = self.built_write_session[self.get_engine_name_with_dp(engine, meta.remote_dp_rank)]
                layers = self.layer_name_to_local_kv_cache_metadata
                self._recving_transfers[name] = {{
                    layer: session.batch_read([0], [0], [1], 1) for layer, session in zip(layers, sessions)
                }}
        def wait_for_layer_load(self, layer_name):
            for reads in self._recving_transfers.values():
                while not reads[layer_name].Succeeded(): pass

    class Connector(KVConnectorBase_V1, SupportsHMA):
        def __init__(self, vllm_config, role, kv_cache_config):
            assert get_moriio_mode(vllm_config) == MoRIIOMode.READ
            self.connector_worker = Worker(vllm_config)
        def wait_for_layer_load(self, layer_name):
            if {waits}: self.connector_worker.wait_for_layer_load(layer_name)
"""
MORIIO = "vllm.distributed.kv_transfer.kv_connector.v1.moriio"


def labels(folder: Path, *names: str, fenced: bool) -> list[str]:
    offload = folder / "vllm/v1/simple_kv_offload"
    offload.mkdir(parents=True)
    texts = {"worker": WORKER.format(fenced=fenced), "copy_backend": BACKEND, "metadata": METADATA}
    for module, text in texts.items():
        (offload / f"{module}.py").write_text(textwrap.dedent(text))
    module = "vllm.v1.simple_kv_offload.worker"
    ways = [(name, *name.partition("/")[0].split("."), name.partition("/")[2] or "base") for name in names]
    experiments = [Experiment(name, "ungated", None, (), module, c, m, (), None, how) for name, c, m, how in ways]
    plan = Plan("vllm", "1", tuple(experiments))
    return labelled(plan, folder)


def labelled(plan: Plan, folder: Path) -> list[str]:
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


def test_a_load_that_overtakes_a_forward_pass_is_confirmed(tmp_path):
    """It writes blocks that are still read; what is started when the forward pass is over does not, and the request
    itself reads behind a wait for its transfers."""
    claims = (
        "Worker.start_load_kv/load-over-read",
        "Worker.start_load_kv/load-over-read-fenced",
        "Worker.start_load_kv",
    )
    assert labels(tmp_path, *claims, fenced=False) == ["confirmed on sim", "ordered on sim", "ordered on sim"]


@pytest.mark.parametrize(("waits", "label"), [(False, "confirmed on sim"), (True, "ordered on sim")])
def test_a_connector_that_reads_over_the_network_has_to_wait(tmp_path, waits, label):
    """Where it waits for its layer the read is ordered, but for the replay of a graph."""
    folder = tmp_path / MORIIO.replace(".", "/")
    folder.mkdir(parents=True)
    (folder / "moriio_connector.py").write_text(textwrap.dedent(CONNECTOR.format(waits=waits)))
    module = f"{MORIIO}.moriio_connector"
    experiments = tuple(
        Experiment(how, "ungated", None, (), module, "Connector", "wait_for_layer_load", (), None, how)
        for how in ("base", "captured")
    )
    assert labelled(Plan("vllm", "1", experiments), tmp_path) == [label, "confirmed on sim"]
