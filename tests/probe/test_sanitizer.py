"""Differential test: our happens-before against that of PyTorch's own sanitizer, which is plain Python and needs no
GPU.

Both see the same random programs of kernels, records, waits and host waits. They have to agree on the first race of
each program; after it the sanitizer forgets what was before the racy write, and we do not.
"""

import random

import pytest

from cuda_probe.sim import Access, Device

sanitizer = pytest.importorskip("torch.cuda._sanitizer", reason="PyTorch is not installed")

PROGRAMS = 4_000
STREAMS, EVENTS, BUFFERS = 3, 3, (1, 2, 3)


class Both:
    """One program on both sides; ``races`` has a pair a kernel: (ours, theirs)."""

    def __init__(self, seed: int, *, polls: bool):
        self.random = random.Random(seed)
        self.device = Device()
        self.handler = sanitizer.EventHandler()
        self.streams = [self.device.default_stream, *(self.device.new_stream() for _ in range(STREAMS - 1))]
        self.events = [self.device.new_event() for _ in range(EVENTS)]
        for number in range(1, STREAMS):
            self.handler._handle_stream_creation(number)
        for number in range(EVENTS):
            self.handler._handle_event_creation(number)
        self.races: list[tuple[bool, bool]] = []
        steps = [self.kernel] * 5 + [self.record] * 2 + [self.wait] * 2
        steps += [self.finish_event, self.finish_stream, self.finish_device, *([self.poll] * 4 if polls else [])]
        for _ in range(self.random.randrange(4, 18)):
            self.random.choice(steps)(self.random.randrange(STREAMS), self.random.randrange(EVENTS))

    def first_race(self) -> tuple[int | None, int | None]:
        return tuple(next((n for n, pair in enumerate(self.races) if pair[side]), None) for side in (0, 1))  # type: ignore[return-value]

    def kernel(self, stream: int, event: int) -> None:
        writes = set(self.random.sample(BUFFERS, self.random.randrange(2)))
        reads = set(self.random.sample(BUFFERS, self.random.randrange(3))) - writes
        before = len(self.device.races)
        accesses = [Access(key, ((0, 8),), key in writes) for key in reads | writes]
        self.device.launch("kernel", None, accesses, stream=self.streams[stream])
        stacks: dict[int, list[str]] = {key: [] for key in reads | writes}
        told = self.handler._handle_kernel_launch(stream, reads, writes, set(), "kernel", stacks)
        self.races.append((len(self.device.races) > before, bool(told)))

    def record(self, stream: int, event: int) -> None:
        self.events[event].record(self.streams[stream])
        self.handler._handle_event_record(event, stream)

    def wait(self, stream: int, event: int) -> None:
        self.events[event].wait(self.streams[stream])
        self.handler._handle_event_wait(event, stream)

    def finish_event(self, stream: int, event: int) -> None:
        self.events[event].synchronize()
        self.handler._handle_event_synchronization(event)

    def finish_stream(self, stream: int, event: int) -> None:
        self.streams[stream].synchronize()
        self.handler._handle_stream_synchronization(stream)

    def finish_device(self, stream: int, event: int) -> None:
        self.device.synchronize()
        self.handler._handle_device_synchronization()

    def poll(self, stream: int, event: int) -> None:
        """The host asks until the event is done; the sanitizer has no hook for it."""
        if self.events[event].generation:
            self.events[event].synchronize()
            assert self.events[event].query()


def test_the_first_race_is_the_same():
    """On every program, and with enough programs of both kinds."""
    firsts = [Both(seed, polls=False).first_race() for seed in range(PROGRAMS)]
    assert [pair for pair in firsts if pair[0] != pair[1]] == []
    racy = sum(ours is not None for ours, _ in firsts)
    assert 1_000 < racy < PROGRAMS - 1_000, "the programs are of one kind and show nothing"


def test_a_poll_that_says_yes_is_an_edge_that_the_sanitizer_does_not_see():
    """Where both differ on programs with polls, it is the sanitizer that sees a race where there is an order."""
    firsts = [Both(seed, polls=True).first_race() for seed in range(PROGRAMS // 4)]
    differing = [(ours, theirs) for ours, theirs in firsts if ours != theirs]
    assert differing
    assert all(theirs is not None and (ours is None or theirs < ours) for ours, theirs in differing)
