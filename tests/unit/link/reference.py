"""A slow, obvious points-to solver over facts: every rule again and again until nothing changes.

It knows the part of Python that random programs in the tests are made of: plain names, attributes, calls, classes with
single inheritance, tuples by place, globals. No contexts but one: who calls a function that returns its parameter gets
what it gave itself. No narrowing, no demand. An object is (what, name).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from auditor.facts import (
    Attr,
    Bind,
    Build,
    Call,
    Class,
    Closure,
    Const,
    FunctionFacts,
    Item,
    ModuleFacts,
    Name,
    Phi,
    Return,
    SetAttr,
    Unpack,
    Value,
    definitions,
)

Thing = tuple[str, ...]
"""("class", C), ("instance", C), ("function", f), ("bound", f, C) or ("tuple", function, value)."""
Place = tuple[object, ...]


class Reference:
    """The points-to sets of one module."""

    def __init__(self, facts: ModuleFacts) -> None:
        self.functions = {one.qualname: one for one in facts.functions}
        self.bases = {one.qualname: [base.name for base in one.bases] for one in facts.classes}
        self.defined = {one.qualname: definitions(one) for one in facts.functions}
        self.sets: defaultdict[Place, set[Thing]] = defaultdict(set)
        before = -1
        while before != (before := sum(map(len, self.sets.values()))):
            for function in facts.functions:
                self.run(function)

    def run(self, function: FunctionFacts) -> None:
        """Every rule once for every instruction of a function."""
        for block in function.blocks:
            for one in block.instructions:
                self.step(function, one)
            if isinstance(block.end, Return) and block.end.value not in self.given(function.qualname):
                self.flow((function.qualname, block.end.value), (function.qualname, "result"))

    def step(self, function: FunctionFacts, one: object) -> None:
        here = function.qualname
        match one:
            case Closure():
                self.sets[here, one.dst].add(("function", one.function))
                for name, value in one.defaults:
                    place = [param.name for param in self.functions[one.function].params].index(name)
                    self.flow((here, value), (one.function, place))
            case Class():
                self.sets[here, one.dst].add(("class", one.name))
            case Bind():
                self.flow((here, one.value), ("variable", one.scope, one.name))
            case Name():
                for scope in _scopes(here):
                    self.flow(("variable", scope, one.name), (here, one.dst))
            case Phi():
                for _, value in one.choices:
                    self.flow((here, value), (here, one.dst))
            case Attr():
                for base in set(self.sets[here, one.base]):
                    self.sets[here, one.dst] |= self.read(base, one.name)
            case SetAttr():
                for base in set(self.sets[here, one.base]):
                    self.flow((here, one.value), ("field", base, one.name))
            case Build():
                made = ("tuple", here, str(one.dst))
                self.sets[here, one.dst].add(made)
                for place, value in enumerate(one.elements):
                    self.flow((here, value), ("field", made, f"[{place}]"))
            case Item():
                index = self.defined[here].get(one.index)
                for base in set(self.sets[here, one.base]):
                    if isinstance(index, Const):
                        self.flow(("field", base, f"[{index.value}]"), (here, one.dst))
            case Unpack():
                for base in set(self.sets[here, one.source]):
                    self.flow(("field", base, f"[{one.index}]"), (here, one.dst))
            case Call():
                for callee in set(self.sets[here, one.func]):
                    self.call(here, one, callee)

    def call(self, here: str, one: Call, callee: Thing) -> None:
        match callee:
            case ("function", name):
                self.enter(here, one, name, skip=0)
                self.flow((name, "result"), (here, one.dst))
                self.hand_back(here, one, name)
            case ("bound", name, cls):
                self.sets[name, 0].add(("instance", cls))
                self.enter(here, one, name, skip=1)
                self.flow((name, "result"), (here, one.dst))
            case ("class", cls):
                self.sets[here, one.dst].add(("instance", cls))
                for method in self.methods(cls):  # whoever calls it may be out of sight
                    self.sets[method, 0].add(("instance", cls))
                init = self.method(cls, "__init__")
                if init is not None:
                    self.enter(here, one, init, skip=1)

    def given(self, name: str) -> range:
        """The parameters that callers give."""
        return range(int(name.rpartition(".")[0] in self.bases), len(self.functions[name].params))

    def hand_back(self, here: str, one: Call, name: str) -> None:
        """What a call of a function gives a parameter that the function returns."""
        for block in self.functions[name].blocks:
            if isinstance(block.end, Return) and (position := block.end.value) in self.given(name):
                param = self.functions[name].params[position].name
                values = [
                    argument.value
                    for place, argument in enumerate(one.arguments)
                    if argument.name == param or (argument.kind == "pos" and place == position)
                ]
                for source in [(here, value) for value in values] or [(name, position)]:
                    self.flow(source, (here, one.dst))

    def enter(self, here: str, one: Call, name: str, *, skip: int) -> None:
        params = [param.name for param in self.functions[name].params]
        for place, argument in enumerate(one.arguments):
            target = params.index(argument.name) if argument.kind == "key" else place + skip
            self.flow((here, argument.value), (name, target))

    def read(self, base: Thing, name: str) -> set[Thing]:
        if base[0] not in ("instance", "class"):
            return set()
        method = self.method(base[1], name)
        found = set(self.sets["field", base, name])
        if method is not None:
            found.add(("bound", method, base[1]) if base[0] == "instance" else ("function", method))
        return found

    def method(self, cls: str, name: str) -> str | None:
        while f"{cls}.{name}" not in self.functions:
            if not self.bases.get(cls):
                return None
            (cls,) = self.bases[cls]
        return f"{cls}.{name}"

    def methods(self, cls: str) -> set[str]:
        """What can run on an instance of a class, an overridden method aside."""
        names = {one.rpartition(".")[2] for one in self.functions}
        return {found for name in names if (found := self.method(cls, name)) is not None}

    def flow(self, source: Place, target: Place) -> None:
        self.sets[target] |= self.sets[source]

    def instances(self, function: str, value: Value) -> set[str]:
        """The classes of the objects that a value holds."""
        return {one[1] for one in self.sets[function, value] if one[0] == "instance"}


def _scopes(qualname: str) -> Iterable[str]:
    """The scopes in which a name that a function reads may be bound: the innermost around it that are functions."""
    return ("", qualname.rpartition(".")[0]) if "." in qualname else ("",)
