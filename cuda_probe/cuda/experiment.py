"""An experiment on the GPU of this machine: same rigs, same readers, same scenarios as on the simulated device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from cuda_probe.comparing import POISON, Seen, differing, poison
from cuda_probe.cuda.delay import Delay
from cuda_probe.evidence import Backend, Controls, Observation, Tally
from cuda_probe.objects import tensors
from cuda_probe.recipe import Reader, Rig
from cuda_probe.scenarios import NEGATIVE, POSITIVE, Scenario

TRIALS = 20
DELAY_MS = 20.0
LONGER = 3.0
"""The delay has to be so many times longer than launching the reader takes, or the window may be closed before it
runs."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One trial: wrong bytes of those due, whether the reader was done while its layer was not, and how long
    launching took."""

    wrong: int
    due: int
    early: bool
    launching_ms: float


class CudaTrial:
    """A rig on the GPU, ready to be measured many times; scenarios see it as they see one on the simulated device."""

    def __init__(self, rig: Rig, reader: Reader, layer: int, buffers: tuple[str, ...], delay: Delay):
        self.rig, self.reader, self.layer, self._delay = rig, reader, layer, delay
        self._pool = tensors(rig.pool, reader.package)
        self._touched = [tensor for name, tensor in self._pool if name in buffers]
        self._done: list[torch.cuda.Event] = []
        self._index: int | None = None
        self._delay_ms = 0.0

        self._poison()
        poisoned = self.observe()
        self.previous = self.start()
        torch.cuda.synchronize()
        rig.set_consumer(self.previous)
        self._right, self._right_raw = self.observe(), self.observe_raw()
        torch.cuda.synchronize()
        self._due = differing(self._right, poisoned)

    # ---------------------------------------------------------------- what scenarios are made of

    def start(self) -> int:
        """Start a load of all layers behind the delay."""
        if self._delay_ms:
            self.rig.load_stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.rig.load_stream):
                self._delay(self._delay_ms)
        self._index = self.rig.start_load(self._touched, self.layer)
        return self._index

    def observe(self, *, read_on: torch.cuda.Stream | None = None) -> Seen:
        """Call the accessor and copy what it hands out, on the current stream or another."""
        self.reader.begin(self.layer)
        handed_out = [tensor for _, tensor in tensors(self.reader.call(self.layer), self.reader.package)]
        with torch.cuda.stream(read_on or torch.cuda.current_stream()):
            return self._copied(handed_out)

    def observe_raw(self) -> Seen:
        """Copy the buffers themselves, past the accessor."""
        return self._copied(self._touched)

    def overwrite(self) -> None:
        """Launch a write of the buffers."""
        for tensor in self._touched:
            tensor.view(torch.uint8).fill_(POISON)

    # ---------------------------------------------------------------- measuring

    def measure(self, scenario: Scenario, delay_ms: float) -> Timed:
        """Run a scenario once, with the load delayed."""
        self._forget(delay_ms)
        begin = time.perf_counter()
        seen = scenario.run(self)
        launching_ms = (time.perf_counter() - begin) * 1e3
        for event in self._done:
            event.synchronize()
        # Asked at once: no means that the reader was done while its layer was still to come, whatever the bytes are.
        early = self._index is not None and not self.rig.arrived(self._index, self.layer).query()
        torch.cuda.synchronize()
        wrong = differing(seen, scenario.right(self._right, self._right_raw))
        return Timed(wrong, self._due, early, launching_ms)

    def _forget(self, delay_ms: float) -> None:
        self.rig.set_consumer(-1)
        self._poison()
        self._done, self._index, self._delay_ms = [], None, delay_ms

    def _copied(self, read: list[torch.Tensor]) -> Seen:
        copies = [tensor.clone() for tensor in read]
        event = torch.cuda.Event()
        event.record()
        self._done.append(event)
        return copies

    def _poison(self) -> None:
        poison(tensor for _, tensor in self._pool)
        torch.cuda.synchronize()


class CudaExperiment:
    """Trials and controls in one process. ``make`` builds a rig and its reader; layer and buffers are those of the
    simulated run."""

    def __init__(self, make: Callable[[], tuple[Rig, Reader]], layer: int, buffers: tuple[str, ...], backend: Backend):
        self._make, self._layer, self._buffers, self._backend = make, layer, buffers, backend

    def run(self, scenario: Scenario, trials: int = TRIALS, delay_ms: float = DELAY_MS) -> Observation:
        """Return what was measured."""
        rig, reader = self._make()
        delay = Delay()
        trial = CudaTrial(rig, reader, self._layer, self._buffers, delay)
        for control in (
            POSITIVE,
            NEGATIVE,
            scenario,
        ):  # kernels are compiled at first use, which takes longer than any delay
            trial.measure(control, 0.0)
        timed = [trial.measure(scenario, delay_ms) for _ in range(trials)]
        controls = Controls(
            positive=_tally([trial.measure(POSITIVE, delay_ms) for _ in range(trials)]),
            negative=_tally([trial.measure(NEGATIVE, delay_ms) for _ in range(trials)]),
        )
        slowest = max(one.launching_ms for one in timed)
        doubt = None
        if slowest * LONGER > delay_ms:
            doubt = f"launching took {slowest:.1f} ms, too long for a delay of {delay_ms:g} ms"
        return Observation(
            self._backend,
            _tally(timed),
            controls,
            layer=self._layer,
            buffers=self._buffers,
            notes=(f"delay {delay_ms:g} ms ({delay.kind}), launching at most {slowest:.2f} ms",),
            doubt=doubt,
        )


def _tally(timed: list[Timed]) -> Tally:
    return Tally(
        trials=len(timed),
        wrong=sum(one.wrong > 0 for one in timed),
        torn=sum(0 < one.wrong < one.due for one in timed),
        early=sum(one.early for one in timed),
    )
