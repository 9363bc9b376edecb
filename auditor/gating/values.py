"""The values of the must-analysis: buffers, gates, what is held, handles, needs. All frozen; positions do not count in
comparisons, so that two waits for the same layer on two branches are the same gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from auditor.callgraph import FrameKey
from auditor.conditions import TRUE, Formula
from auditor.gating.symbols import Layer, Path
from auditor.link import Code, Instance

ESCAPES = "keeps it"
"""The use of a handle that is stored where this analysis does not follow it."""

ANYWHERE = -1
"""Any place in a collection."""

PACKS = "packs it into an object"
"""The use of a handle that becomes a field of a new object, or a variable of a nested function: who reads it there is
not followed."""


PASSED = "parameter"
"""The kind of a touch that is a use of storage which came as an argument from outside the tree."""
KEPT = "kept"
"""The kind of a touch that reads storage which somebody keeps under a name of his own."""
REPLAY = "replay"
"""The execution mode in which a captured graph is replayed; also the use of a need that comes of it."""
EAGER = "eager"
"""The execution mode in which Python runs the forward pass."""


UNRELATED_ARGUMENT = "argument?"
"""Why a gate did not do that depends on an argument and whose layer cannot be compared with the one that is read."""
SWITCH = "switch"
"""Why a gate did not do that some calls switch off."""
UNRELATED_SWITCH = "switch?"
"""The same of one whose layer cannot be compared with the one that is read."""
EARLY = "early"
"""Why a gate did not do that is made before the load begins whose bytes are read."""
SKIPPED = "skipped"
"""Why a gate did not do that Python makes and a replay does not."""


Bound: TypeAlias = tuple[Path | None, Instance | None]
"""The path of a receiver in the function at hand, and which object it is taken to be."""
UNBOUND: Bound = (None, None)
"""A receiver that the function at hand has no name for."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Guarded storage: attribute ``name`` of ``owner``."""

    owner: Instance
    name: str


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a function."""

    path: str
    line: int
    column: int
    function: str


def defined_at(code: Code) -> Place:
    """Where a function is defined."""
    return Place(code.path, code.facts.at.line, code.facts.at.column, code.name)


TRUTH, EQUAL, PASSED_ON = "truth", "==", "passed"
"""What is asked of a parameter: to be true, to equal a constant, to be passed and not None as written."""


class Given(NamedTuple):
    """What a parameter has to be: ``operator`` (with the constant ``value``) has to come out as ``holds``."""

    name: str
    operator: str
    value: object = None
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Gate:
    """A wait that has happened: for ``layer`` on the counter of ``owners`` (None: on a counter object itself).

    ``through`` is the access path of the owner in the function at hand. ``only`` restricts it: it holds if the object
    at that path is one of those. ``given`` is what parameters have to be for it to happen; ``noop`` that
    nothing happens; ``memo`` that it happened once, for which load is not known. ``chain`` are the calls down to the
    primitive, outermost first; ``beside`` those of the same gate on other paths; ``resets`` where the memo forgets by
    which some paths skip it.
    """

    owners: frozenset[Instance] | None
    through: Path | None
    layer: Layer
    only: tuple[Path, frozenset[Instance]] | None = None
    given: tuple[Given, ...] = ()
    noop: bool = False
    memo: bool = False
    place: Place = field(default=Place("", 0, 0, ""), compare=False)
    text: str = field(default="", compare=False)
    chain: tuple[Place, ...] = field(default=(), compare=False)
    beside: tuple[tuple[Place, ...], ...] = field(default=(), compare=False)
    resets: tuple[Place, ...] = field(default=(), compare=False)

    @property
    def chains(self) -> tuple[tuple[Place, ...], ...]:
        """Its own chain and those beside it."""
        return (self.chain, *self.beside)


@dataclass(frozen=True, slots=True)
class Vacuous:
    """There is nothing to wait for: on this path one of the owners at ``through`` has no counter or no load in flight,
    or a parameter is not what one of ``without`` asks, or the object at a path is none of ``unless``."""

    through: frozenset[Path] = frozenset()
    without: frozenset[Given] = frozenset()
    unless: tuple[Path, frozenset[Instance]] | None = None


Held: TypeAlias = frozenset[Gate | Vacuous]
"""What is certainly held. Order: ⊇ (more held is less). Bottom (everything) exists only inside the solver."""

_CHOICES = 3
"""Owners of one ``Vacuous``: a guard of more parts says nothing any more."""


def meet(left: Held, right: Held) -> Held:
    """What is held on both of two paths: a gate also counts where the other path had nothing to wait for."""
    if left == right:
        return left
    kept = set(left & right)
    for here, there in ((left - right, right), (right - left, left)):
        kept.update(both for one in here for other in there if (both := _both(one, other)) is not None)
    return simplest(kept)


def simplest(held: Iterable[Gate | Vacuous]) -> Held:
    """Without what follows from the rest: a gate that also happens without its condition is one gate."""
    held = frozenset(held)
    return frozenset(one for one in held if not any(other != one and implies(other, one) for other in held))


def implies(one: Gate | Vacuous, other: Gate | Vacuous) -> bool:
    """Whether ``other`` is ``one`` with more conditions, or more parts of a guard."""
    if isinstance(one, Vacuous) and isinstance(other, Vacuous):
        return one.through <= other.through and one.without <= other.without and one.unless in (None, other.unless)
    if isinstance(one, Vacuous) or isinstance(other, Vacuous):
        return False
    weaker = set(one.given) <= set(other.given) and (other.memo or not one.memo)
    return weaker and replace(one, given=other.given, memo=other.memo) == other


def _both(one: Gate | Vacuous, other: Gate | Vacuous) -> Gate | Vacuous | None:
    """What certainly holds where one of two does."""
    if isinstance(other, Vacuous):
        return _either(one, other) if isinstance(one, Vacuous) else _excused(one, other)
    if isinstance(one, Gate) and replace(one, given=other.given, memo=other.memo) == other:
        return replace(one, given=_all(one.given, other.given), memo=one.memo or other.memo)
    return None


def _all(one: Iterable[Given], other: Iterable[Given]) -> tuple[Given, ...]:
    return tuple(sorted({*one, *other}, key=repr))


def _either(one: Vacuous, other: Vacuous) -> Vacuous | None:
    through, without = one.through | other.through, one.without | other.without
    if one.unless is not None and other.unless not in (None, one.unless):
        return None
    return Vacuous(through, without, one.unless or other.unless) if len(through) + len(without) <= _CHOICES else None


def _excused(one: Gate, other: Vacuous) -> Gate | None:
    """What is left of a gate where the other path has none: the whole, if its owner has nothing to wait for there; if
    an argument was not passed, a gate that asks for the argument; if an object is of another class there, a gate for
    the others."""
    if any(path != one.through for path in other.through):
        return None
    if other.unless is not None and one.only not in (None, other.unless):
        return None
    return replace(one, given=_all(one.given, other.without), only=other.unless or one.only)


@dataclass(frozen=True, slots=True)
class Touch:
    """A site on the way of a handle or a need, with the object it was on and the method that it runs."""

    path: str
    line: int
    column: int
    name: str
    kind: str
    object: Instance
    method: str


@dataclass(frozen=True, slots=True)
class Near:
    """A gate that was there and did not do: ``why`` is dead, order, layer, branch, aside, after, argument,
    ``UNRELATED_ARGUMENT``, ``SKIPPED``, ``EARLY``, ``SWITCH``, ``UNRELATED_SWITCH``, noop, memo, unrelated, guard."""

    why: str
    gate: Gate
    what: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: in ``frame``, at ``place``, ``what`` happens. ``layer``: the layer concerned, in the terms of
    the function of the frame."""

    frame: FrameKey
    place: Place
    what: str
    layer: Layer | None = field(default=None, compare=False)


def by_length(hops: tuple[Hop, ...]) -> tuple[object, ...]:
    """Orders paths: short ones first, equally short ones by where they go."""
    return len(hops), tuple((hop.place, hop.what, hop.frame[0], str(hop.frame[1])) for hop in hops)


@dataclass(frozen=True, slots=True)
class Handle:
    """A value that denotes guarded storage. ``selected`` once a layer was picked. ``gate`` is the gate that covers it
    already (with why its layer covers): whatever reads it later is behind that gate. ``bound``: the path that its
    owner, or the receiver it was got from, has in the function at hand, and which object that is. ``inside``: where in
    tuples and lists it is, the outermost last; ``ANYWHERE`` for any element. ``when``: what is necessary of the
    configuration for it to come here."""

    buffer: Buffer
    layer: Layer
    selected: bool
    origin: Place
    touches: tuple[Touch, ...]
    gate: tuple[Gate, str] | None = None
    bound: Bound = field(default=UNBOUND, compare=False)
    hops: tuple[Hop, ...] = field(default=(), compare=False)
    near: tuple[Near, ...] = field(default=(), compare=False)
    optional: tuple[tuple[Gate, str], ...] = field(default=(), compare=False)
    inside: tuple[int, ...] = ()
    when: Formula = field(default=TRUE, compare=False)


_NESTED = 6
"""Collections in collections that a handle is followed into; deeper, its place is not told any more."""


def put_into(handle: Handle, *places: int) -> Handle:
    """A handle at ``places`` of collections, the outermost last. A loop may pack its own result again and again."""
    inside = (*handle.inside, *places)
    return replace(handle, inside=inside) if len(inside) <= _NESTED else handle


@dataclass(frozen=True, slots=True)
class Need:
    """An element read that no gate covers yet, in the terms of the function at hand. ``hops`` lead from this function
    down to the read; ``near`` are gates met on the way that did not do."""

    buffer: Buffer
    layer: Layer
    origin: Place
    use: str
    touches: tuple[Touch, ...]
    confidence: str = "medium"
    hops: tuple[Hop, ...] = field(default=(), compare=False)
    near: tuple[Near, ...] = field(default=(), compare=False)
    optional: tuple[tuple[Gate, str], ...] = field(default=(), compare=False)
    """Gates that cover it if the caller passes the argument they depend on, with why their layer covers."""
    culprit: int = field(default=0, compare=False)
    """The step of ``hops`` at which somebody should have waited, counted from their end (-1 the last); 0: not known."""
    bound: Bound = field(default=UNBOUND, compare=False)
    """The receiver of the read as the function at hand names it."""
    when: Formula = field(default=TRUE, compare=False)
    """What is necessary of the configuration for control to take one of the paths."""
    later: bool = field(default=False, compare=False)
    """Whether a load may begin inside, before the read: what callers have waited for is of an earlier one."""

    @property
    def escapes(self) -> bool:
        """Whether the handle is kept rather than read."""
        return self.use == ESCAPES

    @property
    def seam(self) -> tuple[str, str]:
        """Where the path enters the pools: the last function outside of them and the first method inside."""
        inside = len(self.hops)
        while inside and self.hops[inside - 1].frame[1] is not None:
            inside -= 1
        return (
            self.hops[inside - 1].frame[0] if inside else "",
            self.hops[inside].frame[0] if inside < len(self.hops) else "",
        )

    def key(self, *, wide: bool = False) -> tuple[object, ...]:
        """What tells two needs of a function apart; ``wide`` outside the pools, where no object is singled out."""
        if wide:
            return self.buffer.name, self.origin, self.use, self.seam
        return self.buffer, self.layer, self.origin, self.use, self.touches[:1]


def plainness(need: Need, mro: Callable[[str], tuple[str, ...]]) -> tuple[int, bool, int, bool]:
    """Orders needs: that with the shortest path first; of equal ones that whose storage is of a class that a method on
    the path belongs to; then that of the most general class; then that which is behind a gate, though not enough."""
    owner = need.buffer.owner.cls
    met = any(owner in mro(hop.frame[0].rpartition(".")[0]) for hop in need.hops)
    near = any(one.why not in ("after", "aside") for one in need.near)
    return len(need.hops), not met, len(mro(owner)), not near


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one touch on one path, in an execution mode. ``verdict``: gated (with ``gate`` and ``why``),
    exempt (``why`` the reason), ungated (``need``)."""

    verdict: str
    why: str
    gate: Gate | None = None
    need: Need | None = None
    hops: tuple[Hop, ...] = ()
    assumption: str = ""
    mode: str = EAGER
