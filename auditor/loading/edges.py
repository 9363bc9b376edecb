"""What a fence or a join orders: which stream (or the host) waits, and for what."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import NOTHING, Attr, Build, Call, SetAttr, SetItem, Value
from auditor.link import Code
from auditor.loading.naming import called, is_class, methods, own_attribute, parts, receiver
from auditor.loading.streams import Streams
from auditor.loading.values import FENCE, JOIN, Operation

HOST = "the host"
NOWHERE = "an event that nothing records"
_ASKS = frozenset({"record", "wait", "synchronize", "query", "elapsed_time"})
"""Methods of an event that give it to nobody."""
_PUTS = frozenset({"append", "appendleft", "put", "put_nowait", "add", "insert"})
"""Methods of a collection that keep what they are given."""


def edge(code: Code, streams: Streams, where: tuple[int, int], one: Call) -> tuple[str | None, str | None]:
    """Who waits by a call, and for which stream; None for what cannot be told."""
    on = receiver(code.defined, one)
    first = one.arguments[0].value if one.arguments else NOTHING
    match called(code.defined, one), len(one.arguments):
        case "wait_stream", 1:
            return streams.name(on), streams.name(first)
        case "wait_event", 1:
            return streams.name(on), _recorded_on(code, streams, first)
        case "wait_stream" | "wait_event", _:  # of who does it for any stream
            return None, None
        case "wait", _:
            waiter = streams.at(*where) if first == NOTHING else streams.name(first)
            return waiter, _recorded_on(code, streams, on)
    return HOST, streams.name(on) if streams.kinds.is_stream(code, on) else _recorded_on(code, streams, on)


def _recorded_on(code: Code, streams: Streams, event: Value) -> str | None:
    """The one stream that an event is recorded on: one that is made in this function and given to nobody, or those that
    its class keeps."""
    made = code.defined.get(event)
    if not isinstance(made, Call) or called(code.defined, made) != "Event":
        return _kept_behind(code, streams, own_attribute(code, event))
    found = _records(code, streams, event)
    if found is None:
        return None
    return found.pop() if len(found) == 1 else None if found else NOWHERE


def _records(code: Code, streams: Streams, event: Value, *, kept: bool = False) -> set[str | None] | None:
    """The streams that a function records an event on; None where somebody else might record it. ``kept``: it is put
    away, and only asked or waited for by who finds it there."""
    found: set[str | None] = set()
    for block, index, one in _uses(code, event):
        name = called(code.defined, one) if isinstance(one, Call) else ""
        if isinstance(one, Call) and name == "record" and receiver(code.defined, one) == event:
            found.add(streams.name(one.arguments[0].value) if one.arguments else streams.at(block, index))
        elif isinstance(one, Call) and name == "record_event":
            found.add(streams.name(receiver(code.defined, one)))
        elif kept and (name in _PUTS or is_class(name) or isinstance(one, Build | SetAttr | SetItem)):
            continue
        elif name not in _ASKS | {"wait_event"}:
            return None
    return found


def _kept_behind(code: Code, streams: Streams, name: str) -> str | None:
    """The one stream, of this function or of the object, on which every event is recorded that the methods of a class
    keep in an attribute."""
    found: set[str | None] = set()
    for method, event in _kept(streams, code.owner, name) if name else ():
        there = streams if method is code else streams.of(method)
        known = _records(method, there, event, kept=True) or {None}  # else somebody else records it
        found |= known if method is code else {one if _is_own(method, one) else None for one in known}
    return found.pop() if len(found) == 1 else None


def _kept(streams: Streams, cls: str, name: str) -> Iterator[tuple[Code, Value]]:
    """The events that the methods of a class put into an attribute, or into the collection that it is."""
    for code in methods(streams.linker, cls):
        for one in (one for block in code.facts.blocks for one in block.instructions):
            match one:
                case SetAttr(base=0, name=attribute, value=value) if attribute == name:
                    yield from _events(code, streams, value)
                case SetItem(base=base, value=value) if own_attribute(code, base) == name:
                    yield from _events(code, streams, value)
                case Call(arguments=[*_, given]) if (
                    called(code.defined, one) in _PUTS and own_attribute(code, receiver(code.defined, one)) == name
                ):
                    yield from _events(code, streams, given.value)


def _events(code: Code, streams: Streams, value: Value) -> Iterator[tuple[Code, Value]]:
    """The events that a value is, or has in it as a tuple or a record."""
    one = code.defined.get(value)
    match one:
        case Build(elements=values):
            pass
        case Call(arguments=arguments) if is_class(called(code.defined, one)):
            values = tuple(argument.value for argument in arguments)
        case _:
            values = (value,)
    for part in values:
        if streams.kinds.is_event(code, part):
            yield code, part


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
    return some != other and all(name == "" or _is_own(code, name) for name in (some, other))


def _is_own(code: Code, name: str | None) -> bool:
    """Whether a stream is an attribute of the object that a method runs on."""
    return code.is_method and name is not None and name.startswith(f"{code.facts.params[0].name}.")
