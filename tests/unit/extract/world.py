"""The recorded functions that random programs call, and the two ways to run a program with them."""

from __future__ import annotations

from typing import Any

from auditor.extract import extract
from tests.unit.extract.interpreter import Machine

LIMIT = 400


class Stop(BaseException):
    """Indicates that a program has made enough calls."""


class World:
    """Every call is recorded, and what it gives depends on the calls before it alone."""

    def __init__(self) -> None:
        self.trace: list[Any] = []

    def note(self, *event: Any) -> int:
        if len(self.trace) >= LIMIT:
            raise Stop
        self.trace.append(event)
        return hash((len(self.trace), 7919, *[part for part in event if isinstance(part, int)])) % 1009

    def names(self) -> dict[str, Any]:
        return {
            "t": lambda n: self.note("t", n) % 5,
            "w": lambda n: self.note("w", n) % 3 != 0,
            "boom": self.boom,
            "it": lambda n: list(range(self.note("it", n) % 4)),
            "some": lambda n, k: tuple((self.note("some", n) + i) % 4 for i in range(k)),
            "man": lambda n: Manager(self, n, False),
            "suppress": lambda n: Manager(self, n, True),
            "rec": Record(self),
            "hide": lambda value: self.note("hide") % 5,
            "call": lambda function: function(self.note("call") % 5),
            "sum2": lambda a, b=0, k=0: self.note("sum2", a, b, k) % 5,
            "len2": lambda value: self.note("len2", len(value)) % 5,
            "len3": lambda value: self.note("len3") % 5,
            "deco": lambda n: self.note("deco", n) and (lambda function: self.decorated(n, function)),
            "kind": lambda n: (ValueError, KeyError)[self.note("kind", n) % 2],
        }

    def decorated(self, n: int, function: Any) -> Any:
        self.note("decorated", n)
        return function

    def boom(self, n: int) -> int:
        if self.note("boom", n) % 2:
            raise (ValueError, KeyError)[n % 2](n)
        return 1


class Manager:
    def __init__(self, world: World, n: int, suppresses: bool) -> None:
        self.world, self.n, self.suppresses = world, n, suppresses
        world.note("man", n)

    def __enter__(self) -> int:
        return self.world.note("enter", self.n) % 5

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.world.note("exit", self.n, kind.__name__ if kind else "")
        return self.suppresses and kind is not None and issubclass(kind, KeyError)


class Record:
    world: World

    def __init__(self, world: World) -> None:
        object.__setattr__(self, "world", world)

    def m(self, value: Any) -> int:
        return self.world.note("m", value) % 5

    def __getattr__(self, name: str) -> int:
        return self.world.note("get", name) % 5

    def __setattr__(self, name: str, value: Any) -> None:
        self.world.note("set", name, value)

    def __getitem__(self, key: Any) -> int:
        return self.world.note("item", str(key)) % 5

    def __setitem__(self, key: Any, value: Any) -> None:
        self.world.note("setitem", str(key), value)

    def __delitem__(self, key: Any) -> None:
        self.world.note("delitem")


def in_python(source: str) -> tuple[list[Any], str]:
    """Run ``source`` with Python; give the recorded calls and how it ended."""
    world = World()
    names: dict[str, Any] = world.names()

    def run() -> dict[str, Any]:
        exec(compile(source, "program", "exec"), names)
        return names

    return world.trace, _outcome(run)


def in_facts(source: str) -> tuple[list[Any], str]:
    """Run the facts of ``source``; give the recorded calls and how it ended."""
    world = World()
    facts = extract("program.py", "program", False, source.encode())
    assert not facts.problems
    return world.trace, _outcome(Machine(facts, world.names(), source).run)


def _outcome(run: Any) -> str:
    try:
        return f"result {run()['result']}"
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        NameError,
        TypeError,
        ValueError,
        Stop,
    ) as error:
        return f"raised {type(error).__name__} {error if isinstance(error, ValueError | KeyError) else ''}"
