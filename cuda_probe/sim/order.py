"""The proof that one operation comes after another: a shortest chain of edges."""

from __future__ import annotations

from collections import deque

from cuda_probe.sim.operation import Operation


def path(first: Operation, last: Operation) -> tuple[Operation, ...]:
    """Return a shortest chain of edges from the first to the last; empty if nothing orders them."""
    towards: dict[int, Operation] = {}  # id of an operation -> the next one on the way to `last`
    todo = deque([last])
    seen = {id(last)}
    while todo:
        operation = todo.popleft()
        if operation is first:
            chain = [operation]
            while chain[-1] is not last:
                chain.append(towards[id(chain[-1])])
            return tuple(chain)
        for edge in operation.after:
            if id(edge) not in seen:
                seen.add(id(edge))
                towards[id(edge)] = operation
                todo.append(edge)
    return ()
