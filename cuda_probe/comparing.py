"""What was read, compared byte by byte; and the poison that is there until a load brings something."""

from __future__ import annotations

from collections.abc import Iterable

import torch

POISON = 0xD7

Seen = list[torch.Tensor]


def raw_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Return the whole storage of a tensor as bytes; the same memory."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def poison(buffers: Iterable[torch.Tensor]) -> None:
    """Fill storages with poison."""
    for tensor in buffers:
        raw_bytes(tensor).fill_(POISON)


def fill(tensor: torch.Tensor) -> None:
    """Copy bytes into a storage that are no poison: what a load brings, or a forward pass writes."""
    raw = raw_bytes(tensor)
    raw.copy_((torch.arange(raw.numel()) * 37 % 200 + 1).to(torch.uint8), non_blocking=True)


def differing(left: Seen, right: Seen) -> int:
    """Count the bytes that differ."""
    return sum(int((_bytes(one) != _bytes(other)).sum()) for one, other in zip(left, right, strict=True))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().flatten().view(torch.uint8)
