"""One trial: build a rig on a machine, learn what is right, poison, load, read.

The accessor is called over poison, over what a finished load brought (that is *right*), and while a load is in flight
(*seen*). Bytes that differ between the first two are *due*; a seen byte that is not the right one is *wrong*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from cuda_probe.comparing import POISON, Seen, differing, poison, raw_bytes
from cuda_probe.dispatch import Machine
from cuda_probe.loading import kernel_calls
from cuda_probe.objects import tensors
from cuda_probe.recipe import Reader, Rig, ShowsNothing
from cuda_probe.scenarios import Scenario
from cuda_probe.sim import Operation, Race, Stream, path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one trial gave. ``path``: the chain from the load to the read, if there is one."""

    wrong: int
    due: int
    races: tuple[Race, ...]
    path: tuple[Operation, ...]
    operations: tuple[Operation, ...]
    notes: tuple[str, ...]

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
        self._buffers: dict[int, tuple[str, torch.Tensor]] = {}
        for name, tensor in tensors(rig.pool, reader.package):
            machine.memory.mark(tensor, name)
            self._buffers[self._key(tensor)] = (name, tensor)

        if rig.layered is not None and not reader.takes(rig.layered):
            raise ShowsNothing(
                f"{reader.method} is told no layer, and only the loader of the engine knows that of its buffers"
            )
        self._poison()
        begin = len(machine.device.operations)
        poisoned = self.observe()
        machine.device.synchronize()
        self._touched = self._touched_since(begin)
        if not poisoned:
            raise ShowsNothing(f"{reader.method} hands out no tensor and launches no kernel that reads a buffer")
        if not self._touched:
            raise ShowsNothing(f"{reader.method} reads no buffer of the pool")
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

    # ---------------------------------------------------------------- what scenarios are made of

    def start(self) -> int:
        """Start a load of all layers; return the index for ``set_consumer``."""
        return self.rig.start_load([self._buffers[key][1] for key in self._touched], self.layer)

    def observe(self, *, read_on: Stream | None = None) -> Seen:
        """Call the accessor and read what it hands out; kernels that cannot run here read the buffers that they were
        given."""
        by_kernels: Seen = []
        with kernel_calls(lambda name, args, kwargs: self._opaque_kernel(name, (args, kwargs), by_kernels)):
            result = self.reader.call(self.layer)
        handed_out = [tensor for _, tensor in tensors(result, self.reader.package)]
        if by_kernels:  # what such a kernel would have filled holds nothing
            handed_out = [tensor for tensor in handed_out if self._key(tensor) in self._buffers]
        with self.machine.device.stream(read_on):
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
            wrong=differing(seen, self._right_raw if scenario.raw else self._right),
            due=self._due,
            races=tuple(race for race in device.races if race.second.number >= begin and self._concerns(race)),
            path=_proof(operations, set(self._touched)),
            operations=operations,
            notes=tuple(device.notes[noted:]),
        )

    def _concerns(self, race: Race) -> bool:
        return race.earlier.key in self._buffers

    def _poison(self) -> None:
        with self.machine.outside():
            poison(tensor for _, tensor in self._buffers.values())

    def _key(self, tensor: torch.Tensor) -> int:
        return self.machine.memory.access(tensor, write=False).key

    def _touched_since(self, begin: int) -> list[int]:
        operations = self.machine.device.operations[begin:]
        read = {access.key for operation in operations for access in operation.accesses if not access.write}
        return [key for key in self._buffers if key in read]

    def _opaque_kernel(self, name: str, given: Any, seen: Seen) -> None:
        buffers = [one for _, one in tensors(given, package="") if self._key(one) in self._buffers]
        if buffers:
            with self.machine.outside():
                copies = [torch.empty(one.shape, dtype=one.dtype) for one in buffers]
            accesses = [self.machine.memory.access(one, write=False) for one in buffers]
            self.machine.launch(name, lambda: _copy_all(copies, buffers), accesses)
            seen += copies


def _copy_all(targets: Sequence[torch.Tensor], sources: Sequence[torch.Tensor]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)


# proof(l, r) <- the last copy into a buffer l, the first read r of it launched later, before(l, r)
def _proof(operations: Sequence[Operation], keys: set[int]) -> tuple[Operation, ...]:
    def touches(operation: Operation, write: bool) -> bool:
        return any(access.key in keys and access.write is write for access in operation.accesses)

    loads = [operation for operation in operations if touches(operation, True)]
    reads = [operation for operation in operations if touches(operation, False) and not touches(operation, True)]
    if not loads or not reads:
        return ()
    later = [read for read in reads if read.number > loads[-1].number]
    return path(loads[-1], later[0]) if later else ()
