"""The machine: a simulated device with its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes

from cuda_probe.dispatch.dropin import SimulatedCuda
from cuda_probe.dispatch.tensors import Memory
from cuda_probe.sim import Access, Schedule


class Machine:
    """What one run of a program has: a device, its memory, and how work gets there."""

    def __init__(self, schedule: Schedule | None = None):
        self.device = SimulatedCuda(schedule)
        self.memory = Memory()
        self.interpreted: list[str] = []
        """The Triton kernels that were launched."""
        self._looks: list[torch.Tensor] = []

    @contextmanager
    def looks(self) -> Iterator[list[torch.Tensor]]:
        """Note the tensors of the device that are asked for their shape meanwhile: whoever asks has them in hand."""
        self._looks = []
        try:
            yield self._looks
        finally:
            self._looks = []

    def looked_at(self, tensor: torch.Tensor) -> None:
        """Say that a tensor was asked for its shape."""
        self._looks.append(tensor)

    def launch(self, name: str, run: Callable[[], object], accesses: Sequence[Access], *, kind: str = "kernel") -> None:
        """Launch work on the current stream; when it is done, ``torch`` is PyTorch's own. Whether that is within
        inference mode was asked when it was launched; within it anything may be written."""

        def quietly() -> None:
            with torch.inference_mode(), _disable_current_modes(), torch._C.DisableTorchFunction():
                run()

        self.device.launch(name, quietly, accesses, kind="copy" if kind == "copy" else "kernel")

    def read(self, tensor: torch.Tensor, name: str = "read") -> torch.Tensor:
        """Launch a copy of a tensor to the host on the current stream; it is filled when that is done."""
        with self.outside():
            seen = torch.empty(tensor.shape, dtype=tensor.dtype)
        self.launch(name, lambda: seen.copy_(tensor), [self.memory.access(tensor, write=False)])
        return seen

    def synchronize_stream(self) -> None:
        """Let the host wait for the current stream, unless it is captured (CUDA would refuse)."""
        self.device.current_stream().synchronize()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Use PyTorch's own operators for a while: nothing is launched."""
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            yield
