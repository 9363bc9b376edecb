"""The delay on the load stream: bounded, so that a reader that waits for the load gets on."""

from __future__ import annotations

import torch

from cuda_probe.cuda.compile import source

CALIBRATION_CYCLES = 20_000_000


class Delay:
    """Keeps the current stream busy for a time. ``kind`` says how: ``globaltimer`` (our kernel, compiled by PyTorch's
    NVRTC), or ``sleep`` (``torch.cuda._sleep``, calibrated once)."""

    def __init__(self) -> None:
        self._kernel = self._cycles = None
        try:
            self._kernel = torch.cuda._compile_kernel(source(), "probe_delay")
            self.kind = "globaltimer"
        except (AttributeError, RuntimeError, OSError):  # an older PyTorch, or one without NVRTC
            self._cycles = self._calibrated()
            self.kind = "sleep"

    def __call__(self, milliseconds: float) -> None:
        """Launch it on the current stream."""
        if self._kernel is not None:
            self._kernel((1, 1, 1), (1, 1, 1), (int(milliseconds * 1e6), 0))
        else:
            assert self._cycles is not None
            torch.cuda._sleep(int(milliseconds * self._cycles))

    def _calibrated(self) -> float:
        """Return cycles a millisecond."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(1000)
        begin.record()
        torch.cuda._sleep(CALIBRATION_CYCLES)
        end.record()
        end.synchronize()
        return CALIBRATION_CYCLES / max(begin.elapsed_time(end), 1e-3)
