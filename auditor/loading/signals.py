"""Signals that come too early: before a copy of their layer is enqueued, before the host has waited for it, or recorded
on another stream than that of the copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.facts import Call, Declare, Iterate, Param, Value, places
from auditor.link import Code
from auditor.loading.naming import parts, sources
from auditor.loading.order import path
from auditor.loading.values import COPY, FENCE, JOIN, SIGNAL, Counter, Lapse, Loader, Operation, Step


def early(code: Code, loader: Loader, counters: Mapping[str, Counter]) -> Iterator[Lapse]:
    """The signals of a loader that come too early, each by the first of its copies that it does not cover.
    ``counters``: by the methods that signal them."""
    copies = [one for one in loader.of(COPY) if SIGNAL not in one.kinds]
    for signal in loader.of(SIGNAL):
        if COPY in signal.kinds:
            continue
        counter = next((counters[name] for name in signal.callees if name in counters), None)
        for copy in copies:
            found = _after(code, signal, copy) or _unjoined(code, loader, signal, copy, counter)
            if found is not None:
                yield found
                break


def _after(code: Code, signal: Operation, copy: Operation) -> Lapse | None:
    """A copy of the layer that was signalled already."""
    where = places(code.facts)
    said = {_plain(code, value) for value in _arguments(code, signal)}
    for layer in _layers(code, copy):
        if said and layer not in said:
            continue
        again = (where[layer],) if isinstance(code.defined.get(layer), Iterate) else ()
        if path(code, signal.at, copy.at, again) is not None:
            return Lapse(
                where=signal.spot,
                subject=copy.about,
                steps=(
                    Step(signal.spot, f"{signal.text} says that the layer has arrived"),
                    Step(copy.spot, f"{copy.text} copies of the same layer afterwards"),
                ),
                message=f"signals a layer before {copy.text} (line {copy.spot.line}) has copied it",
                missing="the signal behind the last copy of its layer",
                confidence="high" if said else "medium",
            )
    return None


def _unjoined(code: Code, loader: Loader, signal: Operation, copy: Operation, counter: Counter | None) -> Lapse | None:
    """A copy that may still run on its stream when the signal is given."""
    if counter is None:
        return None
    joins = [one.at for one in loader.of(JOIN)]
    if counter.blocks:
        beside = bool(copy.stream) or bool(joins)
        if not beside or JOIN in copy.kinds or path(code, copy.at, signal.at, joins) is None:
            return None
        elsewhere = next((one for one in loader.of(JOIN) if path(code, one.at, signal.at) is not None), None)
        on = f" of {copy.stream}" if copy.stream else ""
        note = f"; {elsewhere.text} (line {elsewhere.spot.line}) is on another path" if elsewhere is not None else ""
        return Lapse(
            where=signal.spot,
            subject=copy.about,
            steps=(
                Step(copy.spot, f"{copy.text} enqueues the copy and returns"),
                Step(signal.spot, f"{signal.text} tells the waiting thread that the layer is there"),
            ),
            message=f"signals a layer while {copy.text} (line {copy.spot.line}) may still be running",
            missing=f"a wait of the host for the copies{on} between the copy and the signal{note}",
            confidence="high" if elsewhere is not None else "medium",
        )
    if not copy.stream or signal.stream == copy.stream or signal.on:
        return None
    ordered = [*joins, *(one.at for one in loader.of(FENCE))]
    if path(code, copy.at, signal.at, ordered) is None:
        return None
    other = signal.stream or "the stream of the caller"
    return Lapse(
        where=signal.spot,
        subject=copy.about,
        steps=(
            Step(copy.spot, f"{copy.text} copies on {copy.stream}"),
            Step(signal.spot, f"{signal.text} records the event on {other}"),
        ),
        message=f"records the signal of a layer on {other}, while its copies run on {copy.stream}",
        missing=f"the record on {copy.stream}, or a wait for it first",
    )


def _arguments(code: Code, one: Operation) -> list[Value]:
    call = code.defined.get(one.value)
    return [argument.value for argument in call.arguments] if isinstance(call, Call) else []


def _plain(code: Code, value: Value) -> Value:
    one = code.defined.get(value)
    return _plain(code, one.source) if isinstance(one, Declare) else value


def _layers(code: Code, copy: Operation) -> Iterator[Value]:
    """What a copy may take its layer from: elements of loops and parameters that it is computed from."""
    instruction = code.facts.blocks[copy.block].instructions[copy.index]
    found = frozenset().union(*(sources(code.defined, value) for value in parts(instruction)))
    for value in sorted(found):
        one = code.defined.get(value)
        if isinstance(one, Iterate) or (isinstance(one, Param) and value != 0):
            yield value
