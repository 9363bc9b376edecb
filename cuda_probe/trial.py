"""One trial: build a rig on a machine, learn what is right, poison, load, read.

The accessor is called over poison, over what a finished load brought (that is *right*), and while a load is in flight
(*seen*). Bytes that differ between the first two are *due*; a seen byte that is not the right one is *wrong*.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from cuda_probe.comparing import POISON, Seen, differing, poison, raw_bytes
from cuda_probe.dispatch import Machine
from cuda_probe.loading import kernel_calls
from cuda_probe.objects import tensors, walk
from cuda_probe.recipe import Reader, Rig, ShowsNothing, accessors
from cuda_probe.scenarios import Scenario
from cuda_probe.sim import Access, Operation, Race, Stream, path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one trial gave. ``path``: the chain from the load to the read, if there is one. ``looks_only``: the
    accessor reads no byte, it asks for shapes; the read is that of whoever goes on. ``interpreted``: its kernels ran,
    and none was opaque."""

    wrong: int
    due: int
    races: tuple[Race, ...]
    path: tuple[Operation, ...]
    operations: tuple[Operation, ...]
    notes: tuple[str, ...]
    looks_only: bool = False
    interpreted: bool = False

    @property
    def torn(self) -> bool:
        """Tell whether some bytes were right."""
        return 0 < self.wrong < self.due


class Trial:
    """A rig on a machine that is ready for one measurement.

    Raises:
        ShowsNothing: the accessor reads no buffer of the pool, or none that the loader writes.
    """

    def __init__(self, machine: Machine, rig: Rig, reader: Reader, layer: int):
        self.machine, self.rig, self.reader, self.layer = machine, rig, reader, layer
        self._as_built = _attributes(reader.target, reader.package, but=rig.counter)  # each call is the first one
        self.looks_only, self._hands_out, self._opaque = False, False, False
        self._written, self._called = set[int](), 0
        self._buffers: dict[int, tuple[str, torch.Tensor]] = {}
        for name, tensor in tensors(rig.pool, reader.package):
            machine.memory.mark(tensor, name)
            self._buffers[self._key(tensor)] = (name, tensor)

        machine.device.synchronize()  # what was launched to build the rig is over
        self._poison()
        begin = len(machine.device.operations)
        poisoned = self.observe()
        machine.device.synchronize()
        self._touched = self._touched_since(begin, but=self._written)
        if not poisoned and not self._hands_out:
            raise ShowsNothing(f"{reader.method} hands out no tensor and launches no kernel that reads a buffer")
        if not self._touched:
            raise ShowsNothing(f"{reader.method} reads no buffer of the pool")
        if rig.layered is not None and not reader.takes(rig.layered):
            self._require_layer(rig.layered, self._read_since(self._called))
        self.previous = self.start()
        machine.device.synchronize()
        rig.set_consumer(self.previous)
        self._right, self._right_raw = self.observe(), self.observe_raw()
        machine.device.synchronize()
        rig.set_consumer(-1)
        self._due = differing(self._right, poisoned)
        self._poison()
        if self._due == 0:
            raise ShowsNothing(f"the loader writes nothing of layer {layer} that {reader.method} reads")

    @property
    def buffers(self) -> tuple[str, ...]:
        """Return the names of the buffers that the accessor reads."""
        return tuple(self._buffers[key][0] for key in self._touched)

    @property
    def bytes(self) -> int:
        """Return how many bytes these buffers have."""
        return sum(self._buffers[key][1].untyped_storage().nbytes() for key in self._touched)

    # ---------------------------------------------------------------- what scenarios are made of

    def start(self) -> int:
        """Start a load of all layers; return the index for ``set_consumer``."""
        return self.rig.start_load([self._buffers[key][1] for key in self._touched], self.layer)

    def observe(self, *, read_on: Stream | None = None) -> Seen:
        """Call the accessor and read what it hands out; kernels that cannot run here read what they were given.

        One that hands out nothing may leave something behind in a buffer, or have looked at the shape of one: that
        is read instead, for whoever goes on with it comes after the call.
        """
        device, begin = self.machine.device, len(self.machine.device.operations)
        by_kernels: Seen = []

        def opaque(name: str, args: Any, kwargs: Any) -> None:
            self._opaque_kernel(name, (args, kwargs), self._filled_since(begin), by_kernels)

        for one, attributes in self._as_built:
            vars(one).update(attributes)
        self.reader.begin(self.layer)
        self._called = len(device.operations)
        with kernel_calls(opaque), self.machine.looks() as looked:
            result = self.reader.call(self.layer)
        filled, self._written = self._filled_since(begin), self._written_since(begin)
        handed_out = [one for _, one in tensors(result, self.reader.package)]
        self._hands_out = bool(handed_out)
        held = self.machine.memory.holds  # what a kernel would have filled that cannot run here holds nothing
        handed_out = [one for one in handed_out if self._key(one) in filled or not (by_kernels or held(one))]
        if not handed_out and not by_kernels:
            if behind := self._left_behind(self._called):
                return behind
            handed_out = [one for one in looked if self._key(one) in self._buffers]
            self.looks_only = bool(handed_out)
        with device.stream(read_on):
            return by_kernels + [
                self.machine.read(tensor, f"consumer of {self.reader.method}") for tensor in handed_out
            ]

    def observe_raw(self) -> Seen:
        """Read the same buffers themselves, past the accessor."""
        return [self.machine.read(raw_bytes(self._buffers[key][1]), "consumer of the buffer") for key in self._touched]

    def overwrite(self) -> None:
        """Launch a write of the buffers: a forward pass for a request whose rows have been given away since."""
        for key in self._touched:
            raw = raw_bytes(self._buffers[key][1])
            access = self.machine.memory.access(raw, write=True)
            self.machine.launch("write of a forward pass", partial(raw.fill_, POISON), [access])

    # ---------------------------------------------------------------- measuring

    def measure(self, scenario: Scenario) -> Outcome:
        """Run a scenario and compare what it has seen."""
        device = self.machine.device
        begin, noted = len(device.operations), len(device.notes)
        seen = scenario.run(self)
        device.synchronize()
        operations = tuple(device.operations[begin:])
        return Outcome(
            wrong=differing(seen, scenario.right(self._right, self._right_raw)),
            due=self._due,
            races=tuple(race for race in device.races if race.second.number >= begin and self._concerns(race)),
            path=_proof(operations, set(self._touched), kept=scenario.kept),
            operations=operations,
            notes=tuple(device.notes[noted:]),
            looks_only=self.looks_only,
            interpreted=bool(self.machine.interpreted) and not self._opaque,
        )

    def _concerns(self, race: Race) -> bool:
        return race.earlier.key in self._buffers

    def _poison(self) -> None:
        with self.machine.outside():
            poison(tensor for _, tensor in self._buffers.values())

    def _key(self, tensor: torch.Tensor) -> int:
        return self.machine.memory.access(tensor, write=False).key

    def _touched_since(self, begin: int, *, but: Container[int] = ()) -> list[int]:
        read = {access.key for access in self._read_since(begin)}
        return [key for key in self._buffers if key in read and key not in but]

    def _read_since(self, begin: int) -> list[Access]:
        operations = self.machine.device.operations[begin:]
        return [access for operation in operations for access in operation.accesses if not access.write]

    def _filled_since(self, begin: int) -> set[int]:
        """Return the storages that hold something: the pool's, and what was written since."""
        return self._written_since(begin) | set(self._buffers)

    def _written_since(self, begin: int) -> set[int]:
        operations = self.machine.device.operations[begin:]
        return {access.key for operation in operations for access in operation.accesses if access.write}

    def _left_behind(self, begin: int) -> Seen:
        """Read the buffers that were written since, each on the stream that wrote it last."""
        device = self.machine.device
        writers = {
            access.key: device.stream_of(operation)
            for operation in device.operations[begin:]
            for access in operation.accesses
            if access.write and access.key in self._buffers
        }
        seen = []
        for key, stream in writers.items():
            with device.stream(stream):
                seen.append(self.machine.read(self._buffers[key][1], f"what {self.reader.method} leaves behind"))
        return seen

    def _opaque_kernel(self, name: str, given: Any, filled: set[int], seen: Seen) -> None:
        buffers = [one for _, one in tensors(given, package="") if self._key(one) in filled]
        if buffers:
            self._opaque = True
            with self.machine.outside():
                copies = [torch.empty(one.shape, dtype=one.dtype) for one in buffers]
            accesses = [self.machine.memory.access(one, write=False) for one in buffers]
            self.machine.launch(name, lambda: _copy_all(copies, buffers), accesses)
            seen += copies

    def _require_layer(self, layered: frozenset[str], read: Sequence[Access]) -> None:
        """Require that the buffers that were read are those of the layer, as the accessors that are told one say.

        Raises:
            ShowsNothing: they are of another layer, or no accessor says.
        """
        of_layers = [self._handed_out(layered, layer) for layer in range(self.rig.layers)]
        layers = [
            layer
            for layer, accesses in enumerate(of_layers)
            if any(one.overlaps(other) for one in accesses for other in read)
        ]
        if layers != [self.layer]:
            raise ShowsNothing(f"{self.reader.method} is told no layer, and its buffers are of {_layers(layers)}")

    def _handed_out(self, layered: frozenset[str], layer: int) -> list[Access]:
        accesses = []
        for method in accessors(type(self.reader.target), layered):
            try:
                result = replace(self.reader, method=method).call(layer)
            except Exception:  # noqa: BLE001 -- not an accessor of this pool, or of this layer
                continue
            found = [one for _, one in tensors(result, self.reader.package)]
            accesses += [self.machine.memory.access(one, write=False) for one in found]
        return accesses


def _attributes(target: Any, package: str, *, but: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Return an object and those that it holds, but for what another holds, each with its attributes as they are."""
    parts = {id(one): one for _, one in walk(target, package) if hasattr(one, "__dict__")}
    others = {id(one) for _, one in walk(but, package)}
    return [(one, dict(vars(one))) for key, one in parts.items() if key not in others]


def _layers(layers: Sequence[int]) -> str:
    return f"the layers {', '.join(map(str, layers))}" if layers else "no layer that an accessor knows"


def _copy_all(targets: Sequence[torch.Tensor], sources: Sequence[torch.Tensor]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)


# proof(l, r) <- the last copy into a buffer l, the first read r of it launched later, before(l, r)
# proof(r, l) <- kept, the last read r of a buffer, the first copy l into it launched later, before(r, l)
def _proof(operations: Sequence[Operation], keys: set[int], *, kept: bool) -> tuple[Operation, ...]:
    def touches(operation: Operation, write: bool) -> bool:
        return any(access.key in keys and access.write is write for access in operation.accesses)

    loads = [operation for operation in operations if touches(operation, True)]
    reads = [operation for operation in operations if touches(operation, False) and not touches(operation, True)]
    firsts, seconds = (reads, loads) if kept else (loads, reads)
    if not firsts or not seconds:
        return ()
    later = [second for second in seconds if second.number > firsts[-1].number]
    return path(firsts[-1], later[0]) if later else ()
