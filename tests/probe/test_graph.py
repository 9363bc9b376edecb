"""Capture and replay: the host's code runs once, its gates with it."""

import pytest

from cuda_probe.sim import CaptureError, Graph
from tests.probe.programs import POISON, TRUTH, Load, kinds, whole


class Captured(Load):
    """A graph of one read, behind a gate that waits if a load is in flight."""

    def __init__(self):
        super().__init__()
        self.in_flight = False
        self.seen: list[bytes] = []
        self.graph = Graph(self.device)
        with self.graph.captured():
            self.gate()
            self.device.launch("read", lambda: self.seen.append(bytes(self.memory)), [whole(False)])

    def gate(self):
        if self.in_flight:
            self.device.current_stream().wait_event(self.arrived)

    def load(self):
        self.copy()
        self.arrived.record(self.stream)
        self.in_flight = True

    def replayed(self):
        self.graph.replay()
        self.device.synchronize()
        return self.seen[-1]


def test_a_replay_runs_no_gate():
    """Gated in eager mode, not gated on replay."""
    captured = Captured()
    captured.load()
    assert captured.replayed() == POISON
    assert kinds(captured.device) == ["RAW", "RAW"]


def test_a_wait_before_the_replay_orders_it():
    """The gate runs on the stream of the replay, before it."""
    captured = Captured()
    captured.load()
    captured.gate()
    assert captured.replayed() == TRUTH
    assert not captured.device.races


def test_nothing_runs_at_capture():
    """Captured work is done at replays, once each."""
    captured = Captured()
    captured.device.synchronize()
    assert captured.seen == []
    captured.replayed()
    captured.replayed()
    assert len(captured.seen) == 2


def test_an_event_from_outside_cannot_be_waited_for_inside():
    """CUDA refuses it (isolation), and so does the simulation."""
    load = Load()
    load.copy()
    load.arrived.record(load.stream)
    with Graph(load.device).captured(), pytest.raises(CaptureError, match="outside the capture"):
        load.device.current_stream().wait_event(load.arrived)


def test_an_external_event_is_waited_for_at_each_replay():
    """It takes the record that is the latest when the graph is launched."""
    load = Load()
    external = load.device.new_event(external=True)
    seen: list[bytes] = []
    graph = Graph(load.device)
    with graph.captured():
        external.wait()
        load.device.launch("read", lambda: seen.append(bytes(load.memory)), [whole(False)])
    load.copy()
    external.record(load.stream)
    graph.replay()
    load.device.synchronize()
    assert seen == [TRUTH]
    assert not load.device.races


def test_a_stream_that_forks_is_captured_too():
    """A stream that waits for an event of the capture gets its work kept."""
    load = Load()
    side, fork = load.device.new_stream(), load.device.new_event()
    graph = Graph(load.device)
    with graph.captured():
        fork.record()
        side.wait_event(fork)
        load.device.launch("read", None, [whole(False)], stream=side)
    assert not load.device.operations
    graph.replay()
    assert [operation.name for operation in load.device.operations] == ["read"]


def test_what_cuda_refuses_during_a_capture_is_refused():
    """A query of an event, a wait of the host, a capture within one, a replay without one."""
    load = Load()
    graph = Graph(load.device)
    with pytest.raises(CaptureError, match="not captured"):
        graph.replay()
    with graph.captured():
        with pytest.raises(CaptureError, match="query"):
            load.arrived.query()
        with pytest.raises(CaptureError, match="synchronize"):
            load.device.current_stream().synchronize()
        with pytest.raises(CaptureError, match="within"), graph.captured():
            pass
