"""PyTorch on the simulated device: what a program asks of ``torch`` becomes operations and accesses.

A *machine* is a simulated device with its memory. Within ``running(machine)`` tensors made on ``cuda`` lie in that
memory, every operator that touches them is launched on the current stream and done when the schedule says so, and
``torch.cuda`` and ``torch.cpu`` have streams, events and graphs of the machine. Needs PyTorch, no GPU.
"""

from cuda_probe.dispatch.dropin import SimulatedCuda
from cuda_probe.dispatch.machine import Machine
from cuda_probe.dispatch.running import running
from cuda_probe.dispatch.tensors import Memory, byte_ranges

__all__ = ["Machine", "Memory", "SimulatedCuda", "byte_ranges", "running"]
