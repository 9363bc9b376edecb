"""What values are called: names of callees, attributes on the way to a value, what streams and events are known by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.facts import (
    NOTHING,
    Attr,
    Build,
    Call,
    Const,
    Declare,
    Import,
    Instruction,
    Item,
    Iterate,
    Name,
    Op,
    Param,
    Phi,
    SetAttr,
    SetItem,
    Unpack,
    Value,
)
from auditor.link import Code, Linker

Defined = Mapping[Value, Instruction]


def called(defined: Defined, one: Call) -> str:
    """The last part of the name that a call is written with."""
    func = defined.get(one.func)
    return func.name if isinstance(func, Attr | Name | Import) else ""


def receiver(defined: Defined, one: Call) -> Value:
    """What a method is called on; NOTHING for a plain function."""
    func = defined.get(one.func)
    return func.base if isinstance(func, Attr) else NOTHING


def attributes(defined: Defined, value: Value) -> Iterator[Attr]:
    """The attributes on the way to a value, the last read first: of ``a.b[i].c`` they are ``c`` and ``b``. The elements
    that a loop goes through are reached like one that an index picks."""
    for _ in range(24):
        match defined.get(value):
            case Attr() as one:
                yield one
                value = one.base
            case Item(base=base):
                value = base
            case Declare(source=source):
                value = source
            case Call(func=func) if isinstance(method := defined.get(func), Attr):
                value = method.base
            case Iterate(iterable=iterable):
                value = iterable
            case Unpack(source=source, index=index):
                value = _beside(defined, source, index)
            case _:
                return


def _beside(defined: Defined, value: Value, index: int) -> Value:
    """What a place of an element is an element of: of ``enumerate(xs)`` the second one of ``xs``, of ``zip(xs, ys)``
    each of its own."""
    one = defined.get(value)
    made = defined.get(one.iterable) if isinstance(one, Iterate) else None
    given = [argument.value for argument in made.arguments] if isinstance(made, Call) else []
    kind = called(defined, made) if isinstance(made, Call) else ""
    if kind == "enumerate" and given:
        return given[0] if index == 1 else NOTHING
    if kind == "zip" and index < len(given):
        return given[index]
    return value


def methods(linker: Linker, cls: str) -> Iterator[Code]:
    """The methods that the body of a class defines, as far as they were read."""
    info = linker.hierarchy.classes.get(cls)
    names = (f"{cls}.{method}" for method in info.facts.methods) if info is not None else ()
    return (linker.codes[name] for name in names if name in linker.codes)


def is_class(name: str) -> bool:
    """Whether a name is spelt as classes are."""
    return name.lstrip("_")[:1].isupper()


def own_attribute(code: Code, value: Value) -> str:
    """The attribute of ``self`` that a value was reached through, or ""."""
    if not code.is_method:
        return ""
    found = [one.name for one in attributes(code.defined, value) if one.base == 0]
    return found[-1] if found else ""


def sources(defined: Defined, value: Value) -> frozenset[Value]:
    """Every value that one was computed from, itself included."""
    seen: set[Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen or value == NOTHING:
            continue
        seen.add(value)
        todo.extend(parts(defined.get(value)))
    return frozenset(seen)


def parts(one: object) -> Iterator[Value]:
    """The values that an instruction computes its own from, or stores."""
    match one:
        case SetItem(base=base, index=index, value=value):
            yield from (base, index, value)
        case Call(func=func, arguments=arguments):
            yield func
            yield from (argument.value for argument in arguments)
        case Attr(base=base):
            yield base
        case Item(base=base, index=index):
            yield from (base, index)
        case Build(elements=elements):
            yield from elements
        case Op(operands=operands):
            yield from operands
        case Phi(choices=choices):
            yield from (value for _, value in choices)
        case Declare(source=source) | Unpack(source=source):
            yield source
        case Iterate():
            return  # the elements of a loop are values of their own


class Kinds:
    """Which names stand for streams, for events and for contexts of a stream, in a whole program."""

    def __init__(self, linker: Linker) -> None:
        self.contexts: dict[str, str] = {}
        events, streams = set(), set()
        for code in linker.codes.values():
            for block in code.facts.blocks:
                for one in block.instructions:
                    if isinstance(one, SetAttr):
                        made = _made(code, one.value)
                        if made == "Event":
                            events.add(one.name)
                        elif made == "Stream":
                            streams.add(one.name)
                        elif made in CONTEXTS and (stream := context(code.defined, one.value)) is not None:
                            self.contexts[one.name] = _last(code.defined, stream)
        self._events, self._streams = frozenset(events), frozenset(streams)

    def is_event(self, code: Code, value: Value) -> bool:
        """Whether a value is an event of the device, by what made it or what it is called."""
        return self._is(code, value, "Event", self._events, "event")

    def is_stream(self, code: Code, value: Value) -> bool:
        return self._is(code, value, "Stream", self._streams, "stream")

    def _is(self, code: Code, value: Value, maker: str, known: frozenset[str], word: str) -> bool:
        if _made(code, value) == maker:
            return True
        name = _last(code.defined, value) or code.facts.names.get(value, "")
        return name in known or word in name.lower()


CONTEXTS = frozenset({"stream", "StreamContext"})
"""What makes a context in which a stream is the current one (PyTorch)."""


def context(defined: Defined, value: Value) -> Value | None:
    """The stream of ``torch.cuda.stream(s)``, where a value is such a context."""
    one = defined.get(value)
    if isinstance(one, Declare):
        one = defined.get(one.source)
    if isinstance(one, Call) and called(defined, one) in CONTEXTS and one.arguments:
        return one.arguments[0].value
    return None


def is_none(defined: Defined, value: Value) -> bool:
    one = defined.get(value)
    return isinstance(one, Const) and one.value is None


def _last(defined: Defined, value: Value) -> str:
    match defined.get(value):
        case Attr(name=name) | Param(name=name) | Name(name=name):
            return name
        case Item(base=base):
            return _last(defined, base)
        case Declare(source=source):
            return _last(defined, source)
    return ""


def _made(code: Code, value: Value) -> str:
    """The name of what was called to make a value, or the elements of the list that it is."""
    one = code.defined.get(value)
    for _ in range(6):
        if isinstance(one, Build | Phi):
            parts = one.elements if isinstance(one, Build) else [part for _, part in one.choices]
            one = next((code.defined.get(part) for part in parts if part not in (NOTHING, value)), None)
        elif isinstance(one, Declare):
            one = code.defined.get(one.source)
        else:
            break
    return called(code.defined, one) if isinstance(one, Call) else ""


def parameters(callee: Code, call: Call) -> dict[str, Value]:
    """Parameter → the value that a call gives for it."""
    names = [one.name for one in callee.facts.params if one.kind in ("pos", "posonly")][1 if callee.is_method else 0 :]
    positional = [one.value for one in call.arguments if one.kind == "pos"]
    return dict(zip(names, positional, strict=False)) | {
        one.name: one.value for one in call.arguments if one.kind == "key"
    }
