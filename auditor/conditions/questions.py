"""What formulas are asked for: the keys of one system of equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from auditor.facts import Value
from auditor.link import Frame, Instance, Node


@dataclass(frozen=True, slots=True)
class IsTrue:
    """What is necessary for ``value`` to be true, or, where not ``holds``, to be false."""

    frame: Frame
    value: Value
    holds: bool


@dataclass(frozen=True, slots=True)
class Reaches:
    """What is necessary for control to come to a block of a frame that runs."""

    frame: Frame
    block: int


@dataclass(frozen=True, slots=True)
class Takes:
    """What is necessary for control to go from one block to another; ``target`` -1: to leave the first one anyhow."""

    frame: Frame
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Runs:
    """What is necessary for a frame to run."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Built:
    """What is necessary for an object to be built."""

    one: Instance


@dataclass(frozen=True, slots=True)
class Arrives:
    """What is necessary for an object, by its number, to come to a node."""

    node: Node
    number: int


Question: TypeAlias = IsTrue | Reaches | Takes | Runs | Built | Arrives
