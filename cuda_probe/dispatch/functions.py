"""What names a device: ``device="cuda"`` makes memory of the simulated device, ``to`` and ``cpu`` copy, ``tolist``
waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from cuda_probe.loading import Stub

if TYPE_CHECKING:
    from cuda_probe.dispatch.machine import Machine

CUDA = torch.device("cuda", 0)


class CudaFunctions(TorchFunctionMode):
    """Sees calls of ``torch`` before PyTorch looks for a device that is not there."""

    def __init__(self, machine: Machine):
        super().__init__()
        self._machine, self._memory = machine, machine.memory
        self._special: dict[Any, Callable[..., Any]] = {
            torch.Tensor.device.__get__: self._device,
            torch.Tensor.shape.__get__: self._shape,
            torch.Tensor.is_cuda.__get__: lambda func, tensor: self._memory.holds(tensor),
            torch.Tensor.to: self._to,
            torch.Tensor.cuda: lambda func, tensor, *_, non_blocking=False, **__: self._moved(
                tensor, True, non_blocking
            ),
            torch.Tensor.__setitem__: self._set,
            torch.Tensor.cpu: lambda func, tensor, **_: self._moved(tensor, False, False),
            torch.Tensor.tolist: self._waiting,
            torch.Tensor.numpy: self._waiting,
            torch.Tensor.__array__: self._waiting,
            torch.Tensor.pin_memory: lambda func, tensor, *_: self._memory.pin(tensor.clone()),
            torch.Tensor.is_pinned: lambda func, tensor, *_: self._memory.is_pinned(tensor),
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for the simulated device, or hand the call on."""
        kwargs = dict(kwargs or {})
        if (special := self._special.get(func)) is not None:
            return special(func, *args, **kwargs)
        on_device = _is_cuda(kwargs.get("device"))
        pinned = kwargs.get("pin_memory") is True
        if on_device:
            kwargs["device"] = "cpu"
        if pinned:
            kwargs["pin_memory"] = False
        result = func(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            if on_device:
                self._memory.mark(result)
            elif pinned:
                self._memory.pin(result)
        return result

    def _device(self, func: Any, tensor: torch.Tensor) -> torch.device:
        return CUDA if self._memory.holds(tensor) else func(tensor)

    def _shape(self, func: Any, tensor: torch.Tensor) -> torch.Size:
        if self._memory.holds(tensor):
            self._machine.looked_at(tensor)
        size: torch.Size = func(tensor)
        return size

    def _set(self, func: Any, tensor: torch.Tensor, index: Any, value: Any) -> None:
        """Store; of what a kernel hands out that cannot run here nobody knows the bytes."""
        if isinstance(value, Stub):
            self._machine.launch("store", lambda: None, [self._memory.access(tensor, write=True)])
        else:
            func(tensor, index, value)

    def _to(self, func: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """Split ``to`` into what changes the type (PyTorch's own) and what changes the place (a copy)."""
        target = kwargs.pop("device", None)
        non_blocking = bool(kwargs.pop("non_blocking", False))
        rest: list[Any] = []
        for arg in args:
            if isinstance(arg, torch.Tensor):
                target = CUDA if self._memory.holds(arg) else "cpu"
                rest.append(arg.dtype)
            elif isinstance(arg, (str, torch.device)) or (isinstance(arg, int) and not isinstance(arg, bool)):
                target = arg
            elif isinstance(arg, bool):
                non_blocking = non_blocking or (not rest and arg)
            elif arg is not None:
                rest.append(arg)
        converted = func(tensor, *rest, **kwargs) if rest or kwargs else tensor
        if target is None or str(target) == "meta":
            return converted if target is None else func(converted, target)
        return self._moved(converted, _is_cuda(target), non_blocking)

    def _moved(self, tensor: torch.Tensor, to_device: bool, non_blocking: bool) -> torch.Tensor:
        if self._memory.holds(tensor) == to_device:
            return tensor
        with self._machine.outside():
            moved = torch.empty_like(tensor)
        if to_device:
            self._memory.mark(moved)
        return moved.copy_(tensor, non_blocking=non_blocking)

    def _waiting(self, func: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if self._memory.holds(tensor):
            self._machine.read(tensor, func.__name__)
            self._machine.synchronize_stream()
        with self._machine.outside():
            return func(tensor, *args, **kwargs)


def _is_cuda(device: object) -> bool:
    if isinstance(device, int) and not isinstance(device, bool):
        return True
    return isinstance(device, (str, torch.device)) and str(device).partition(":")[0] == "cuda"
