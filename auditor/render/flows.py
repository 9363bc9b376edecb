"""How objects come to their readers: the derivations of all bindings, told once as a tree for each object.

Thousands of bindings share most of their steps. A *way* is the derivation of a binding without the site itself, so that
the sites of a class share it; a *flow* holds the ways of one object, which part where they differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from auditor.triage import Binding, Site, Step


@dataclass(frozen=True, slots=True)
class Flow:
    """Where an object goes: steps one after the other, each with an id if a way ends there, and then the branches."""

    run: tuple[tuple[str, Step], ...]
    branches: tuple[Flow, ...]


class Ways:
    """Ways, numbered as they come."""

    def __init__(self) -> None:
        self._ids: dict[tuple[Step, ...], str] = {}

    def id(self, site: Site, binding: Binding) -> str:
        """Return the id of the way of a binding, "" if it has none."""
        steps = binding.derivation
        if steps and (steps[-1].path, steps[-1].line) == (site.path, site.line):
            steps = steps[:-1]
        return self._ids.setdefault(steps, f"w{len(self._ids) + 1}") if steps else ""

    def flows(self) -> tuple[Flow, ...]:
        """One flow for each place where an object is made."""
        flows = (self._flow(group, 0) for group in _split(list(self._ids), 0))
        return tuple(sorted(flows, key=lambda flow: (flow.run[0][1].path, flow.run[0][1].line)))

    def _flow(self, ways: list[tuple[Step, ...]], depth: int) -> Flow:
        """What the ways share from here on, and how they part."""
        run: list[tuple[str, Step]] = []
        parts = [ways]
        while len(parts) == 1:
            ways = parts[0]
            run.append((self._ids.get(ways[0][: depth + 1], ""), ways[0][depth]))
            depth += 1
            parts = _split(ways, depth)
        return Flow(tuple(run), tuple(self._flow(part, depth) for part in parts))


def _split(ways: Iterable[tuple[Step, ...]], depth: int) -> list[list[tuple[Step, ...]]]:
    """Group the ways that go on by their next step."""
    parts: dict[Step, list[tuple[Step, ...]]] = defaultdict(list)
    for way in ways:
        if len(way) > depth:
            parts[way[depth]].append(way)
    return list(parts.values())
