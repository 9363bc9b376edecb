"""Tensors as accesses: which bytes of which storage, and whose memory it is."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cuda_probe.sim import Access, ranges
from cuda_probe.sim.memory import Range

MOST_RANGES = 4096
"""A view in more pieces than this is taken for all bytes between its first and its last."""


class Memory:
    """The storages that are in the memory of the device, and the host's that are pinned. Each is kept alive, so that
    no address is given out twice."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._pinned: set[int] = set()
        self._kept: list[torch.UntypedStorage] = []

    def mark(self, tensor: torch.Tensor, name: str = "") -> torch.Tensor:
        """Put the storage of a tensor into the memory of the device; a name given later replaces an empty one."""
        key = _key(tensor)
        if key and key not in self._names:
            self._kept.append(tensor.untyped_storage())
        if key and not self._names.get(key):
            self._names[key] = name
        return tensor

    def pin(self, tensor: torch.Tensor) -> torch.Tensor:
        """Take the storage of a tensor of the host for pinned: copies from it read it when they run."""
        key = _key(tensor)
        if key and key not in self._pinned:
            self._kept.append(tensor.untyped_storage())
            self._pinned.add(key)
        return tensor

    def holds(self, tensor: torch.Tensor) -> bool:
        """Tell whether a tensor is in the memory of the device."""
        return _key(tensor) in self._names

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Tell whether a tensor is in pinned memory of the host."""
        return _key(tensor) in self._pinned

    def access(self, tensor: torch.Tensor, *, write: bool, index: Sequence[int] | None = None) -> Access:
        """Return the access to a tensor, or to the rows ``index`` of it."""
        key = _key(tensor)
        if index is None or tensor.dim() == 0:
            touched = byte_ranges(tensor)
        else:
            touched = ranges(piece for number in sorted(set(index)) for piece in byte_ranges(tensor[number]))
        return Access(key, touched, write, self._names.get(key, ""))


def byte_ranges(tensor: torch.Tensor) -> tuple[Range, ...]:
    """Return the bytes of its storage that a tensor shows."""
    if tensor.numel() == 0:
        return ()
    size = tensor.element_size()
    block = size
    strided = sorted(
        (stride * size, count) for count, stride in zip(tensor.shape, tensor.stride(), strict=True) if count > 1
    )
    while strided and strided[0][0] <= block:  # the next dimension continues the block
        stride, count = strided.pop(0)
        block += stride * (count - 1)
    base = tensor.storage_offset() * size
    pieces = 1
    for _, count in strided:
        pieces *= count
    if pieces > MOST_RANGES:
        return ((base, base + block + sum(stride * (count - 1) for stride, count in strided)),)
    starts = [base]
    for stride, count in strided:
        starts = [start + step * stride for start in starts for step in range(count)]
    return ranges((start, start + block) for start in starts)


def _key(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())
