"""What a check says, and what it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from auditor.gating import EAGER, REPLAY, Buffer, Hop, Judgement, Near, Need, Place, Remedy, Touch
from auditor.loading import Lapse, Loading
from auditor.scales import CONFIDENCES


@dataclass(frozen=True, slots=True)
class Case:
    """One uncovered read, seen from the function that should have waited.

    ``culprit`` is that function (qualified), ``step`` the step of the path in it, ``classes`` those of the object that
    it runs on and of the storage's owner, ``place`` where in it the way to the read goes on; ``inside`` tells whether
    it is a method of a pool (or of what a pool is made of); ``latent`` that no scenario arms the object; ``proved``
    that some object comes to the site by assignments, not by a declaration alone.
    """

    need: Need
    culprit: str
    step: Hop
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
    def confidence(self) -> str:
        """How sure it is that elements are read; of what is not proved to happen, low."""
        return self.need.confidence if self.proved else CONFIDENCES[-1]

    @property
    def method(self) -> str:
        """The culprit as ``Class.method`` or ``module.function``."""
        return ".".join(self.culprit.rsplit(".", 2)[-2:])

    @property
    def storage(self) -> str:
        """The storage read, as ``Class.attribute``."""
        return f"{self.buffer.owner.cls.rpartition('.')[2]}.{self.buffer.name}"

    @property
    def mode(self) -> str:
        """The execution mode in which the read happens."""
        return REPLAY if self.need.use == REPLAY else EAGER

    def near(self, kind: str) -> Near | None:
        """The first gate met on the way that failed for the reason ``kind``."""
        return next((one for one in self.need.near if one.why == kind), None)


def overridden_wait(judgement: Judgement, function: str) -> str | None:
    """The method of a base class that a method overrides, if that one waits."""
    cls, _, name = function.rpartition(".")
    overridden = (f"{base}.{name}" for base in judgement.hierarchy.mro(cls)[1:])
    return next((one for one in overridden if one in judgement.waits), None)


def _no_case(case: Case) -> str | None:
    return None


def _no_lapse(loading: Loading) -> Iterable[Lapse]:
    return ()


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth telling of a place that is not an uncovered read. ``subject`` is what it is about: an accessor, a
    class, a wait; ``related`` another place that belongs to it, with what happens there."""

    place: Place
    message: str
    subject: str
    related: tuple[Hop, ...] = ()
    sites: tuple[tuple[str, int, int, str], ...] = ()


def _no_remarks(judgement: Judgement) -> Iterable[Remark]:
    return ()


@dataclass(frozen=True, slots=True)
class Check:
    """A check. ``applies`` gives the sentence that tells a case of a read, or None; ``finds`` are the lapses of loaders
    that it tells, ``remarks`` what it has to tell of other places. ``title`` is the docs' first sentence. ``unmended``
    says why one more wait does not mend what it finds, "" where it does."""

    id: str
    severity: str
    title: str
    applies: Callable[[Case], str | None] = _no_case
    unmended: str = ""
    finds: Callable[[Loading], Iterable[Lapse]] = _no_lapse
    remarks: Callable[[Judgement], Iterable[Remark]] = _no_remarks


@dataclass(frozen=True, slots=True)
class Finding:
    """One missing edge: a check, the function to change, the storage; with every site that it concerns and the
    classes of the objects (qualified) that it concerns. ``remedy``: what the function would have to wait for, or why
    no wait is to be added there. What is wrong with a loader has no site."""

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
    remedy: Remedy | str = "one more wait does not mend it"
    classes: tuple[str, ...] = ()
    sites: tuple[tuple[str, int, int, str], ...] = ()
    mode: str = EAGER
