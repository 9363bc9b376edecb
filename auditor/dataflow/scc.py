"""Strongly connected components in the order of a bottom-up analysis: what is called before who calls it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def bottom_up(successors: Mapping[N, Iterable[N]]) -> list[tuple[N, ...]]:
    """List the components so that every edge leads into the same or an earlier one (callees first).

    Tarjan: "Depth-first search and linear graph algorithms" (1972), without recursion. The order follows the order of
    the mapping and of its values, so the same input gives the same list. Members stand in the order they were met.
    """
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    waiting: list[N] = []
    closed: set[N] = set()
    components: list[tuple[N, ...]] = []
    for root in successors:
        if root in index:
            continue
        path = [(root, _open(root, successors, index, low, waiting))]
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
                    path.append((target, _open(target, successors, index, low, waiting)))
                    break
                if target not in closed:
                    low[node] = min(low[node], index[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    components.append(_close(node, waiting, closed))
    return components


def is_recursive(component: tuple[N, ...], successors: Mapping[N, Iterable[N]]) -> bool:
    """Tell whether the component is a cycle: several nodes, or one that leads to itself."""
    return len(component) > 1 or component[0] in successors.get(component[0], ())


def _open(
    node: N, successors: Mapping[N, Iterable[N]], index: dict[N, int], low: dict[N, int], waiting: list[N]
) -> Iterator[N]:
    index[node] = low[node] = len(index)
    waiting.append(node)
    return iter(successors.get(node, ()))


def _close(node: N, waiting: list[N], closed: set[N]) -> tuple[N, ...]:
    start = len(waiting) - 1
    while waiting[start] != node:
        start -= 1
    component = tuple(waiting[start:])
    del waiting[start:]
    closed.update(component)
    return component
