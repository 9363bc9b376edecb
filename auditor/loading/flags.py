"""Flags that are true for some transfers and false for others: a local that is chosen beside the stream, a field by
which the objects of a class are made for two directions."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Attr, Build, Call, Const, Declare, Op, Param, Phi, SetAttr, Unpack, Value
from auditor.link import Code
from auditor.loading.effects import Effects
from auditor.loading.naming import parameters

_OF_A_TENSOR = frozenset({"is_cuda", "is_npu", "is_xpu", "is_cpu"})
"""What tells where a tensor is (PyTorch): the source of a copy is on either side."""


def takes_both(effects: Effects, code: Code, test: Value) -> bool:
    """Whether a test is such a flag, and both of its values come up."""
    one = code.defined.get(test)
    match one:
        case Op(operator="not", operands=(inner,)):
            return takes_both(effects, code, inner)
        case Phi(choices=choices):
            return _are_both(_unpacked(code, value) for _, value in choices)
        case Attr(base=0, name=name) if code.is_method:
            return _is_set_both_ways(effects, code.owner, name)
    return False


def _unpacked(code: Code, value: Value) -> object:
    """What a value is; of ``a, b = x, y`` the one that it stands for."""
    one = code.defined.get(value)
    made = code.defined.get(one.source) if isinstance(one, Unpack) else None
    if isinstance(one, Unpack) and isinstance(made, Build) and 0 <= one.index < len(made.elements):
        return code.defined.get(made.elements[one.index])
    return one


def _are_both(constants: Iterator[object]) -> bool:
    values = [one.value for one in constants if isinstance(one, Const)]
    return any(value is True for value in values) and any(value is False for value in values)


def _is_set_both_ways(effects: Effects, cls: str, name: str) -> bool:
    """Whether the constructor of a class sets an attribute by where a tensor is, or by a parameter that those who make
    its objects give both values."""
    made = effects.linker.codes.get(f"{cls}.__init__")
    if made is None:
        return False
    stored = (one for block in made.facts.blocks for one in block.instructions if isinstance(one, SetAttr))
    for value in (one.value for one in stored if one.base == 0 and one.name == name):
        one = made.defined.get(value)
        while isinstance(one, Declare):
            one = made.defined.get(one.source)
        if isinstance(one, Attr) and one.name in _OF_A_TENSOR:
            return True
        if isinstance(one, Param) and _are_both(_given(effects, made, one.name)):
            return True
    return False


def _given(effects: Effects, made: Code, parameter: str) -> Iterator[object]:
    """What those who make objects give for a parameter."""
    for name, value in effects.callers.get(made.name, ()):
        code = effects.linker.codes[name]
        call = code.defined.get(value)
        if isinstance(call, Call) and (given := parameters(made, call).get(parameter)) is not None:
            yield code.defined.get(given)
