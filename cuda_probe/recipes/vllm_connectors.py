"""vLLM's connector for MoRI-IO: it posts reads of another machine's memory, and attention has to come after those of
its layer.

Connector and worker are built as they are, from a configuration that is made up; the network is a stream that copies.
Its completions are what the worker asks for, and asking lets the host wait: a poll that goes on until it is told yes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import torch

from cuda_probe.comparing import fill
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading.stubs import Stub
from cuda_probe.recipe import Rig

MORIIO = "vllm.distributed.kv_transfer.kv_connector.v1.moriio"
FOCUS = (f"{MORIIO}.moriio_common", f"{MORIIO}.moriio_connector", f"{MORIIO}.moriio_engine")
LAYERS, BYTES = 3, 64
NAMES = [f"layers.{number}" for number in range(LAYERS)]
REMOTE = "remote"
REQUEST: Mapping[str, Any] = {
    "local_block_ids": [1],
    "remote_block_ids": [1],
    "transfer_id": "transfer",
    "remote_host": "remote",
    "remote_handshake_port": 1,
    "remote_notify_port": 1,
    "remote_dp_rank": 0,
    "tp_size": 1,
}
REMOTE = "remote:1"
"""How the connector names where a request is read from."""


def prepare() -> None:
    """Answer what the connector asks of its configuration: it reads, as the only rank."""
    common: Any = import_module(f"{MORIIO}.moriio_common")
    common.get_moriio_mode = lambda *_: common.MoRIIOMode.READ
    common.MoRIIOConfig = _Config("config")
    engine: Any = import_module(f"{MORIIO}.moriio_engine")
    engine.StatusCode = None  # of a library that is not there: completions are polled, as without it
    parallel: Any = import_module("vllm.distributed.parallel_state")
    parallel.get_tensor_model_parallel_world_size = lambda: 1


def connects(class_: type, machine: Machine | None) -> Rig:
    """Build a connector that reads all layers of a request."""
    role = import_module("vllm.distributed.kv_transfer.kv_connector.v1.base").KVConnectorRole.WORKER
    config: Any = Stub("vllm_config")
    connector: Any = class_(config, role, Stub("kv_cache_config"))
    worker = connector.connector_worker
    caches = {name: torch.zeros(BYTES, dtype=torch.uint8, device="cuda") for name in NAMES}
    sources = {name: torch.zeros(BYTES, dtype=torch.uint8, pin_memory=True) for name in NAMES}
    for source in sources.values():
        fill(source)
    network, waits = torch.cuda.Stream(), False

    worker.kv_caches = caches
    worker.layer_name_to_local_kv_cache_metadata = {name: [b""] for name in NAMES}
    worker.moriio_wrapper.local_memory_registered = True
    worker._eager_handshaked_engines.add(REMOTE)
    remote = worker.get_engine_name_with_dp(REMOTE, 0)
    worker.built_write_session[remote] = [_Session(network, caches[name], sources[name]) for name in NAMES]
    worker.remote_moriio_metadata[remote] = Stub("metadata")

    request = {**REQUEST}
    if hasattr(worker, "layer_to_group"):  # from 0.33.0 on: blocks come by groups of layers
        worker.layer_to_group = dict.fromkeys(NAMES, 0)
        worker._compute_read_attention_offsets = lambda *_: ([0], [0], [BYTES])
        request |= {"local_block_ids": [[1]], "remote_block_ids": [[1]]}

    def start_load(_: Sequence[torch.Tensor], __: int) -> int:
        worker._recving_transfers.clear()
        requests = {"request": SimpleNamespace(**request)}
        worker.start_load_kv(SimpleNamespace(reqs_to_recv=requests, reqs_to_send={}, transfer_id_to_request_id={}))
        return 0

    def set_consumer(index: int) -> None:
        nonlocal waits
        waits = index >= 0

    wait = connector.wait_for_layer_load

    def wait_for_layer_load(layer: int) -> torch.Tensor:
        if waits:
            wait(NAMES[layer])
        return caches[NAMES[layer]]

    connector.wait_for_layer_load = wait_for_layer_load
    counter = SimpleNamespace(set_consumer=set_consumer, wait_until=lambda layer: wait(NAMES[layer]))
    fidelity = Fidelity("real-init", "real", "real-controller", "reference")
    return Rig(caches, LAYERS, counter, network, fidelity, start_load, holder=connector)


class _Config(Stub):
    read_mode, tp_rank, dp_rank, transfer_timeout = True, 0, 0, 5.0

    def from_vllm_config(self, _: Any) -> _Config:
        return self


class _Session(Stub):
    """Reads one layer over the network."""

    def __init__(self, network: Any, target: torch.Tensor, source: torch.Tensor):
        super().__init__("session")
        self._network, self._target, self._source = network, target, source

    def batch_read(self, *_: Any) -> _Status:
        done = torch.cuda.Event()
        with torch.cuda.stream(self._network):
            self._target.copy_(self._source, non_blocking=True)
            done.record()
        return _Status(done)


class _Status(Stub):
    """Of a read that has been posted."""

    def __init__(self, done: Any):
        super().__init__("status")
        self._done = done

    def Succeeded(self) -> bool:
        self._done.synchronize()
        return True

    def Failed(self) -> bool:
        return False
