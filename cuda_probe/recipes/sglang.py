"""SGLang 0.5.10 to 0.5.23: its pools and its counter are built as they are; its loader is replaced by copies in the
same order.

Kernels that need Triton or sgl_kernel are opaque: they count as reads of the buffers that they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from cuda_probe.comparing import raw_bytes
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.loading.stubs import StubModule
from cuda_probe.objects import construct
from cuda_probe.recipe import Build, NotApplicable, Rig
from cuda_probe.recipes.sglang_loader import make_controller

LAYERS, PAGE, ROWS = 4, 64, 256
LAYERED = frozenset({"layer", "layer_id", "local_layer_id"})

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
    "sglang.kernels.ops.attention.dsv4.kv_layout",
)

CONSTRUCTOR: Mapping[str, Any] = {
    "size": ROWS,
    "page_size": PAGE,
    "dtype": torch.bfloat16,
    "head_num": 2,
    "head_dim": 16,
    "v_head_dim": 16,
    "layer_num": LAYERS,
    "device": "cuda",
    "enable_memory_saver": False,
    "enable_kvcache_transpose": False,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 448,
    "index_head_dim": 128,
    "indexer_head_dim": 128,
    "kv_cache_dim": 24,
    "mamba_pool": None,
    "heavy_channel_num": 4,
    "use_mla": False,
    "full_attention_layer_ids": [1, 3],
    "swa_attention_layer_ids": [0, 2],
    "size_swa": ROWS,
    "swa_size": ROWS,
    "swa_page_size": PAGE,
    "max_num_reqs": 4,
    "c4_size": ROWS,
    "c128_size": ROWS,
    "c4_state_pool_size": ROWS,
    "c128_state_pool_size": ROWS,
    "state_dtype": torch.float32,
    "compression_ratios": [0, 4, 128, 4],
}
"""Arguments of constructors by the names of parameters: small, and such that every branch has something to load."""

MLA: Mapping[str, Any] = {"use_mla": True, "kv_lora_rank": 16, "qk_rope_head_dim": 8}
DSA: Mapping[str, Any] = {**MLA, "use_dsa": True, "index_head_dim": 128, "kv_cache_dim": 24}
V4: Mapping[str, Any] = {
    "dtype": torch.float8_e4m3fn,
    "qk_rope_head_dim": 64,
    "c4_state_dtype": torch.float32,
    "c128_state_dtype": torch.float32,
    "indexer_state_dtype": torch.float32,
    "page_size": 256,
    "swa_page_size": 128,
    "size": 512,
    "swa_size": 512,
}
MINIMAX: Mapping[str, Any] = {
    "idx_head_dim": 16,
    "dense_layer_ids": [0, 1],
    "sparse_layer_ids": [2, 3],
    "disable_value_sparse_layer_ids": [2, 3],
    "start_layer": 0,
    "end_layer": LAYERS,
}
QSA: Mapping[str, Any] = {
    "qsa_index_kv_heads": 1,
    "qsa_index_head_dim": 128,
    "qsa_compress_ratio": 4,
    "qsa_token_topk": 64,
    "num_request_slots": 4,
}

OPTIONS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "HybridLinearKVPool": ({}, MLA, DSA),
    "UnifiedHybridLinearKVPool": ({}, MLA, DSA),
    "DeepSeekV4TokenToKVPool": (V4,),
    "DeepSeekV4SingleKVPool": (V4,),
    "DeepSeekV4UniformFP8KVPool": (V4,),
    "HiSparseC4DevicePool": (V4,),
    "MiniMaxM3Nvfp4IndexKPool": ({"page_size": 128, "head_dim": 128},),
    "MiniMaxM3Nvfp4MainKVPool": ({"page_size": 128, "head_dim": 128},),
    "MiniMaxM3Nvfp4KVPool": (
        {
            **MINIMAX,
            "dense_layer_ids": [],
            "sparse_layer_ids": [0, 1, 2, 3],
            "disable_value_sparse_layer_ids": [0, 1, 2, 3],
            "page_size": 128,
            "head_dim": 128,
            "idx_head_dim": 128,
        },
    ),
    "MiniMaxSparseKVPool": (MINIMAX,),
    "NPUMiniMaxSparseKVPool": (MINIMAX,),
    "DSV4NPUTokenToKVPool": ({**V4, "page_size": 2048, "size": 4096, "swa_size": 4096, "swa_page_size": 2048},),
    "QSATokenToKVPool": (QSA,),
    "LayerSplitDSATokenToKVPool": ({"layer_shard_rank": 0, "layer_shard_size": 2},),
    "MHATokenToKVPoolMXFP8": ({"head_dim": 32, "v_head_dim": 32},),
}
"""What the constructor of a class wants otherwise, once a configuration."""

OWNERS = (
    ("sglang.srt.mem_cache.deepseek_v4_memory_pool", "DeepSeekV4TokenToKVPool"),
    ("sglang.srt.mem_cache.memory_pool", "HybridLinearKVPool"),
    ("sglang.srt.mem_cache.swa_memory_pool", "SWAKVPool"),
)
"""Pools that hold other pools, which are reached through them."""

INNER = frozenset({"DeepSeekV4IndexerPool", "DeepSeekV4SingleKVPool"})
"""Pools that the engine never makes alone: they are taken out of their owners, armed or not as these leave them."""


class SGLang:
    """Needs stubs for most of the tree: quantisation, distribution, kernels."""

    package = "sglang"
    available = False
    pools = ("sglang/srt/mem_cache/*pool*.py",)
    layered = LAYERED

    def importer(self, tree: Path, *, gpu: bool = False) -> TreeImporter:
        """Execute the memory pools, the cache controller, and what these need."""
        return TreeImporter(tree, "sglang", FOCUS, absent=() if gpu else ("triton",))

    def prepare(self) -> None:
        """Answer what pools ask of the running server: one rank of one, everything else off."""
        context = import_module("sglang.srt.runtime_context")
        if not isinstance(context, StubModule):
            for name in [name for name in vars(context) if name.startswith("get_")]:
                setattr(context, name, _Context)

    def builds(self, class_: type) -> Iterator[tuple[str, Build]]:
        """Return the class itself, then the pools that may hold one."""
        if class_.__name__ not in INNER:
            yield from self._builds_of(class_)
        for module, name in OWNERS:
            owner = _class(module, name)
            if owner is not None and owner is not class_:
                yield from self._builds_of(owner)

    def _builds_of(self, class_: type) -> Iterator[tuple[str, Build]]:
        for options in OPTIONS.get(class_.__name__, ({},)):
            name = f"{class_.__name__}({', '.join(sorted(options))})"
            yield f"{name} with its controller", partial(self._build_loaded, class_, options)
            yield name, partial(self._build, class_, options)

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments by name: pages 1 and 2, the rows that are in them."""
        rows = torch.arange(PAGE, 3 * PAGE)
        attention = SimpleNamespace(layer_id=layer, tp_k_head_num=2, tp_v_head_num=2, is_cross_attention=False)
        return {
            "layer_id": layer,
            "local_layer_id": layer,
            "layer": attention,
            "loc": rows,
            "indices": rows,
            "kv_indices": rows,
            "seq_len": 2 * PAGE,
            "seq_len_sum": 2 * PAGE,
            "max_seq_len": 2 * PAGE,
            "seq_len_tensor": torch.tensor([2 * PAGE], dtype=torch.int32),
            "page_indices": torch.tensor([[1, 2]], dtype=torch.int32),
        }

    def _build_loaded(self, class_: type, options: Mapping[str, Any], machine: Machine | None) -> Rig:
        """Build a pool with the engine's own controller and host pool; all its layers are loaded, so all are
        attention layers."""
        every = {"full_attention_layer_ids": list(range(LAYERS))} if "HybridLinear" in class_.__name__ else {}
        pool: Any = construct(class_, CONSTRUCTOR, {**options, **every})
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

    def _build(self, class_: type, options: Mapping[str, Any], machine: Machine | None) -> Rig:
        pool: Any = construct(class_, CONSTRUCTOR, options)
        counter = import_module("sglang.srt.managers.cache_controller").LayerDoneCounter(LAYERS)
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
        return Rig(pool, LAYERS, counter, load_stream, fidelity, start_load, early=early, layered=LAYERED)


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
        raw = raw_bytes(buffer)
        pattern = (torch.arange(raw.numel()) * 37 % 200 + 1).to(torch.uint8)  # 1 to 200: never poison
        raw.copy_(pattern, non_blocking=True)


def _class(module: str, name: str) -> type | None:
    try:
        imported: ModuleType = import_module(module)
    except ImportError:
        return None
    found = vars(imported).get(name)
    return found if isinstance(found, type) else None


SERVER: Mapping[str, Any] = {"c128_page_size": 16}
"""What is neither a number of ranks nor off."""


class _Context:
    """What a server would say of itself: sizes are 1, ranks 0, everything else is off."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in SERVER:
            return SERVER[name]
        return 1 if name.endswith("_size") else 0 if name.endswith("_rank") else _Context()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Context()

    def __enter__(self) -> _Context:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is None

    def __hash__(self) -> int:
        return 0
