"""What engines are made of, found by walking: tensors, inner objects, where they were made, what their methods want."""

# ruff: noqa: E402 -- what needs PyTorch is imported once it is known to be there

import inspect
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.objects import allocations, instances, tensors, walk

PACKAGE = __name__.partition(".")[0]


class Inner:
    def __init__(self, size):
        self.buffer = torch.zeros(size)


class Special(Inner):
    def __init__(self, size):
        super().__init__(size)  # no allocation of an Inner


class Outer:
    def __init__(self):
        self.pools = {0: Inner(2), "special": Special(3)}
        self.empty = torch.zeros(0)
        self.again = self.pools[0]
        self.itself = self
        self.foreign = Path("of another package")


def test_tensors_are_found_with_their_paths_once_each():
    """Through attributes, lists and mappings; empty ones have no bytes; cycles and other packages end the walk."""
    found = tensors(Outer(), PACKAGE)
    assert [(path, tensor.numel()) for path, tensor in found] == [
        ("pools[0].buffer", 2),
        ("pools['special'].buffer", 3),
    ]
    assert tensors([torch.zeros(1), (torch.zeros(2),)], PACKAGE)[1][0] == "[1][0]"
    assert not [one for _, one in walk(Outer(), PACKAGE) if isinstance(one, Path)]


def test_objects_are_found_by_exactly_their_class():
    """An inner pool of a subclass is another pool."""
    outer = Outer()
    assert instances(outer, PACKAGE, Inner) == [("pools[0]", outer.pools[0])]
    assert instances(outer, PACKAGE, Outer) == [("", outer)]


def test_the_place_of_an_allocation_is_the_line_that_made_it():
    """Of objects of exactly this class; afterwards the class is as before."""
    before = Inner.__init__
    with allocations(Inner) as places:
        line = inspect.stack()[0].lineno + 1
        one = Inner(1)
        Special(1)
    assert places[id(one)].within(Path(__file__).parent) == f"test_objects.py:{line}"
    assert places[id(one)].within(Path("/elsewhere")) is None
    assert len(places) == 1
    assert Inner.__init__ is before
