"""What threads of the host hand to each other orders what they launch."""

import queue
import threading

import pytest

from cuda_probe.sim import Device, host_edges
from tests.probe.programs import whole


def race_of(hand_over, *, wait_in_loader=True):
    """A loader thread launches a load and waits for it; the main thread reads once it was told. Are both ordered?"""
    device = Device()
    stream = device.new_stream()
    with host_edges(device):
        tell, be_told = hand_over()

        def load():
            device.launch("load", None, [whole(True)], stream=stream)
            if wait_in_loader:
                stream.synchronize()
            tell()

        loader = threading.Thread(target=load)
        loader.start()
        be_told(loader)
        device.launch("read", None, [whole(False)])
        loader.join()
    return bool(device.races)


def by_queue():
    items: queue.Queue[str] = queue.Queue()
    return lambda: items.put("loaded"), lambda loader: items.get()


def by_simple_queue():
    items: queue.SimpleQueue[str] = queue.SimpleQueue()
    return lambda: items.put("loaded"), lambda loader: items.get()


def by_event():
    reached = threading.Event()
    return reached.set, lambda loader: reached.wait()


def by_join():
    return lambda: None, lambda loader: loader.join()


def by_lock():
    """The loader holds the lock until it is done (a binary semaphore)."""
    lock = threading.Lock()
    lock.acquire()
    return lock.release, lambda loader: lock.acquire()


@pytest.mark.parametrize("hand_over", [by_queue, by_simple_queue, by_event, by_join, by_lock])
def test_a_hand_over_orders(hand_over):
    """The loader waited for its stream, then told: the read comes after the load."""
    assert not race_of(hand_over)


@pytest.mark.parametrize("hand_over", [by_queue, by_event, by_join])
def test_a_hand_over_orders_the_host_only(hand_over):
    """The loader told without waiting for its stream: nothing orders the load."""
    assert race_of(hand_over, wait_in_loader=False)


def test_without_a_hand_over_threads_are_not_ordered():
    """That a thread was faster is no order."""
    reached = threading.Event()  # made outside: it carries no edge
    assert race_of(lambda: (reached.set, lambda loader: reached.wait()))


def test_an_item_hands_on_what_its_sender_knew():
    """An item of another sender in the same queue orders nothing of the loader."""
    device = Device()
    stream = device.new_stream()
    with host_edges(device):
        items: queue.Queue[str] = queue.Queue()

        def load():
            device.launch("load", None, [whole(True)], stream=stream)
            stream.synchronize()
            items.put("loaded")

        items.put("unrelated")
        loader = threading.Thread(target=load)
        loader.start()
        assert items.get() == "unrelated"
        device.launch("read", None, [whole(False)])
        loader.join()
    assert [race.first.name for race in device.races] in (["load"], ["read"])


def test_threads_are_as_before_afterwards():
    """The replacements end with the block."""
    before = threading.Thread, threading.Event, threading.Lock, queue.Queue
    with host_edges(Device()):
        assert threading.Thread is not before[0]
    assert (threading.Thread, threading.Event, threading.Lock, queue.Queue) == before


def test_a_thread_runs_within_what_it_is_given():
    """New threads enter a context manager of their own (modes of PyTorch belong to a thread)."""
    from contextlib import contextmanager

    entered = []

    @contextmanager
    def mode():
        entered.append(threading.current_thread().name)
        yield

    with host_edges(Device(), mode):
        thread = threading.Thread(target=lambda: None, name="loader")
        thread.start()
        thread.join()
    assert entered == ["loader"]
