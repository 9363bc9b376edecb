"""Guarded storage under other names: the lists of buffers that a pool makes are known by where they are made, so who
keeps one (``self.rows = pool.k_buffer``, a field of a record, an element of a collection) has the storage of the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from auditor.facts import Attr, Call, Instruction, Item, Name, Unpack, Value
from auditor.gating.storage import Storage
from auditor.gating.tracing import Use
from auditor.link import Container, Frame, Instance, Linker, Object

Owned: TypeAlias = tuple[Instance, str]
"""A pool and the attribute under which it has the storage."""
Reading: TypeAlias = Attr | Item | Name | Unpack


class Kept:
    """Answers for the values of frames; built once from the linked program."""

    def __init__(self, linker: Linker, storage: Storage) -> None:
        self._linker = linker
        self._owners = _owners(linker, storage)

    def read_by(self, frame: Frame, one: Instruction) -> Iterator[tuple[Instance, str, Reading, Attr | Name]]:
        """Whose storage an instruction reads under another name; the instruction, and the attribute or global that it
        reads, or reads an element of."""
        if not self._owners or not isinstance(one, Reading):
            return
        of = one.base if isinstance(one, Item) else one.source if isinstance(one, Unpack) else one.dst
        read = frame.code.defined.get(of)
        if isinstance(read, Attr | Name):
            for owner, name in sorted(self._in(frame, one.dst), key=repr):
                if name != read.name:
                    yield owner, name, one, read

    def is_followed(self, frame: Frame, use: Use) -> bool:
        """Whether what a use keeps is told where it is read: lists that are known, of a call those that become fields
        of the object that it makes."""
        kept = self._in(frame, use.value)
        if use.kind == "escape":
            return bool(kept)
        one = use.instruction(frame.code)
        return bool(kept) and isinstance(one, Call) and kept <= self._in_fields(frame, one.dst)

    def _in(self, frame: Frame, value: Value) -> frozenset[Owned]:
        return self._known(self._linker.graph.points_to(frame.node(value)))

    def _in_fields(self, frame: Frame, value: Value) -> frozenset[Owned]:
        objects = (one for one in self._linker.graph.points_to(frame.node(value)) if isinstance(one, Instance))
        fields = ((one, name) for one in objects for name in self._linker.hierarchy.attributes(one.cls))
        nodes = (node for field in fields if (node := self._linker.fields.get(field)) is not None)
        return frozenset[Owned]().union(*(self._known(self._linker.graph.points_to(node)) for node in nodes))

    def _known(self, found: Iterable[Object]) -> frozenset[Owned]:
        return frozenset(owned for one in found if isinstance(one, Container) for owned in self._owners.get(one, ()))


def _owners(linker: Linker, storage: Storage) -> Mapping[Container, tuple[Owned, ...]]:
    """The lists that objects have made as guarded storage, and whose they are."""
    found: dict[Container, list[Owned]] = {}
    for (owner, name), node in linker.fields.items():
        if isinstance(owner, Instance) and linker.context_of(owner) and storage.guards(name):
            for one in linker.graph.points_to(node):
                if isinstance(one, Container) and one.owner == owner:
                    found.setdefault(one, []).append((owner, name))
    return {one: tuple(owners) for one, owners in found.items()}
