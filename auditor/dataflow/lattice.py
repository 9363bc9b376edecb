"""The lattices: what a state can be, which state says more, and what holds where two paths join.

The order is that of *reaching*: ``leq(a, b)`` says that b describes every execution that a describes. Going up loses
knowledge and is always sound. ``join`` is the least state above both: what is still known when either may have
happened. ``bottom`` describes no execution at all (code that nothing reaches) and is the unit of ``join``.

In a *may* analysis joining is union: more facts are possible. In a *must* analysis joining is intersection: fewer facts
are certain; there the bottom is "every fact holds", true of unreached code only and so never an answer: the solver has
no state for a block it did not reach, and a caller who meets ``UNREACHED`` must say unreached, not held.

The lattices are frozen dataclasses without slots: with both, ``MustSet[str]()`` fails in Python 3.11.

States are immutable and compare by value. Everything here is checked against the laws in ``tests/unit/dataflow``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Protocol, TypeAlias, TypeVar, overload

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
E = TypeVar("E", bound=Hashable)
A = TypeVar("A")
B = TypeVar("B")


class Lattice(Protocol[T]):
    """A join-semilattice with a bottom. Laws: ``join`` is associative, commutative and idempotent, ``bottom`` its unit,
    and ``leq(a, b)`` says the same as ``join(a, b) == b``."""

    @property
    def bottom(self) -> T:
        """The state of what is not reached: below every state."""
        ...

    def join(self, a: T, b: T) -> T:
        """Return the least state above both: what holds whichever of the two happened."""
        ...

    def leq(self, a: T, b: T) -> bool:
        """Tell whether b describes everything that a does."""
        ...


class Unreached(Enum):
    """The type of ``UNREACHED``."""

    UNREACHED = "unreached"


UNREACHED: Final = Unreached.UNREACHED
"""No execution comes here. It is the bottom of the lattices that have no natural one."""

Must: TypeAlias = frozenset[E] | Unreached


@dataclass(frozen=True)
class MustSet(Generic[E]):
    """Facts that certainly hold: the powerset upside down.

    Order: a ≤ b if a ⊇ b (fewer facts describe more executions). Join: intersection. Top: the empty set, nothing is
    certain. Bottom: ``UNREACHED``, the universe without naming it.
    """

    @property
    def bottom(self) -> Must[E]:
        """Every fact at once: unreached."""
        return UNREACHED

    @property
    def top(self) -> Must[E]:
        """Nothing is certain."""
        return frozenset()

    @overload
    def join(self, a: frozenset[E], b: frozenset[E]) -> frozenset[E]: ...
    @overload
    def join(self, a: Must[E], b: Must[E]) -> Must[E]: ...
    def join(self, a: Must[E], b: Must[E]) -> Must[E]:
        """Keep what holds on both paths."""
        if isinstance(a, Unreached):
            return b
        return a if isinstance(b, Unreached) else a & b

    def leq(self, a: Must[E], b: Must[E]) -> bool:
        """Tell whether all that b holds, a holds."""
        if isinstance(a, Unreached):
            return True
        return not isinstance(b, Unreached) and a >= b


@dataclass(frozen=True)
class MaySet(Generic[E]):
    """Facts that possibly hold: the powerset. Order: ⊆. Join: union. Bottom: the empty set, nothing is possible (which
    says unreached only where every execution has some fact). There is no top without a universe."""

    @property
    def bottom(self) -> frozenset[E]:
        """Nothing is possible."""
        return frozenset()

    def join(self, a: frozenset[E], b: frozenset[E]) -> frozenset[E]:
        """Keep what holds on either path."""
        return a | b

    def leq(self, a: frozenset[E], b: frozenset[E]) -> bool:
        """Tell whether b allows all that a allows."""
        return a <= b


class Conflict(Enum):
    """The type of ``CONFLICT``."""

    CONFLICT = "conflict"


CONFLICT: Final = Conflict.CONFLICT
"""Several values are possible: the top of ``Flat``."""

FlatValue: TypeAlias = E | Unreached | Conflict


@dataclass(frozen=True)
class Flat(Generic[E]):
    """One value or none known: ``UNREACHED`` below every value, ``CONFLICT`` above, values side by side.

    A value v says "whenever we are here it is v"; joining two different values says ``CONFLICT``.
    """

    @property
    def bottom(self) -> FlatValue[E]:
        """No execution, no value."""
        return UNREACHED

    @property
    def top(self) -> FlatValue[E]:
        """It may be anything."""
        return CONFLICT

    def join(self, a: FlatValue[E], b: FlatValue[E]) -> FlatValue[E]:
        """Keep the value that both agree on."""
        if a == b or isinstance(b, Unreached):
            return a
        return b if isinstance(a, Unreached) else CONFLICT

    def leq(self, a: FlatValue[E], b: FlatValue[E]) -> bool:
        """Tell whether b is a, or knows nothing, or a is unreached."""
        return a == b or isinstance(a, Unreached) or isinstance(b, Conflict)


@dataclass(frozen=True)
class Product(Generic[A, B]):
    """Two lattices side by side, ordered and joined in each place by itself; bottom is both bottoms."""

    first: Lattice[A]
    second: Lattice[B]

    @property
    def bottom(self) -> tuple[A, B]:
        """Both unreached."""
        return self.first.bottom, self.second.bottom

    def join(self, a: tuple[A, B], b: tuple[A, B]) -> tuple[A, B]:
        """Join each place."""
        return self.first.join(a[0], b[0]), self.second.join(a[1], b[1])

    def leq(self, a: tuple[A, B], b: tuple[A, B]) -> bool:
        """Compare each place."""
        return self.first.leq(a[0], b[0]) and self.second.leq(a[1], b[1])


@dataclass(frozen=True)
class MapOf(Generic[K, A]):
    """A lattice value a key. A key that is absent has the bottom of ``values``, so the empty map is the bottom.

    Maps are joined key by key; never change one that a solver has seen. Bottoms may be left out, and ``join`` does.
    """

    values: Lattice[A]

    @property
    def bottom(self) -> Mapping[K, A]:
        """The empty map."""
        return {}

    def join(self, a: Mapping[K, A], b: Mapping[K, A]) -> Mapping[K, A]:
        """Join each key."""
        both = {key: self.values.join(a[key], b[key]) for key in a.keys() & b.keys()}
        merged = {**a, **b, **both}
        bottom = self.values.bottom
        return {key: value for key, value in merged.items() if value != bottom}

    def leq(self, a: Mapping[K, A], b: Mapping[K, A]) -> bool:
        """Compare each key."""
        bottom = self.values.bottom
        return all(self.values.leq(value, b.get(key, bottom)) for key, value in a.items())
