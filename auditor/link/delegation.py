"""What a ``__getattr__`` gives for a name, and where a ``__setattr__`` puts one: their code, read with the name known.

Only what can run for that name counts: tests of the name (``name == "x"``, ``name in NAMES``, ``name.startswith("_")``)
decide, all others may go either way (sparse conditional constant propagation of one parameter; Wegman, Zadeck 1991).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from auditor.facts import (
    NOTHING,
    Attr,
    Bind,
    Branch,
    Build,
    Call,
    Const,
    Declare,
    FunctionFacts,
    Item,
    Name,
    Op,
    Param,
    Phi,
    Return,
    Value,
    definitions,
)
from auditor.link.narrowing import successors

GETTERS = ("__getattr__", "__getattribute__")
"""The methods that give an attribute which is not found, and any attribute."""
SETTER = "__setattr__"


class Answer(NamedTuple):
    """What is given for a name: ``value`` itself, its attribute or, where ``is_element``, its element of that ``name``.
    ``at`` is the value that hands it on; ``name`` None: only running tells which attribute or element it is."""

    value: Value
    name: str | None
    at: Value
    is_element: bool = False

    @property
    def is_itself(self) -> bool:
        return self.at == self.value


def answers(function: FunctionFacts, body: FunctionFacts | None, name: str) -> tuple[Answer, ...]:
    """What a ``__getattr__`` gives for ``name``; what another class's look-up gives is left out. ``body``: of its
    module."""
    reading = _Reading(function, body, name)
    found: dict[Answer, None] = {}
    for block in sorted(reading.reached):
        end = function.blocks[block].end
        if isinstance(end, Return):
            found.update(dict.fromkeys(reading.answers(end.value)))
    return tuple(found)


def stores(function: FunctionFacts, name: str) -> tuple[Answer, ...]:
    """The objects that a ``__setattr__`` sets an attribute ``name`` of, its own left out."""
    reading = _Reading(function, None, name)
    found: list[Answer] = []
    for block in sorted(reading.reached):
        for one in function.blocks[block].instructions:
            if isinstance(one, Call) and reading.calls(one, "setattr") and len(one.arguments) == 3:
                base, text = (argument.value for argument in one.arguments[:2])
                if base != 0:
                    found.append(Answer(base, reading.text(text), one.dst))
    return tuple(found)


def own_path(defined: Mapping[Value, object], value: Value) -> str | None:
    """The attribute of its own object that a value is, read in any of the ways that run no ``__getattr__`` again."""
    match defined.get(value):
        case Attr(base=0, name=name):
            return name
        case Item(base=base, index=index):
            space, key = defined.get(base), defined.get(index)
            if isinstance(space, Attr) and space.base == 0 and space.name == "__dict__" and isinstance(key, Const):
                return key.value if isinstance(key.value, str) else None
        case Call(func=func, arguments=arguments) if arguments:
            method, key = defined.get(func), defined.get(arguments[-1].value)
            own = len(arguments) == 2 and arguments[0].value == 0
            if isinstance(key, Const) and isinstance(key.value, str):
                by_name = isinstance(method, Name) and method.name == "getattr" and own
                if by_name or (isinstance(method, Attr) and method.name == "__getattribute__"):
                    return key.value if own or len(arguments) == 1 else None
    return None


class _Reading:
    """A function whose parameter behind the object, of a module's the first, is a name that is known."""

    def __init__(self, function: FunctionFacts, body: FunctionFacts | None, name: str) -> None:
        self._function = function
        self._defined: Mapping[Value, object] = definitions(function)
        self._body = body
        self._name = name
        self._given = 1 if function.scope else 0
        self.reached: frozenset[int] = frozenset()
        self.reached = self._reach()

    def _reach(self) -> frozenset[int]:
        blocks, seen, todo = self._function.blocks, {0}, [0]
        while todo:
            block = blocks[todo.pop()]
            targets = successors(block)
            if isinstance(block.end, Branch):
                outcome = self._outcome(block.end.test)
                if outcome is not None:
                    targets = (block.end.then if outcome else block.end.orelse, *block.handlers)
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        return frozenset(seen)

    # ------------------------------------------------------------ the name

    def text(self, value: Value) -> str | None:
        """The text that a value is."""
        match self._defined.get(value):
            case Param():
                return self._name if value == self._given else None
            case Const(value=str(text)):
                return text
            case Op(operator="+", operands=(left, right)):
                first, last = self.text(left), self.text(right)
                return None if first is None or last is None else first + last
            case Declare(source=source) if source != NOTHING:
                return self.text(source)
            case Phi(choices=choices):
                texts = {self.text(chosen) for block, chosen in choices if block in self.reached}
                return texts.pop() if len(texts) == 1 else None
        return None

    def _outcome(self, test: Value) -> bool | None:
        """Whether a test of the name holds; None where it is a test of something else."""
        match self._defined.get(test):
            case Op(operator="not", operands=(operand,)):
                outcome = self._outcome(operand)
                return None if outcome is None else not outcome
            case Op(operator="==" | "!=" as operator, operands=(left, right)):
                first, last = self._plain(left), self._plain(right)
                return None if first is None or last is None else (first == last) == (operator == "==")
            case Op(operator="in" | "not in" as operator, operands=(left, right)):
                text, texts = self._plain(left), self._texts(self._defined, right)
                return None if text is None or texts is None else (text in texts) == (operator == "in")
            case Call(func=func, arguments=(argument,)):
                method = self._defined.get(func)
                if isinstance(method, Attr) and method.name in ("startswith", "endswith"):
                    text, texts = self._plain(method.base), self._texts(self._defined, argument.value)
                    if text is not None and texts is not None:
                        return text.startswith(texts) if method.name == "startswith" else text.endswith(texts)
        return None

    def _plain(self, value: Value) -> str | None:
        """A text that is told before it is known which blocks are reached."""
        return None if isinstance(self._defined.get(value), Phi) else self.text(value)

    def _texts(self, defined: Mapping[Value, object], value: Value) -> tuple[str, ...] | None:
        """The texts of a display, or the one that a value is; of a name that its module binds once as well."""
        match defined.get(value):
            case Const(value=str(text)):
                return (text,)
            case Build(kind="tuple" | "list" | "set", elements=elements):
                parts = [self._texts(defined, one) for one in elements]
                return None if None in parts else tuple(text for part in parts for text in part or ())
            case Build(kind="dict", elements=elements):
                parts = [self._texts(defined, one) for one in elements[::2]]
                return None if None in parts else tuple(text for part in parts for text in part or ())
            case Call(func=func, arguments=(argument,)):
                maker = defined.get(func)
                if isinstance(maker, Name) and maker.name in ("frozenset", "set", "tuple", "list"):
                    return self._texts(defined, argument.value)
            case Name(name=name) if self._body is not None and defined is self._defined:
                bound = bound_once(self._body, name)
                return None if bound is None else self._texts(definitions(self._body), bound)
        return None

    # ------------------------------------------------------------ what is given

    def answers(self, value: Value, seen: frozenset[Value] = frozenset()) -> Iterator[Answer]:
        if value in seen or value == NOTHING:
            return
        seen |= {value}
        match self._defined.get(value):
            case Phi(choices=choices):
                for block, chosen in choices:
                    if block in self.reached:
                        yield from self.answers(chosen, seen)
            case Declare(source=source):
                yield from self.answers(source, seen)
            case Const():
                return
            case Call() as call:
                yield from self._called(call, seen)
            case Attr(base=base, name=name):
                yield Answer(base, name, value)
            case Item(base=base, index=index) if self._tells(index):
                space = self._defined.get(base)
                if not (isinstance(space, Attr) and space.name == "__dict__"):
                    yield Answer(base, self.text(index), value, is_element=True)
                elif space.base != 0:
                    yield Answer(space.base, self.text(index), value)
            case _:
                yield Answer(value, None, value)

    def _called(self, call: Call, seen: frozenset[Value]) -> Iterator[Answer]:
        method = self._defined.get(call.func)
        values = [one.value for one in call.arguments]
        if self.calls(call, "getattr") and len(values) > 1:
            if values[0] != 0 or self.text(values[1]) != self._name:
                yield Answer(values[0], self.text(values[1]), call.dst)
            for value in values[2:]:
                yield from self.answers(value, seen)
        elif isinstance(method, Attr) and method.name in GETTERS and values:
            base = values[0] if len(values) == 2 else method.base
            if base != 0 and not isinstance(self._defined.get(base), Call):  # its own look-up, or that of super()
                yield Answer(base, self.text(values[-1]), call.dst)
        elif isinstance(method, Attr) and method.name == "get" and values and self._tells(values[0]):
            yield Answer(method.base, self.text(values[0]), call.dst, is_element=True)
            for value in values[1:]:
                yield from self.answers(value, seen)
        else:
            yield Answer(call.dst, None, call.dst)

    def _tells(self, value: Value) -> bool:
        return self.text(value) is not None

    def calls(self, call: Call, builtin: str) -> bool:
        func = self._defined.get(call.func)
        return isinstance(func, Name) and func.name == builtin


def bound_once(body: FunctionFacts, name: str) -> Value | None:
    """The value that a module binds to a name, if it is the only one."""
    found = [
        one.value
        for block in body.blocks
        for one in block.instructions
        if type(one) is Bind and one.name == name and not one.scope
    ]
    return found[0] if len(found) == 1 else None
