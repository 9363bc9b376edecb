"""C3 linearisation, the order Python itself uses (Barrett et al., "A Monotonic Superclass Linearization for Dylan",
OOPSLA 1996)."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def linearize(name: str, bases: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """C3 over ``bases``; cyclic or contradictory hierarchies give depth-first order without repeats."""
    try:
        return tuple(_c3(name, bases, ()))
    except _Contradiction:
        order: list[str] = []
        _depth_first(name, bases, order)
        return tuple(order)


class _Contradiction(Exception):
    """Indicates that a hierarchy has no consistent linearisation."""


def _c3(name: str, bases: Callable[[str], Sequence[str]], above: tuple[str, ...]) -> list[str]:
    if name in above:
        raise _Contradiction
    direct = bases(name)
    if not direct:
        return [name]
    return [name, *_merge([*(_c3(base, bases, (*above, name)) for base in direct), list(direct)])]


def _merge(sequences: list[list[str]]) -> list[str]:
    """Take heads that are in no tail, first sequence first."""
    order: list[str] = []
    while sequences := [one for one in sequences if one]:
        head = next((one[0] for one in sequences if not any(one[0] in other[1:] for other in sequences)), None)
        if head is None:
            raise _Contradiction
        order.append(head)
        sequences = [one[1:] if one[0] == head else one for one in sequences]
    return order


def _depth_first(name: str, bases: Callable[[str], Sequence[str]], order: list[str]) -> None:
    if name in order:
        return
    order.append(name)
    for base in bases(name):
        _depth_first(base, bases, order)
