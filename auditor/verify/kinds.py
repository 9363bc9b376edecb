"""Branches that an object does not take for its class, as a certificate says of which classes it is."""

from __future__ import annotations

from collections.abc import Collection

from auditor.facts import Attr, Build, Call, Import, Name, Op, Value
from auditor.verify.paths import Cut, Function


def of_others(function: Function, owners: Collection[str], kinds: Collection[str], classes: Collection[str]) -> Cut:
    """The branches that one of ``owners`` (expressions) does not take that is of the classes ``kinds``. ``classes`` are
    those of the program: a name that is none of them may stand for any."""

    def passes(test: Value) -> bool | None:
        match function.defined.get(test):
            case Op(operator="not", operands=(inner,)):
                found = passes(inner)
                return None if found is None else not found
            case Op(operator="is" | "==" | "is not" | "!=" as operator, operands=(left, right)):
                made = function.made(left)
                if made is not None and _name(function, made.func) == "type" and _is_owner(made.arguments[0].value):
                    return _is_one(right) == (operator in ("is", "=="))
            case Call(func=func, arguments=(asked, named)) if _is_owner(asked.value):
                match _name(function, func):
                    case "isinstance":
                        return _is_one(named.value)
                    case "hasattr":
                        return True
        return None

    def _is_owner(value: Value) -> bool:
        return function.text(value) in owners

    def _is_one(value: Value) -> bool:
        one = function.defined.get(value)
        if isinstance(one, Build):
            return any(_is_one(element) for element in one.elements)
        name = _name(function, value)
        return name in kinds or name not in classes

    return lambda test, side: bool(kinds) and passes(test) is (not side)


def _name(function: Function, value: Value) -> str:
    one = function.defined.get(value)
    return one.name if isinstance(one, Attr | Name | Import) else ""
