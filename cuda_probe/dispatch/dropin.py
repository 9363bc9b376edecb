"""The parts of ``torch.cuda`` that make order, for a simulated device: streams, events, graphs.

Code that PyTorch runs on a machine without a GPU uses ``torch.cpu``, whose streams and events do nothing and whose
``query`` says yes: it works and checks nothing. So both modules get these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch

from cuda_probe import sim


class SimulatedCuda(sim.Device):
    """A simulated device whose streams and events have what PyTorch's have."""

    def new_stream(self) -> Stream:
        """Make a stream."""
        return Stream(self)

    def new_event(self, *, external: bool = False) -> Event:
        """Make an event."""
        return Event(self, external=external)

    @contextmanager
    def installed(self, *, available: bool) -> Iterator[None]:
        """Let ``torch.cuda`` and ``torch.cpu`` be this device; ``available``: ``torch.cuda`` says that it is there."""
        names = {**self._names(), **({"is_available": lambda: True} if available else {})}
        with ExitStack() as stack:
            for module in (torch.cuda, torch.cpu):
                for name, value in names.items():
                    stack.enter_context(patch.object(module, name, value, create=True))
            stack.enter_context(patch.object(torch, "compile", _uncompiled))
            stack.enter_context(patch.object(torch, "Event", names["Event"]))
            # It asks no mode; memory is never given out again here, so there is nothing to record.
            stack.enter_context(patch.object(torch.Tensor, "record_stream", lambda tensor, stream: None))
            yield

    def _names(self) -> dict[str, object]:
        device = self
        return {
            "Stream": _bound(Stream, lambda: device),
            "Event": _bound(Event, lambda: device),
            "CUDAGraph": _bound(CudaGraph, lambda: device),
            "graph": self._graph,
            "stream": self.stream,
            "set_stream": self.set_stream,
            "current_stream": lambda device=None: self.current_stream(),
            "default_stream": lambda device=None: self.default_stream,
            "synchronize": lambda device=None: self.synchronize(),
            "is_current_stream_capturing": lambda: self.capture is not None,
            "current_device": lambda: 0,
            "device_count": lambda: 1,
            "set_device": lambda device: None,
            "empty_cache": lambda: None,
            "_sleep": lambda cycles: self.launch("sleep", None),
        }

    @contextmanager
    def _graph(
        self, graph: CudaGraph, pool: object = None, stream: Stream | None = None, **_: object
    ) -> Iterator[None]:
        """Capture on a stream of its own, as ``torch.cuda.graph`` does."""
        self.synchronize()
        with self.stream(stream or self.new_stream()), graph.captured():
            yield


class Stream(sim.Stream):
    """A stream with the attributes that PyTorch's has."""

    def __init__(self, device: SimulatedCuda, *_: object, **__: object):
        super().__init__(device)
        self.cuda_stream = self.agent.number
        self.device_index = 0
        self._entered: list[Any] = []

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return what CUDA does: the lowest priority and the highest. They change no order."""
        return (0, -5)

    def __enter__(self) -> Stream:
        block = self.device.stream(self)
        block.__enter__()
        self._entered.append(block)
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


class Event(sim.Event):
    """An event with the arguments that PyTorch's takes."""

    def __init__(self, device: SimulatedCuda, *_: object, external: bool = False, **__: object):
        super().__init__(device, external=external)

    def elapsed_time(self, other: Event) -> float:
        """Return 0: the simulated device has no time."""
        return 0.0


class CudaGraph(sim.Graph):
    """A graph with the calls that PyTorch's has."""

    def __init__(self, device: SimulatedCuda, *_: object, **__: object):
        super().__init__(device)
        self._capturing: Any = None

    def capture_begin(self, *_: object, **__: object) -> None:
        """Begin to capture the current stream."""
        self._capturing = self.captured()
        self._capturing.__enter__()

    def capture_end(self) -> None:
        """End the capture."""
        self._capturing.__exit__(None, None, None)

    def pool(self) -> tuple[int, int]:
        """Return a memory pool that nobody uses."""
        return (0, 0)

    def reset(self) -> None:
        """Do nothing: memory is kept."""


def _uncompiled(function: Any = None, *_: object, **__: object) -> Any:
    """Leave a function as it is written: compiled, it would launch kernels that are not here."""
    return function if callable(function) else _uncompiled


def _bound(base: type, device: Callable[[], SimulatedCuda]) -> type:
    """Return a class whose instances are made without naming the device: ``torch.cuda.Stream()``."""

    def make(self: Any, *args: object, **options: object) -> None:
        base.__init__(self, device(), *args, **options)  # type: ignore[misc]

    return type(base.__name__, (base,), {"__init__": make, "__doc__": base.__doc__})
