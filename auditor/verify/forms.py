"""Layers as sums, worked out from the facts alone: ``layer_id - self.start_layer + 1``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from auditor.facts import (
    NOTHING,
    Attr,
    Build,
    Call,
    Const,
    Declare,
    Enter,
    FunctionFacts,
    Item,
    Name,
    Op,
    Param,
    Phi,
    SetAttr,
    Value,
)
from auditor.verify.paths import Function, Running


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of ``terms`` (atom → factor) and ``constant``. An atom is the text of a parameter or of an attribute read
    off one, or stands for what is not followed (``computed``). ``roots``: the parameters that it depends on."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0
    roots: frozenset[str] = frozenset()
    computed: bool = False

    def plus(self, other: Form, sign: int) -> Form:
        sums = dict(self.terms)
        for atom, factor in other.terms:
            sums[atom] = sums.get(atom, 0) + sign * factor
        terms = tuple(sorted((atom, factor) for atom, factor in sums.items() if factor))
        computed = self.computed or other.computed
        return Form(terms, self.constant + sign * other.constant, self.roots | other.roots, computed)

    def without(self, attributes: Collection[str]) -> Form:
        kept = tuple(one for one in self.terms if one[0].rpartition(".")[2] not in attributes)
        return replace(self, terms=kept)


def form(function: Function, value: Value, depth: int = 0) -> Form:
    """The form of a value, in the terms of its function."""
    one = function.defined.get(value)
    if depth < _DEEPEST:
        match one:
            case Const(value=int(number)):
                return Form(constant=number)
            case Op(operator="+" | "-" as operator, operands=(left, right)):
                parts = form(function, left, depth + 1), form(function, right, depth + 1)
                return parts[0].plus(parts[1], 1 if operator == "+" else -1)
            case Declare(source=source) if source != NOTHING:
                return form(function, source, depth + 1)
            case Call(func=func, arguments=(number_like,)) if getattr(function.defined.get(func), "name", "") == "int":
                return form(function, number_like.value, depth + 1)  # a layer is a whole number anyway
    root = _root(function, value)
    if root is not None:
        return Form(((function.text(value), 1),), roots=frozenset({root}))
    return Form(((f"%{value}", 1),), roots=_parameters(function, value, 0), computed=True)


_DEEPEST = 12
"""Operations that a layer is followed through."""


def _root(function: Function, value: Value) -> str | None:
    """The parameter that a chain of attributes starts at, or the variable of the function around it."""
    one = read = function.defined.get(value)
    while isinstance(one, Attr):
        one = function.defined.get(one.base)
    return one.name if isinstance(one, Param) or (isinstance(one, Name) and one is not read) else None


def _parameters(function: Function, value: Value, depth: int) -> frozenset[str]:
    """The parameters that what is computed depends on: by arguments and indices, not by the receiver or the table."""
    found: set[str] = set()
    seen: set[Value] = set()
    level = {value}
    for _ in range(depth, _DEEPEST + 2):
        seen |= level
        parts: set[Value] = set()
        for each in level:
            match function.defined.get(each):
                case Param(name=name):
                    found.add(name)
                case Attr():
                    root = _root(function, each)
                    found.update({root} if root is not None else ())
                case Call(arguments=arguments):
                    parts.update(argument.value for argument in arguments)
                case Item(index=index):
                    parts.add(index)
                case Op(operands=operands) | Build(elements=operands):
                    parts.update(operands)
                case Phi(choices=choices):
                    parts.update(choice for _, choice in choices)
                case Declare(source=source):
                    parts.add(source)
        level = parts - seen - {NOTHING}
    return frozenset(found)


def carried_up(one: Form, arguments: Mapping[str, tuple[Form, str]]) -> Form:
    """A callee's form in the terms of a caller. ``arguments``: parameter → form and text of what is passed for it."""
    made = Form(constant=one.constant, computed=one.computed)
    for atom, factor in one.terms:
        root, dot, rest = atom.partition(".")
        if dot and ".".join((root, rest.partition(".")[0])) in arguments:  # an attribute that is known
            root, _, rest = rest.partition(".")
            root, dot = f"{atom.partition('.')[0]}.{root}", "." if rest else ""
        if root not in arguments:
            made = made.plus(Form(((f"!{atom}", 1),), computed=True), factor)
        elif dot:
            passed, text = arguments[root]
            made = made.plus(Form(((f"{text}.{rest}", 1),), roots=passed.roots, computed=passed.computed), factor)
        else:
            for _ in range(abs(factor)):
                made = made.plus(arguments[root][0], 1 if factor > 0 else -1)
    inside = frozenset().union(*(arguments[root][0].roots for root in one.roots if root in arguments))
    return replace(made, roots=made.roots | inside)


def beyond_yielded(generator: Function, one: Form) -> list[Form]:
    """What a form of a generator is beyond the element that it hands out at each ``yield``; none where one of them is
    not what it is computed from."""
    yielded = [form(generator, instruction.value) for instruction in generator.handed_out()]
    beyond = [one.plus(each, -1) for each in yielded]
    told = [replace(each, computed=False) for each in beyond if not any(atom[0] == "%" for atom, _ in each.terms)]
    return told if len(told) == len(beyond) else []


def stored(constructor: Function) -> dict[str, str]:
    """The attributes that a constructor gives its object first of all, ``self`` before them → its parameters."""
    facts = constructor.facts
    kept = [
        (one, isinstance(value := constructor.defined.get(one.value), Param) and number == 0 and value.name)
        for number, block in enumerate(facts.blocks)
        for one in block.instructions
        if isinstance(one, SetAttr) and one.base == 0
    ]
    names = [one.name for one, _ in kept]
    return {f"{facts.params[0].name}.{one.name}": name for one, name in kept if name and names.count(one.name) == 1}


def passed(
    caller: Function, call: Running, callee: FunctionFacts, *, constructs: bool = False
) -> dict[str, tuple[Form, str]]:
    """Parameter of the callee → what the call passes for it; a call that ``constructs`` passes no object."""
    found = handed(caller, call, callee, constructs=constructs)
    return {name: (form(caller, value), caller.text(value)) for name, value in found.items()}


def handed(caller: Function, call: Running, callee: FunctionFacts, *, constructs: bool = False) -> dict[str, Value]:
    """The same as values of the caller."""
    names = [one.name for one in callee.params if one.kind in ("posonly", "pos")][1 if constructs else 0 :]
    found: dict[str, Value] = {}
    positional = [one.value for one in call.arguments if one.kind == "pos"] if isinstance(call, Call) else []
    if isinstance(call, Item):
        positional = [call.index]
    receiver = _receiver(caller, call)
    if not constructs and receiver is not None and names and "." in callee.qualname and len(positional) < len(names):
        found[names.pop(0)] = receiver
    found.update(zip(names, positional, strict=False))
    if isinstance(call, Call):
        found.update((one.name, one.value) for one in call.arguments if one.kind == "key")
    return found


def _receiver(caller: Function, call: Running) -> Value | None:
    if isinstance(call, Enter | Item):
        return call.manager if isinstance(call, Enter) else call.base
    func = caller.defined.get(call.func) if isinstance(call, Call) else call
    if not isinstance(func, Attr):
        return None
    base = caller.defined.get(func.base)
    called = caller.defined.get(base.func) if isinstance(base, Call) else None
    is_super = getattr(called, "name", "") == "super"
    return 0 if is_super and caller.facts.params else func.base


def covers(waited: Form, read: Form, first_layers: Collection[str], counts: Collection[str]) -> bool:
    """Whether a wait for one layer orders a read of another: of the same layer, of a lower one, of any if it is for the
    last; or of an index that is computed from the layer waited for, or a lower one."""
    if waited.constant == -1 and len(waited.terms) == 1 and waited.terms[0][0].rpartition(".")[2] in counts:
        return True
    one, other = waited.without(first_layers), read.without(first_layers)
    if one.terms == other.terms:
        return other.constant <= one.constant
    return other.computed and bool(other.roots) and other.roots <= one.roots and one.constant >= 0
