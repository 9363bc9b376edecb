"""What engines are made of, found by walking: tensors, inner objects, where they were made, what their methods want."""

# ruff: noqa: E402 -- what needs PyTorch is imported once it is known to be there

import inspect
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.objects import UnknownArgument, allocations, arguments, construct, instances, tensors, walk

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


def method(self, layer_id, rows, scale=1.0, *rest, **options): ...


def test_arguments_are_chosen_by_name():
    """Those without a default from the table, others only if they are given."""
    table = {"layer_id": 3, "rows": [1], "scale": 9.0, "unrelated": 0}
    assert arguments(method, table) == {"layer_id": 3, "rows": [1]}
    assert arguments(method, table, {"scale": 2.0}) == {"layer_id": 3, "rows": [1], "scale": 2.0}
    with pytest.raises(UnknownArgument, match="no value for the parameter 'rows' of method"):
        arguments(method, {"layer_id": 3})


class Base:
    def __init__(self, size, width=2):
        self.size, self.width = size, width


class PassesOn(Base):
    def __init__(self, *args, extra, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra


class Takes(Base):
    def __init__(self, size, **of_somebody_else):
        super().__init__(size)
        self.taken = of_somebody_else


class Strict(Base):
    def __init__(self, **kwargs):
        assert kwargs["size"]
        super().__init__(**kwargs)


def test_a_constructor_that_passes_on_is_given_what_the_next_one_takes():
    """With *args and **kwargs, or nothing but **kwargs; one that has parameters of its own may mean somebody else."""
    table = {"size": 4, "extra": 5}
    assert vars(construct(PassesOn, table, {"width": 7})) == {"size": 4, "width": 7, "extra": 5}
    assert vars(construct(Strict, table, {})) == {"size": 4, "width": 2}
    assert construct(Takes, table, {}).taken == {}
    with pytest.raises(UnknownArgument, match="'extra' of PassesOn"):
        construct(PassesOn, {"size": 4}, {})
