"""Triton kernels on the simulated device: Triton's own interpreter runs them, when the schedule says so.

Which of its arguments a kernel reads and which it writes is read off its source: what it computes an address from for a
load, or for a store. The addresses themselves are known when it runs, so an access is to the whole tensor.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch

if TYPE_CHECKING:
    from cuda_probe.dispatch.machine import Machine


@contextmanager
def interpreted_kernels(machine: Machine) -> Iterator[None]:
    """Launch what the interpreter is called for."""
    from triton.runtime.interpreter import GridExecutor

    original = GridExecutor.__call__

    def launch(executor: Any, *args: Any, **kwargs: Any) -> None:
        given = inspect.signature(executor.fn).bind_partial(
            *args, **{key: value for key, value in kwargs.items() if key in executor.arg_names}
        )
        written, read = stored_and_loaded(executor.fn)
        tensors = {name: one for name, one in given.arguments.items() if isinstance(one, torch.Tensor)}
        accesses = [
            machine.memory.access(one, write=write)
            for name, one in tensors.items()
            if machine.memory.holds(one) or machine.memory.is_pinned(one)
            for write in (*[False] * (name in read or name not in written), *[True] * (name in written))
        ]
        machine.interpreted.append(executor.fn.__name__)
        machine.launch(executor.fn.__name__, partial(original, executor, *args, **kwargs), accesses)

    with patch.object(GridExecutor, "__call__", launch):
        yield


def stored_and_loaded(kernel: Callable[..., Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the parameters by which a kernel computes addresses for stores, and for loads.

    An atomic operation does both, and so may a function that is given an address. A name that is assigned stands for
    all that it was ever computed from.
    """
    function = ast.parse(textwrap.dedent(inspect.getsource(kernel))).body[0]
    assert isinstance(function, ast.FunctionDef)
    sources = {argument.arg: {argument.arg} for argument in function.args.args}
    assigned = [pair for node in ast.walk(function) for pair in _assigned(node)]
    for _ in assigned:  # until nothing is new, in any order
        for name, names in assigned:
            sources[name] = sources.get(name, set()).union(*(sources.get(one, set()) for one in names))
    written, read = set[str](), set[str]()
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        what = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        both = isinstance(node.func, ast.Name) or what.startswith("atomic_")
        addresses = node.args if isinstance(node.func, ast.Name) else node.args[:1]
        parameters = set[str]().union(*(sources.get(name, set()) for one in addresses for name in _computed_from(one)))
        written |= parameters if both or what == "store" else set()
        read |= parameters if both or what == "load" else set()
    return frozenset(written), frozenset(read)


def _assigned(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Return names that a statement assigns, each with those that its value is computed from."""
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        pairs = [(node.target, node.value)]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            parts = list(zip(target.elts, value.elts, strict=True))
        else:
            parts = [(target, value)]
        for one, computed in parts:
            for name in (child.id for child in ast.walk(one) if isinstance(child, ast.Name)):
                yield name, _computed_from(computed)


def _computed_from(expression: ast.AST) -> list[str]:
    """Return the names in an expression, but for those of what it loads: a value is no address."""
    called = expression.func if isinstance(expression, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr == "load":
        return []
    own = [expression.id] if isinstance(expression, ast.Name) else []
    return own + [name for child in ast.iter_child_nodes(expression) for name in _computed_from(child)]
