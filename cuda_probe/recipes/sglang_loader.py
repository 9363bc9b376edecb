"""SGLang's own loader: its controller, its host pools, its order of copies and signals. Only the copy kernels are
replaced, by the same copies in PyTorch. Works where the host pool of a class has its name and constructor of 0.5.10;
later ones fall back."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import Mock

import torch

from cuda_probe.arguments import Arguments
from cuda_probe.objects import tensors

HOST_POOLS = (
    "sglang.srt.mem_cache.memory_pool_host",
    "sglang.srt.mem_cache.pool_host.mla",
    "sglang.srt.mem_cache.pool_host.mha",
    "sglang.srt.mem_cache.pool_host.common",
)


def make_controller(pool: Any, page: int, rows: torch.Tensor) -> Any:
    """Build the controller of a pool with its host pool, filled; ``load`` asks for ``rows``.

    Raises:
        LookupError: the class has no host pool of its name.
    """
    modules = [import_module(name) for name in HOST_POOLS if find_spec(name) is not None]
    for module in modules:
        _replace_kernels(module)
    inner = getattr(pool, "full_kv_pool", pool)
    name = f"{type(inner).__name__}Host"
    host_class = next((vars(module)[name] for module in modules if isinstance(vars(module).get(name), type)), None)
    if host_class is None:
        raise LookupError(f"{type(inner).__name__} has no host pool of its name")
    options = {
        "host_to_device_ratio": 2.0,
        "host_size": 0,
        "page_size": page,
        "layout": "layer_first",
        "pin_memory": False,
    }
    host = Arguments({**options, "device_pool": inner}, "sglang").build(host_class, {"pin_memory": False})
    torch.manual_seed(0)
    for _, tensor in tensors({name: value for name, value in vars(host).items() if value is not inner}, "sglang"):
        if tensor.dim() > 1:
            _fill(tensor)
    allocator = SimpleNamespace(get_kvcache=lambda: pool, alloc=lambda count: rows[:count])
    given = {"token_to_kv_pool_allocator": allocator, "mem_pool_host": host, "page_size": page, "io_backend": "kernel"}
    class_ = import_module("sglang.srt.managers.cache_controller").HiCacheController
    controller = Arguments({"tp_group": None, "load_cache_event": Mock()}, "sglang").build(class_, given)
    pool.register_layer_transfer_counter(controller.layer_done_counter)
    return controller


def _fill(tensor: torch.Tensor) -> None:
    if tensor.is_floating_point():
        tensor.normal_()
    else:
        tensor.random_(0, 200)


def _replace_kernels(module: ModuleType) -> None:
    """Put copies in PyTorch in the place of the kernels, on whatever stream is current then."""
    module.transfer_kv_per_layer_mla = _copy  # type: ignore[attr-defined]
    module.transfer_kv_per_layer = _copy_both  # type: ignore[attr-defined]
    module.ALLOC_MEMORY_FUNCS = _Allocate()  # type: ignore[attr-defined]


def _copy(src: torch.Tensor, dst: torch.Tensor, src_indices: torch.Tensor, dst_indices: torch.Tensor, **_: Any) -> None:
    # The indices are on the device: a copy of them to the host would let the host wait for the load.
    dst[dst_indices.long()] = src[src_indices.long()].reshape(-1, *dst.shape[1:])


def _copy_both(
    src_k: torch.Tensor,
    dst_k: torch.Tensor,
    src_v: torch.Tensor,
    dst_v: torch.Tensor,
    src_indices: torch.Tensor,
    dst_indices: torch.Tensor,
    **_: Any,
) -> None:
    _copy(src_k, dst_k, src_indices, dst_indices)
    _copy(src_v, dst_v, src_indices, dst_indices)


class _Allocate:
    """Memory of the host that no driver has to register."""

    def __getitem__(self, device: str) -> Any:
        return lambda dims, dtype, device, pin_memory, allocator: torch.zeros(dims, dtype=dtype)
