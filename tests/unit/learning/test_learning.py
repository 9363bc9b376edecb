"""What is learned from what code does: gates, arming calls, pools, accessors, storage."""

from __future__ import annotations

import pytest

from auditor.learning import HIGH, LOW, Learned, Named
from tests.unit.learning.programs import EVENTS, SHELF, mined


def names(found: tuple[Named, ...]) -> list[str]:
    return [one.name for one in found]


def gates(learned: Learned) -> list[tuple[str, str, int, str]]:
    return [(one.method, one.counter, one.argument, one.index) for one in learned.gates]


def test_a_counter_that_is_handed_in_makes_a_gate_a_pool_and_accessors() -> None:
    learned = mined(EVENTS, SHELF)
    assert gates(learned) == [("wait", "ticket", 0, "local")]
    assert [(one.method, one.argument) for one in learned.arming] == [("take", 0)]
    assert names(learned.pools) == ["Shelf"]
    assert names(learned.accessors) == ["fetch"]
    assert names(learned.siblings) == ["peek"]
    assert names(learned.buffers) == ["rows"]
    assert learned.told[0] == ("ticket", "take", "wait")


def test_the_evidence_is_the_line_that_shows_it() -> None:
    learned = mined(EVENTS, SHELF)
    lines = "\n".join((EVENTS, SHELF)).split("\n")
    for found, text in (
        (learned.gates[0].shown[0], "self.ticket.wait(floor - self.first)"),
        (learned.arming[0].shown[0], "self.ticket = ticket"),
        (learned.accessors[0].shown[0], "self.ticket.wait(floor - self.first)"),
        (learned.siblings[0].shown[0], "return self.rows[floor - self.first]"),
    ):
        assert found.path == "shop.py"
        assert lines[found.line - 1].strip() == text


CONDITION = """
import threading

class Ticket:
    def __init__(self):
        self.reached = 0
        self.bell = threading.Condition()
    def punch(self, floor):
        with self.bell:
            self.reached = floor
            self.bell.notify_all()
    def wait(self, floor):
        with self.bell:
            while self.reached < floor:
                self.bell.wait()
"""
ASKED = CONDITION.replace(
    "            while self.reached < floor:\n                self.bell.wait()",
    "            self.bell.wait_for(lambda: self.reached >= floor)",
)
FUTURES = """
from concurrent.futures import Future

class Ticket:
    def __init__(self, floors):
        self.promises = {}
        self.turn = 0
    def punch(self, floor):
        self.promises[self.turn][floor].set_result(None)
    def wait(self, floor):
        waiting = self.promises.get(self.turn)
        if waiting is not None:
            waiting[floor].result()
"""
NESTED = f"""
{EVENTS.replace("Ticket", "Book")}

class Ticket:
    def __init__(self, floors):
        self.books = [Book(floors) for _ in range(3)]
        self.turn = 0
    def wait(self, floor):
        if self.turn >= 0:
            self.books[self.turn].wait(floor)
"""


@pytest.mark.parametrize("counter", [CONDITION, ASKED, FUTURES, NESTED], ids=["while", "wait_for", "future", "nested"])
def test_waits_of_all_kinds(counter: str) -> None:
    """A number that has to reach the parameter, a condition, a future, a counter that is made of smaller ones."""
    learned = mined("import torch", counter, SHELF)
    assert gates(learned) == [("wait", "ticket", 0, "local")]
    assert names(learned.accessors) == ["fetch"]


def test_a_wait_of_its_own_is_no_gate_and_is_told() -> None:
    """Nobody hands it in: it may be a lock of anything."""
    learned = mined(
        """
        class Lines:
            def __init__(self):
                self.calls = {}
            def answer(self, name):
                self.calls[name].wait()
                return self.calls[name]
        """
    )
    assert learned.empty
    assert [(one.line, one.what) for one in learned.waits] == [(6, "Lines.answer waits: self.calls[name].wait()")]


def test_a_wait_for_everything_is_no_gate() -> None:
    """A timeout picks nothing."""
    assert mined(EVENTS.replace("self.marks[floor])", "self.marks[-1])"), SHELF).empty


GIVEN = SHELF.replace(
    "def __init__(self, first, floors):", "def __init__(self, first, floors, ticket: Ticket):"
).replace("self.ticket = None", "self.ticket = ticket")
GIVEN = GIVEN.replace("    def take(self, ticket: Ticket):\n        self.ticket = ticket\n", "")


def test_a_counter_that_the_constructor_takes_is_one_if_a_stream_waits() -> None:
    learned = mined(EVENTS, GIVEN)
    assert gates(learned) == [("wait", "ticket", 0, "local")]
    assert learned.arming == ()
    assert learned.told[0] == ("ticket", "wait")


def test_a_lock_that_the_constructor_takes_is_none() -> None:
    assert mined("import torch", CONDITION, GIVEN).empty


def test_who_waits_by_a_method_of_its_own_is_an_accessor_too() -> None:
    """And the method that only waits is none."""
    learned = mined(
        EVENTS,
        SHELF,
        """
        class Tall(Shelf):
            def _ready(self, floor):
                if self.ticket is not None:
                    self.ticket.wait(floor - self.first)
            def ready(self, floor):
                self._ready(floor)
            def fetch(self, floor):
                self._ready(floor)
                return self._rows(floor)
            def _rows(self, floor):
                return self.rows[floor - self.first]
            def both(self, floor):
                return self.fetch(floor), self.fetch(floor + 1)
        """,
    )
    assert names(learned.pools) == ["Shelf"]
    assert names(learned.accessors) == ["both", "fetch"]
    assert names(learned.siblings) == ["peek"]


def test_storage_that_a_pool_owns_is_one_as_well() -> None:
    """It has no counter: its owner waits. It may be in a file that nothing else asks for."""
    learned = mined(
        EVENTS,
        SHELF,
        """
        from cellar import Cask

        class House(Shelf):
            def __init__(self, floors):
                super().__init__(0, floors)
                self.casks = Cask(floors)
            def draw(self, floor):
                self.ticket.wait(floor)
                return self.casks.tap(floor)
        """,
        cellar="""
        class Cask:
            def __init__(self, floors):
                self.wine = [None] * floors
            def tap(self, floor):
                return self.wine[floor]
        """,
    )
    assert names(learned.pools) == ["Shelf", "Cask"]
    assert [one.confidence for one in learned.pools] == [HIGH, "medium"]


def test_subclasses_in_other_files_are_read() -> None:
    learned = mined(
        EVENTS,
        SHELF,
        annex="""
        from shop import Shelf

        class Annex(Shelf):
            def glance(self, floor):
                return self.rows[floor - self.first]
        """,
    )
    assert names(learned.siblings) == ["glance", "peek"]


def test_the_layer_may_be_global_and_come_second() -> None:
    shelf = SHELF.replace("self.ticket.wait(floor - self.first)", "self.ticket.wait('rows', floor)")
    events = EVENTS.replace("def wait(self, floor)", "def wait(self, what, floor)")
    assert gates(mined(events, shelf)) == [("wait", "ticket", 1, "global")]


def test_a_single_use_whose_counter_is_out_of_sight_is_unsure() -> None:
    """The name of the method is all that is known of it: it stands in the pack for a person to judge."""
    learned = mined(
        EVENTS.replace("def wait(", "def wait_floor("),
        SHELF.replace(": Ticket", "").replace("ticket.wait(", "ticket.wait_floor("),
    )
    assert gates(learned) == [("wait_floor", "ticket", 0, "local")]
    assert learned.gates[0].confidence != HIGH
    assert learned.gates[0].confidence != LOW


def test_what_the_wait_asks_of_its_counter_tells_that_a_load_is_in_flight() -> None:
    """The inverse of the test behind which it returns at once; a test of something else says nothing."""
    counter = NESTED.replace(
        "        if self.turn >= 0:\n            self.books[self.turn].wait(floor)",
        "        if self.turn < 0:\n            return\n        if self.books == []:\n            return\n"
        "        self.books[self.turn].wait(floor)",
    )
    learned = mined(counter, SHELF)
    assert [(one.attribute, one.operator, one.value) for one in learned.in_flight] == [("turn", ">=", 0)]
    assert mined(NESTED, SHELF).in_flight == ()


def test_a_number_below_zero_is_one_as_well() -> None:
    counter = NESTED.replace("        if self.turn >= 0:\n    ", "        if self.turn == -1:\n            return\n")
    assert [(one.operator, one.value) for one in mined(counter, SHELF).in_flight] == [("!=", -1)]


def test_a_method_that_takes_the_counter_at_two_positions_is_told_once() -> None:
    """A pack has one entry a method."""
    other = """
        class Tall(Shelf):
            def take(self, name, ticket):
                self.ticket = ticket
        """
    assert [(one.method, one.argument) for one in mined(EVENTS, SHELF, other).arming] == [("take", 0)]


def test_a_pool_whose_accessors_only_raise_is_a_stand_in() -> None:
    """One that waits or hands out elsewhere is none, nor one that others derive from."""
    more = """
        class Tall(Shelf):
            def both(self, floor):
                return self.fetch(floor), self.fetch(floor + 1)
        class Painted(Tall):
            def fetch(self, floor):
                raise RuntimeError("painted on")
            def both(self, floor):
                raise RuntimeError("painted on")
        class Locked(Tall):
            def fetch(self, floor):
                raise RuntimeError("locked")
            def both(self, floor):
                return self.rows[floor]
        """
    assert names(mined(EVENTS, SHELF, more).stand_ins) == ["Painted"]
    assert mined(EVENTS, SHELF, more, "class Copy(Painted):\n    pass\n").stand_ins == ()


def test_what_is_said_to_be_no_tensor_is_no_storage() -> None:
    """A number by which something else is indexed, and an object of the tree, which is a pool of its own."""
    learned = mined(
        EVENTS,
        SHELF,
        """
        class Box:
            pass
        class Tall(Shelf):
            def place(self, floor) -> int:
                self.ticket.wait(floor - self.first)
                return self.places[floor]
            def box(self, floor) -> Box:
                self.ticket.wait(floor - self.first)
                return self.boxes[floor]
        """,
    )
    assert names(learned.accessors) == ["box", "fetch", "place"]
    assert names(learned.buffers) == ["rows"]
    assert names(learned.pools) == ["Shelf", "Box"]


RACK = """
class Sketch:
    pass

class Rack(Sketch):
    def __init__(self):
        self.plates = []
"""


def test_a_family_starts_with_the_topmost_class_that_has_storage() -> None:
    """It has no counter itself; an interface above it starts none."""
    shelf = SHELF.replace("class Shelf:", "class Shelf(Rack):")
    learned = mined(EVENTS, RACK, shelf)
    assert names(learned.pools) == ["Rack"]
    assert learned.pools[0].shown[1].what == "Shelf derives from it"


def test_what_layers_of_a_network_have_in_common_is_no_storage() -> None:
    layer = f"{RACK}    def forward(self, rows):\n        return rows\n"
    shelf = SHELF.replace("class Shelf:", "class Shelf(Rack):")
    assert names(mined(EVENTS, layer, shelf).pools) == ["Shelf"]
