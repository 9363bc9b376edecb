"""Judging a call: has this stream waited for the layer, and if not, was the layer there by luck?

| verdict | meaning |
|---|---|
| ``no-counter``, ``no-load`` | the object is not armed, or no load is in flight: nothing to wait for |
| ``captured`` | called while a graph is captured: its waits are not in the replays |
| ``ordered`` | the current stream has waited for the current record of this layer or a later one |
| ``unordered`` | it has not, and nothing could be asked: a graph is being captured elsewhere |
| ``unordered-not-observed`` | it has not, and the load was over: luck |
| ``hazard`` | it has not, and the load was in flight |
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cuda_probe.watch.engines import Engine

WRITTEN = 20
"""Records of each accessor and verdict that are written; the rest is counted."""

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
    """What is known of one process: records and waits of events, captures under way."""

    def __init__(self, engine: Engine, current_stream: Callable[[], Any], tell: Callable[[Call], None]):
        self.engine = engine
        self.counts: Counter[tuple[str, str]] = Counter()
        self.captures = 0
        self._current_stream, self._tell = current_stream, tell
        self._lock = threading.Lock()
        self._records: Counter[tuple[int, int]] = Counter()  # (load, layer) -> generation
        self._waits: dict[tuple[int, int], tuple[int, int]] = {}  # (stream, load) -> (layer, its generation)

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
        with self._lock:
            self.counts[accessor, verdict] += 1
            written = self.counts[accessor, verdict] <= WRITTEN
        if verdict in TOLD and written:
            self._tell(Call(accessor, verdict, layer, self._stream(), waited))

    def _judge(self, pool: Any, layer: int) -> tuple[str, int | None]:
        counter = getattr(pool, self.engine.counter, None)
        if counter is None:
            return "no-counter", None
        if counter.consumer_index < 0:
            return "no-load", None
        load, index = counter.events[counter.consumer_index], layer - (getattr(pool, "start_layer", 0) or 0)
        with self._lock:
            waited, generation = self._waits.get((self._stream(), id(load)), (None, 0))
            current = self._records[id(load), index]
        if waited is not None and waited >= index and generation >= current > 0:
            return "ordered", waited
        if self.captures:
            return ("captured" if self._capturing() else "unordered"), waited
        done = current > 0 and load.load_events[index].query()
        return ("unordered-not-observed" if done else "hazard"), waited

    def _stream(self) -> int:
        stream = self._current_stream()
        return int(getattr(stream, "cuda_stream", id(stream)))

    def _capturing(self) -> bool:
        import torch

        return bool(torch.cuda.is_current_stream_capturing())
