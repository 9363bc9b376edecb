"""Transfers that are not ordered behind what the compute stream has in flight.

A copy on a stream of its own is *fenced* if that stream was made to wait (for a stream or an event), or the host has
waited for the device, before the copy is enqueued: in the function, in the thread's callers, or by who submitted it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.facts import Attr, Branch, Call, Value, expression
from auditor.link import Code
from auditor.loading.edges import fences
from auditor.loading.effects import Effects, calls_of, spot
from auditor.loading.flags import takes_both
from auditor.loading.naming import called, is_none
from auditor.loading.order import START, At, path
from auditor.loading.queues import submitters
from auditor.loading.streams import Streams
from auditor.loading.values import COPY, FENCE, RECORD, Lapse, Loader, Operation, Step

_DEEPEST = 3
"""Callers above a transfer in which a fence is looked for."""
_ALLOCATES = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "zeros", "zeros_like"})
"""What makes a new tensor (PyTorch)."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to a transfer that no fence was found on, up to ``at`` in ``code``; the steps down from there. ``handed``:
    where it is handed over to another thread."""

    code: Code
    at: At
    steps: tuple[Step, ...]
    handed: _Handed | None = None


@dataclass(frozen=True, slots=True)
class _Handed:
    """The call that hands a copy over, with the steps from there; ``put``: it is the queue's own, not yet that of the
    method around it."""

    code: Code
    call: Call
    steps: tuple[Step, ...]
    put: bool


def unfenced(effects: Effects, code: Code, loader: Loader) -> Iterator[Lapse]:
    """The ways to a loader's first copy that no fence is on; and calls that leave out the event of an optional one."""
    copy = next((one for one in loader.of(COPY) if stream_of(code, loader, one)), None)
    if copy is None:
        return
    stream = stream_of(code, loader, copy)
    fenced = [one for one in loader.operations if one.at != copy.at and fences(one, code, stream)]
    before = [one.at for one in fenced]
    certain = path(code, START, copy.at, before) is None
    first = Step(copy.spot, f"{copy.text} copies on {stream}, which waits for nothing")
    if certain or FENCE in copy.kinds or _into_new(effects, code, copy):
        return
    if any(path(code, at, copy.at) is not None for at in before):
        yield from _left_out(effects, code, copy, stream)
        yield from _one_way(effects, code, copy, stream, fenced)
        return
    ways = tuple(dict.fromkeys(_ways(effects, _Way(code, copy.at, (first,)), stream)))
    submitted = dict.fromkeys(way.handed for way in ways if way.handed is not None)
    if submitted:
        yield from (_submitted(one, stream) for one in submitted)
    elif ways:
        yield _itself(min(ways, key=lambda way: (len(way.steps), way.steps)), copy, stream)


def _into_new(effects: Effects, code: Code, copy: Operation) -> bool:
    """Whether memory was allocated on the stream of the copy itself before it: nothing else can be using that."""
    streams = Streams(code, effects.kinds, effects.linker)
    return any(
        called(code.defined, one) in _ALLOCATES
        and streams.at(number, index) == copy.stream
        and path(code, (number, index), copy.at) is not None
        for number, index, one in calls_of(code)
        if copy.stream
    )


def stream_of(code: Code, loader: Loader, copy: Operation) -> str:
    """The stream of a copy: the current one, or the one that an event is recorded on behind it."""
    if copy.stream:
        return copy.stream
    for one in loader.of(RECORD):
        if one.on and not one.stream and path(code, copy.at, one.at) is not None:
            return one.on
    return ""


def _itself(way: _Way, copy: Operation, stream: str) -> Lapse:
    return Lapse(
        where=copy.spot,
        subject=copy.about,
        steps=way.steps,
        message=f"enqueues copies on {stream}, which waits for nothing that the compute stream has in flight",
        missing=f"{stream} waiting for the compute stream, or for an event recorded on it, before the copies",
    )


def _submitted(handed: _Handed, stream: str) -> Lapse:
    return Lapse(
        where=handed.steps[0].spot,
        subject=_subject(handed.code, handed.call),
        steps=handed.steps,
        message=(
            f"hands {_given(handed.code, handed.call)} to a thread that copies on {stream}, "
            "which waits for nothing that the compute stream has in flight"
        ),
        missing=f"an event of the compute stream, handed over with the copy, that {stream} waits for",
    )


def _ways(effects: Effects, start: _Way, stream: str) -> Iterator[_Way]:
    """The ways on which nothing waits, each up to where the text of the program ends; of those that meet, one."""
    seen = {(start.code.name, start.at, start.handed)}
    front = [start]
    for depth in range(_DEEPEST + 1):
        following = []
        for way in front:
            above = [*_callers(effects, way)] if depth < _DEEPEST else []
            if not above:
                yield way
            for code, at, call, what, over in above:
                if _is_fenced(effects, way, code, at, stream):
                    continue
                steps = (Step(spot(code, call.at), what), *way.steps)
                handed = way.handed
                if over or (handed is not None and handed.put):
                    handed = _Handed(code, call, steps, over)
                if (code.name, at, handed) not in seen:
                    seen.add((code.name, at, handed))
                    following.append(_Way(code, at, steps, handed))
        front = following


def _is_fenced(effects: Effects, way: _Way, code: Code, at: At, stream: str) -> bool:
    """Whether something may wait before the call that a way comes by."""
    known = stream if code.owner == way.code.owner else ""  # the same name on another object is another stream
    before = (one for one in effects.operations(code) if COPY not in one.kinds and one.at != at)
    return any(fences(one, code, known) and path(code, one.at, at) is not None for one in before)


def _callers(effects: Effects, way: _Way) -> Iterator[tuple[Code, At, Call, str, bool]]:
    called_from = effects.callers.get(way.code.name, ())
    for name, value in called_from:
        code = effects.linker.codes[name]
        at = _place(code, value)
        call = code.defined.get(value)
        if at is not None and isinstance(call, Call):
            yield code, at, call, f"{expression(code.facts, value, code.defined)} asks for it", False
    if not called_from:
        for code, at, call in submitters(effects, way.code):
            yield code, at, call, f"{expression(code.facts, call.func, code.defined)} hands it to another thread", True


def _place(code: Code, value: Value) -> At | None:
    return next(((number, index) for number, index, one in calls_of(code) if one.dst == value), None)


# ---------------------------------------------------------------- a fence for one of two directions


def _one_way(
    effects: Effects, code: Code, copy: Operation, stream: str, fenced: Sequence[Operation]
) -> Iterator[Lapse]:
    """A fence that a flag chooses which is set for some transfers and not for others; nothing else fences those."""
    for end in (block.end for block in code.facts.blocks):
        if isinstance(end, Branch) and takes_both(effects, code, end.test):
            for there, elsewhere, holds in ((end.then, end.orelse, True), (end.orelse, end.then, False)):
                missed = path(code, (elsewhere, -1), copy.at, [one.at for one in fenced]) is not None
                made = [one for one in fenced if _leads(code, there, one.at) and not _leads(code, elsewhere, one.at)]
                if missed and made:
                    flag = expression(code.facts, end.test, code.defined)
                    yield _for_some(copy, stream, made[0], flag, holds)


def _leads(code: Code, block: int, at: At) -> bool:
    return path(code, (block, -1), at) is not None


def _for_some(copy: Operation, stream: str, fence: Operation, flag: str, holds: bool) -> Lapse:
    return Lapse(
        where=copy.spot,
        subject=copy.about,
        steps=(
            Step(fence.spot, f"{fence.text}: only where {flag} is {holds}"),
            Step(copy.spot, f"{copy.text} copies on {stream} either way"),
        ),
        message=(
            f"enqueues copies on {stream} behind the compute stream only where {flag} is {holds}: "
            "the others wait for nothing that it has in flight"
        ),
        missing=f"the same wait of {stream} where {flag} is {not holds}",
    )


# ---------------------------------------------------------------- an event that one call passes and another does not


def _left_out(effects: Effects, worker: Code, copy: Operation, stream: str) -> Iterator[Lapse]:
    """The calls that leave out the optional event that the fence needs, where a sibling passes it."""
    givers = {worker.name: worker} | {code.name: code for code, _, _ in submitters(effects, worker)}
    for giver in givers.values():
        for number, parameter in enumerate(giver.facts.params):
            if not parameter.has_default or not _is_event(parameter.name):
                continue
            position = number - (1 if giver.is_method else 0)
            calls = [(effects.linker.codes[name], value) for name, value in effects.callers.get(giver.name, ())]
            passed = [one for one in calls if _passes(*one, parameter.name, position)]
            for code, value in calls:
                sibling = next((one for one in passed if one[0].owner == code.owner), None)
                if sibling is not None and (code, value) not in passed:
                    yield _asymmetric(code, value, sibling, giver, parameter.name, copy, stream)


def _is_event(name: str) -> bool:
    return "event" in name.lower() or "fence" in name.lower()


def _passes(code: Code, value: Value, name: str, position: int) -> bool:
    call = code.defined.get(value)
    if not isinstance(call, Call):
        return False
    positional = [one.value for one in call.arguments if one.kind == "pos"]
    given = [one.value for one in call.arguments if one.kind == "key" and one.name == name]
    given += positional[position : position + 1]
    spread = any(one.kind in ("*", "**") for one in call.arguments)
    return spread or any(not is_none(code.defined, one) for one in given)


def _asymmetric(
    code: Code, value: Value, sibling: tuple[Code, Value], giver: Code, name: str, copy: Operation, stream: str
) -> Lapse:
    call = code.defined[value]
    other = sibling[0].defined[sibling[1]]
    assert isinstance(call, Call)
    assert isinstance(other, Call)
    there = f"{sibling[0].name.rpartition('.')[2]} (line {other.at.line})"
    what = _given(code, call)
    where = spot(code, call.at)
    method = giver.name.rpartition(".")[2]
    return Lapse(
        where=where,
        subject=_subject(code, call),
        steps=(
            Step(where, f"{method} is called without {name}"),
            Step(copy.spot, f"{copy.text} copies on {stream}, which waits only where {name} is given"),
        ),
        message=f"hands {what} to {method} without `{name}`, which {there} passes: the transfer waits for nothing",
        missing=f"an event of the compute stream as `{name}`, as in {there}",
    )


def _given(code: Code, call: Call) -> str:
    if not call.arguments:
        return "it"
    return expression(code.facts, call.arguments[0].value, code.defined)


def _subject(code: Code, call: Call) -> str:
    """What is handed over, by the name of its attribute."""
    one = code.defined.get(call.arguments[0].value) if call.arguments else None
    return one.name if isinstance(one, Attr) else ""
