"""Parameters that are constants on a way down: what the calls give for them, or leave at their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from auditor.facts import Call, Closure, Const, FunctionFacts, Op, Param, Value
from auditor.verify.forms import handed
from auditor.verify.paths import Cut, Function

Constants: TypeAlias = Mapping[str, Const]
"""Parameter -> the constant that it is."""


def constants(caller: Function, above: Constants, call: Call, callee: FunctionFacts, scope: Function) -> Constants:
    """The parameters of a callee that are constants where ``call`` runs it; ``above`` are those of the caller, and
    ``scope`` is what defines the callee."""
    kinds = {one.kind for one in call.arguments}
    if "*" in kinds:
        return {}  # it is not told what becomes what
    found = {} if "**" in kinds else dict(_defaults(scope, callee))
    for name, value in handed(caller, call, callee).items():
        one = caller.defined.get(value)
        known = above.get(one.name) if isinstance(one, Param) else one
        found.pop(name, None)
        if isinstance(known, Const):
            found[name] = known
    return found


def _defaults(scope: Function, function: FunctionFacts) -> Constants:
    made = (one for one in scope.defined.values() if isinstance(one, Closure) and one.function == function.qualname)
    values = ((name, scope.defined.get(value)) for one in made for name, value in one.defaults)
    return {name: value for name, value in values if isinstance(value, Const)}


def decided(function: Function, known: Constants) -> Cut:
    """The branches that are not taken where parameters are these constants."""

    def outcome(test: Value) -> bool | None:
        match function.defined.get(test):
            case Op(operator="not", operands=(inner,)):
                found = outcome(inner)
                return None if found is None else not found
            case Param(name=name) if name in known:
                return bool(known[name].value)
            case Op(operator="is" | "is not" | "==" | "!=" as operator, operands=(left, right)):
                one, other = function.defined.get(left), function.defined.get(right)
                if isinstance(one, Param) and one.name in known and isinstance(other, Const):
                    value = known[one.name].value
                    if value == other.value and type(value) is not type(other.value):
                        return None  # 0 is no False, but equal to it
                    return (value == other.value) == (operator in ("is", "=="))
        return None

    return lambda test, side: outcome(test) is (not side)
