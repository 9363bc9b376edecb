"""Operators that touch memory of the device are launched: shapes are known at once, values when the schedule says
so."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from cuda_probe.sim import Access

if TYPE_CHECKING:
    from cuda_probe.dispatch.machine import Machine

aten = torch.ops.aten

WAITING = frozenset(
    {
        aten._local_scalar_dense.default,
        aten.equal.default,
        aten.is_nonzero.default,
        aten.nonzero.default,
        aten.masked_select.default,
        aten._unique2.default,
        aten.unique_dim.default,
        aten.unique_consecutive.default,
    }
)
"""Operators whose result, or its shape, the host needs: it waits for the stream, as on CUDA."""

PIECES = 2
"""A copy is done in so many pieces, so that a read can see half of it."""


class DeviceOperators(TorchDispatchMode):
    """Sees every operator below autograd."""

    def __init__(self, machine: Machine):
        super().__init__()
        self._machine, self._memory = machine, machine.memory

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Launch an operator that touches the device; run any other now."""
        kwargs = kwargs or {}
        tensors = _tensors((args, kwargs))
        if not any(self._memory.holds(tensor) for tensor in tensors):
            return self._on_host(func, args, kwargs)
        if _is_view(func):
            return func(*args, **kwargs)
        if func is aten.copy_.default:
            return self._copy(*args, **kwargs)
        accesses = self._accesses(func, args, kwargs)
        if func in WAITING:
            return self._waited_for(func, args, kwargs, accesses)
        if func._schema.is_mutable:
            return self._in_place(func, args, kwargs, accesses)
        return self._functional(func, args, kwargs, accesses)

    # ---------------------------------------------------------------- kinds of operators

    def _on_host(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run it; what it does to pinned memory is seen by the copies that read it."""
        if any(self._memory.is_pinned(tensor) for tensor in _tensors((args, kwargs))) and not _is_view(func):
            accesses = [
                self._memory.access(tensor, write=write)
                for tensor, write in _operands(func, args, kwargs)
                if self._memory.is_pinned(tensor)
            ]
            self._machine.device.host().step(func._schema.name, accesses=accesses)
        return func(*args, **kwargs)

    def _waited_for(self, func: Any, args: Any, kwargs: Any, accesses: list[Access]) -> Any:
        self._machine.launch(func._schema.name, lambda: None, accesses)
        self._machine.synchronize_stream()
        result = func(*args, **kwargs)
        for tensor in _tensors(result):
            self._memory.mark(tensor)
        return result

    def _in_place(self, func: Any, args: Any, kwargs: Any, accesses: list[Access]) -> Any:
        args, kwargs = self._frozen(args, kwargs)
        written = [tensor for tensor, write in _operands(func, args, kwargs) if write]
        for tensor in written:
            if not self._memory.holds(tensor):
                raise RuntimeError(f"{func}: the device cannot write to a tensor of the host")
        self._machine.launch(func._schema.name, lambda: func(*args, **kwargs), accesses)
        returns = len(func._schema.returns)
        return None if returns == 0 else written[0] if returns == 1 else tuple(written)

    def _functional(self, func: Any, args: Any, kwargs: Any, accesses: list[Access]) -> Any:
        try:
            shapes = func(*pytree.tree_map(_to_meta, args), **pytree.tree_map(_to_meta, kwargs))
        except (NotImplementedError, RuntimeError):  # the shape depends on values: the host waits for them
            return self._waited_for(func, args, kwargs, accesses)
        args, kwargs = self._frozen(args, kwargs)
        results = pytree.tree_map(self._unfilled, shapes)
        outputs = _tensors(results)

        def fill() -> None:
            for output, value in zip(outputs, _tensors(func(*args, **kwargs)), strict=True):
                output.copy_(value)

        writes = [self._memory.access(output, write=True) for output in outputs]
        self._machine.launch(func._schema.name, fill, [*accesses, *writes])
        return results

    def _copy(self, target: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        """Copy in pieces. Only copies between device and pinned memory are done behind the back of the host."""
        memory = self._memory
        both = memory.holds(target) and memory.holds(source)
        host = source if memory.holds(target) else target
        asynchronous = both or (non_blocking and (memory.is_pinned(host) or host is source))
        if not memory.holds(source) and not memory.is_pinned(source):
            source = source.clone()  # pageable: staged before the call returns
        for to, of in _pieces(target, source):
            accesses = [memory.access(of, write=False), memory.access(to, write=True)]
            self._machine.launch("copy_", partial(to.copy_, of), accesses, kind="copy")
        if not asynchronous:
            self._machine.synchronize_stream()
        return target

    # ---------------------------------------------------------------- operands

    def _accesses(self, func: Any, args: Any, kwargs: Any) -> list[Access]:
        rows = _host_rows(func, args, self._memory.holds)
        return [
            self._memory.access(tensor, write=write, index=rows if tensor is args[0] else None)
            for tensor, write in _operands(func, args, kwargs)
            if self._memory.holds(tensor) or self._memory.is_pinned(tensor)
        ]

    def _frozen(self, args: Any, kwargs: Any) -> Any:
        """Copy operands in pageable memory of the host: the device gets them as they are now."""

        def freeze(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or self._memory.holds(value) or self._memory.is_pinned(value):
                return value
            return value.clone()

        return pytree.tree_map(freeze, (args, kwargs))

    def _unfilled(self, shape: Any) -> Any:
        if not isinstance(shape, torch.Tensor):
            return shape
        return self._memory.mark(torch.empty_strided(shape.shape, shape.stride(), dtype=shape.dtype))


def _operands(func: Any, args: Any, kwargs: Any) -> list[tuple[torch.Tensor, bool]]:
    """Return the tensors among the arguments, each with whether it is written."""
    operands = []
    for position, argument in enumerate(func._schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        write = argument.alias_info is not None and argument.alias_info.is_write
        operands += [(tensor, write) for tensor in _tensors(value)]
    return operands


def _is_view(func: Any) -> bool:
    schema = func._schema
    if func.namespace == "prim" or func in (aten.detach.default, aten.alias.default):
        return True
    return bool(schema.returns) and not schema.is_mutable and all(one.alias_info is not None for one in schema.returns)


def _host_rows(func: Any, args: Any, on_device: Any) -> list[int] | None:
    """Return the rows of the first operand that are touched, where the host knows them."""
    if func in (aten.index.Tensor, aten.index_put_.default, aten._index_put_impl_.default):
        index = args[1][0] if args[1] else None
    elif func in (aten.index_select.default, aten.index_copy_.default, aten.index_fill_.int_Scalar) and args[1] == 0:
        index = args[2]
    else:
        return None
    if index is None or on_device(index) or index.dtype not in (torch.int64, torch.int32):
        return None
    return [int(row) for row in index.reshape(-1).tolist()]


def _pieces(target: torch.Tensor, source: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    if target.dim() == 0 or target.shape[0] < PIECES or target.shape != source.shape:
        return [(target, source)]
    return list(zip(target.tensor_split(PIECES), source.tensor_split(PIECES), strict=True))


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return torch.device("meta") if isinstance(value, torch.device) else value


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
