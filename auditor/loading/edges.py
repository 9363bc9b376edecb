"""What a fence or a join orders: which stream (or the host) waits, and for what."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import NOTHING, Attr, Call, Value
from auditor.link import Code
from auditor.loading.naming import Kinds, called, parts, receiver
from auditor.loading.streams import Streams
from auditor.loading.values import FENCE, JOIN, Operation

HOST = "the host"
NOWHERE = "an event that nothing records"
_ASKS = frozenset({"record", "wait", "synchronize", "query", "elapsed_time"})
"""Methods of an event that give it to nobody."""


def edge(
    code: Code, kinds: Kinds, streams: Streams, where: tuple[int, int], one: Call
) -> tuple[str | None, str | None]:
    """Who waits by a call, and for which stream; None for what cannot be told."""
    on = receiver(code.defined, one)
    first = one.arguments[0].value if one.arguments else NOTHING
    match called(code.defined, one):
        case "wait_stream":
            return streams.name(on), streams.name(first)
        case "wait_event":
            return streams.name(on), _recorded_on(code, streams, first)
        case "wait":
            waiter = streams.at(*where) if first == NOTHING else streams.name(first)
            return waiter, _recorded_on(code, streams, on)
    return HOST, streams.name(on) if kinds.is_stream(code, on) else _recorded_on(code, streams, on)


def _recorded_on(code: Code, streams: Streams, event: Value) -> str | None:
    """The one stream that an event is recorded on, which is made in this function and given to nobody."""
    made = code.defined.get(event)
    if not isinstance(made, Call) or called(code.defined, made) != "Event":
        return None
    found: set[str | None] = set()
    for block, index, one in _uses(code, event):
        name = called(code.defined, one) if isinstance(one, Call) else ""
        if isinstance(one, Call) and name == "record" and receiver(code.defined, one) == event:
            found.add(streams.name(one.arguments[0].value) if one.arguments else streams.at(block, index))
        elif isinstance(one, Call) and name == "record_event":
            found.add(streams.name(receiver(code.defined, one)))
        elif name not in _ASKS | {"wait_event"}:
            return None
    return found.pop() if len(found) == 1 else None if found else NOWHERE


def _uses(code: Code, event: Value) -> Iterator[tuple[int, int, object]]:
    """What is done with a value: methods that are called on it, and instructions that it is given to."""
    methods = {value for value, one in code.defined.items() if isinstance(one, Attr) and one.base == event}
    for number, block in enumerate(code.facts.blocks):
        if event in (getattr(block.end, "value", None), getattr(block.end, "test", None)):
            yield number, len(block.instructions), block.end
        for index, one in enumerate(block.instructions):
            given = event in (*parts(one), getattr(one, "value", None)) and getattr(one, "dst", None) not in methods
            if given or (isinstance(one, Call) and one.func in methods):
                yield number, index, one


def fences(one: Operation, code: Code, stream: str) -> bool:
    """Whether an operation orders what comes on a stream ("": some stream) behind other work, as far as can be told."""
    if not one.kinds & {FENCE, JOIN} or one.awaited == NOWHERE:
        return False
    return not stream or (one.awaited != stream and (one.waiter in (None, HOST) or not apart(code, one.waiter, stream)))


def joins(one: Operation, code: Code, stream: str) -> bool:
    """Whether the host waits for what was enqueued on a stream, as far as can be told."""
    return JOIN in one.kinds and (one.awaited is None or not apart(code, one.awaited, stream))


def apart(code: Code, some: str, other: str) -> bool:
    """Whether two streams are told apart by their names: attributes of one object, or one of them and the stream of the
    caller. Two variables may hold the same stream."""
    own = f"{code.facts.params[0].name}." if code.is_method else "\0"
    return some != other and all(name == "" or name.startswith(own) for name in (some, other))
