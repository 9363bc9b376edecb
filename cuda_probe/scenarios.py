"""Scenarios: ways in which a read meets a load. Each is a function of a trial (a *stage*) that starts a load, reads,
and returns what was seen.

The first is the claim itself. The others are ways in which a gate that runs is not enough, each seen in real engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from cuda_probe.comparing import POISON, Seen
from cuda_probe.recipe import Reader, Rig, ShowsNothing


class Stage(Protocol):
    """What scenarios are made of: a trial, on the simulated device or on a GPU. ``previous``: the index of the load
    before."""

    rig: Rig
    reader: Reader
    layer: int
    previous: int

    def start(self) -> int:
        """Start a load of all layers; return the index for ``set_consumer``."""

    def observe(self, *, read_on: Any = None) -> Seen:
        """Call the accessor and read what it hands out, on the current stream or another."""

    def observe_raw(self) -> Seen:
        """Read the same buffers themselves, past the accessor."""

    def overwrite(self) -> None:
        """Launch a write of the buffers, as of a request whose rows have been given away since."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """``raw``: it reads the buffers themselves, past the accessor; ``kept``: and should find what was there before the
    load."""

    run: Callable[[Stage], Seen]
    what: str
    raw: bool = False
    kept: bool = False

    def right(self, accessor: Seen, buffers: Seen) -> Seen:
        """Return the right one of what the accessor and the buffers give once a load is over."""
        return [torch.full_like(one, POISON) for one in buffers] if self.kept else buffers if self.raw else accessor


def _base(trial: Stage) -> Seen:
    trial.rig.set_consumer(trial.start())
    return trial.observe()


def _stale_consumer(trial: Stage) -> Seen:
    trial.start()
    trial.rig.set_consumer(trial.previous)
    return trial.observe()


def _disarmed(trial: Stage) -> Seen:
    trial.start()
    trial.rig.set_consumer(-1)
    return trial.observe()


def _never_recorded(trial: Stage) -> Seen:
    forward = torch.cuda.Stream()
    trial.rig.set_consumer((trial.previous + 1) % trial.rig.counter.num_counters)
    with torch.cuda.stream(forward):
        seen = trial.observe()
    trial.start()
    return seen


def _other_stream(trial: Stage) -> Seen:
    gated, reading = torch.cuda.Stream(), torch.cuda.Stream()
    trial.rig.set_consumer(trial.start())
    with torch.cuda.stream(gated):
        return trial.observe(read_on=reading)


def _other_stream_joined(trial: Stage) -> Seen:
    gated, reading = torch.cuda.Stream(), torch.cuda.Stream()
    trial.rig.set_consumer(trial.start())
    with torch.cuda.stream(gated):
        trial.reader.call(trial.layer)
        reading.wait_stream(gated)
        return trial.observe(read_on=reading)


def _captured(trial: Stage) -> Seen:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        seen = trial.observe()
    trial.rig.set_consumer(trial.start())
    graph.replay()
    return seen


def _captured_waited(trial: Stage) -> Seen:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        seen = trial.observe()
    trial.rig.set_consumer(trial.start())
    trial.rig.counter.wait_until(trial.rig.layers - 1)
    graph.replay()
    return seen


def _early_complete(trial: Stage) -> Seen:
    if trial.rig.early is None:
        raise ShowsNothing("the recipe cannot make this loader signal early")
    with trial.rig.early():
        return _base(trial)


def _load_over_write(trial: Stage) -> Seen:
    forward = torch.cuda.Stream()
    with torch.cuda.stream(forward):
        trial.overwrite()
    index = trial.start()
    torch.cuda.current_stream().wait_stream(forward)
    trial.rig.set_consumer(index)
    return trial.observe()


def _load_over_write_fenced(trial: Stage) -> Seen:
    forward = torch.cuda.Stream()
    with torch.cuda.stream(forward):
        trial.overwrite()
    torch.cuda.current_stream().wait_stream(forward)
    return _base(trial)


def _load_over_read(trial: Stage) -> Seen:
    forward = torch.cuda.Stream()
    with torch.cuda.stream(forward):
        seen = trial.observe_raw()
    trial.start()
    return seen


def _load_over_read_fenced(trial: Stage) -> Seen:
    seen = trial.observe_raw()
    torch.cuda.synchronize()
    trial.start()
    return seen


def _ungated(trial: Stage) -> Seen:
    trial.rig.set_consumer(trial.start())
    return trial.observe_raw()


def _after_the_load(trial: Stage) -> Seen:
    trial.rig.set_consumer(trial.start())
    torch.cuda.synchronize()
    return trial.observe_raw()


def _wrong_layer(trial: Stage) -> Seen:
    if trial.layer == 0:
        raise ShowsNothing("there is no layer before the first")
    trial.rig.set_consumer(trial.start())
    trial.rig.counter.wait_until(trial.layer - 1)
    return trial.observe_raw()


POSITIVE = Scenario(_ungated, "the buffers read past every gate: has to be caught", raw=True)
NEGATIVE = Scenario(_after_the_load, "the buffers read once the load is over: has to be clean", raw=True)

SCENARIOS: Mapping[str, Scenario] = {
    "base": Scenario(_base, "the accessor while its load is in flight"),
    "stale-consumer": Scenario(_stale_consumer, "the gate waits for the load of the previous batch"),
    "counter-disarmed": Scenario(_disarmed, "the consumer index is -1 while a load is in flight"),
    "never-recorded": Scenario(_never_recorded, "the gate runs before the loader has recorded anything"),
    "other-stream": Scenario(_other_stream, "the gate on one stream, the kernel on another"),
    "other-stream-joined": Scenario(_other_stream_joined, "the same, and the second stream waits for the first"),
    "captured": Scenario(_captured, "captured without a load, replayed with one: no gate runs"),
    "captured-waited": Scenario(_captured_waited, "the same, with a wait for the last layer before the replay"),
    "early-complete": Scenario(_early_complete, "the loader signals each layer before it copies it"),
    "load-over-write": Scenario(_load_over_write, "the load overtakes a forward pass that still writes these rows"),
    "load-over-write-fenced": Scenario(_load_over_write_fenced, "the same, and the load waits for the forward pass"),
    "load-over-read": Scenario(
        _load_over_read, "the load overtakes a forward pass that still reads these rows", raw=True, kept=True
    ),
    "load-over-read-fenced": Scenario(
        _load_over_read_fenced, "the same, and the load is started when the forward pass is over", raw=True, kept=True
    ),
    "wrong-layer": Scenario(_wrong_layer, "a wait for the layer before, then a read of this one", raw=True),
}
