"""Which classes are counters, whether the host or a stream waits on them, what signals and takes back."""

from __future__ import annotations

from auditor.loading import Counter
from tests.unit.loading.programs import EVENTS, HOST, loader, loading

GENERATIONS = """
class Layers:
    def __init__(self, layers):
        self.events = [torch.cuda.Event() for _ in range(layers)]
    def complete(self, layer):
        self.events[layer].record()
    def wait(self, layer):
        torch.cuda.current_stream().wait_event(self.events[layer])

class Done:
    def __init__(self, layers):
        self.loads = [Layers(layers) for _ in range(3)]
        self.reader = 0
    def set_reader(self, load):
        self.reader = load
    def wait_until(self, layer):
        self.loads[self.reader].wait(layer)
"""


def done(counter: str) -> Counter:
    found = [one for one in loading(loader("pass", counter)).counters if one.cls == "m.Done"]
    assert len(found) == 1
    return found[0]


def names(found: frozenset[str]) -> set[str]:
    return {name.removeprefix("m.") for name in found}


def test_events_are_waited_for_by_a_stream() -> None:
    counter = done(EVENTS)
    assert (counter.gate, counter.blocks, counter.generations) == ("m.Done.wait_until", False, False)
    assert names(counter.signals) == {"Done.complete"}
    assert counter.rearms == frozenset()


def test_a_condition_is_waited_for_by_the_host() -> None:
    counter = done(HOST)
    assert (counter.blocks, counter.generations) == (True, False)
    assert names(counter.signals) == {"Done.complete"}
    assert names(counter.rearms) == {"Done.reset"}


def test_an_attribute_that_picks_a_set_of_signals_makes_generations() -> None:
    counter = done(GENERATIONS)
    assert counter.generations
    assert names(counter.signals) == {"Layers.complete"}
    assert counter.rearms == frozenset(), "who reads is told, nothing is taken back"


def test_it_may_be_picked_by_get() -> None:
    text = GENERATIONS.replace("self.loads[self.reader].wait(layer)", "self.loads.get(self.reader).wait(layer)")
    assert done(text).generations
    assert not done(GENERATIONS.replace("self.loads[self.reader]", "self.loads[layer]")).generations


def test_a_pool_that_hands_a_wait_on_is_no_counter() -> None:
    forwarding = EVENTS + (
        "\nclass WaitingPool(KVCache):\n    def wait_until(self, layer):\n"
        "        self.layer_transfer_counter.wait_until(layer)\n"
    )
    assert {one.cls for one in loading(loader("pass", forwarding)).counters} == {"m.Counter", "m.Done"}
