"""Small loaders: what the tests of the room share. ``loading`` is the one place that calls the code."""

from __future__ import annotations

from textwrap import dedent, indent

from auditor.loading import Lapse, Loading
from tests.unit.gating.programs import ENGINE, judged

EVENTS = """
class Done:
    def __init__(self, layers):
        self.events = [torch.cuda.Event() for _ in range(layers)]
    def complete(self, layer):
        self.events[layer].record()
    def wait_until(self, layer):
        torch.cuda.current_stream().wait_event(self.events[layer])
"""
"""A counter of one set of events."""

HOST = """
class Done:
    def __init__(self, layers):
        self.count = layers
        self.condition = threading.Condition()
    def complete(self, layer=0):
        with self.condition:
            self.count += 1
            self.condition.notify_all()
    def reset(self):
        self.count = 0
    def wait_until(self, layer):
        with self.condition:
            while self.count <= layer:
                self.condition.wait()
"""
"""A counter that the host waits on."""

FENCE = "self.stream.wait_stream(torch.cuda.current_stream())"


def loader(body: str, counter: str = EVENTS, beside: str = "", calls: str = "loader.load(rows)") -> str:
    """An engine with a loader of these lines, which ``serve`` calls."""
    lines = indent(dedent(body).strip("\n"), "        ")
    return f"""{ENGINE}
import threading
{counter}
class KeyPool(KVCache):
    def get_key_buffer(self, layer_id):
        self.layer_transfer_counter.wait_until(layer_id - self.start_layer)
        return self.k_buffer[layer_id - self.start_layer]

class Loader:
    def __init__(self, pool, other=None):
        self.pool = pool
        self.other = other
        self.host = [torch.zeros(64, 8) for _ in range(4)]
        self.stream = torch.cuda.Stream()
        self.done = Done(4)
    def load(self, rows, event=None):
{lines}
    def copy(self, layer):
        self.pool.k_buffer[layer].copy_(self.host[layer])
        self.pool.v_buffer[layer].copy_(self.host[layer])
{indent(dedent(beside), "    ")}
def serve(rows, q):
    pool = KeyPool(4)
    loader = Loader(pool, KeyPool(4))
    {calls}
    return q @ pool.get_key_buffer(0)
"""


def loading(text: str) -> Loading:
    return judged(text).loading


def told(found: Loading) -> list[Lapse]:
    """All lapses, whatever their kind."""
    return [*found.early, *found.unfenced, *found.dropped, *found.reused, *found.ranges, *found.left]


def kinds(found: Loading) -> set[str]:
    names = ("early", "unfenced", "dropped", "reused", "ranges", "left")
    return {name for name in names if getattr(found, name)}
