"""Device streams: a gate acts on the stream that is current where it is called, a kernel runs on the one that is
current where it is launched. Between two streams an order is made by ``wait_stream``, by ``record`` and ``wait_event``,
or by a ``synchronize`` that blocks the host (DESIGN.md §2.4).

Which stream is current is followed inside one function, by ``with torch.cuda.stream(s)``: what is current where a
function starts is one stream, whichever it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from auditor.callgraph import CallGraph, FrameKey, entered
from auditor.dataflow import solve_forward
from auditor.facts import NOTHING, Attr, Call, Enter, Exit, Return, Value
from auditor.gating.symbols import Path, path_of
from auditor.gating.uses import called_name
from auditor.link import Code, ExternalInstance, Linker, successors

Point: TypeAlias = tuple[int, int]
"""Block and index of an instruction."""

ASIDE, UNCLEAR = "stream", "stream?"
"""Why a gate does not count: it is on another stream, or on one that cannot be told from it."""

_CONTEXTS = frozenset({"stream", "StreamContext"})
_CURRENT = Path(":current stream")
_STREAMS = frozenset({"Stream", "ExternalStream"})
_GATED, _JOINED = "gated", "joined"


class Streams:
    """Answers for two points of a frame."""

    def __init__(self, linker: Linker, graph: CallGraph) -> None:
        self._linker = linker
        self._graph = graph
        self._regions: dict[str, Mapping[int, tuple[Value, ...]]] = {}

    def missing(self, key: FrameKey, gate: Point, use: Point) -> str | None:
        """Why what is ordered on the current stream at ``gate`` is not at ``use``; None where it is."""
        code = self._graph.code(key)
        waited, reads = self._stream(code, gate), self._stream(code, use)
        if waited == reads or self._is_joined(code, gate, use, reads):
            return None
        known = (self._is_own(key, code, one) for one in (waited, reads))
        return ASIDE if all(known) else UNCLEAR

    def is_left(self, key: FrameKey, gate: Point) -> bool:
        """Whether a function can return with another stream current, or the same, that is not behind ``gate``."""
        blocks = enumerate(self._graph.code(key).facts.blocks)
        returns = ((number, len(block.instructions)) for number, block in blocks if isinstance(block.end, Return))
        return any(self.missing(key, gate, point) is not None for point in returns)

    def _stream(self, code: Code, point: Point) -> Path:
        """The stream that is current at a point, as the function names it."""
        inside = list(self._entered(code).get(point[0], ()))
        for one in code.facts.blocks[point[0]].instructions[: point[1]]:
            _step(code, one, inside)
        return _named(code, inside[-1]) if inside else _CURRENT

    def _entered(self, code: Code) -> Mapping[int, tuple[Value, ...]]:
        """The stream contexts that are entered at the start of each block, the innermost last."""
        if code.name not in self._regions:

            def transfer(block: int, before: tuple[Value, ...]) -> Mapping[int, tuple[Value, ...]]:
                inside = list(before)
                content = code.facts.blocks[block]
                for one in content.instructions:
                    _step(code, one, inside)
                return {to: before if to in content.handlers else tuple(inside) for to in successors(content)}

            flow = code.flow
            start: tuple[Value, ...] = ()
            self._regions[code.name] = solve_forward(flow, start, transfer, lambda one, other: min(one, other, key=len))
        return self._regions[code.name]

    def _is_own(self, key: FrameKey, code: Code, stream: Path) -> bool:
        """Whether it is known which stream that is: the one that was current, or one that the tree made."""
        if stream == _CURRENT:
            return True
        frame = self._graph.frames[key]
        for value in code.defined:
            if path_of(code.defined, value) == stream:
                found = self._linker.graph.points_to(frame.node(value))
                return bool(found) and all(
                    isinstance(one, ExternalInstance) and one.cls.rpartition(".")[2] in _STREAMS for one in found
                )
        return False

    def _is_joined(self, code: Code, gate: Point, use: Point, stream: Path) -> bool:
        """Whether every path from the gate to the use makes an order from one stream to the other."""

        def run(block: int, before: frozenset[str], end: int | None = None) -> frozenset[str]:
            facts = before
            for index, one in enumerate(code.facts.blocks[block].instructions[:end]):
                if isinstance(one, Call):
                    facts = _after(code, one, facts, stream)
                if (block, index) == gate:
                    facts |= {_GATED}
            return facts

        def transfer(block: int, before: frozenset[str]) -> Mapping[int, frozenset[str]]:
            content = code.facts.blocks[block]
            after = run(block, before)
            return {to: before if to in content.handlers else after for to in successors(content)}

        nothing: frozenset[str] = frozenset()
        states = solve_forward(code.flow, nothing, transfer, lambda one, other: one & other)
        return use[0] in states and _JOINED in run(use[0], states[use[0]], use[1])


def _step(code: Code, one: object, inside: list[Value]) -> None:
    """Enter or leave a stream context."""
    begun = entered(code, one) or one
    if isinstance(begun, Enter) and _streams(code, begun.manager):
        inside.append(begun.manager)
    while isinstance(one, Exit) and inside and one.manager in (inside[-1], _stack(code, inside[-1])):
        inside.pop()


def _stack(code: Code, manager: Value) -> Value:
    """The stack of contexts that a manager was entered by; ``NOTHING`` if by none."""
    for one in code.defined.values():
        begun = entered(code, one)
        func = code.defined.get(one.func) if isinstance(one, Call) else None
        if begun is not None and begun.manager == manager and isinstance(func, Attr):
            made = code.defined.get(func.base)
            return made.manager if isinstance(made, Enter) else func.base
    return NOTHING


def _streams(code: Code, manager: Value) -> bool:
    made = code.defined.get(manager)
    return isinstance(made, Call) and bool(made.arguments) and called_name(code, made) in _CONTEXTS


def _named(code: Code, manager: Value) -> Path:
    made = code.defined[manager]
    assert isinstance(made, Call), "only calls make stream contexts"
    value = made.arguments[0].value
    given = code.defined.get(value)
    if isinstance(given, Call) and called_name(code, given) == "current_stream":
        return _CURRENT
    return path_of(code.defined, value)


def _after(code: Code, one: Call, facts: frozenset[str], stream: Path) -> frozenset[str]:
    """What a call adds, for a use on ``stream``. Before the gate nothing counts."""
    func = code.defined.get(one.func)
    if _GATED not in facts or not isinstance(func, Attr):
        return facts
    event = f"recorded {path_of(code.defined, func.base)}"
    given = f"recorded {_argument(code, one)}"
    match func.name:
        case "synchronize":
            return facts | {_JOINED}
        case "record":
            return facts | {event}
        case "record_event" if one.arguments:
            return facts | {given}
        case "wait_stream" if _waiting(code, func) == stream:
            return facts | {_JOINED}
        case "wait_event" if given in facts and _waiting(code, func) == stream:
            return facts | {_JOINED}
        case "wait" if event in facts and (_argument(code, one) or _CURRENT) == stream:
            return facts | {_JOINED}
    return facts


def _argument(code: Code, one: Call) -> Path | None:
    return path_of(code.defined, one.arguments[0].value) if one.arguments else None


def _waiting(code: Code, func: Attr) -> Path:
    """The stream that a method is called on."""
    made = code.defined.get(func.base)
    if isinstance(made, Call) and called_name(code, made) == "current_stream":
        return _CURRENT
    return path_of(code.defined, func.base)
