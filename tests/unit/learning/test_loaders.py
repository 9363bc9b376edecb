"""What is learned of the other side: signals, copies, plugins that load."""

from __future__ import annotations

from tests.unit.learning.programs import EVENTS, SHELF, mined
from tests.unit.learning.test_learning import names

LIFT = """
class Cellar:
    def haul(self, shelf, floor):
        lift_rows(shelf.rows[floor], self.rows[floor])

class Lift:
    def __init__(self, shelf, cellar: Cellar):
        self.ticket = Ticket(4)
        self.cellar = cellar
        self.shelf = shelf
        shelf.take(self.ticket)
    def run(self):
        for floor in range(4):
            self.log.append(floor)
            self.cellar.haul(self.shelf, floor)
            self.ticket.punch(floor)
"""


def test_what_runs_for_a_layer_before_its_signal_is_the_copy() -> None:
    """What is appended to a list is not, nor the signal."""
    learned = mined(EVENTS, SHELF, LIFT)
    assert names(learned.transfers) == ["haul"]
    assert names(learned.host_side) == ["Cellar", "Lift"]
    assert (
        learned.transfers[0].shown[0].what
        == "self.cellar.haul(self.shelf, floor), then self.ticket.punch(floor) signals it"
    )


def test_a_signal_may_be_handed_on_as_a_callback() -> None:
    """The loop stands in another file, and calls a parameter."""
    learned = mined(
        EVENTS,
        SHELF,
        """
        from crane import Crane

        class Lift:
            def __init__(self, shelf):
                self.ticket = Ticket(4)
                self.crane = Crane()
                shelf.take(self.ticket)
            def run(self):
                self.crane.work_down(self.shelf, on_floor=self.ticket.punch)
        """,
        crane="""
        class Crane:
            def work_down(self, shelf, on_floor=None):
                for floor in range(shelf.floors):
                    shelf.lower_rows(floor)
                    if on_floor is not None:
                        on_floor(floor)
        """,
    )
    assert names(learned.transfers) == ["lower_rows"]
    assert names(learned.host_side) == ["Crane", "Lift"]


def test_a_loop_that_signals_and_copies_nothing_is_no_loader() -> None:
    learned = mined(EVENTS, SHELF, LIFT.replace("            self.cellar.haul(self.shelf, floor)\n", ""))
    assert learned.transfers == ()
    assert names(learned.host_side) == ["Lift"]


def test_a_generator_that_orders_its_steps_behind_its_stream_is_a_loader() -> None:
    """Stores that every tensor has are no words of an engine."""
    learned = mined(
        EVENTS,
        SHELF,
        """
        class Stairs:
            def climb(self, rows):
                here = torch.cuda.current_stream()
                for floor in range(4):
                    boxes = yield
                    here.wait_stream(self.stream)
                    with torch.cuda.stream(self.stream):
                        self.rows[floor].copy_(boxes)
                        kernels.carry_rows(boxes, self.rows[floor])
                yield
        """,
    )
    assert names(learned.transfers) == ["carry_rows"]
    assert names(learned.host_side) == ["Stairs"]


PLUGIN = """
from abc import ABC, abstractmethod

class Courier(ABC):
    @abstractmethod
    def await_floor(self, name: str): ...
    def offer(self, order) -> tuple[int | None, bool]:
        return 0, False

class Runner(Courier):
    def __init__(self):
        self.trips = []
    def depart(self, orders):
        for order in orders:
            self.trips.append(self.engine.trip(order))
    def await_floor(self, name):
        for trip in self.trips:
            next(trip)

class Walker(Courier):
    def await_floor(self, name):
        self.runner.await_floor(name)

class Sleeper(Courier):
    def await_floor(self, name):
        pass
"""
DECORATOR = """
import functools
from desks import desk_of

def delivered(func):
    @functools.wraps(func)
    def inner(name, *args):
        if not has_courier():
            return func(name, *args)
        notes, rows = desk_of(name)
        courier = get_courier()
        if notes is None:
            return func(name, *args)
        courier.await_floor(name)
        result = func(name, *args)
        courier.keep_floor(name, rows, notes)
        return result
    return inner
"""
DESKS = """
class Desk:
    def __init__(self):
        self.rows = None

def desk_of(name):
    pass_ = current_pass()
    desk: Desk = pass_.desks[name]
    return pass_.notes, desk.rows
"""


def test_plugins_with_a_wait_for_the_layer_at_hand() -> None:
    learned = mined(couriers=PLUGIN, delivery=DECORATOR, desks=DESKS)
    hooks = learned.hooks
    assert hooks is not None
    assert (hooks.root, hooks.wait, hooks.load, hooks.offer) == ("Courier", "await_floor", "depart", "offer")
    assert (hooks.absent, hooks.idle) == (("has_courier",), ("notes",))
    assert hooks.confidence == "high"
    assert names(learned.pools) == ["Desk"]
    assert names(learned.buffers) == ["rows"]
    assert names(learned.host_side) == ["Runner", "Sleeper", "Walker"]
    assert learned.told[0] == ("delivered", "await_floor", "desk_of")


COUNTED = """
from engine.api import Courier

class Porter(Courier):
    def __init__(self, floors):
        self.here = 0
        self.arrived = [threading.Event() for _ in range(floors)]
    def depart(self, orders):
        self.here = 0
        self.lift(orders)
    def await_floor(self):
        self.arrived[self.here].wait()
        self.here += 1
    def offer(self, order) -> tuple[int, bool]:
        return 0, False
"""


def test_a_plugin_may_count_the_layers_itself() -> None:
    """It waits for the element that it has counted up to; who starts to count starts the load."""
    asks = """
        def await_courier(name):
            if not has_courier():
                return
            get_courier().await_floor()
        """
    learned = mined(couriers=COUNTED, delivery=asks)
    hooks = learned.hooks
    assert hooks is not None
    assert (hooks.root, hooks.wait, hooks.load, hooks.offer) == ("Courier", "await_floor", "depart", "offer")
    assert hooks.absent == ("has_courier",)


def test_what_is_never_counted_is_no_step() -> None:
    """The index may be that of anything."""
    never = COUNTED.replace("        self.here += 1\n", "")
    unset = COUNTED.replace("        self.here = 0\n        self.lift", "        self.lift")
    assert [mined(couriers=text).hooks for text in (never, unset)] == [None, None]


WAITER = """
def await_courier(name):
    if has_courier():
        get_courier().await_floor()

def give_back(name, rows):
    if has_courier():
        get_courier().keep(name, rows)
"""


def test_readers_may_be_passed_their_storage() -> None:
    """They wait by a function and hand a parameter to the one beside it; what only calls one of them is none."""
    learned = mined(
        couriers=COUNTED,
        delivery=WAITER,
        desks="""
        from wood import Desk
        from delivery import await_courier, give_back

        class Oak(Desk):
            def serve(self, name, guests, rows, notes):
                await_courier(name)
                seated = seat(guests, rows)
                give_back(name, list(rows))
                return seated
        class Shop:
            def close(self, name, rows):
                give_back(name, rows)
            def open(self, name, rows):
                await_courier(name)
        """,
        wood="""
        from engine.api import Seats
        class Desk(Seats):
            pass
        """,
    )
    assert names(learned.pools) == ["Seats"]
    assert names(learned.parameters) == ["rows"]
    assert learned.told[0] == ("await_courier", "give_back")


def test_without_the_decorator_it_is_less_sure_and_names_no_storage() -> None:
    learned = mined(couriers=PLUGIN)
    assert learned.hooks is not None
    assert learned.hooks.confidence == "medium"
    assert (learned.pools, learned.buffers) == ((), ())


def test_a_root_outside_of_the_tree_is_a_root() -> None:
    """A plugin alone, whose engine is not there."""
    text = PLUGIN.replace("from abc import ABC, abstractmethod", "from engine.api import Courier")
    start, end = text.index("class Courier"), text.index("class Runner")
    learned = mined(couriers=text[:start] + text[end:])
    assert learned.hooks is not None
    assert (learned.hooks.root, learned.hooks.offer) == ("Courier", "")


def test_a_generator_that_nobody_fills_is_no_plugin() -> None:
    assert mined(couriers=PLUGIN.replace("self.trips.append(self.engine.trip(order))", "pass")).hooks is None
