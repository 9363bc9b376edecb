"""What a check says, and what it is asked about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from auditor.gating import Buffer, Hop, Judgement, Near, Need, Place, Touch

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Case:
    """One uncovered read, seen from the function that should have waited.

    ``culprit`` is that function (qualified), ``classes`` those of the object that it runs on and of the storage's
    owner, ``place`` where in it the way to the read goes on; ``inside`` tells whether it is a method of a pool (or of
    what a pool is made of); ``latent`` that no scenario arms the object;
    ``proved`` that some object comes to the site by assignments, not by a declaration alone.
    """

    need: Need
    culprit: str
    classes: frozenset[str]
    place: Place
    inside: bool
    latent: bool
    proved: bool
    judgement: Judgement

    @property
    def buffer(self) -> Buffer:
        return self.need.buffer

    @property
    def method(self) -> str:
        """The culprit as ``Class.method`` or ``module.function``."""
        return ".".join(self.culprit.rsplit(".", 2)[-2:])

    @property
    def storage(self) -> str:
        """The storage read, as ``Class.attribute``."""
        return f"{self.buffer.owner.cls.rpartition('.')[2]}.{self.buffer.name}"

    def near(self, kind: str) -> Near | None:
        """The first gate met on the way that failed for the reason ``kind``."""
        return next((one for one in self.need.near if one.why == kind), None)


@dataclass(frozen=True, slots=True)
class Check:
    """A check. ``applies`` gives the sentence that tells the case, or None. ``title`` is the docs' first sentence."""

    id: str
    severity: str
    title: str
    applies: Callable[[Case], str | None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One missing edge: a check, the function to change, the storage; with every site that it concerns and the
    classes of the objects (qualified) that it concerns."""

    check: str
    severity: str
    confidence: str
    message: str
    function: str
    cls: str
    method: str
    buffer: str
    place: Place
    latent: bool
    touches: tuple[Touch, ...]
    witness: tuple[Hop, ...]
    near: tuple[Near, ...]
    hints: tuple[str, ...]
    classes: tuple[str, ...] = ()
    sites: tuple[tuple[str, int, int, str], ...] = ()
