"""What ``gated`` stands on, so that somebody else can check it: where the gate is asked for, how the way goes down from
there to the wait and to the read, and who armed the counter. Values only; made by ``gating``, checked by ``verify``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """A place in a function (qualified name). Lines and columns from 1."""

    path: str
    line: int
    column: int
    function: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof of one ``gated``: of an object at a site, along one path.

    ``read`` are the steps from where the storage, or what was got from it, is used down to where the attribute is read;
    ``wait`` those from the call that acquires the gate down to the call on the counter. In some function both have a
    step. ``armed`` is where the counter is registered on the owner of the gate (its column is -1); None where the wait
    is on a counter itself. ``beside`` are the same steps for other paths, on which the gate is acquired elsewhere.
    ``resets``: where each load makes the memos forget by which a path skips the wait. ``kinds``: the classes (without
    their modules) that the object waited on is of, where paths of objects of other classes go round the wait.
    """

    site: str
    read: tuple[Step, ...]
    wait: tuple[Step, ...]
    armed: Step | None = None
    beside: tuple[tuple[Step, ...], ...] = ()
    resets: tuple[Step, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the engine calls things. ``waits``: method -> position of its layer; ``counters``: attributes that hold a
    counter; ``arming``: methods and attributes that set it; ``in_flight``: (attribute, operator, number) that say that
    a load is on its way; ``first_layers``: attributes that hold an object's first layer; ``counts`` how many it has.
    ``signals`` are the methods that say that a layer has arrived. ``own``: the waits that are for the layer at hand;
    ``absent``: functions that are false, ``idle``: names that are None where those have nothing to wait for."""

    waits: dict[str, int]
    counters: frozenset[str]
    arming: frozenset[str]
    in_flight: frozenset[tuple[str, str, object]]
    first_layers: frozenset[str]
    counts: frozenset[str]
    signals: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
