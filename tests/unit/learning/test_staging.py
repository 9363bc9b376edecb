"""Staging buffers that are learned: filled a layer a step, or handed to copies on a stream that is waited for."""

from __future__ import annotations

from tests.unit.learning.programs import mined
from tests.unit.learning.test_learning import names

STEPS = """
import torch

class Courier:
    def __init__(self):
        self.crates = {}
        self.van = torch.cuda.Stream()

class Mover(Courier):
    def bring(self, parcels):
        for floor in range(4):
            yield
            with torch.cuda.stream(self.van):
                self.carry.haul(parcels[floor])
            self.van.synchronize()
            self.van.wait_stream(torch.cuda.current_stream())
            self.crates[floor] = parcels[floor]
    def unpack(self, floor):
        return self.crates[floor].content

class Desk:
    def __init__(self):
        self.drivers = []
    def call(self, mover, parcels):
        self.drivers.append(mover.bring(parcels))
    def next_floor(self, name):
        for driver in self.drivers:
            next(driver)
"""
PIPE = """
import torch
from tools import haul_rows

class Mover:
    def __init__(self, floors):
        self.floors = floors
        self.weights = [1.0] * len(floors)
        self.number = {}
        self.van = torch.cuda.Stream()
    def begin(self, load):
        self._bring(load, "ground")
    def _bring(self, load, name):
        floor = self.number[name]
        with torch.cuda.stream(self.van):
            haul_rows(load, [self.floors[floor]])
    def next_floor(self, load, name):
        self.van.synchronize()
        self._bring(load, name + "+")
    def how_many(self, load, upper, following):
        return load, True
"""


def test_a_buffer_that_a_generator_fills_and_a_method_hands_out_is_staging() -> None:
    learned = mined(STEPS)
    assert names(learned.pools) == ["Courier"]
    assert names(learned.buffers) == ["crates"]
    assert names(learned.siblings) == ["unpack"]
    assert "Mover" not in names(learned.host_side)


def test_without_a_method_that_hands_it_out_it_is_none() -> None:
    learned = mined(STEPS.replace("return self.crates[floor].content", "return len(self.crates)"))
    assert (names(learned.pools), names(learned.buffers)) == ([], [])


def test_a_wait_for_a_stream_that_has_the_next_layer_copied_on_it_is_a_hook() -> None:
    learned = mined(PIPE)
    assert names(learned.pools) == ["Mover"]
    assert names(learned.buffers) == ["floors"]  # not the attribute that says which floor it is
    assert names(learned.transfers) == ["haul_rows"]


def test_a_wait_for_another_stream_is_none() -> None:
    learned = mined(PIPE.replace("self.van.synchronize()", "self.lift.synchronize()"))
    assert names(learned.pools) == names(learned.transfers) == []
