"""The rules of CUDA that the simulated device keeps, each with a program that shows it."""

import pytest

from cuda_probe.sim import Device, Earliest, Latest, Random, path
from tests.probe.programs import POISON, TRUTH, Load, kinds, whole


@pytest.mark.parametrize("schedule", [Latest, Earliest, lambda: Random(3), lambda: Random(4)])
def test_an_unordered_read_is_a_race_whatever_it_saw(schedule):
    """One run is enough: the lucky schedule reads the truth and is told of the race as well."""
    load = Load(schedule())
    load.copy()
    load.arrived.record(load.stream)
    seen = load.read()
    assert kinds(load.device) == ["RAW", "RAW"]  # one a piece of the copy
    if schedule in (Latest, Earliest):
        assert seen == (TRUTH if schedule is Earliest else POISON)


@pytest.mark.parametrize("schedule", [Latest, Earliest, lambda: Random(3), lambda: Random(4)])
def test_a_read_behind_a_wait_is_ordered(schedule):
    """The wait is an edge: no race, and the truth is read under every schedule."""
    load = Load(schedule())
    load.copy()
    load.arrived.record(load.stream)
    load.device.current_stream().wait_event(load.arrived)
    assert load.read() == TRUTH
    assert not load.device.races


def test_streams_run_in_order():
    """A read behind the copies in their own stream needs no wait."""
    load = Load()
    load.copy()
    assert load.read(load.stream) == TRUTH
    assert not load.device.races


def test_the_default_stream_waits_for_nobody():
    """Side streams of PyTorch do not block the default stream, nor it them."""
    load = Load()
    load.copy()
    load.read(load.device.default_stream)
    assert kinds(load.device) == ["RAW", "RAW"]


def test_a_wait_takes_the_record_that_is_latest_at_the_call():
    """A later record of the same event does not move an earlier wait."""
    load = Load()
    load.arrived.record(load.stream)
    load.device.default_stream.wait_event(load.arrived)
    load.copy()
    load.arrived.record(load.stream)
    assert load.read() == POISON
    assert kinds(load.device) == ["RAW", "RAW"]


def test_a_record_overwrites_the_one_before():
    """Waiting after a second record waits for what came between them too."""
    load = Load()
    load.arrived.record(load.stream)
    load.copy()
    load.arrived.record(load.stream)
    load.device.default_stream.wait_event(load.arrived)
    assert load.read() == TRUTH
    assert load.arrived.generation == 2


def test_waiting_for_what_was_never_recorded_orders_nothing():
    """The wait is no operation, and it is noted: the read comes first, so the load overtakes it (WAR)."""
    load = Load()
    load.device.default_stream.wait_event(load.arrived)
    assert load.arrived.query()
    assert load.read() == POISON
    load.copy()
    assert not load.device.races, "the host waited for the read, so the load comes after it"
    assert "never recorded" in load.device.notes[0]


def test_a_load_that_overtakes_a_read_is_a_race():
    """Write after read, where the host did not wait."""
    load = Load()
    load.device.launch("read", None, [whole(False)])
    load.copy()
    assert kinds(load.device) == ["WAR", "WAR"]


def test_two_unordered_writes_are_a_race():
    """Write after write."""
    load = Load()
    load.device.launch("forward", None, [whole(True)])
    load.copy()
    assert kinds(load.device) == ["WAW", "WAW"]


def test_the_host_orders_what_it_waited_for():
    """Synchronising an event, a stream or the device comes before what the host launches next."""
    for wait in ("event", "stream", "device"):
        load = Load()
        load.copy()
        load.arrived.record(load.stream)
        waits = {
            "event": load.arrived.synchronize,
            "stream": load.stream.synchronize,
            "device": load.device.synchronize,
        }
        waits[wait]()
        assert load.read() == TRUTH, wait
        assert not load.device.races, wait


def test_a_query_that_says_yes_orders():
    """Polling is an edge: the sanitizer of PyTorch has no hook for it and reports a race here."""
    load = Load(Earliest())
    load.copy()
    load.arrived.record(load.stream)
    assert load.arrived.query()
    assert load.read() == TRUTH
    assert not load.device.races


def test_a_query_that_says_no_orders_nothing():
    """Under the latest schedule the load is still in flight, and the race stands."""
    load = Load(Latest())
    load.copy()
    load.arrived.record(load.stream)
    assert not load.arrived.query()
    load.read()
    assert kinds(load.device) == ["RAW", "RAW"]


def test_a_gate_on_another_stream_orders_that_stream_only():
    """The wait on stream A protects stream B only once B waits for A."""
    for joined in (False, True):
        load = Load()
        a, b = load.device.new_stream(), load.device.new_stream()
        load.copy()
        load.arrived.record(load.stream)
        a.wait_event(load.arrived)
        if joined:
            b.wait_stream(a)
        assert load.read(b) == (TRUTH if joined else POISON)
        assert bool(load.device.races) is not joined


def test_the_stream_that_is_current_is_the_one_of_the_thread():
    """A stream is made current for a while; None changes nothing."""
    device = Device()
    side = device.new_stream()
    with device.stream(side):
        assert device.current_stream() is side
        with device.stream(None):
            assert device.current_stream() is side
    assert device.current_stream() is device.default_stream


def test_rows_that_do_not_meet_are_no_race():
    """Half of the buffer is loaded, the other half read."""
    from cuda_probe.sim import Access

    load = Load()
    load.device.launch("load", None, [Access(1, ((0, 4),), True)], stream=load.stream)
    load.device.launch("read", None, [Access(1, ((4, 8),), False)])
    assert not load.device.races


def test_what_is_ordered_is_shown_by_a_chain():
    """The proof: the copy, the record, the wait, the read."""
    load = Load()
    load.copy()
    load.arrived.record(load.stream)
    load.device.default_stream.wait_event(load.arrived)
    load.read()
    by_name = {operation.name: operation for operation in load.device.operations}
    chain = path(by_name["load"], by_name["read"])
    assert [operation.kind for operation in chain] == ["copy", "record", "wait", "kernel"]
    assert path(by_name["read"], by_name["load"]) == ()


def test_a_race_says_which_order_is_missing():
    """In the words of the report: what is known, and what would have to be."""
    load = Load()
    load.copy()
    load.read()
    assert load.device.races[1].missing_edge == (
        "stream 0 comes after stream 1 only up to its operation 0; it has to come after operation 2 (copy load)"
    )


def test_places_are_those_of_the_program():
    """An operation knows who launched it; frames of the probe itself are left out."""
    load = Load()
    load.copy()
    assert load.device.operations[0].site[0].function == "Load.copy"
