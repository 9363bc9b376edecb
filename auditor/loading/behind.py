"""Loads that wait for the stream of their caller, while another stream computes.

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
from auditor.loading.values import COPY, FENCE, RECORD, Lapse, Loader, Step
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
    if not launched or not loader.counts or _waits_for_a_stream(effects, code):
        return
    for fence in loader.of(FENCE):
        call = code.defined.get(fence.value)
        if COPY in fence.kinds or not isinstance(call, Call):
            continue
        event = _event(code, call)
        for where, value in _givers(effects, code, event) if event is not None else ():
            if where is not code and _waits_for_a_stream(effects, where):
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


def _event(code: Code, call: Call) -> Value | None:
    """The event of ``e.wait(s)`` or ``s.wait_event(e)``."""
    if called(code.defined, call) == "wait":
        return receiver(code.defined, call)
    if called(code.defined, call) == "wait_event" and call.arguments:
        return call.arguments[0].value
    return None


def _waits_for_a_stream(effects: Effects, code: Code) -> bool:
    """Whether some stream is made to wait for another one than the current one."""
    for one in effects.operations(code):
        call = code.defined.get(one.value)
        if isinstance(call, Call) and called(code.defined, call) == "wait_stream" and call.arguments:
            given = code.defined.get(call.arguments[0].value)
            if not (isinstance(given, Call) and called(code.defined, given) == "current_stream"):
                return True
    return False


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
