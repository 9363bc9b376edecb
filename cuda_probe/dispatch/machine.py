"""The machine: a simulated device with its memory, and PyTorch running on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
import torch._dynamo  # the modes import it at first use, and it wants torch.cuda as it was
from torch.utils._python_dispatch import _disable_current_modes

from cuda_probe.dispatch.dropin import SimulatedCuda
from cuda_probe.dispatch.functions import CudaFunctions
from cuda_probe.dispatch.operators import DeviceOperators
from cuda_probe.dispatch.tensors import Memory
from cuda_probe.sim import Access, Schedule, host_edges


class Machine:
    """One run of a program on a simulated device."""

    def __init__(self, schedule: Schedule | None = None):
        self.device = SimulatedCuda(schedule)
        self.memory = Memory()

    @contextmanager
    def running(self, *, available: bool = False) -> Iterator[Machine]:
        """Run PyTorch on this machine for a while, in this thread and in those that start meanwhile.

        Args:
            available: let ``torch.cuda.is_available()`` say yes; engines choose their code by it when they are
            imported.
        """
        with ExitStack() as stack:
            stack.enter_context(self.device.installed(available=available))
            stack.enter_context(host_edges(self.device, self._modes))
            stack.enter_context(self._modes())
            yield self

    @contextmanager
    def _modes(self) -> Iterator[None]:
        with torch.no_grad(), DeviceOperators(self), CudaFunctions(self):
            yield

    def launch(self, name: str, run: Callable[[], object], accesses: Sequence[Access], *, kind: str = "kernel") -> None:
        """Launch work on the current stream; when it is done, ``torch`` is PyTorch's own."""

        def quietly() -> None:
            with _disable_current_modes(), torch._C.DisableTorchFunction():
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
