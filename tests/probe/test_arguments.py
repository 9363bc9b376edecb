"""Arguments come from the names of parameters, then from what annotations tell; the rest is refused or made up."""

import inspect
from abc import ABC, abstractmethod

import pytest

from cuda_probe.arguments import Arguments, UnknownArgument

HERE = __name__.partition(".")[0]


def method(self, layer_id, rows, scale=1.0, *rest, **options): ...


def test_arguments_are_chosen_by_name():
    """Those without a default from the table, others only if they are given."""
    table = {"layer_id": 3, "rows": [1], "scale": 9.0, "unrelated": 0}
    assert Arguments(table, "p").of(method) == {"layer_id": 3, "rows": [1]}
    assert Arguments(table, "p").of(method, {"scale": 2.0}) == {"layer_id": 3, "rows": [1], "scale": 2.0}
    with pytest.raises(UnknownArgument, match="no value for the parameter 'rows' of method"):
        Arguments({"layer_id": 3}, "p").of(method)


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
    assert vars(Arguments(table, "p").build(PassesOn, {"width": 7})) == {"size": 4, "width": 7, "extra": 5}
    assert vars(Arguments(table, "p").build(Strict)) == {"size": 4, "width": 2}
    assert Arguments(table, "p").build(Takes).taken == {}
    with pytest.raises(UnknownArgument, match="'extra' of PassesOn"):
        Arguments({"size": 4}, "p").build(PassesOn)


class Spec:
    def __init__(self, size: int, strict: bool, label: "str | None"):
        self.size, self.strict, self.label = size, strict, label


class Abstract(ABC):
    @abstractmethod
    def size(self): ...


def annotated(spec: Spec, quoted: "Spec", fast: bool, note: "Optional[str]" = None, *, missing: "int | None"): ...  # type: ignore[name-defined]  # noqa: F821


def test_an_annotation_tells_what_adds_nothing():
    """A class of the package is built in the same way, a flag is off, what may be None is None."""
    chosen = Arguments({"size": 4}, HERE).of(annotated)
    assert set(chosen) == {"spec", "quoted", "fast", "missing"}
    assert vars(chosen["spec"]) == vars(chosen["quoted"]) == {"size": 4, "strict": False, "label": None}
    assert (chosen["fast"], chosen["missing"]) == (False, None)


def test_what_nothing_tells_is_refused_or_made_up():
    """An abstract class, a class of somebody else, a number, no annotation at all."""

    def asks(one: Abstract, other: inspect.Signature, number: int, plain): ...

    with pytest.raises(UnknownArgument, match=r"'one' of .*asks"):
        Arguments({}, HERE).of(asks)
    made_up = Arguments({"number": 1}, HERE, lambda owner, parameter: parameter.name).of(asks)
    assert made_up == {"one": "one", "other": "other", "number": 1, "plain": "plain"}
