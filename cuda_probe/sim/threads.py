"""Edges between threads of the host: what is put into a queue, an event, a lock comes before who takes it out.

``host_edges`` replaces ``queue.Queue``, ``queue.SimpleQueue``, ``threading.Event``, ``Lock``, ``RLock`` and
``Thread`` for the objects made meanwhile. Edges are exact for what they carry: an item of a queue hands on the clock
of the thread that put it, not of all that ever put.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Generic, TypeVar
from unittest.mock import patch

from cuda_probe.sim.device import Device
from cuda_probe.sim.operation import Operation

T = TypeVar("T")


class _Item(Generic[T]):
    __slots__ = ("sent", "value")

    def __init__(self, value: T, sent: Operation):
        self.value, self.sent = value, sent


@contextmanager
def host_edges(device: Device, in_thread: Callable[[], Any] | None = None) -> Iterator[None]:
    """Follow what threads hand to each other; ``in_thread`` makes a context manager that each new thread runs in."""
    replacements = {
        (queue, "Queue"): _queue(device, queue.Queue),
        (queue, "LifoQueue"): _queue(device, queue.LifoQueue),
        (queue, "SimpleQueue"): _queue(device, queue.Queue),
        (threading, "Event"): _event(device),
        (threading, "Lock"): lambda: _Lock(device, _LOCK()),
        (threading, "RLock"): lambda: _Lock(device, _RLOCK()),
        (threading, "Thread"): _thread(device, in_thread),
    }
    with ExitStack() as stack:
        for (module, name), replacement in replacements.items():
            stack.enter_context(patch.object(module, name, replacement))
        yield


_LOCK, _RLOCK = threading.Lock, threading.RLock


def _queue(device: Device, base: type[queue.Queue[Any]]) -> type[queue.Queue[Any]]:
    class Queue(base):  # type: ignore[valid-type,misc]
        def __init__(self, maxsize: int = 0):
            with patch.object(threading, "Lock", _LOCK):  # its own mutex orders nothing that anyone relies on
                super().__init__(maxsize)

        def _put(self, item: Any) -> None:
            super()._put(_Item(item, device.host().step("put")))

        def _get(self) -> Any:
            item = super()._get()
            device.host().step("get", (item.sent,))
            return item.value

    return Queue


def _event(device: Device) -> type[threading.Event]:
    class Event(threading.Event):
        _sent: Operation | None = None

        def __init__(self) -> None:
            with patch.object(threading, "Lock", _LOCK):
                super().__init__()

        def set(self) -> None:
            self._sent = device.host().step("set")
            super().set()

        def is_set(self) -> bool:
            return self._taken(super().is_set())

        def wait(self, timeout: float | None = None) -> bool:
            return self._taken(super().wait(timeout))

        def _taken(self, reached: bool) -> bool:
            if reached and self._sent is not None:
                device.host().step("event is set", (self._sent,))
            return reached

    return Event


class _Lock:
    def __init__(self, device: Device, lock: Any):
        self._device, self._lock = device, lock
        self._sent: Operation | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        taken: bool = self._lock.acquire(blocking, timeout)
        if taken and self._sent is not None:
            self._device.host().step("acquire", (self._sent,))
        return taken

    def release(self) -> None:
        self._sent = self._device.host().step("release")
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


def _thread(device: Device, in_thread: Callable[[], Any] | None) -> type[threading.Thread]:
    class Thread(threading.Thread):
        _started_by: Operation
        _ended_with: Operation | None = None

        def start(self) -> None:
            self._started_by = device.host().step(f"start {self.name}")
            super().start()

        def run(self) -> None:
            device.host().step("started", (self._started_by,))
            with ExitStack() as stack:
                if in_thread is not None:
                    stack.enter_context(in_thread())
                super().run()
            self._ended_with = device.host().step("ends")

        def join(self, timeout: float | None = None) -> None:
            super().join(timeout)
            if self._ended_with is not None and not self.is_alive():
                device.host().step(f"join {self.name}", (self._ended_with,))

    return Thread
