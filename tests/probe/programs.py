"""Small programs for the simulated device: a load of one buffer on a stream of its own, and a read of it."""

from __future__ import annotations

from functools import partial

from cuda_probe.sim import Access, Device, Schedule, Stream

POISON, TRUTH = b"\xd7" * 8, bytes(range(8))


def whole(write: bool, key: int = 1) -> Access:
    return Access(key, ((0, 8),), write, "buffer")


class Load:
    """Eight bytes, copied in two pieces on the load stream; ``read`` says what a kernel saw."""

    def __init__(self, schedule: Schedule | None = None):
        self.device = Device(schedule)
        self.stream = self.device.new_stream()
        self.arrived = self.device.new_event()
        self.memory = bytearray(POISON)

    def copy(self) -> None:
        for low, high in ((0, 4), (4, 8)):
            piece = [Access(1, ((low, high),), True)]
            self.device.launch("load", partial(self._fill, low, high), piece, kind="copy", stream=self.stream)

    def _fill(self, low: int, high: int) -> None:
        self.memory[low:high] = TRUTH[low:high]

    def read(self, stream: Stream | None = None) -> bytes:
        seen: list[bytes] = []
        self.device.launch("read", lambda: seen.append(bytes(self.memory)), [whole(False)], stream=stream)
        out = self.device.current_stream() if stream is None else stream
        self.device.launch("to host", None, stream=out, kind="copy")
        out.synchronize()
        return seen[0]


def kinds(device: Device) -> list[str]:
    return [race.kind for race in device.races]
