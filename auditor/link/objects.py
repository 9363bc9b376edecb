"""What a value can point to: abstract objects (one for all that a program makes at one place)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of an in-tree class, named by its allocation site.

    ``owner`` is the object whose method allocated it, where that object is itself tracked apart (pools, and what they
    build): heap cloning one level deep, so that the helper of one pool is not the helper of another.
    ``line`` 0 stands for "some instance": the class is known (from an annotation, or because its method is audited),
    the allocation is not. There are some thousands, asked for their hash ten million times, so it is kept.
    """

    cls: str
    path: str
    line: int
    column: int
    owner: Instance | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.cls, self.path, self.line, self.column, self.owner)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def anonymous(self) -> bool:
        return self.line == 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class ClassObject:
    """A class as a value."""

    cls: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function as a value, not bound to an object."""

    function: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A method bound to its receiver (an instance, or a class for class methods)."""

    function: str
    receiver: Instance | ClassObject


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the audited tree."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something from outside the tree, by its dotted name: ``torch.empty``, ``builtins.getattr``. A ``member`` was read
    off an object from outside: it can be called, what it has in turn is not known."""

    name: str
    member: bool = False


@dataclass(frozen=True, slots=True)
class ExternalInstance:
    """The result of calling an out-of-tree name that looks like a class, or one that an out-of-tree function gave (then
    the name ends with ``()``)."""

    cls: str
    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, dict, set or generator made at one place, or the ``part`` of it between two constant bounds. Its
    elements are the fields ``[*]`` and ``[0]``, …; ``value`` tells displays apart that begin at one place."""

    kind: str
    path: str
    line: int
    column: int
    owner: Instance | None = None
    part: tuple[int, int] | None = None
    value: int = -1


@dataclass(frozen=True, slots=True)
class ContainerMethod:
    """``container.append`` and the like, not called yet."""

    container: Container
    name: str


@dataclass(frozen=True, slots=True)
class Super:
    """``super()`` inside ``cls`` on ``receiver``: lookups start behind ``cls`` in the receiver's MRO."""

    cls: str
    receiver: Instance | ClassObject


@dataclass(frozen=True, slots=True)
class Property:
    """``property(f)`` as a value: read through an instance it is what ``f`` gives."""

    function: str


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial(f, …)`` made at one place."""

    path: str
    line: int
    column: int


Object: TypeAlias = (
    Instance
    | ClassObject
    | Function
    | Bound
    | Module
    | External
    | ExternalInstance
    | Container
    | ContainerMethod
    | Super
    | Property
    | Partial
)
