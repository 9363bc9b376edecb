"""What conditions need to be read: the tests on the ways to where pools are made.

A condition says something only if it is known what its test reads. So the functions that such tests call are needed,
and what those call in turn. The tests on the ways to where pools are used are not followed to other files: attention
backends ask a whole engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditor.facts import NOTHING, Attr, Bind, Branch, Build, Call, Import, Name, Op, Phi, SetAttr, Value
from auditor.link.derivation import Reverse
from auditor.link.linker import Linker
from auditor.link.needs import Needs
from auditor.link.program import Code

LEVELS = 3
"""Calls between the function that makes a pool and the outermost one whose tests count."""


def wanted_by_tests(linker: Linker) -> Needs:
    """The modules that conditions of tracked objects depend on."""
    search = _Tests(linker)
    for code in _makers(linker):
        search.read(code)
    search.follow()
    return Needs(frozenset(search.modules), frozenset(), frozenset(), frozenset())


def _makers(linker: Linker) -> list[Code]:
    """The functions that make tracked objects, and their callers, a few levels up."""
    reverse = Reverse(linker)
    callers: dict[str, dict[str, None]] = {}
    for (caller, _), callees in linker.calls.items():
        for callee, _ in callees:
            callers.setdefault(callee, {})[caller] = None
    level: dict[str, None] = {}
    for cls, made in linker.instances.items():
        for one in made if linker.tracked(cls) else ():
            for node in linker.graph.made(one):
                located = reverse.locate(node)
                if located is not None and isinstance(located[0].code.defined.get(located[1]), Call):
                    level[located[0].code.name] = None
    found: dict[str, None] = {}
    for _ in range(LEVELS + 1):
        found.update(level)
        level = {caller: None for name in level for caller in callers.get(name, ()) if caller not in found}
    return [linker.codes[name] for name in found]


class _Tests:
    """Collects the modules whose functions tests ask."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self.modules: set[str] = set()
        self._asked: dict[str, None] = {}
        self._fields: dict[str, None] = {}

    def read(self, code: Code) -> None:
        """Note what the branches of a function ask."""
        for block in code.facts.blocks:
            if isinstance(block.end, Branch):
                self._back(code, block.end.test)

    def follow(self) -> None:
        """Read what the functions that were asked ask in turn, and what is stored into the fields that were."""
        stores: dict[str, list[tuple[Code, Value]]] = {}
        for code in {frame.code: None for frame in self._linker.frames.values()}:
            for block in code.facts.blocks:
                for one in block.instructions:
                    if type(one) is SetAttr:
                        stores.setdefault(one.name, []).append((code, one.value))
        for name in tuple(self._fields):
            for code, value in stores.get(name, ())[:_MOST_STORES]:
                self._back(code, value)
        for name in tuple(self._asked):
            code = self._linker.codes[name]
            for block in code.facts.blocks:
                for one in block.instructions:
                    if isinstance(one, Call):
                        self._back(code, one.func)

    def _back(self, code: Code, value: Value) -> None:
        """Go back over the operands of ``value``."""
        seen: set[Value] = set()
        todo = [value]
        while todo:
            value = todo.pop()
            if value in seen or value == NOTHING:
                continue
            seen.add(value)
            one = code.defined.get(value)
            if isinstance(one, Name):
                self._name(code, one.name)
            elif isinstance(one, Import) and one.name:
                self._mean(self._linker.scopes.meaning(one.module, "", one.name) or f"{one.module}.{one.name}")
            elif isinstance(one, Attr):
                self._fields[one.name] = None
            todo.extend(_operands(one))

    def _name(self, code: Code, name: str) -> None:
        scopes = self._linker.scopes
        self._mean(scopes.dotted(code.module, code.facts.qualname, name))
        body = self._linker.codes.get(code.module)
        if body is not None and body is not code and scopes.owner(code.module, code.facts.qualname, name) == "":
            for one in _binds(body, name):  # of a variable of the module: what it was bound to
                self._back(body, one.value)

    def _mean(self, dotted: str) -> None:
        """``dotted`` is asked: the module that holds it is needed."""
        if dotted in self._linker.codes:
            self._asked[dotted] = None
            return
        module = dotted.rpartition(".")[0]
        if module and self._linker.scopes.in_tree(module) and module not in self._linker.scopes.modules:
            self.modules.add(module)


_MOST_STORES = 4
"""A field that more places set is no setting."""


def _binds(body: Code, name: str) -> Iterator[Bind]:
    for block in body.facts.blocks:
        for one in block.instructions:
            if isinstance(one, Bind) and one.name == name and not one.scope:
                yield one


def _operands(one: object) -> Iterable[Value]:
    match one:
        case Attr(base=base):
            return (base,)
        case Call(func=func, arguments=arguments):
            return (func, *(argument.value for argument in arguments))
        case Op(operands=operands):
            return operands
        case Build(elements=elements):
            return elements
        case Phi(choices=choices):
            return tuple(value for _, value in choices)
    return ()
