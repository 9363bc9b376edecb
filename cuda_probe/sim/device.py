"""The simulated device: streams, events, and the check that accesses are ordered.

The rules are those of the CUDA documentation for streams made by PyTorch: operations of a stream run in order;
nothing orders two streams but events (and the host, where it waits); a record overwrites the one before; a wait takes
the record that is the latest at the call and is no operation before the first; so is a query then, which says yes. A
query that says yes orders what the host does next. Copies come in pieces, so that torn reads exist. Single accesses
are not split further.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from cuda_probe.sim.clock import Agent, join
from cuda_probe.sim.memory import Access
from cuda_probe.sim.operation import Frame, Kind, Operation, Race, Run
from cuda_probe.sim.schedule import Latest, Schedule

_OURS = str(Path(__file__).resolve().parent.parent)
_FOREIGN = (f"{_OURS}/", "/torch/", "/contextlib.py", "/threading.py", "/queue.py")
_FRAMES = 8

Node = Callable[["Stream"], object]
"""Captured work: launches itself on the stream of a replay."""


class CaptureError(RuntimeError):
    """Indicates what CUDA refuses while a graph is captured."""


class Device:
    """Everything that one run launches. ``races`` is the verdict, ``notes`` what was odd and ordered nothing."""

    def __init__(self, schedule: Schedule | None = None):
        self.schedule: Schedule = schedule or Latest()
        self.operations: list[Operation] = []
        self.races: list[Race] = []
        self.notes: list[str] = []
        self.lock = threading.RLock()
        self.capture: Capture | None = None
        self._streams: list[Stream] = []
        self._history: dict[int, list[tuple[Operation, Access]]] = {}
        self._hosts = itertools.count()
        self._events = itertools.count()
        self._local = threading.local()
        self.default_stream = self.new_stream()

    # ---------------------------------------------------------------- streams, events, threads

    def new_stream(self) -> Stream:
        """Make a stream that the default stream does not wait for, nor it for the default stream."""
        return Stream(self)

    def new_event(self, *, external: bool = False) -> Event:
        """Make an event; ``external``: a captured wait on it takes the record that is the latest at each replay."""
        return Event(self, external=external)

    def register(self, stream: Stream) -> int:
        """Take a new stream in and return its number."""
        with self.lock:
            self._streams.append(stream)
            return len(self._streams) - 1

    def next_event(self) -> int:
        """Return the number of a new event."""
        return next(self._events)

    def current_stream(self) -> Stream:
        """Return the stream that is current in this thread."""
        stream: Stream = getattr(self._local, "stream", self.default_stream)
        return stream

    def set_stream(self, stream: Stream) -> None:
        """Make a stream current in this thread."""
        self._local.stream = stream

    @contextmanager
    def stream(self, stream: Stream | None) -> Iterator[Stream | None]:
        """Make a stream current for a while; None changes nothing, as in PyTorch."""
        previous = self.current_stream()
        self.set_stream(stream or previous)
        try:
            yield stream
        finally:
            self.set_stream(previous)

    def host(self) -> Host:
        """Return the agent of this thread."""
        host: Host | None = getattr(self._local, "host", None)
        if host is None:
            host = self._local.host = Host(self, next(self._hosts))
        return host

    # ---------------------------------------------------------------- launching

    def launch(
        self,
        name: str,
        run: Run | None,
        accesses: Sequence[Access] = (),
        *,
        kind: Kind = "kernel",
        stream: Stream | None = None,
    ) -> Operation | None:
        """Give work to a stream; None while a graph is captured there: the work is kept for its replays."""
        stream = stream or self.current_stream()
        with self.lock:
            if self.capture is not None and self.capture.holds(stream):
                self.capture.keep(lambda target: self._launch(name, run, accesses, kind, target, ()))
                return None
            return self._launch(name, run, accesses, kind, stream, ())

    def stream_of(self, operation: Operation) -> Stream:
        """Return the stream to which an operation was given."""
        return next(stream for stream in self._streams if stream.agent == operation.agent)

    def launch_after(self, name: str, kind: Kind, stream: Stream, after: Sequence[Operation]) -> Operation:
        """Give an operation without effect to a stream, with edges of its own: records and waits."""
        with self.lock:
            return self._launch(name, None, (), kind, stream, after)

    def _launch(
        self,
        name: str,
        run: Run | None,
        accesses: Sequence[Access],
        kind: Kind,
        stream: Stream,
        after: Sequence[Operation],
    ) -> Operation:
        edges = [*after, *stream.tail(), *self.host().tail()]
        operation = self._operation(stream.agent, len(self.operations), kind, name, run, accesses, edges)
        self.operations.append(operation)
        stream.queue.append(operation)
        for access in operation.accesses:
            self._check(operation, access)
        while (chosen := self.schedule.after_launch(self.ready())) is not None:
            self._execute(chosen)
        return operation

    def _operation(
        self,
        agent: Agent,
        number: int,
        kind: Kind,
        name: str,
        run: Run | None,
        accesses: Sequence[Access],
        after: Sequence[Operation],
    ) -> Operation:
        clock = join(edge.clock for edge in after)
        tick = clock[agent] = clock.get(agent, 0) + 1
        return Operation(number, agent, tick, kind, name, run, tuple(accesses), tuple(after), clock, _site())

    # race(a, b) <- access(a, x), access(b, y), overlap(x, y), write(x) or write(y), not before(a, b), launched(a, b)
    def _check(self, operation: Operation, access: Access) -> None:
        history = self._history.setdefault(access.key, [])
        for first, earlier in history:
            unordered = first is not operation and not first.happens_before(operation.clock)
            if unordered and (access.write or earlier.write) and access.overlaps(earlier):
                self.races.append(Race(first, operation, earlier, access))
        if access.write:  # whoever is ordered after this one is ordered after what it covers
            history[:] = [
                (first, earlier)
                for first, earlier in history
                if not (first.happens_before(operation.clock) and access.covers(earlier))
            ]
        history.append((operation, access))

    # ---------------------------------------------------------------- running

    def ready(self) -> list[Operation]:
        """Return what may run now, in order of launch."""
        heads = (stream.head() for stream in self._streams)
        able = [head for head in heads if head is not None and all(edge.done for edge in head.after)]
        return sorted(able, key=lambda operation: operation.number)

    def finish(self, operation: Operation) -> None:
        """Run what the schedule says until an operation is done."""
        with self.lock:
            while not operation.done:
                chosen = self.schedule.pick(self.ready())
                if chosen is None:
                    self._finish_only(operation)
                else:
                    self._execute(chosen)

    def _finish_only(self, operation: Operation) -> None:
        needed: dict[int, Operation] = {}
        todo = [operation]
        while todo:
            one = todo.pop()
            if not one.done and one.number not in needed:
                needed[one.number] = one
                todo.extend(one.after)
        for number in sorted(needed):
            self._execute(needed[number])

    def _execute(self, operation: Operation) -> None:
        assert not operation.done, f"{operation} is done"
        assert all(edge.done for edge in operation.after), f"{operation} is not ready"
        if operation.run is not None:
            operation.run()
        operation.done = True

    def synchronize(self) -> None:
        """Let the host wait for all streams."""
        for stream in list(self._streams):
            stream.synchronize()


class Host:
    """A thread of the host as an agent: what it waits for comes before what it launches."""

    def __init__(self, device: Device, number: int):
        self.device = device
        self.agent = Agent("host", number)
        self._last: Operation | None = None

    def tail(self) -> tuple[Operation, ...]:
        """Return its last operation, if there is one."""
        return () if self._last is None else (self._last,)

    def step(self, name: str, after: Sequence[Operation] = (), accesses: Sequence[Access] = ()) -> Operation:
        """Do something now: come after operations that are done, touch memory of the host."""
        device = self.device
        with device.lock:
            operation = device._operation(self.agent, -1, "host", name, None, accesses, [*after, *self.tail()])
            operation.done = True
            self._last = operation
            for access in operation.accesses:
                device._check(operation, access)
            return operation


class Stream:
    """A queue of operations that run one after the other."""

    def __init__(self, device: Device):
        self.device = device
        self.agent = Agent("stream", device.register(self))
        self.queue: list[Operation] = []
        self._next = 0

    def tail(self) -> tuple[Operation, ...]:
        """Return its last operation, if there is one."""
        return tuple(self.queue[-1:])

    def head(self) -> Operation | None:
        """Return its first operation that is not done."""
        while self._next < len(self.queue) and self.queue[self._next].done:
            self._next += 1
        return self.queue[self._next] if self._next < len(self.queue) else None

    def wait_event(self, event: Event) -> None:
        """Let what comes next in this stream wait for an event."""
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event here, a new one if none is given."""
        event = event or self.device.new_event()
        event.record(self)
        return event

    def wait_stream(self, other: Stream) -> None:
        """Let what comes next in this stream wait for all that the other one has now."""
        self.wait_event(other.record_event())

    def synchronize(self) -> None:
        """Let the host wait for all that this stream has."""
        self._refuse_in_capture("synchronize")
        if self.queue:
            self.device.finish(self.queue[-1])
            self.device.host().step(f"synchronize {self.agent}", self.tail())

    def query(self) -> bool:
        """Tell whether all is done; if so, what the host does next comes after it."""
        self._refuse_in_capture("query")
        done = not self.queue or self.queue[-1].done
        if done and self.queue:
            self.device.host().step(f"query {self.agent}", self.tail())
        return done

    def _refuse_in_capture(self, what: str) -> None:
        if self.device.capture is not None and self.device.capture.holds(self):
            raise CaptureError(f"{what} of a stream that is being captured")


class Event:
    """A point in a stream. ``generation`` counts its records: 0, never recorded."""

    def __init__(self, device: Device, *, external: bool = False):
        self.device, self.number, self.external = device, device.next_event(), external
        self.generation = 0
        self._record: Operation | None = None
        self._capture: Capture | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Put the event after what the stream has now; an earlier record is forgotten."""
        stream = stream or self.device.current_stream()
        capture = self.device.capture
        if capture is not None and capture.holds(stream):
            self._capture = capture
            if self.external:
                capture.keep(self._record_on)
            return
        self._record_on(stream)

    def _record_on(self, stream: Stream) -> None:
        self.generation += 1
        self._capture = None
        self._record = self.device.launch_after(f"event {self.number}.{self.generation}", "record", stream, ())

    def wait(self, stream: Stream | None = None) -> None:
        """Let what comes next in the stream wait for the latest record."""
        stream = stream or self.device.current_stream()
        capture = self.device.capture
        if capture is not None and (capture.holds(stream) or self._capture is capture):
            self._wait_in(capture, stream)
        else:
            self._wait_on(stream)

    def _wait_in(self, capture: Capture, stream: Stream) -> None:
        if self.external:
            capture.keep(self._wait_on)
        elif self._capture is capture:
            capture.join(stream)  # a fork: the stream is captured from here on
        elif self._record is not None:
            raise CaptureError(f"event {self.number} was recorded outside the capture that waits for it")

    def _wait_on(self, stream: Stream) -> None:
        if self._record is None:
            self.device.notes.append(f"{stream.agent} waits for event {self.number}, which was never recorded: no edge")
            return
        self.device.launch_after(self._record.name, "wait", stream, (self._record,))

    def query(self) -> bool:
        """Tell whether the latest record is done; if so, what the host does next comes after it."""
        if self.device.capture is not None:
            raise CaptureError(f"query of event {self.number} during a capture")
        if self._record is None:
            return True
        if not self._record.done and self.device.schedule.finishes(self._record):
            self.device.finish(self._record)
        if self._record.done:
            self.device.host().step(f"query {self._record.name}", (self._record,))
        return self._record.done

    def synchronize(self) -> None:
        """Let the host wait for the latest record."""
        if self._record is not None:
            self.device.finish(self._record)
            self.device.host().step(f"synchronize {self._record.name}", (self._record,))


class Capture:
    """Streams whose work is kept and not done. It is replayed on one stream in the order of capture: of all the
    orders that the graph allows, one; races between its own branches are not seen."""

    def __init__(self, stream: Stream):
        self._streams = {stream}
        self.nodes: list[Node] = []

    def holds(self, stream: Stream) -> bool:
        """Tell whether a stream is being captured."""
        return stream in self._streams

    def join(self, stream: Stream) -> None:
        """Capture another stream as well."""
        self._streams.add(stream)

    def keep(self, node: Node) -> None:
        """Keep work for the replays."""
        self.nodes.append(node)


def _site() -> tuple[Frame, ...]:
    frames: list[Frame] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and len(frames) < _FRAMES:
        file = frame.f_code.co_filename
        if not any(part in file for part in _FOREIGN):
            frames.append(Frame(file, frame.f_lineno, frame.f_code.co_qualname))
        frame = frame.f_back
    return tuple(frames)
