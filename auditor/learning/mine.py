"""The whole of it: read what may wait, follow names to what else may matter, tell what was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from auditor.facts import ModuleFacts
from auditor.learning.accessors import Accessors
from auditor.learning.gates import Gates
from auditor.learning.hints import PIPING, STEPPING, WAITING, YIELDING, Wanted
from auditor.learning.hooks import Plugins
from auditor.learning.loaders import Loaders
from auditor.learning.pools import Pools
from auditor.learning.program import Program
from auditor.learning.readers import Readers
from auditor.learning.staging import Staging
from auditor.learning.values import Hooks, Learned, Named
from auditor.spec import Uses

Supply = Callable[[Wanted], Iterable[ModuleFacts]]
"""Reads the files that are wanted and were not read before."""


def learn(existing: Collection[str], supply: Supply, uses: Uses) -> Learned:
    """Mine the vocabulary of an engine from how its code behaves.

    Args:
        existing: the modules of the tree.
        supply: reads files on demand.
        uses: what methods of tensors do, which no engine changes.
    """
    program, asked = Program(existing), set[Wanted]()
    todo = [WAITING, STEPPING, PIPING, YIELDING]
    while todo:
        for one in todo:
            asked.add(one)
            program.add(supply(one))
        seen = _look(program)
        todo = [one for one in dict.fromkeys(seen.wanted()) if one not in asked]
    return _told(program, seen, uses)


class _Seen(NamedTuple):
    """What the files show that were read so far."""

    gates: Gates
    pools: Pools
    loaders: Loaders
    plugins: Plugins
    readers: Readers
    staging: Staging

    def wanted(self) -> Iterator[Wanted]:
        """The files that would tell more."""
        for one in self:
            yield from one.wanted()


def _look(program: Program) -> _Seen:
    gates = Gates(program)
    plugins = Plugins(program)
    loaders = Loaders(program, gates, plugins.steps)
    readers = Readers(program, plugins)
    return _Seen(gates, Pools(program, gates), loaders, plugins, readers, Staging(program, loaders, plugins.steps))


def _told(program: Program, seen: _Seen, uses: Uses) -> Learned:
    accessors = Accessors(program, seen.gates, seen.pools, frozenset(uses.views))
    gates, arming, hooks = seen.gates.gates(), seen.gates.arming(), seen.plugins.hooks()
    guarding, guarded = seen.plugins.guarded()
    groups = [
        *((gate.counter, one.method, gate.method) for gate in gates for one in arming),
        *((gate.counter, gate.method) for gate in gates),
        *seen.readers.telling(),
        *_names(seen.plugins, hooks),
    ]
    pools = _joined(seen.pools.pools(), (*guarding, *seen.readers.pools(), *seen.staging.pools()))
    hosts = _joined(seen.loaders.host_side(seen.pools.family | seen.staging.family), seen.plugins.classes(hooks))
    return Learned(
        gates=gates,
        arming=arming,
        pools=pools,
        parameters=seen.readers.parameters(),
        accessors=accessors.accessors(),
        siblings=_joined(accessors.siblings(), seen.staging.accessors()),
        stand_ins=accessors.stand_ins(),
        in_flight=seen.gates.in_flight(),
        buffers=_joined(accessors.buffers(), (*guarded, *seen.staging.buffers())),
        transfers=seen.loaders.transfers(uses.stores),
        host_side=tuple(one for one in hosts if one.name not in {pool.name for pool in pools}),
        hooks=hooks,
        told=tuple(group for group in groups if all(map(str.isidentifier, group)) and program.together(group)),
        waits=tuple(sorted(wait.where for wait in seen.gates.waits.values())),
    )


def _names(plugins: Plugins, hooks: Hooks | None) -> list[tuple[str, ...]]:
    """Groups of names that tell that the engine is there, the most telling first."""
    if hooks is None:
        return []
    return [*plugins.telling(), (hooks.root, hooks.wait, hooks.load), (hooks.wait, hooks.load)]


def _joined(some: tuple[Named, ...], more: tuple[Named, ...]) -> tuple[Named, ...]:
    """Both, of each name the first."""
    found: dict[str, Named] = {}
    for one in (*some, *more):
        found.setdefault(one.name, one)
    return tuple(found.values())
