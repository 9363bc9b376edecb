"""Recipes: what the probe has to know of one engine to build its parts. A *rig* is a pool with a loader, built and
armed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from cuda_probe.arguments import Arguments
from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.makers import Maker


@dataclass(slots=True)
class Rig:
    """A pool whose loader can be started.

    ``start_load`` enqueues the load of all layers and returns the index to hand to ``set_consumer``. A loader that is
    generic (no code of the engine) copies the tensors that it is given before it signals the layer that it is given.
    ``holder`` is where readers are looked for; None: the pool and what it holds. ``early`` makes the loader signal
    each layer before it copies it. ``layered``: the parameters by which an accessor is told its layer; a generic
    loader knows the layer of a buffer by these alone. None: the loader is the engine's and knows by itself.
    ``begins``: methods by which a reader is told of the batch before anything is read for it.
    """

    pool: Any
    layers: int
    counter: Any
    load_stream: Any
    fidelity: Fidelity
    start_load: Callable[[Sequence[torch.Tensor], int], int]
    _: KW_ONLY
    early: Callable[[], AbstractContextManager[None]] | None = None
    holder: Any = None
    layered: frozenset[str] | None = None
    begins: Sequence[str] = ()

    def arrived(self, index: int, layer: int) -> Any:
        """Return the event that the loader records once a layer of a load is there."""
        return self.counter.events[index].load_events[layer]

    @property
    def within(self) -> Any:
        """Return what holds the readers."""
        return self.pool if self.holder is None else self.holder

    def set_consumer(self, index: int) -> None:
        """Let gates wait for the load with this index; -1: for none."""
        self.counter.set_consumer(index)


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads: a method of an object; ``values`` gives its arguments for a layer, by the names of parameters;
    ``begins``: methods that are called before it."""

    target: Any
    method: str
    values: Callable[[int], Mapping[str, Any]]
    package: str
    begins: Sequence[str] = ()

    def takes(self, parameters: frozenset[str]) -> bool:
        """Tell whether the method has one of these parameters."""
        return not parameters.isdisjoint(inspect.signature(getattr(self.target, self.method)).parameters)

    def begin(self, layer: int) -> None:
        """Tell the object of the batch for which a layer is read."""
        for begin in [getattr(self.target, name) for name in self.begins if hasattr(self.target, name)]:
            begin(**Arguments(self.values(layer), self.package).of(begin))

    def call(self, layer: int) -> Any:
        """Call the method; one that passes on what it is given is given what a method of its name takes further in."""
        arguments = Arguments(self.values(layer), self.package)
        chosen: dict[str, Any] = {}
        for function in self._passed_through():
            chosen = {**arguments.of(function), **chosen}
        return getattr(self.target, self.method)(**chosen)

    def _passed_through(self) -> list[Callable[..., Any]]:
        found = [getattr(self.target, self.method)]
        inner = (getattr(one, self.method, None) for one in vars(self.target).values())
        if _passes_on(found[0]):
            found += [method for method in inner if inspect.ismethod(method)][:1]
        return found


def _passes_on(function: Callable[..., Any]) -> bool:
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    return {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL} <= kinds


def accessors(class_: type, layered: frozenset[str]) -> list[str]:
    """Return the methods of a class that are told a layer by one of these parameters and get something."""
    return [
        name
        for name, method in inspect.getmembers(class_, inspect.isfunction)
        if name.startswith("get_") and not layered.isdisjoint(inspect.signature(method).parameters)
    ]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a rig is to hold: an object of a class; ``makers``: the code that makes it (none: any)."""

    class_: type
    makers: tuple[Maker, ...] = ()


class NotApplicable(Exception):
    """Indicates a way to build that does not suit a class; another one may."""


class ShowsNothing(Exception):
    """Indicates an experiment that cannot tell right from wrong, with the reason."""


ARMED_BY = "register_layer_transfer_counter"
"""A class that can be given the counter of a loader is a pool."""

Build = Callable[[Machine | None], Rig]
"""On a machine, or on the GPU (None)."""


class Recipe(Protocol):
    """How to import one engine and build its parts."""

    package: str
    available: bool
    """Whether ``torch.cuda.is_available()`` says yes while the engine is imported and run."""

    pools: tuple[str, ...]
    """Where the modules of pools are: patterns from the root of the tree."""
    layered: frozenset[str]
    """The parameters by which an accessor is told its layer."""

    def importer(self, tree: Path, modules: Iterable[str] = (), *, kernels: bool = False) -> TreeImporter:
        """Return what imports the engine from a tree, these modules in any case; ``kernels``: with those that it
        has in Triton."""

    def prepare(self) -> None:
        """Set what modules of the engine take from one another, before any other is imported."""

    def builds(self, wanted: Wanted) -> Iterator[tuple[str, Build]]:
        """Return ways to build a rig that may hold the object, each with a name of its own, the likeliest first."""

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments of readers by the names of parameters."""
