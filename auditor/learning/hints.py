"""What a file may hold, told from its bytes before it is parsed: generously, and without a name of any engine."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

WAITS = ("wait", "wait_event", "wait_stream", "wait_for", "synchronize", "result", "exception", "acquire")
"""Methods that wait, of events, streams, conditions, futures and semaphores (PyTorch, threading, concurrent)."""

DEVICE = frozenset({"wait_event", "wait_stream"})
"""Those among them that make a stream wait, not the host."""

LONGEST = 2_000
"""Bytes of the body of a method that is looked at: a gate does little but wait."""
_WAITS = re.compile(rb"\b(?:" + "|".join(WAITS).encode() + rb")\s*\(")
_STEPS = re.compile(
    rb"\bnext\(self\.\w+\[|(?s:for (\w+) in self\.\w+:.{0,200}?\bnext\(\1\))"
    rb"|\[self\.\w+\]\.(?:wait|synchronize|result)\(|\bwait_event\([^\n]{0,80}?\[self\.\w+\]"
)
_YIELD = re.compile(rb"(?m)^[ \t]+(?:\w+ = )?yield\b")
_DEF = re.compile(rb"^[ \t]+(?:async[ \t]+)?def[ \t]+\w+\s*\(\s*self\b([^)]{0,2000})\)", re.MULTILINE)
_PARAMETER = re.compile(rb"(?:^|,)\s*\*{0,2}(\w+)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files to read: those that hold one of ``needles`` and fit ``test``. ``often``: they are read however many they
    are; else a name that very many hold says nothing, and none is."""

    needles: tuple[bytes, ...]
    test: Callable[[bytes], object] = field(repr=False, compare=False)
    key: str
    often: bool = False

    def fits(self, content: bytes) -> bool:
        """Whether a file is wanted."""
        return any(one in content for one in self.needles) and bool(self.test(content))


def calling(method: str, near: Collection[str] = ()) -> Wanted:
    """Files that call a method; where ``near`` is given, only those that hold one of these names as well."""
    call = re.compile(rf"\.{re.escape(method)}\s*\(".encode())
    beside = _words(near)

    def test(content: bytes) -> bool:
        return bool(call.search(content)) and (not near or bool(beside.search(content)))

    return Wanted((f".{method}".encode(),), test, f"call of {method} near {', '.join(sorted(near))}")


def mentioning(names: Collection[str]) -> Wanted:
    """Files that hold one of these names."""
    return _matching("mention of", names, _words(names))


def extending(classes: Collection[str]) -> Wanted:
    """Files with a class that derives from one of these."""
    return _matching("subclass of", classes, re.compile(rb"\bclass\s+\w+\s*\([^)]{0,2000}?" + _words(classes).pattern))


def defining(kind: str, names: Collection[str]) -> Wanted:
    """Files that define one of these (``class`` or ``def``)."""
    return _matching(kind, names, re.compile(rb"\b%b\s+" % kind.encode() + _words(names).pattern))


def _matching(what: str, names: Collection[str], pattern: re.Pattern[bytes]) -> Wanted:
    ordered = sorted(names)
    return Wanted(tuple(one.encode() for one in ordered), pattern.search, f"{what} {', '.join(ordered)}")


def _words(names: Collection[str]) -> re.Pattern[bytes]:
    return re.compile(rb"\b(?:" + "|".join(sorted(map(re.escape, names))).encode() + rb")\b")


def _waits_by_index(content: bytes) -> bool:
    """Whether some method may wait for an element that one of its parameters picks, or until a number reaches it."""
    return any(
        _picks(parameters, body)
        for parameters, body in _methods(content)
        if len(body) < LONGEST and _WAITS.search(body)
    )


def _orders_steps(content: bytes) -> bool:
    """Whether some generator may order its steps behind a stream."""
    return any(_YIELD.search(body) and b".wait_stream(" in body for _, body in _methods(content))


def _methods(content: bytes) -> Iterator[tuple[list[bytes], bytes]]:
    found = list(_DEF.finditer(content))
    for one, following in itertools.zip_longest(found, found[1:]):
        parameters = [name for name in _PARAMETER.findall(one[1]) if name]
        if parameters:
            yield parameters, content[one.end() : following.start() if following else len(content)]


def _picks(parameters: list[bytes], body: bytes) -> bool:
    names = b"|".join(map(re.escape, parameters))
    element, until = rb"\w\[[^\]\n]{0,200}?\b(?:%b)\b", rb"\bwhile\b[^\n]{0,80}?[<>][^\n]{0,80}?\b(?:%b)\b"
    return re.search(element % names + b"|" + until % names, body) is not None


WAITING = Wanted(tuple(f"{one}(".encode() for one in WAITS), _waits_by_index, "wait by index", often=True)
"""Files with a method that may wait for the layer that its parameter names."""
PIPING = Wanted(
    (b".synchronize(", b".wait_stream("),
    re.compile(rb"(?s)stream\(self\.(\w+)\).*(?:self\.\1\.synchronize\(|wait_stream\(self\.\1\))").search,
    "copies on a stream that is waited for",
    often=True,
)
"""Files with a class that may copy on a stream of its object and wait for it."""
STEPPING = Wanted((b"next(", b"[self."), _STEPS.search, "next step", often=True)
"""Files with a method that takes steps of what its object holds, or waits for the element that it has counted up to."""
YIELDING = Wanted((b".wait_stream(",), _orders_steps, "steps on a stream", often=True)
"""Files with a generator that may order its steps behind a stream."""
