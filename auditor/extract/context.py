"""What the lowering of one function needs: its flow, its scope, and the way back to the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import libcst as cst

from auditor.extract.scopes import Home, Scope
from auditor.extract.ssa import Draft, Flow
from auditor.extract.survey import Survey
from auditor.extract.tokens import Lines
from auditor.facts import (
    NOTHING,
    At,
    Bind,
    ClassFacts,
    FieldFacts,
    FunctionFacts,
    Name,
    Opaque,
    Problem,
    Value,
)

Expression: TypeAlias = Callable[["Lowering", Any], Value]
Statement: TypeAlias = Callable[["Lowering", Any], None]

EXPRESSIONS: dict[type, Expression] = {}
"""How to lower each expression; filled by the modules that say it."""
STATEMENTS: dict[type, Statement] = {}
"""How to lower each statement."""


class File:
    """One file while it is lowered: the survey goes in, declarations come out."""

    def __init__(self, module: str, is_package: bool, survey: Survey, lines: Lines) -> None:
        self.module = module
        self.is_package = is_package
        self.where = survey.where
        self.scopes = survey.scopes
        self.lines = lines
        self.functions: dict[int, FunctionFacts] = {}
        self.classes: dict[int, ClassFacts] = {}
        self.problems: list[Problem] = []

    def at(self, offset: int) -> At:
        """Give the position of an offset."""
        line = self.lines.line(offset)
        return At(line, offset - self.lines.starts[line - 1] + 1)


class Loop:
    """An enclosing loop: where ``break`` and ``continue`` go."""

    def __init__(self, after: Draft, again: Draft) -> None:
        self.after = after
        self.again = again


class Cleanup:
    """An enclosing ``with`` or ``try … finally``: what runs on the way out, and where exceptions go outside of it."""

    def __init__(self, run: Callable[[], None], handler: Draft | None) -> None:
        self.run = run
        self.handler = handler


class Lowering:
    """One function while it is lowered."""

    def __init__(self, file: File, scope: Scope) -> None:
        self.file = file
        self.scope = scope
        self.host = scope
        self.flow = Flow()
        self.frames: list[Loop | Cleanup] = []
        self.caught: list[Value] = []
        self.fields: dict[int, FieldFacts] = {}
        self.methods: dict[int, str] = {}
        self._temporaries = 0

    # ------------------------------------------------------------ dispatch

    def value(self, node: Any) -> Value:
        """Lower an expression and give its value."""
        return EXPRESSIONS[node.__class__](self, node)

    def statement(self, node: Any) -> None:
        """Lower a statement. Where exceptions are caught, it has blocks of its own."""
        flow = self.flow
        if flow.handler is not None and (flow.current.records or flow.current.leaving):
            flow.split()
        STATEMENTS[node.__class__](self, node)

    def body(self, node: cst.BaseSuite) -> None:
        """Lower the statements of a suite."""
        for statement in node.body:
            self.statement(statement)

    def offset(self, node: cst.CSTNode) -> int:
        """Give where ``node`` stands in the text."""
        return self.file.where[id(node)]

    def opaque(self, reason: str, offset: int) -> Value:
        """Append a value that the vocabulary does not describe."""
        return self.flow.value(Opaque, offset, reason)

    def temporary(self) -> int:
        """Give a variable that no name of the program can be."""
        self._temporaries += 1
        return self._temporaries

    # ------------------------------------------------------------ names

    def load(self, name: str, offset: int) -> Value:
        """Read a name."""
        place = self.scope.place(name)
        flow = self.flow
        if place.home is Home.ELSEWHERE:
            return flow.value(Name, offset, name)
        if place.home is Home.OWN:
            return flow.read_or(place.key, flow.value(Name, offset, name))
        value = flow.read(place.key)
        return self.opaque(f"unbound local {name}", offset) if value == NOTHING else value

    def store(self, name: str, value: Value, offset: int, *, scope: Scope | None = None) -> None:
        """Bind a name."""
        place = (scope or self.scope).place(name)
        flow = self.flow
        if place.home is not Home.ELSEWHERE:
            flow.write(place.key, value)
            flow.names.setdefault(value, name)
        if place.home is not Home.PLAIN:
            flow.effect(Bind, offset, place.owner, name, value)

    def unbind(self, name: str) -> None:
        """Forget a name (``del``, the end of a handler)."""
        place = self.scope.place(name)
        if place.home is not Home.ELSEWHERE:
            self.flow.write(place.key, NOTHING)

    # ------------------------------------------------------------ ways out

    def unwind(self, depth: int) -> None:
        """Lower what runs when the frames from ``depth`` on are left, innermost first."""
        frames, handler = self.frames, self.flow.handler
        for index in range(len(frames) - 1, depth - 1, -1):
            frame = frames[index]
            if isinstance(frame, Cleanup) and not self.flow.dead:
                self.frames = frames[:index]
                self.protect(frame.handler)
                frame.run()
        self.frames = frames
        self.flow.handler = handler

    def protect(self, handler: Draft | None) -> None:
        """Let exceptions go to ``handler`` from here on."""
        if handler is not self.flow.handler:
            self.flow.handler = handler
            self.flow.split()
