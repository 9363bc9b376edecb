"""What SGLang's code is called with, by the names of parameters. Small, and such that every branch has something to
load. A *configuration* is a family of models or an option of the server that changes what some of them are; no pool is
named, so a pool that is new is built as soon as one configuration suits its constructor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch

LAYERS, PAGE, ROWS = 4, 64, 256


@dataclass(frozen=True, slots=True)
class Named:
    """A class of the engine as an argument, ``module:Class``; ``built``: an object of it, with these arguments, among
    which may be others. What is the same here is the same object."""

    name: str
    built: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)


STATES = SimpleNamespace(
    shape=SimpleNamespace(conv=[(4, 8)], temporal=(2, 4, 4), num_k_heads_per_tp=2),
    dtype=SimpleNamespace(conv=torch.bfloat16, temporal=torch.float32),
    layers=[0, 2],
)

VALUES: Mapping[str, Any] = {
    "size": ROWS,
    "page_size": PAGE,
    "dtype": torch.bfloat16,
    "kv_cache_dtype": torch.bfloat16,
    "head_num": 2,
    "head_dim": 16,
    "v_head_dim": 16,
    "swa_head_num": 2,
    "swa_head_dim": 16,
    "swa_v_head_dim": 16,
    "layer_num": LAYERS,
    "num_layers": LAYERS,
    "start_layer": 0,
    "end_layer": LAYERS,
    "device": "cuda",
    "enable_memory_saver": False,
    "enable_kvcache_transpose": False,
    "use_mla": False,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 448,
    "index_head_dim": 128,
    "indexer_head_dim": 128,
    "kv_cache_dim": 32,
    "mamba_pool": None,
    "heavy_channel_num": 4,
    "full_attention_layer_ids": [1, 3],
    "swa_attention_layer_ids": [0, 2],
    "size_swa": ROWS,
    "swa_size": ROWS,
    "swa_page_size": PAGE,
    "max_num_reqs": 4,
    "max_total_num_tokens": ROWS,
    "max_context_len": ROWS,
    "model_context_len": ROWS,
    "extra_max_context_len": 0,
    "c4_size": ROWS,
    "c128_size": ROWS,
    "c4_state_pool_size": ROWS,
    "c128_state_pool_size": ROWS,
    "state_dtype": torch.float32,
    "compression_ratios": [0, 4, 128, 4],
    "cache_params": STATES,
    "mamba2_cache_params": STATES,
    "mamba_layer_ids": [0, 2],
    "mamba_size": 4,
    "mamba_spec_state_size": 4,
    "max_mamba_cache_size": 8,
    "speculative_num_draft_tokens": None,
    "pre_alloc_size": 0,
    "full_max_total_num_tokens": ROWS,
    "swa_max_total_num_tokens": ROWS,
    "shard_rank": 0,
    "shard_size": 2,
    "world_size": 2,
    "rank_in_group": 0,
    "max_prefix_tokens": 2 * PAGE,
    "chunk_tokens": PAGE,
    "layer_shard_rank": 0,
    "layer_shard_size": 2,
    "qsa_index_kv_heads": 1,
    "qsa_index_head_dim": 128,
    "qsa_compress_ratio": 4,
    "qsa_token_topk": 64,
    "num_request_slots": 4,
    "idx_head_dim": 16,
    "dense_layer_ids": [0, 1],
    "sparse_layer_ids": [2, 3],
    "disable_value_sparse_layer_ids": [2, 3],
}
"""Arguments of constructors and of functions that make pools."""

_DSA = {"use_dsa": True, "index_head_dim": 128, "kv_cache_dim": 32}
_MLA = {"use_mla": True, "use_mla_backend": True, "kv_lora_rank": 16, "qk_rope_head_dim": 16}
_V4 = {
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
_STAGE = {"start_layer": 0, "end_layer": LAYERS}
_WINDOWED = {"page_size": PAGE, "device": "cuda", "enable_memory_saver": False, "kv_lora_rank": 16}
_POOLS = "sglang.srt.mem_cache.memory_pool"
_UNIFIED, _FUSED = "sglang.srt.mem_cache.unified_memory_pool", "sglang.srt.mem_cache.layout.fused_draft"
_SHAPE = {"layer_num": LAYERS, "head_num": 2, "head_dim": 16, "store_dtype": torch.bfloat16}
_REGION = Named(
    f"{_FUSED}:DenseDraftRegion",
    True,
    {"lane_num": LAYERS, "head_num": 2, "head_dim": 16, "store_dtype": torch.bfloat16, "v_head_dim": 16},
)
_HOSTS = [
    Named(
        f"{_UNIFIED}:MHASubPoolSpec", True, {"name": "full", "grow_direction": "up", **_SHAPE, "draft_region": _REGION}
    ),
    Named(f"{_UNIFIED}:MHASubPoolSpec", True, {"name": "other", "grow_direction": "down", **_SHAPE}),
]
_RUNNERS = [Named(f"{_FUSED}:RunnerLanes", True, {"ranges": {"full": (0, LAYERS)}})]
_FP4 = "sglang.srt.layers.quantization.fp4_kv_cache_quant_method"

CONFIGURATIONS: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "MLA": _MLA,
    "DSA": {**_MLA, **_DSA},
    "V4": _V4,
    "V4, large pages": {**_V4, "page_size": 2048, "size": 4096, "swa_size": 4096, "swa_page_size": 2048},
    "V4, FP4 index": {**_V4, "use_fp4_indexer": True},
    "one stage": _STAGE,
    "sparse, values": {**_STAGE, "disable_value_sparse_layer_ids": []},
    "sparse, NVFP4": {
        **_STAGE,
        "dense_layer_ids": [],
        "sparse_layer_ids": [0, 1, 2, 3],
        "disable_value_sparse_layer_ids": [0, 1, 2, 3],
        "page_size": 128,
        "head_dim": 128,
        "idx_head_dim": 128,
    },
    "MXFP8": {
        "head_dim": 32,
        "v_head_dim": 32,
        "full_kv_pool_class": Named(f"{_POOLS}:MHATokenToKVPoolMXFP8"),
        "token_to_kv_pool_class": Named(f"{_POOLS}:MHATokenToKVPoolMXFP8"),
    },
    "NVFP4": {"quant_method": Named(f"{_FP4}:NVFP4KVCacheMethod", True, {"native_scale_layout": False})},
    "FP4": {"quant_method": Named(f"{_FP4}:FP4MXBlock16KVCacheMethod", built=True)},
    "MLA and index in FP8": {
        "dtype": torch.float8_e4m3fn,
        "kv_lora_rank": 128,
        "qk_rope_head_dim": 16,
        "index_head_dim": 128,
        "kv_cache_dim": 128 + 128 // 128 * 4 + 2 * 16,
    },
    "a draft in the entries of its target": {
        "host_sub_pool_name": "full",
        "host_allocator": None,
        "layer_lanes": {layer: layer for layer in range(LAYERS)},
        "unified_buffer": Named(
            f"{_UNIFIED}:UnifiedKVPool",
            True,
            {
                "total_bytes": 1 << 20,
                "sub_pool_specs": _HOSTS,
                "page_size": PAGE,
                "fused_draft": Named(
                    f"{_FUSED}:FusedDraftPlacement", True, {"runners": _RUNNERS, "regions": {"full": _REGION}}
                ),
            },
        ),
    },
    "sizes": {"full_max_total_num_tokens": ROWS, "swa_max_total_num_tokens": ROWS},
    "MLA and DSA with windows": {
        "full_kv_pool_class": Named(f"{_POOLS}:DSATokenToKVPool"),
        "swa_kv_pool_class": Named(f"{_POOLS}:MLATokenToKVPool"),
        "full_kv_pool_kwargs": {**_WINDOWED, "qk_rope_head_dim": 16, "index_head_dim": 128, "kv_cache_dim": 32},
        "swa_kv_pool_kwargs": {**_WINDOWED, "qk_rope_head_dim": 16},
    },
    "short convolutions": {"short_conv_layer_ids": [0, 2], "short_conv_state_shape": (3, 8)},
}
"""Given in place of ``VALUES`` and of defaults, one after the other until one suits."""

SERVER: Mapping[str, Any] = {"c128_page_size": 16, "is_sm100": True}
"""What the server says of itself that is neither a number of ranks nor off. Its GPU is a Blackwell."""


def read_with(layer: int) -> Mapping[str, Any]:
    """Return arguments of readers: one request, whose tokens are on pages 1 and 2."""
    rows = torch.arange(PAGE, 3 * PAGE)
    attention = SimpleNamespace(
        layer_id=layer, tp_k_head_num=2, tp_v_head_num=2, head_dim=16, v_head_dim=16, is_cross_attention=False
    )
    return {
        "layer_id": layer,
        "local_layer_id": layer,
        "layer": attention,
        "loc": rows,
        "loc_info": rows,
        "indices": rows,
        "kv_indices": rows,
        "seq_len": 2 * PAGE,
        "seq_len_sum": 2 * PAGE,
        "max_seq_len": 2 * PAGE,
        "seq_len_tensor": torch.tensor([2 * PAGE], dtype=torch.int32),
        "seq_lens": [2 * PAGE],
        "page_indices": torch.tensor([[1, 2]], dtype=torch.int32),
        "page_size": PAGE,
        "req_to_token": rows.reshape(1, -1),
        "full_to_hisparse_device_index_mapping": torch.arange(2 * ROWS, device="cuda"),
        "req_pool_indices": [0],
        "req_pool_indices_cpu": [0],
        "prefix_lens_cpu": [2 * PAGE],
        "seq_lens_cpu": [2 * PAGE],
        "extend_prefix_lens_cpu": [2 * PAGE],
        "extend_seq_lens_cpu": [0],
        "prepare_workspace": True,
        "use_ragged": True,
        "from_indexer": True,
        "cache_k": torch.zeros(len(rows), 2, 16, dtype=torch.bfloat16),
        "cache_v": torch.zeros(len(rows), 2, 16, dtype=torch.bfloat16),
        "cache_idx_k": torch.zeros(len(rows), 1, 16, dtype=torch.bfloat16),
        "cache_idx_v": torch.zeros(len(rows), 1, 16, dtype=torch.bfloat16),
    }
