"""Recipes: what the probe has to know of one engine to build its parts. A *rig* is a pool with a loader, built and
armed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter


@dataclass(slots=True)
class Rig:
    """A pool whose loader can be started.

    ``start_load`` enqueues the load of all layers and returns the index to hand to ``set_consumer``. A loader that is
    generic (no code of the engine) copies the tensors that it is given before it signals the layer that it is given.
    ``early`` makes the loader signal each layer before it copies it.
    """

    pool: Any
    layers: int
    counter: Any
    fidelity: Fidelity
    start_load: Callable[[Sequence[torch.Tensor], int], int]
    early: Callable[[], AbstractContextManager[None]] | None = None

    def set_consumer(self, index: int) -> None:
        """Let gates wait for the load with this index; -1: for none."""
        self.counter.set_consumer(index)


Build = Callable[[Machine], Rig]


class Recipe(Protocol):
    """How to import one engine and build its parts."""

    package: str
    available: bool
    """Whether ``torch.cuda.is_available()`` says yes while the engine is imported and run."""

    def importer(self, tree: Path) -> TreeImporter:
        """Return what imports the engine from a tree."""

    def prepare(self) -> None:
        """Set what modules of the engine take from one another, before any other is imported."""

    def builds(self, class_: type) -> Iterator[tuple[str, Build]]:
        """Return ways to build a rig that may hold an object of the class, each with a name of its own."""

    def values(self, layer: int) -> Mapping[str, Any]:
        """Return arguments of accessors by the names of parameters."""
