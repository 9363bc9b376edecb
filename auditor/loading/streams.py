"""Which stream is current where in a function."""

from __future__ import annotations

import functools

from auditor.facts import NOTHING, Call, Enter, Exit, Param, Phi, Value, expression, places
from auditor.link import Code, Linker, successors
from auditor.loading.naming import Kinds, attributes, called, context, parameters


class Streams:
    """Which stream is current where in a function, as written; "" where it is that of the caller."""

    def __init__(self, code: Code, kinds: Kinds, linker: Linker) -> None:
        self._code = code
        self.kinds = kinds
        self.linker = linker
        self._at: dict[int, tuple[tuple[Value, str], ...]] = {0: ()}
        todo = [0]
        while todo:
            number = todo.pop()
            state = self._through(number, len(code.facts.blocks[number].instructions))
            for target in successors(code.facts.blocks[number]):
                if target not in self._at:
                    self._at[target] = state
                    todo.append(target)

    def at(self, block: int, index: int) -> str:
        state = self._through(block, index)
        return state[-1][1] if state else ""

    @functools.cached_property
    def _places(self) -> dict[Value, tuple[int, int]]:
        return places(self._code.facts)

    def name(self, value: Value) -> str | None:
        """What a stream is called, the current one by where it was asked for; None where that depends on the path."""
        one = self._code.defined.get(value)
        if isinstance(one, Call) and called(self._code.defined, one) == "current_stream":
            return self.at(*self._places[value])
        if isinstance(one, Phi) and value not in self._made_current:
            return None
        return expression(self._code.facts, value, self._code.defined)

    def of(self, code: Code) -> Streams:
        """The same of another function."""
        return Streams(code, self.kinds, self.linker)

    @functools.cached_property
    def _made_current(self) -> frozenset[Value | None]:
        """The streams that a ``with`` of this function makes the current one."""
        entered = (one for one in self._code.defined.values() if isinstance(one, Enter))
        return frozenset(context(self._code.defined, one.manager) for one in entered)

    def _through(self, block: int, end: int) -> tuple[tuple[Value, str], ...]:
        state = self._at.get(block, ())
        for one in self._code.facts.blocks[block].instructions[:end]:
            match one:
                case Enter(manager=manager) if (text := self._entered(manager)) is not None:
                    state = (*state, (manager, text))
                case Exit(manager=manager):
                    state = tuple(held for held in state if held[0] != manager)
                case Call() if called(self._code.defined, one) == "set_stream" and one.arguments:
                    text = expression(self._code.facts, one.arguments[0].value, self._code.defined)
                    state = ((NOTHING, text), *(held for held in state if held[0] != NOTHING))
        return state

    def _entered(self, manager: Value) -> str | None:
        """The stream that a ``with`` makes the current one, or None."""
        stream = context(self._code.defined, manager)
        if stream is not None:
            return expression(self._code.facts, stream, self._code.defined)
        one = self._code.defined.get(manager)
        if isinstance(one, Call):
            return self._inside(one)
        known = (self.kinds.contexts.get(read.name) for read in attributes(self._code.defined, manager))
        return next((name for name in known if name is not None), None)

    def _inside(self, call: Call) -> str | None:
        """The stream that is current where a context of the program's own yields: an argument, or its own to name."""
        for name, _ in sorted(self.linker.calls.get((self._code.name, call.dst), ()), key=str):
            callee = self.linker.codes[name]
            if not any(one.endswith("contextmanager") for one in callee.facts.decorators):
                continue
            for one in callee.defined.values():
                stream = context(callee.defined, one.manager) if isinstance(one, Enter) else None
                if stream is None:
                    continue
                parameter = callee.defined.get(stream)
                given = parameters(callee, call).get(parameter.name) if isinstance(parameter, Param) else None
                code, value = (callee, stream) if given is None else (self._code, given)
                return expression(code.facts, value, code.defined)
        return None
