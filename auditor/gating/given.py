"""What a gate asks of the parameters of its function, and whether a call answers it.

A test of a parameter (``if wait:``, ``if mode == "decode":``, ``if counter is None:``) says on each side what the
parameter is. A gate behind one is made by the calls that give a fitting constant, or leave out the argument where the
default fits; a caller that hands on a parameter of its own is asked itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from auditor.callgraph import CallGraph, CallSite, FrameKey, wraps
from auditor.facts import Call, Closure, Const, FunctionFacts, Op, Param, Value
from auditor.gating.symbols import Path
from auditor.gating.values import EQUAL, PASSED_ON, TRUTH, Given
from auditor.link import Code, Linker

Arguments: TypeAlias = Mapping[str, Value | Path]
"""Parameter name -> the caller's value for it."""


def asked(code: Code, test: Value, *, side: bool) -> Given | None:
    """What a test says of a parameter where it comes out as ``side``; None where it says nothing of one."""
    match code.defined.get(test):
        case Op(operator="not", operands=(inner,)):
            return asked(code, inner, side=not side)
        case Param(name=name):
            return Given(name, TRUTH, None, side)
        case Op(operator="is" | "is not" | "==" | "!=" as operator, operands=(left, right)):
            one, constant = code.defined.get(left), code.defined.get(right)
            if isinstance(one, Param) and isinstance(constant, Const):
                return Given(one.name, EQUAL, constant.value, side == (operator in ("is", "==")))
    return None


class Answers:
    """What calls give for the parameters of their callees."""

    def __init__(self, linker: Linker, graph: CallGraph) -> None:
        self._linker = linker
        self._graph = graph
        self._defaults: dict[str, Mapping[str, Const]] | None = None

    def answered(
        self, key: FrameKey, site: CallSite, arguments: Arguments, given: tuple[Given, ...]
    ) -> tuple[Given, ...] | None:
        """What a call, with these arguments, leaves to ask of the caller's own parameters; None where it does not give
        what is asked, or that cannot be told."""
        code, callee = self._graph.code(key), self._graph.code(site.callee)
        if not given:
            return ()
        call = code.defined.get(site.value)
        spread = {one.kind for one in call.arguments} & {"*", "**"} if isinstance(call, Call) else {"*"}
        plain = not site.implicit and not spread and not self._is_wrapped(key, site)
        left: list[Given] = []
        for one in given:
            value = arguments.get(one.name)
            if value is None and one.operator != PASSED_ON and plain:
                constant = self._default(callee, one.name)
                if constant is None or not _fits(one, constant):
                    return None
            elif value is None or ("*" in spread and one.operator != PASSED_ON):
                return None
            elif not isinstance(value, Path):
                found = code.defined.get(value)
                if isinstance(found, Param) and one.operator != PASSED_ON:
                    left.append(one._replace(name=found.name))
                elif not (_fits(one, found) if isinstance(found, Const) else one.operator == PASSED_ON):
                    return None
            elif one.operator != PASSED_ON:
                return None  # an object that a method is called on
        return tuple(left)

    def _is_wrapped(self, key: FrameKey, site: CallSite) -> bool:
        """Whether a call runs what a decorator made of the callee: that gives it what it likes."""
        function = self._graph.code(site.callee).facts
        return bool(function.decorators) and any(
            one.value == site.value and wraps(self._graph.code(one.callee).facts, function)
            for one in self._graph.calls[key]
        )

    def _default(self, callee: Code, name: str) -> Const | None:
        """The constant that a parameter is where it is left out."""
        if self._defaults is None:
            self._defaults = {}
            for code in self._linker.codes.values():
                for one in code.defined.values():
                    if isinstance(one, Closure) and one.defaults:
                        values = ((name, code.defined.get(value)) for name, value in one.defaults)
                        self._defaults[f"{code.module}.{one.function}"] = {
                            name: each for name, each in values if isinstance(each, Const)
                        }
        return self._defaults.get(callee.name, {}).get(name)


def is_optional(function: FunctionFacts, name: str) -> bool:
    return any(one.name == name and one.has_default for one in function.params)


def _fits(one: Given, constant: Const) -> bool:
    if one.operator == PASSED_ON:
        return constant.value is not None
    if one.operator == TRUTH:
        return bool(constant.value) == one.holds
    equal = constant.value == one.value
    if equal and type(constant.value) is not type(one.value):
        return False  # 0 is no False, but equal to it
    return equal == one.holds
