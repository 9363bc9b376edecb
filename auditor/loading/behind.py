"""Transfers that wait for the stream of their caller alone, while another stream computes.

An event that the loader's caller records marks the end of what was enqueued on the stream that is current there. Where
the engine launches its forward passes on a stream of their own, that is not the end of what is in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.facts import Call, Param, Value, expression
from auditor.link import Code, access_path
from auditor.loading.effects import Effects, spot
from auditor.loading.naming import called, receiver, sources
from auditor.loading.streams import Streams
from auditor.loading.values import COPY, FENCE, JOIN, RECORD, Lapse, Loader, Operation, Step
from auditor.spec import EngineSpec, matcher


def launches(effects: Effects, spec: EngineSpec) -> Iterator[tuple[str, Step]]:
    """Where a forward pass is launched on a stream of its own, each with the stream."""
    is_launch = matcher(spec.launches)
    for name in sorted(effects.named):
        for code, block, index, one in effects.named[name] if is_launch(name) is not None else ():
            stream = Streams(code, effects.kinds, effects.linker).at(block, index)
            if stream:
                what = f"{expression(code.facts, one.func, code.defined)} launches the forward pass on {stream}"
                yield stream, Step(spot(code, one.at), what)


def behind(effects: Effects, code: Code, loader: Loader, launched: Sequence[tuple[str, Step]]) -> Iterator[Lapse]:
    """The loads of layers that are ordered behind the stream of their caller alone."""
    if not launched or not loader.counts or any(_fences(effects, code)):
        return
    for fence in loader.of(FENCE):
        call = code.defined.get(fence.value)
        if COPY in fence.kinds or not isinstance(call, Call):
            continue
        event = _event(code, call)
        for where, value in _givers(effects, code, event) if event is not None else ():
            if where is not code and any(_fences(effects, where)):
                continue
            recorded = _recorded(effects, where, value)
            if recorded is not None:
                stream, launch = launched[0]
                yield Lapse(
                    where=recorded.spot,
                    subject=_last(where, value),
                    steps=(
                        launch,
                        recorded,
                        Step(fence.spot, f"{fence.text}: the copies wait for that event and nothing else"),
                    ),
                    message=(
                        f"orders the load behind its own stream alone, while forward passes run on {stream}: "
                        "rows that were given away may still be written there"
                    ),
                    missing=f"the stream of the copies waiting for {stream}",
                )
                return


def unlike(effects: Effects, launched: Sequence[tuple[str, Step]]) -> Iterator[Lapse]:
    """The transfers that a method leaves to an object of its own without a fence, where a sibling that leaves others to
    it first makes a stream of that object wait for another than the current one."""
    by_class: dict[str, list[Code]] = {}
    for name, code in effects.linker.codes.items() if launched else ():
        if code.is_method and COPY in effects.of(name):
            by_class.setdefault(code.owner, []).append(code)
    for codes in by_class.values():
        fenced = {about: (code, fence) for code in codes for about, fence in _fenced(effects, code)}
        for code in codes if fenced else ():
            if all(one.callees or not one.kinds & {FENCE, JOIN} for one in effects.operations(code)):
                for copy in _left_to(effects, code):
                    if copy.about in fenced:
                        yield _without(copy, *fenced[copy.about], launched[0][1])


def _fenced(effects: Effects, code: Code) -> Iterator[tuple[str, Operation]]:
    """The attributes that hold who copies for a method, where it makes a stream of theirs wait."""
    for fence in _fences(effects, code):
        for copy in _left_to(effects, code):
            if (fence.waiter or "").startswith(f"{code.facts.params[0].name}.{copy.about}."):
                yield copy.about, fence


def _left_to(effects: Effects, code: Code) -> Iterator[Operation]:
    """The copies that a method leaves to an object that it keeps."""
    return (one for one in effects.operations(code) if COPY in one.kinds and one.callees and one.about)


def _without(copy: Operation, sibling: Code, fence: Operation, launch: Step) -> Lapse:
    return Lapse(
        where=copy.spot,
        subject=copy.about,
        steps=(
            launch,
            Step(fence.spot, f"{fence.text}: {sibling.facts.name} puts its copies behind that stream"),
            Step(copy.spot, f"{copy.text} copies behind nothing but the stream of the caller"),
        ),
        message=(
            f"leaves a transfer to {copy.about} without the fence that {sibling.facts.name} (line {fence.spot.line}) "
            f"has for its own, on {fence.awaited}: a forward pass may still write those rows"
        ),
        missing=f"the stream of the copies waiting for {fence.awaited}",
    )


def _event(code: Code, call: Call) -> Value | None:
    """The event of ``e.wait(s)`` or ``s.wait_event(e)``."""
    if called(code.defined, call) == "wait":
        return receiver(code.defined, call)
    if called(code.defined, call) == "wait_event" and call.arguments:
        return call.arguments[0].value
    return None


def _fences(effects: Effects, code: Code) -> Iterator[Operation]:
    """Where some stream is made to wait for another one than the current one."""
    for one in effects.operations(code):
        call = code.defined.get(one.value)
        if isinstance(call, Call) and called(code.defined, call) == "wait_stream" and call.arguments:
            given = code.defined.get(call.arguments[0].value)
            if not (isinstance(given, Call) and called(code.defined, given) == "current_stream"):
                yield one


def _givers(effects: Effects, code: Code, event: Value) -> Iterator[tuple[Code, Value]]:
    """Where the event comes from: a function, and what it is there. A parameter comes from the callers."""
    yield code, event
    parameters = [
        one for value in sorted(sources(code.defined, event)) if isinstance(one := code.defined[value], Param)
    ]
    for parameter in parameters:
        position = [one.name for one in code.facts.params].index(parameter.name) - (1 if code.is_method else 0)
        for name, value in effects.callers.get(code.name, ()) if position >= 0 else ():
            caller = effects.linker.codes[name]
            call = caller.defined.get(value)
            positional = [one.value for one in call.arguments if one.kind == "pos"] if isinstance(call, Call) else []
            named = (
                [one.value for one in call.arguments if one.name == parameter.name] if isinstance(call, Call) else []
            )
            for given in (*named, *positional[position : position + 1]):
                yield caller, given


def _recorded(effects: Effects, code: Code, event: Value) -> Step | None:
    """The record of the event on the stream that is current when the function is called."""
    wanted = access_path(code.defined, event)
    for one in effects.operations(code):
        call = code.defined.get(one.value)
        if RECORD not in one.kinds or one.on or one.stream or one.callees or not isinstance(call, Call):
            continue
        if access_path(code.defined, receiver(code.defined, call)) == wanted:
            return Step(one.spot, f"{one.text} marks what is enqueued on the stream of the caller")
    return None


def _last(code: Code, value: Value) -> str:
    names = access_path(code.defined, value)[1]
    return names[-1] if names else code.facts.names.get(value, "")
