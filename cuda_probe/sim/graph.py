"""Graphs: the code of the host runs once, at capture; a replay runs none of it, and none of its gates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cuda_probe.sim.device import Capture, CaptureError, Device, Node, Stream


class Graph:
    """Work of streams, captured once and replayed on the stream that is current then."""

    def __init__(self, device: Device):
        self.device = device
        self._nodes: tuple[Node, ...] | None = None

    @contextmanager
    def captured(self, stream: Stream | None = None) -> Iterator[None]:
        """Keep what is launched on the stream meanwhile, and on those that fork from it."""
        if self.device.capture is not None:
            raise CaptureError("a capture within a capture")
        capture = self.device.capture = Capture(stream or self.device.current_stream())
        try:
            yield
        finally:
            self.device.capture = None
        self._nodes = tuple(capture.nodes)

    def replay(self) -> None:
        """Launch what was captured."""
        if self._nodes is None:
            raise CaptureError("the replay of a graph that was not captured")
        stream = self.device.current_stream()
        for node in self._nodes:
            node(stream)
