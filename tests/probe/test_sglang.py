"""The recipe for SGLang, on a tree of ours in which the same things have the same names; the releases themselves are
corpus tests."""

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.plan import Experiment, Plan
from cuda_probe.running import run_plan

CONTROLLER = """
    import torch

    class LayerLoadingEvent:
        def __init__(self, num_layers):
            self.load_events = [torch.cpu.Event() for _ in range(num_layers)]
            self.start_event = torch.cpu.Event()
        def complete(self, layer): self.load_events[layer].record()
        def wait(self, layer): torch.cpu.current_stream().wait_event(self.load_events[layer])

    class LayerDoneCounter:
        def __init__(self, num_layers):
            self.num_counters, self.producer_index, self.consumer_index = 3, -1, -1
            self.events = [LayerLoadingEvent(num_layers) for _ in range(3)]
        def update_producer(self):
            self.producer_index = (self.producer_index + 1) % 3
            return self.producer_index
        def set_consumer(self, index): self.consumer_index = index
        def wait_until(self, layer):
            if self.consumer_index >= 0: self.events[self.consumer_index].wait(layer)
"""

POOLS = """
    import torch
    import triton
    import sgl_kernel
    from sglang.srt.layers.linear import anything
    from sglang.srt.runtime_context import get_parallel

    @triton.jit
    def _gather(buffer, rows, out): ...

    class Spec(sgl_kernel.Struct):
        page_size: int
        size: int

    class Inner:
        def __init__(self, pool): self.pool = pool
        def get_by_options(self, layer_id, rows_only: bool, loc): return self.pool.k_buffer[layer_id][loc]

    class MHATokenToKVPool:
        def __init__(self, size, page_size, dtype, head_num, head_dim, layer_num, device, enable_memory_saver, bias=0):
            assert get_parallel().tp_size == 1 and get_parallel().tp_rank == 0 and not get_parallel().overlap
            shape = (size + page_size, head_num, head_dim)
            self.layer_num, self.start_layer, self.layer_transfer_counter = layer_num, 0, None
            self.k_buffer = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(layer_num)]
            self.scratch, self.inner = torch.zeros(shape, dtype=dtype, device=device), Inner(self)
        def register_layer_transfer_counter(self, counter): self.layer_transfer_counter = counter
        def wait(self, layer_id):
            if self.layer_transfer_counter is not None: self.layer_transfer_counter.wait_until(layer_id)
        def get_key_buffer(self, layer_id):
            self.wait(layer_id)
            return self.k_buffer[layer_id]
        def get_raw(self, layer_id): return self.k_buffer[layer_id]
        def get_rows_by_kernel(self, layer, loc, gated=False):
            if gated: self.wait(layer.layer_id)
            out = torch.empty(4, device=loc.device)
            _gather[(1,)](self.k_buffer[layer.layer_id], loc, out)
            return out
        def get_rows_by_call(self, layer_id, loc):
            return sgl_kernel.gather(self.k_buffer[layer_id], loc)
        def get_shape(self): return self.k_buffer[0].shape
        def get_first(self): return self.k_buffer[0]
        def get_ordered_shape(self): return self.get_key_buffer(2).shape
        def get_every(self): return self.k_buffer
        def prefetch(self, layer_id): self.scratch.copy_(self.k_buffer[layer_id])
        def get_by_options(self, layer_id, *args, **kwargs):
            return self.inner.get_by_options(layer_id, *args, **kwargs)
        def get_kernel_of_copy(self, layer_id, loc):
            self.wait(layer_id)
            out = torch.empty(4, device=loc.device)
            _gather[(1,)](self.k_buffer[layer_id] + 1, loc, out)
            return out
        def get_stored(self, layer_id):
            self.scratch[0] = sgl_kernel.dequantize(self.k_buffer[layer_id])
            return self.scratch
        def get_unknown(self, layer_id, mystery): ...
        def get_broken(self, layer_id): raise NotImplementedError("not for this pool")

    class SpecPool(MHATokenToKVPool):
        def __init__(self, *args, spec: Spec, group: "GroupCoordinator", **kwargs):
            assert (spec.size, group.world_size) == (256, 2)
            super().__init__(*args, **kwargs)

    def init_pools(size, page_size, dtype, head_num, head_dim, layer_num, device, lazy: bool):
        assert not lazy
        return MadePool(size, page_size, dtype, head_num, head_dim, layer_num, device, False), None

    class MadePool(MHATokenToKVPool): ...

    class Slot:
        def __init__(self, shape): self.rows, self.batch = torch.zeros(shape, device="cuda"), 0

    class GatheringPool(MHATokenToKVPool):
        # gathers the first layer for a batch, on a stream of its own, once for each batch
        gated = True
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.stream, self.ready, self.batch = torch.cpu.Stream(), torch.cpu.Event(), 0
            self.slot = Slot(self.k_buffer[0].shape)
        def begin_shard_extend(self, prefix_lens_cpu):
            self.batch += 1
            if self.slot.batch == self.batch: return
            self.stream.wait_stream(torch.cpu.current_stream())
            with torch.cpu.stream(self.stream):
                if self.gated: self.wait(0)
                self.slot.rows.copy_(self.k_buffer[0])
                self.ready.record(self.stream)
            self.slot.batch = self.batch
        def get_gathered(self, layer_id):
            assert layer_id == 0 and self.batch, "no batch was begun"
            torch.cpu.current_stream().wait_event(self.ready)
            return self.slot.rows

    class HastyGatheringPool(GatheringPool):
        gated = False

    class SWAKVPool(MHATokenToKVPool):
        def __init__(self, *args, strange, **kwargs): super().__init__(*args, **kwargs)
        def get_swa(self, layer_id): return self.k_buffer[layer_id]
"""

FILES = {
    "sglang/__init__.py": "raise RuntimeError('outside of the focus')",
    "sglang/srt/managers/cache_controller.py": CONTROLLER,
    "sglang/srt/mem_cache/memory_pool.py": POOLS,
    "sglang/srt/mem_cache/broken.py": "class Pool: ...\nraise OSError('no driver')",
    "sglang/srt/runtime_context.py": "def get_parallel(): raise RuntimeError('no server is running')",
    "sglang/srt/layers/linear.py": "raise RuntimeError('outside of the focus')",
}

EXPECTED = {
    "memory_pool.MHATokenToKVPool.get_key_buffer": "ordered on sim",
    "memory_pool.MHATokenToKVPool.get_raw": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_rows_by_kernel": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_rows_by_call": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_shape": "inconclusive: get_shape asks for shapes only",
    "memory_pool.MHATokenToKVPool.get_ordered_shape": "ordered on sim",
    "memory_pool.MHATokenToKVPool.get_first": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_every": "inconclusive: get_every is told no layer, and its buffers are of the ",
    "memory_pool.MHATokenToKVPool.prefetch": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_by_options": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_kernel_of_copy": "ordered on sim",
    "memory_pool.MHATokenToKVPool.get_stored": "confirmed on sim",
    "memory_pool.SpecPool.get_key_buffer": "ordered on sim",
    "memory_pool.MadePool.get_key_buffer": "ordered on sim",
    "memory_pool.GatheringPool.get_key_buffer": "ordered on sim",
    "memory_pool.GatheringPool.get_gathered": "ordered on sim",
    "memory_pool.HastyGatheringPool.get_gathered": "confirmed on sim",
    "memory_pool.MHATokenToKVPool.get_unknown": "could not run: get_unknown of layer 3 fails: UnknownArgument",
    "memory_pool.MHATokenToKVPool.get_broken": "could not run: get_broken of layer 3 fails: NotImplementedError",
    "memory_pool.SWAKVPool.get_swa": "could not run: cannot build: UnknownArgument: no value for the ",
    "broken.Pool.get_key_buffer": "could not run: sglang.srt.mem_cache.broken has no class Pool: it is a stub",
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    tree: Path = tmp_path_factory.mktemp("tree")
    for name, text in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(textwrap.dedent(text))
    experiments = []
    for name in EXPECTED:
        module, class_, method = name.split(".")
        module = f"sglang.srt.mem_cache.{module}"
        experiments.append(Experiment(name, "gated", None, (), module, class_, method, (), None, "base"))
    made = run_plan(Plan("sglang", "1", tuple(experiments)), tree, schedules=("latest", "earliest"))
    return {record.experiment["id"]: record.to_json() for record in made}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_pool_is_built_and_judged_or_the_reason_is_told(records, name):
    """By the names of parameters, with one server rank that is made up, through kernels that cannot run here."""
    assert records[name]["label"].startswith(EXPECTED[name])


def test_stubs_are_listed_with_the_evidence(records):
    """What was not executed is part of what was real."""
    fidelity = records["memory_pool.MHATokenToKVPool.get_raw"]["fidelity"]
    stubs = set(fidelity["stubs"])
    assert {"triton", "sgl_kernel", "sglang.srt.layers.linear", "sglang.srt.mem_cache.broken"} <= stubs
    assert (fidelity["loader"], fidelity["kernels"], fidelity["counter"]) == ("generic-copy", "opaque-stub", "real")


def test_the_path_of_an_order_goes_through_the_counter_of_the_engine(records):
    """The signal of the load, the wait of the gate."""
    chain = records["memory_pool.MHATokenToKVPool.get_key_buffer"]["path"]
    assert [one["kind"] for one in chain] == ["copy", "record", "wait", "kernel"]
    assert chain[2]["site"][0].startswith("sglang/srt/managers/cache_controller.py:")
