"""Judging a call: has this stream waited for the layer, and if not, was the layer there by luck?

| verdict | meaning |
|---|---|
| ``captured`` | called while this stream is captured: the replays neither call it nor wait |
| ``no-counter``, ``no-load`` | the object is not armed, or no load is in flight: nothing to wait for |
| ``ordered`` | the current stream has waited for the current record of this layer or a later one |
| ``unordered`` | it has not, and nothing could be asked: a graph is being captured elsewhere |
| ``unordered-not-observed`` | it has not, and the load was over: luck |
| ``hazard`` | it has not, and the load was in flight |
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cuda_probe.watch.engines import Engine

WRITTEN = 20
"""Records of each accessor and verdict that are written; the rest is counted."""

MOST_FAULTS, MORE_FAULTS = 50, ("the watch", "error: more kinds")

TOLD = ("hazard", "unordered", "unordered-not-observed")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that deserves a record. ``waited``: the layer that this stream has waited for in this load, None for
    none."""

    accessor: str
    verdict: str
    layer: int
    stream: int
    waited: int | None


class Judge:
    """What is known of one process: records and waits of events, captures under way. ``tell`` writes a record."""

    def __init__(self, engine: Engine, current_stream: Callable[[], Any], tell: Callable[[Mapping[str, Any]], None]):
        self.engine = engine
        self.counts: Counter[tuple[str, str]] = Counter()
        self.captures = 0
        self._current_stream, self._tell = current_stream, tell
        self._calls = 0
        self._lock = threading.RLock()
        self._records: Counter[tuple[int, int]] = Counter()  # (load, layer) -> generation
        self._waits: dict[tuple[int, int], tuple[int, int]] = {}  # (stream, load) -> (layer, its generation)

    def forked(self) -> None:
        """Begin anew in a forked process: the lock may be held by a thread that is not there, and what was counted was
        counted by the parent."""
        self._lock = threading.RLock()
        self.counts.clear()
        self._calls = self.captures = 0

    def capturing(self, more: int) -> None:
        """Note that a capture begins (1) or is over (-1)."""
        with self._lock:  # not between a look at the captures and a query
            self.captures += more

    def count(self, what: str, verdict: str) -> int:
        """Count a verdict; return how many of these there were. A process that is killed leaves no last summary, so
        there is one whenever the number of calls has doubled."""
        with self._lock:
            self.counts[what, verdict] += 1
            self._calls += 1
            count, doubled = self.counts[what, verdict], self._calls.bit_count() == 1
        if doubled:
            self.summarise()
        return count

    def failed(self, what: str, error: Exception) -> None:
        """Count a fault of the watch. What it says may be new each time: only so many are told apart."""
        with self._lock:
            known = [key for key in self.counts if key[1].startswith("error: ")]
            key = (what, f"error: {type(error).__name__}: {error}"[:200])
            self.counts[key if key in known or len(known) < MOST_FAULTS else MORE_FAULTS] += 1

    def summarise(self) -> None:
        """Tell what was counted, if anything was; the last summary of a process holds."""
        with self._lock:
            counts = sorted(self.counts.items())
        if not counts:
            return
        try:
            self._tell(
                {"summary": [{"accessor": what, "verdict": verdict, "calls": n} for (what, verdict), n in counts]}
            )
        except OSError as error:
            self.failed("summary", error)

    def recorded(self, load: Any, layer: int) -> None:
        """Note that the loader has signalled a layer of a load."""
        with self._lock:
            self._records[id(load), layer] += 1

    def waited(self, load: Any, layer: int) -> None:
        """Note that the current stream waits for a layer of a load; the loader signals in order, so for those before
        as well."""
        key, stream = id(load), self._stream()
        with self._lock:
            generation = self._records[key, layer]
            if generation and self._waits.get((stream, key), (-1, 0)) < (layer, generation):
                self._waits[stream, key] = (layer, generation)

    def called(self, accessor: str, pool: Any, layer: int) -> None:
        """Judge a call of an accessor of a pool for a layer, once it has returned."""
        verdict, waited = self._judge(pool, layer)
        if self.count(accessor, verdict) <= WRITTEN and verdict in TOLD:
            self._tell(asdict(Call(accessor, verdict, layer, self._stream(), waited)))

    def _judge(self, pool: Any, layer: int) -> tuple[str, int | None]:
        if _captured():
            return "captured", None
        counter = getattr(pool, self.engine.counter, None)
        if counter is None:
            return "no-counter", None
        if counter.consumer_index < 0:
            return "no-load", None
        load, index = counter.events[counter.consumer_index], layer - (getattr(pool, "start_layer", 0) or 0)
        stream = self._stream()
        with self._lock:
            waited, generation = self._waits.get((stream, id(load)), (None, 0))
            current = self._records[id(load), index]
            if waited is not None and waited >= index and generation >= current > 0:
                return "ordered", waited
            if self.captures:
                return "unordered", waited
            done = current > 0 and load.load_events[index].query()
        return ("unordered-not-observed" if done else "hazard"), waited

    def _stream(self) -> int:
        stream = self._current_stream()
        return int(getattr(stream, "cuda_stream", id(stream)))


def _captured() -> bool:
    """Tell whether the current stream is captured, by whatever means."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized() and bool(torch.cuda.is_current_stream_capturing())
