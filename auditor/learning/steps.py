"""Steps: waits for the layer at hand, which no parameter needs to name.

A method takes the next step of the generators that its object holds; or waits for the element that its object has
counted up to; or waits for a stream of its object, then has the next layer copied on it. The method that puts the
generators there, starts to count, or has the first layer copied, starts the load.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from auditor.facts import Attr, Call, Const, Enter, Exit, Instruction, Item, Iterate, Name, Op, SetAttr, Value
from auditor.learning.hints import WAITS
from auditor.learning.program import SELF, Program, calls, leaves, origin
from auditor.link import Code
from auditor.loading import called, context, receiver


class Step(NamedTuple):
    """A method that takes a step: of generators that an attribute holds, or (``counted``) to the number that it is, or
    of a stream that it is, by the method ``copies`` of the same object."""

    code: Code
    line: int
    attribute: str
    counted: bool
    copies: Code | None = None

    @property
    def taken(self) -> str:
        """What the method does, in words."""
        if self.copies is not None:
            return f"waits for {self.attribute}, then has {self.copies.facts.name} copy the next layer on it"
        return (
            f"waits for the element at {self.attribute}" if self.counted else f"takes the next step of {self.attribute}"
        )

    @property
    def started(self) -> str:
        """What starts the load, in words."""
        if self.copies is not None:
            return "has the first layer copied"
        return "starts to count" if self.counted else "puts the generators there"


def steps(program: Program) -> tuple[Step, ...]:
    """The steps of a program: those that some method starts."""
    named = [code for codes in program.methods.values() for code in codes]
    found = (step for code in named for step in (*_steps(code), *_counts(code), *_pipes(program, code)))
    return tuple(step for step in found if starts(program, step) and (not step.counted or _counted(program, step)))


def starts(program: Program, step: Step) -> list[Code]:
    """The methods of the class that put the generators there, start to count, or have the first layer copied."""
    others = [code for code in program.own(step.code.owner) if code not in (step.code, step.copies)]
    if step.copies is not None:
        return [code for code in others if step.copies in _own(program, code)]
    begins = _resets if step.counted else _fills
    return [code for code in others if code.facts.name != "__init__" and begins(code, step.attribute)]


def _counted(program: Program, step: Step) -> bool:
    """Whether a method of the class counts the attribute up."""
    return any(_adds(code, step.attribute) for code in program.own(step.code.owner))


def _steps(code: Code) -> Iterator[Step]:
    if len(code.facts.params) < 2 or code.facts.name.startswith("__"):
        return
    for one in calls(code):
        func = code.defined.get(one.func)
        if isinstance(func, Name) and func.name == "next" and one.arguments:
            value = one.arguments[0].value
            loop = code.defined.get(value)
            path = origin(code.defined, loop.iterable if isinstance(loop, Iterate) else value)
            if path and not (isinstance(loop, Attr)):
                yield Step(code, one.at.line, path[-1], counted=False)


def _counts(code: Code) -> Iterator[Step]:
    """The waits for an element that an attribute of the object picks."""
    if code.facts.name.startswith("__"):
        return
    for one in calls(code):
        if called(code.defined, one) in WAITS:
            for value in (receiver(code.defined, one), *(argument.value for argument in one.arguments)):
                picked = code.defined.get(value)
                by = origin(code.defined, picked.index) if isinstance(picked, Item) else ()
                if len(by) == 1 and origin(code.defined, value):
                    yield Step(code, one.at.line, by[0], counted=True)


def _pipes(program: Program, code: Code) -> Iterator[Step]:
    """The waits for a stream of the object, where a method that copies on that stream is called as well."""
    if len(code.facts.params) < 2 or code.facts.name.startswith("__"):
        return
    copying = [method for method in _own(program, code) if method is not code]
    for one in calls(code) if copying else ():
        if called(code.defined, one) in ("synchronize", "wait_stream"):
            for value in (receiver(code.defined, one), *(argument.value for argument in one.arguments)):
                stream = origin(code.defined, value)
                for method in copying if len(stream) == 1 else ():
                    if next(copied(method, stream[0]), None) is not None:
                        yield Step(code, one.at.line, stream[0], counted=False, copies=method)


def _own(program: Program, code: Code) -> list[Code]:
    """The methods of its own object that a method calls."""
    funcs = (code.defined.get(one.func) for one in calls(code))
    named = {func.name for func in funcs if isinstance(func, Attr) and func.base == SELF}
    return [method for name in sorted(named) if (method := program.method(code.owner, name)) is not None]


def copied(code: Code, stream: str) -> Iterator[Call]:
    """The calls that a method makes while a stream of its object is the current one."""
    inside: set[Value] = set()
    for block in code.facts.blocks:
        for one in block.instructions:
            if isinstance(one, Enter):
                entered = context(code.defined, one.manager)
                inside |= {one.manager} if entered is not None and origin(code.defined, entered) == (stream,) else set()
            elif isinstance(one, Exit):
                inside.discard(one.manager)
            elif isinstance(one, Call) and inside:
                yield one


def _stored(code: Code, attribute: str) -> Iterator[Instruction | None]:
    """What a method stores as an attribute of its object."""
    for block in code.facts.blocks:
        for one in block.instructions:
            if type(one) is SetAttr and one.base == SELF and one.name == attribute:
                yield code.defined.get(one.value)


def _resets(code: Code, attribute: str) -> bool:
    return any(isinstance(one, Const) and type(one.value) is int for one in _stored(code, attribute))


def _adds(code: Code, attribute: str) -> bool:
    for one in _stored(code, attribute):
        if isinstance(one, Op) and one.operator == "+" and origin(code.defined, one.operands[0]) == (attribute,):
            return True
    return False


def _fills(code: Code, attribute: str) -> bool:
    """Whether a method puts elements into an attribute of its object."""
    return any(
        called(code.defined, one) in ("append", "add", "extend")
        and origin(code.defined, receiver(code.defined, one))[-1:] == (attribute,)
        for one in calls(code)
    ) or any(
        type(one) is SetAttr and one.base == SELF and one.name == attribute and _is_filled(code, one.value)
        for block in code.facts.blocks
        for one in block.instructions
    )


def _is_filled(code: Code, value: Value) -> bool:
    return any(isinstance(one, Call) for one in leaves(code, value))
