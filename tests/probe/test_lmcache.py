"""The recipe for LMCache, on a tree of ours in which the same things have the same names; the releases are in the table
of ``tests.probed_releases``."""

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.plan import Experiment, Plan
from cuda_probe.running import run_plan

ENGINE = """
    import torch
    from lmcache.utils import CacheEngineKey, StatsLogger
    from lmcache.v1.config import LMCacheEngineConfig

    class LMCacheEngine:
        def __init__(self, config: LMCacheEngineConfig, metadata, token_database, gpu_connector, broadcast_fn):
            assert config.use_layerwise and not config.enable_blending
            self.gpu_connector, self.layers, self.tokens = gpu_connector, metadata.kv_shape[0], token_database
            self.storage_manager = None

        @torch.inference_mode()
        def retrieve_layer(self, tokens, mask=None, **options):
            ((start, end, key),) = self.tokens.process_tokens(tokens=tokens)
            assert isinstance(key, CacheEngineKey) and self.storage_manager.contains(key.split_layers(self.layers)[0])
            found = self.storage_manager.layerwise_batched_get([[key]] * self.layers)
            consumer = self.gpu_connector.batched_to_gpu([start], [end], **options)
            next(consumer)
            for _ in range(self.layers):
                task = next(found)
                yield
                consumer.send(task.result())
            yield
            next(consumer)
            yield

        @torch.inference_mode()
        def store_layer(self, tokens, mask=None, **options):
            assert not self.storage_manager.contains(None)
            objects = [[one] for one in self.storage_manager.batched_allocate(None, None)]
            steps = self.gpu_connector.batched_from_gpu(objects, [0], [len(tokens)], **options)
            for _ in range({early}): next(steps)
            for layer in range(self.layers):
                next(steps, None)
                yield
"""

CONNECTOR = """
    import torch
    import lmcache.c_ops as lmc_ops

    class VLLMPagedMemLayerwiseGPUConnector:
        def __init__(self, hidden_dim_size, num_layers, use_gpu=False, **kwargs):
            self.num_layers, self.load_stream, self.store_stream = num_layers, torch.cuda.Stream(), torch.cuda.Stream()

        def batched_to_gpu(self, starts, ends, kvcaches, slot_mapping, sync):
            current = torch.cuda.current_stream()
            staged = self.gpu_buffer_allocator.allocate(None)
            for layer in range(self.num_layers):
                (memory,) = yield
                if {waits}: current.wait_stream(self.load_stream)
                with torch.cuda.stream(self.load_stream):
                    staged.tensor.copy_(memory.tensor, non_blocking=True)
                    keys, values = kvcaches[layer]
                    lmc_ops.single_layer_kv_transfer(staged.tensor, keys, values, slot_mapping, False, True)
            yield
            if {waits}: current.wait_stream(self.load_stream)
            yield

        def batched_from_gpu(self, objects, starts, ends, kvcaches, slot_mapping, sync):
            current = torch.cuda.current_stream()
            for layer, (memory,) in enumerate(objects):
                with torch.cuda.stream(self.store_stream):
                    if {waits}: self.store_stream.wait_stream(current)
                    lmc_ops.single_layer_kv_transfer(memory.tensor, kvcaches[layer], slot_mapping, True, x=1)
                yield
"""


def labels(folder: Path, *claims: str, waits: bool = True, early: int = 0) -> list[str]:
    v1 = folder / "lmcache/v1"
    v1.mkdir(parents=True)
    (v1 / "cache_engine.py").write_text(textwrap.dedent(ENGINE.format(early=early)))
    (v1 / "gpu_connector.py").write_text(textwrap.dedent(CONNECTOR.format(waits=waits)))
    experiments = []
    for claim in claims:
        method, _, scenario = claim.partition("/")
        module = "lmcache.v1.cache_engine"
        experiments.append(
            Experiment(claim, "gated", None, (), module, "LMCacheEngine", method, (), None, scenario or "base")
        )
    records = run_plan(Plan("lmcache", "1", tuple(experiments)), folder, schedules=("latest", "earliest"))
    return [record.to_json()["label"] for record in records]


def test_a_step_that_waits_orders_the_read_of_its_layer(tmp_path):
    """Not on the replay of a graph, in which no generator is advanced."""
    claims = ("retrieve_layer", "retrieve_layer/captured", "retrieve_layer/captured-waited", "store_layer")
    assert labels(tmp_path, *claims) == ["ordered on sim", "confirmed on sim", "ordered on sim", "ordered on sim"]


def test_a_step_that_does_not_wait_is_confirmed(tmp_path):
    """In both directions."""
    assert labels(tmp_path, "retrieve_layer", "store_layer", waits=False) == ["confirmed on sim"] * 2


def test_a_store_that_is_a_layer_ahead_is_not_ordered(tmp_path):
    """It copies the next layer while the forward pass is at this one."""
    (label,) = labels(tmp_path, "store_layer", early=1)
    assert not label.startswith("ordered")
