"""Signals that come too early: before a copy of their layer is enqueued, before the host has waited for it, or recorded
on another stream than that of the copies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from auditor.facts import Call, Const, Declare, Iterate, Op, Param, Phi, Unpack, Value, expression, places
from auditor.link import Code
from auditor.loading.counters import picks
from auditor.loading.edges import apart, fences, joins
from auditor.loading.effects import Effects
from auditor.loading.naming import parts, sources
from auditor.loading.order import path
from auditor.loading.values import COPY, FENCE, JOIN, RECORD, SIGNAL, Lapse, Loader, Operation, Step


def early(effects: Effects, code: Code, loader: Loader) -> Iterator[Lapse]:
    """The signals of a loader that come too early, each by the first of its copies that it does not cover."""
    copies = [one for one in loader.of(COPY) if SIGNAL not in one.kinds]
    for signal in loader.of(SIGNAL):
        if COPY in signal.kinds:
            continue
        for copy in copies:
            found = _after(effects, code, loader, signal, copy) or _unjoined(effects, code, loader, signal, copy)
            if found is not None:
                yield found
                break


def _after(effects: Effects, code: Code, loader: Loader, signal: Operation, copy: Operation) -> Lapse | None:
    """A copy of the layer that was signalled already."""
    said = _said(code, signal)
    for layer in _layers(code, copy, said):
        if said and layer not in said:
            continue
        if path(code, signal.at, copy.at, _anew(code, layer)) is not None:
            return _lapse(signal, copy, "copies of the same layer afterwards", "high" if said else "medium")
    if _in_a_later_loop(code, loader, signal, copy):
        return _lapse(signal, copy, "copies of the same layers in a later loop", "medium")
    if _is_of_the_next(effects, code, loader, signal, copy):
        return _lapse(signal, copy, "copies of that layer in the next round", "medium")
    return None


def _lapse(signal: Operation, copy: Operation, what: str, confidence: str) -> Lapse:
    return Lapse(
        where=signal.spot,
        subject=copy.about,
        steps=(
            Step(signal.spot, f"{signal.text} says that the layer has arrived"),
            Step(copy.spot, f"{copy.text} {what}"),
        ),
        message=f"signals a layer before {copy.text} (line {copy.spot.line}) has copied it",
        missing="the signal behind the last copy of its layer",
        confidence=confidence,
    )


def _in_a_later_loop(code: Code, loader: Loader, signal: Operation, copy: Operation) -> bool:
    """Whether the copy goes through the same layers as the signal, once more and behind it, without a signal."""
    for one in _loops(code, _said(code, signal)):
        for other in _loops(code, _layers(code, copy, frozenset())):
            if one != other and _goes_through(code, one) == _goes_through(code, other):
                later = (each for each in loader.of(SIGNAL) if path(code, copy.at, each.at) is not None)
                told = any(other in _loops(code, _said(code, each)) for each in later)
                return not told and path(code, signal.at, copy.at) is not None
    return False


def _is_of_the_next(effects: Effects, code: Code, loader: Loader, signal: Operation, copy: Operation) -> bool:
    """Whether the signal is that of ``layer + 1``, which picks its event, while the copies are of ``layer``."""
    if not any(map(picks, effects.called(code, code.defined.get(signal.value)))):
        return False
    for value in _said(code, signal):
        one = code.defined.get(value)
        if isinstance(one, Op) and one.operator == "+" and any(_is_number(code, each) for each in one.operands):
            layers = _loops(code, one.operands)
            ahead = expression(code.facts, value, code.defined)
            copied = (part for each in loader.of(COPY) for part in _copied(code, each))
            if any(expression(code.facts, part, code.defined) == ahead for part in copied):
                return False
            return any(layer in _copied(code, copy) for layer in layers)
    return False


def _unjoined(effects: Effects, code: Code, loader: Loader, signal: Operation, copy: Operation) -> Lapse | None:
    """A copy that may still run on its stream when the signal is given."""
    counter = next((effects.counters[name] for name in signal.callees if name in effects.counters), None)
    if counter is None:
        return None
    joined = [one.at for one in loader.of(JOIN) if joins(one, code, copy.stream)]
    if counter.blocks:
        beside = bool(copy.stream) or bool(joined)
        if not beside or JOIN in copy.kinds or path(code, copy.at, signal.at, joined) is None:
            return None
        elsewhere = next((one for one in loader.of(JOIN) if path(code, one.at, signal.at) is not None), None)
        on = f" of {copy.stream}" if copy.stream else ""
        note = f"; {elsewhere.text} (line {elsewhere.spot.line}) does not do it" if elsewhere is not None else ""
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
    stream = signal.on if signal.on and _records_on_its_parameter(effects, code, signal) else signal.stream
    if not copy.stream or stream == copy.stream or (signal.on and stream != signal.on):
        return None
    behind = [
        one.at
        for one in loader.of(FENCE)
        if fences(one, code, stream) and (one.awaited is None or not apart(code, one.awaited, copy.stream))
    ]
    if path(code, copy.at, signal.at, [*joined, *behind]) is None:
        return None
    other = stream or "the stream of the caller"
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


def _records_on_its_parameter(effects: Effects, code: Code, signal: Operation) -> bool:
    """Whether a method that signals records its event on a stream that it is handed."""
    return any(
        RECORD in one.kinds and one.on in {parameter.name for parameter in method.facts.params}
        for method in effects.called(code, code.defined.get(signal.value))
        for one in effects.operations(method)
    )


# ---------------------------------------------------------------- layers


def _said(code: Code, signal: Operation) -> frozenset[Value]:
    """What a signal is given: among it, the layer."""
    call = code.defined.get(signal.value)
    given = [argument.value for argument in call.arguments] if isinstance(call, Call) else []
    return frozenset(_plain(code, value) for value in given)


def _plain(code: Code, value: Value) -> Value:
    one = code.defined.get(value)
    return _plain(code, one.source) if isinstance(one, Declare) else value


def _copied(code: Code, copy: Operation) -> frozenset[Value]:
    """Every value that a copy is computed from."""
    instruction = code.facts.blocks[copy.block].instructions[copy.index]
    return frozenset().union(*(sources(code.defined, value) for value in parts(instruction)))


def _layers(code: Code, copy: Operation, said: Collection[Value]) -> Iterator[Value]:
    """What a copy may take its layer from: elements of loops and parameters that it is computed from, and what is
    ``said`` and differs from round to round."""
    for value in sorted(_copied(code, copy)):
        one = code.defined.get(value)
        varies = isinstance(one, Iterate) or (isinstance(one, Unpack | Phi) and value in said)
        if varies or (isinstance(one, Param) and value != 0):
            yield value


def _loops(code: Code, values: Iterable[Value]) -> list[Value]:
    return [value for value in values if isinstance(code.defined.get(value), Iterate)]


def _goes_through(code: Code, loop: Value) -> str:
    one = code.defined[loop]
    return expression(code.facts, one.iterable, code.defined) if isinstance(one, Iterate) else ""


def _anew(code: Code, layer: Value) -> tuple[tuple[int, int], ...]:
    """Where a value becomes that of another layer."""
    return () if isinstance(code.defined.get(layer), Param) else (places(code.facts)[layer],)


def _is_number(code: Code, value: Value) -> bool:
    one = code.defined.get(value)
    return isinstance(one, Const) and isinstance(one.value, int) and one.value > 0
