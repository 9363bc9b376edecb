"""Running: PyTorch on a machine, in this thread and in those that it starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
import torch._dynamo  # the modes import it at first use, and it wants torch.cuda as it was

from cuda_probe.dispatch.functions import CudaFunctions
from cuda_probe.dispatch.interpreted import interpreted_kernels
from cuda_probe.dispatch.machine import Machine
from cuda_probe.dispatch.operators import DeviceOperators
from cuda_probe.sim import host_edges


@contextmanager
def running(machine: Machine, *, available: bool = False) -> Iterator[Machine]:
    """Run PyTorch on a machine for a while.

    Args:
        available: let ``torch.cuda.is_available()`` say yes; engines choose their code by it when they are imported.
    """

    @contextmanager
    def modes() -> Iterator[None]:
        with torch.no_grad(), DeviceOperators(machine), CudaFunctions(machine):
            yield

    with ExitStack() as stack:
        stack.enter_context(machine.device.installed(available=available))
        if "triton.runtime.interpreter" in sys.modules:
            stack.enter_context(interpreted_kernels(machine))
        stack.enter_context(host_edges(machine.device, modes))
        stack.enter_context(modes())
        yield machine
