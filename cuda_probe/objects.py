"""Objects of an engine: their tensors, the objects inside them, where they are made."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the tree."""

    file: Path
    line: int

    def within(self, root: Path) -> str | None:
        """Return ``path:line`` from the root, as reports have it; None outside of it."""
        return f"{self.file.relative_to(root).as_posix()}:{self.line}" if self.file.is_relative_to(root) else None


def walk(value: Any, package: str, path: str = "") -> Iterator[tuple[str, Any]]:
    """Go through an object of a package: what it holds, in attributes, lists, tuples and mappings, each once, with
    its path."""
    yield from _walk(value, package, path, set(), 0)


def _walk(value: Any, package: str, path: str, seen: set[int], depth: int) -> Iterator[tuple[str, Any]]:
    if id(value) in seen or depth > DEEPEST:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from _walk(item, package, f"{path}[{position}]", seen, depth + 1)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, package, f"{path}[{key!r}]", seen, depth + 1)
    elif type(value).__module__.partition(".")[0] == package and hasattr(value, "__dict__"):
        yield path, value
        for name, item in vars(value).items():
            yield from _walk(item, package, f"{path}.{name}" if path else name, seen, depth + 1)


def tensors(value: Any, package: str) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors that have bytes, with their paths."""
    found = walk(value, package)
    return [(path, one) for path, one in found if isinstance(one, torch.Tensor) and one.numel()]


def instances(value: Any, package: str, class_: type) -> list[tuple[str, Any]]:
    """Return the objects of exactly this class that an object is or holds, with their paths."""
    return [(path, one) for path, one in walk(value, package) if type(one) is class_]


@contextmanager
def allocations(class_: type) -> Iterator[dict[int, Place]]:
    """Note where objects of exactly this class are made meanwhile, by their ``id``."""
    places: dict[int, Place] = {}
    original: Callable[..., None] = class_.__init__  # type: ignore[misc]

    @functools.wraps(original)
    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        if type(self) is class_:
            frame = sys._getframe(1)
            places[id(self)] = Place(Path(frame.f_code.co_filename), frame.f_lineno)
        original(self, *args, **kwargs)

    with patch.object(class_, "__init__", noting):
        yield places
