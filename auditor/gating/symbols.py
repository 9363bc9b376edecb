"""Symbolic values: which layer an expression names and which object a receiver is, in the function's own terms.

A *path* is a root (a parameter, or a value that cannot be looked behind) with the attributes read from it. A *layer
expression* is a linear form over atoms; an atom is a path, or *derived*: the result of a call, a subscript or other
arithmetic, which remembers the paths that it was computed from. Two forms are equal only if they are certainly the same
number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from auditor.facts import (
    NOTHING,
    Attr,
    Await,
    Build,
    Call,
    Const,
    Declare,
    Item,
    Iterate,
    Name,
    Op,
    Param,
    Phi,
    Unpack,
    Value,
)


@dataclass(frozen=True, slots=True, order=True)
class Path:
    """``root.name.name…``. ``root`` is a parameter name, or ``%`` and the number of a value of ``function``, or the
    dotted name of a module-level thing behind ``:``."""

    root: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.root, *self.names))

    def child(self, name: str) -> Path:
        return Path(self.root, (*self.names, name))


@dataclass(frozen=True, slots=True, order=True)
class Derived:
    """A number computed from ``sources`` in a way that is not followed; ``text`` tells two computations apart.
    ``table``: the attribute in which it was looked up, if that makes layer ids dense."""

    text: str
    sources: tuple[Path, ...]
    table: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text


Atom: TypeAlias = Path | Derived


def _order(atom: Atom) -> tuple[str, tuple[Path, ...]]:
    return str(atom), atom.sources if isinstance(atom, Derived) else ()


@dataclass(frozen=True, slots=True)
class Layer:
    """A linear form: the sum of ``terms`` (atom, factor) and ``constant``. ``last`` is set where it is known to be the
    last layer, ``every`` for "all layers at once" (a buffer read without an index)."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0
    last: bool = False
    every: bool = False

    def __str__(self) -> str:
        if self.every:
            return "every layer"
        signed = [
            f"{'-' if factor < 0 else '+'}{'' if abs(factor) == 1 else abs(factor)}{atom}"
            for atom, factor in self.terms
        ]
        if self.constant or not signed:
            signed.append(f"{self.constant:+d}")
        return "".join(signed).removeprefix("+")

    def plus(self, other: Layer, sign: int = 1) -> Layer:
        factors: dict[Atom, int] = dict(self.terms)
        for atom, factor in other.terms:
            factors[atom] = factors.get(atom, 0) + sign * factor
        terms = tuple(sorted(((a, f) for a, f in factors.items() if f), key=lambda one: _order(one[0])))
        return Layer(terms, self.constant + sign * other.constant)

    def roots(self) -> frozenset[Path]:
        """The paths that it is computed from."""
        found: set[Path] = set()
        for atom, _ in self.terms:
            found.update(atom.sources if isinstance(atom, Derived) else (atom,))
        return frozenset(found)

    @property
    def foreign(self) -> bool:
        """Whether it names something that only a callee knows."""
        return any("!" in str(atom) for atom, _ in self.terms)

    @property
    def computed(self) -> bool:
        """Whether it is computed in a way that is not followed, as by a call; a loop's variable is not."""
        return any(isinstance(atom, Derived) for atom, _ in self.terms)

    @property
    def plain(self) -> bool:
        """Whether it is one parameter, as it was given (or a shift of it): two of them are two layers."""
        return len(self.terms) == 1 and all(
            isinstance(atom, Path) and not atom.names and atom.root[0] not in "%!:" for atom, _ in self.terms
        )

    @property
    def table(self) -> str:
        """The table in which a part of it was looked up, or ""."""
        return next((atom.table for atom, _ in self.terms if isinstance(atom, Derived) and atom.table), "")

    @property
    def derived(self) -> bool:
        return any(isinstance(atom, Derived) for atom, _ in self.terms)


EVERY = Layer(every=True)
SOME = Layer(((Path("!some layer"), 1),))
"""A layer that only a callee knows."""
OWN = Layer(((Path(":its own layer"), 1),))
"""The layer that an object's storage belongs to, where each layer is an object."""
FIRST_LAYER = ("start_layer",)
"""Names of the attribute that holds an object's first layer: what separates a local index from a global one."""
LAYER_COUNTS = ("num_layers", "layer_num", "num_hidden_layers")


def path_of(defined: Mapping[Value, object], value: Value, depth: int = 0) -> Path:
    """The path that ``value`` was read by."""
    one = defined.get(value)
    if isinstance(one, Attr):
        return path_of(defined, one.base, depth + 1).child(one.name)
    if isinstance(one, Param):
        return Path(one.name)
    if isinstance(one, Declare) and one.source != NOTHING:
        return path_of(defined, one.source, depth + 1)
    if isinstance(one, Name):
        return Path(f":{one.name}")
    return Path(f"%{value}")


def layer_of(defined: Mapping[Value, object], value: Value, depth: int = 0) -> Layer:
    """The layer expression that ``value`` is."""
    one = defined.get(value)
    if depth > _DEEPEST:
        return Layer(((Path(f"%{value}"), 1),))
    if isinstance(one, Const) and isinstance(one.value, int) and not isinstance(one.value, bool):
        return Layer((), one.value)
    if isinstance(one, Op) and one.operator in ("+", "-") and len(one.operands) == 2:
        left, right = (layer_of(defined, operand, depth + 1) for operand in one.operands)
        made = left.plus(right, 1 if one.operator == "+" else -1)
        last = one.operator == "-" and right == Layer((), 1) and is_count(left)
        return Layer(made.terms, made.constant, last=last)
    if isinstance(one, Phi):
        return _phi(defined, one, depth)
    if isinstance(one, Call) and len(one.arguments) == 1 and _is_int(defined.get(one.func)):
        return layer_of(defined, one.arguments[0].value, depth + 1)
    if isinstance(one, _COMPUTED) or (isinstance(one, Attr) and isinstance(_root(defined, one), _COMPUTED)):
        sources = tuple(sorted(_sources(defined, value, depth + 1)))
        return Layer(((Derived(str(path_of(defined, value)), sources), 1),))
    return Layer(((path_of(defined, value), 1),))


_DEEPEST = 12
"""The most steps that an expression is followed back."""

_COMPUTED = (Call, Item, Op, Unpack, Build, Await)


def _is_int(func: object) -> bool:
    """Whether a function makes a whole number, which a layer is anyway."""
    return isinstance(func, Name) and func.name == "int"


def _root(defined: Mapping[Value, object], one: Attr) -> object:
    """What a chain of attributes is read from."""
    base: object = one
    while isinstance(base, Attr):
        base = defined.get(base.base)
    return base


def _phi(defined: Mapping[Value, object], one: Phi, depth: int) -> Layer:
    """A variable that was given the same number on each path, or was computed from the same ones."""
    forms = {layer_of(defined, value, depth + 6) for _, value in one.choices if value not in (NOTHING, one.dst)}
    if len(forms) == 1:
        return next(iter(forms))
    sources = sorted({root for form in forms for root in form.roots()})
    return Layer(((Derived(f"%{one.dst}", tuple(sources)), 1),))


def is_count(layer: Layer) -> bool:
    return (
        not layer.constant
        and len(layer.terms) == 1
        and isinstance(layer.terms[0][0], Path)
        and layer.terms[0][0].names[-1:] != ()
        and (layer.terms[0][0].names[-1] in LAYER_COUNTS)
    )


def _sources(defined: Mapping[Value, object], value: Value, depth: int) -> frozenset[Path]:
    """The paths that a computed number depends on: arguments and indices, not the receiver or the table."""
    found: set[Path] = set()
    seen: set[Value] = set()
    level = {value}
    for _ in range(depth, _DEEPEST + 1):
        seen |= level
        parts: set[Value] = set()
        for one in level:
            behind = _parts(defined, one)
            if behind is None:
                found.add(path_of(defined, one))
            else:
                parts.update(behind)
        level = parts - seen
    return frozenset(found)


def _parts(defined: Mapping[Value, object], value: Value) -> Iterable[Value] | None:
    """The values that a value is computed from; None for one that is no more than read."""
    match defined.get(value):
        case Call(arguments=arguments):
            return [argument.value for argument in arguments]
        case Item(index=index):
            return [index]
        case Unpack(source=source) | Await(value=source):
            return [source]
        case Op(operands=parts) | Build(elements=parts):
            return [part for part in parts if part != NOTHING]
        case Phi(choices=choices):
            return [part for _, part in choices if part != NOTHING]
        case Attr(base=base) as one if isinstance(_root(defined, one), _COMPUTED):
            return [base]
        case Const() | Iterate():
            return []
        case _:
            return None


def substitute(layer: Layer, argument: Callable[[str], Layer | None], mark: str) -> Layer:
    """``layer`` of a callee in the caller's terms. ``argument`` gives the caller's expression of a parameter, None for
    what the callee alone knows (then the atom is kept, marked so that it equals nothing of the caller)."""
    made = Layer((), layer.constant)
    for atom, factor in layer.terms:
        replaced = _replace(atom, argument, mark)
        for _ in range(abs(factor)):
            made = made.plus(replaced, 1 if factor > 0 else -1)
    moved = Layer(made.terms, made.constant, layer.last, layer.every)
    hidden = moved.foreign and not moved.last and not moved.roots() - _foreign_roots(moved)
    return SOME if hidden else moved


def replaced(layer: Layer, values: Mapping[str, Layer]) -> Layer:
    """``layer`` with some values of its function (``%`` and their number) given as other layers of that function."""
    made = Layer((), layer.constant)
    for atom, factor in layer.terms:
        name = atom.text if isinstance(atom, Derived) else atom.root
        given = values.get(name)
        if given is None:
            moved = Layer(((atom, 1),))
        else:
            moved = given if isinstance(atom, Derived) else _replace(atom, values.get, "")
        for _ in range(abs(factor)):
            made = made.plus(moved, 1 if factor > 0 else -1)
    return Layer(made.terms, made.constant, layer.last, layer.every)


def _foreign_roots(layer: Layer) -> frozenset[Path]:
    return frozenset(path for path in layer.roots() if "!" in path.root)


def _replace(atom: Atom, argument: Callable[[str], Layer | None], mark: str) -> Layer:
    if isinstance(atom, Derived):
        sources = [path for source in atom.sources for path in _replace(source, argument, mark).roots()]
        return Layer(((Derived(f"{mark}{atom.text}", tuple(sorted(set(sources))), atom.table), 1),))
    given = argument(atom.root)
    if given is None:
        kept = atom if atom.root.startswith(":") else Path(f"{mark}{atom.root}", atom.names)
        return Layer(((kept, 1),))
    if not atom.names:
        return given
    if len(given.terms) == 1 and not given.constant and given.terms[0][1] == 1 and isinstance(given.terms[0][0], Path):
        base = given.terms[0][0]
        return Layer(((Path(base.root, base.names + atom.names), 1),))
    return Layer(((Derived(f"{mark}{atom}", tuple(sorted(given.roots()))), 1),))


def without_first_layer(layer: Layer, names: Collection[str] = FIRST_LAYER) -> Layer:
    """``layer`` freed of "minus the first layer of some object": a local index made global. ``names``: of attributes
    that hold a first layer."""
    kept = tuple(
        (atom, factor)
        for atom, factor in layer.terms
        if not (isinstance(atom, Path) and atom.names[-1:] and atom.names[-1] in names and factor < 0)
    )
    return layer if len(kept) == len(layer.terms) else Layer(kept, layer.constant, layer.last, layer.every)


def readable(layer: Layer) -> str:
    """A layer expression for people: global, without the marks of what only a callee knows."""
    return _shown(without_first_layer(layer))


def _shown(layer: Layer) -> str:
    text = re.sub(r"%\d+\.|\d+!|^:(?=its )", "", str(layer))
    return "some layer" if "!some" in text else re.sub(r"%\d+", "(computed)", text)


def covers(
    held: Layer, needed: Layer, first_layers: Collection[str] = FIRST_LAYER, *, apart: bool = False
) -> tuple[bool | None, str]:
    """Whether a wait for ``held`` orders a read of ``needed``: True, False (provably not), None (cannot tell), with the
    reason.

    Loads complete in layer order, so a wait covers every lower layer and the last layer covers all (DESIGN.md §2.3);
    where each layer arrives ``apart``, it covers that layer alone.
    """
    if apart and held.last and not needed.last:
        alone = "the wait is for the last layer, and each arrives on a stream of its own"
        return (None, f"whether it is what is read is not known: {alone}") if needed.every else (False, alone)
    if held.last:
        return True, "a wait for the last layer covers every layer"
    if held.every:
        return True, "covers every layer"
    if needed.every:
        return None, "the read takes no layer, the wait is for one"
    waited, read = without_first_layer(held, first_layers), without_first_layer(needed, first_layers)
    if waited.terms == read.terms:
        if read.constant <= waited.constant and not (apart and read.constant < waited.constant):
            return True, "the same layer" if read.constant == waited.constant else "a lower layer"
        return False, f"the wait is for {_shown(waited)}, the read is of {_shown(read)}"
    computed = read.derived and read.roots() and read.roots() <= waited.roots()
    if computed and not read.constant and waited.constant >= 0:
        return True, f"the index is computed from {_shown(waited)}, the layer waited for"
    if waited.plain and read.plain:
        return False, f"the wait is for {_shown(waited)}, the read is of {_shown(read)}"
    return None, f"{_shown(read)} cannot be compared with {_shown(waited)}"
