"""Stubs: what stands in for a module that is not there. Anything can be asked of one; it is false, empty and zero."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

KernelCall = Callable[[str, tuple[Any, ...], Mapping[str, Any]], None]

_listeners: list[KernelCall] = []


@contextmanager
def kernel_calls(listener: KernelCall) -> Iterator[None]:
    """Tell a listener of every call of a stub meanwhile (name, arguments): kernels that cannot run here are launched
    there."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class Stub:
    """Something of a stubbed module: a function, a class to inherit from, a decorator, a constant."""

    def __init__(self, name: str):
        self._stub_name = name

    def __getattr__(self, name: str) -> Any:
        if _is_dunder(name):
            raise AttributeError(name)
        stub = Stub(f"{self._stub_name}.{name}")
        object.__setattr__(self, name, stub)
        return stub

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            decorated = args[0]
            compiles = isinstance(decorated, types.FunctionType) and "jit" in self._stub_name.split(".")
            return KernelStub(decorated.__qualname__) if compiles else decorated
        for listener in tuple(_listeners):
            listener(self._stub_name, args, kwargs)
        return Stub(f"{self._stub_name}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        first = next(base for base in bases if isinstance(base, Stub))
        return (StubBase,) if self is first else ()  # a class has each base once

    def __getitem__(self, key: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: Any) -> bool:
        return False

    def _same(self, other: Any) -> Stub:
        return self

    __or__ = __ror__ = __and__ = __rand__ = __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = _same
    __floordiv__ = __truediv__ = __mod__ = _same

    def _not(self, other: Any) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _not

    def __int__(self) -> int:
        return 0

    __index__ = __int__

    def __float__(self) -> float:
        return 0.0

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self._stub_name)

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *error: Any) -> None: ...

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __subclasscheck__(self, subclass: Any) -> bool:
        return False

    def __format__(self, specification: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<stub {self._stub_name}>"


class KernelStub(Stub):
    """A function under a compiling decorator: ``kernel[grid](…)`` is told to the listeners."""


class _StubBaseType(type):
    def __getattr__(cls, name: str) -> Any:
        if _is_dunder(name):
            raise AttributeError(name)
        return Stub(f"{cls.__name__}.{name}")


class StubBase(metaclass=_StubBaseType):
    """What a class inherits that names a stub as its base. One with annotated fields takes them as arguments: it is
    a structure, and has its ``__signature__``."""

    def __init__(self, *args: Any, **kwargs: Any):
        signature = getattr(type(self), "__signature__", None)
        if isinstance(signature, inspect.Signature):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                object.__setattr__(self, name, value)
            if hasattr(self, "__post_init__"):
                self.__post_init__()

    def __init_subclass__(cls, **kwargs: Any):
        if _fields(cls):
            cls.__signature__ = _structure(cls)  # type: ignore[attr-defined]


def _fields(cls: type) -> dict[str, Any]:
    """Return the annotated fields of a class and of those it inherits from, these first."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        fields |= {
            name: annotation
            for name, annotation in vars(base).get("__annotations__", {}).items()
            if not name.startswith("_") and "ClassVar" not in str(annotation)
        }
    return fields


def _structure(cls: type) -> inspect.Signature:
    """Return what a structure takes: its fields; what the class says of one is its default."""
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    said = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
    parameters = [
        inspect.Parameter(name, kind, default=said.get(name, empty), annotation=annotation)
        for name, annotation in _fields(cls).items()
    ]
    return inspect.Signature(sorted(parameters, key=lambda one: one.default is not empty))


class StubModule(types.ModuleType):
    """A module of stubs."""

    def __getattr__(self, name: str) -> Any:
        if _is_dunder(name):
            raise AttributeError(name)
        stub = Stub(f"{self.__name__}.{name}")
        setattr(self, name, stub)
        return stub


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
