"""Calls of decorated functions. One decorator is applied to many functions, and what it hands back is any of them; a
name that a definition bears means that one, or what its decorator made of it (a *wrapper*)."""

from __future__ import annotations

from collections.abc import Iterable

from auditor.facts import Call, FunctionFacts, Import, Name, Param, Return
from auditor.link import Frame, Function, Linker, Object


def handed_back(linker: Linker, frame: Frame, one: Call, targets: Iterable[Object]) -> frozenset[str]:
    """Those functions among the targets of a call that a decorator was given, or returned, for other definitions."""
    functions = [target.function for target in targets if isinstance(target, Function)]
    own = _definition(linker, frame, one) if len(functions) > 1 else ""
    if own not in functions:
        return frozenset()
    decorators = set(linker.functions[own].decorators)
    return frozenset(
        name
        for name in functions
        if name != own
        and (not decorators.isdisjoint(linker.functions[name].decorators) or _decorates(linker, name, own))
    )


def wraps(wrapper: FunctionFacts, function: FunctionFacts) -> bool:
    """Whether a function is defined inside a decorator of another one: it runs in place of it, and calls it."""
    around = {part.partition("#")[0] for part in wrapper.scope.split(".")}
    return any(one.rpartition(".")[2] in around for one in function.decorators)


def _decorates(linker: Linker, name: str, function: str) -> bool:
    """Whether a function inside a decorator is a decorator itself: it may return what it is given. No wrapper does."""
    facts, code = linker.functions[name], linker.codes.get(name)
    if code is None or not facts.params or not wraps(facts, linker.functions[function]):
        return False
    returned = (code.defined.get(block.end.value) for block in facts.blocks if isinstance(block.end, Return))
    return any(isinstance(one, Param) and one.name == facts.params[0].name for one in returned)


def _definition(linker: Linker, frame: Frame, one: Call) -> str:
    """The qualified name of what a call calls by name; "" where it does not."""
    func, code = frame.code.defined.get(one.func), frame.code
    if isinstance(func, Import):
        return linker.scopes.dotted(func.module, "", func.name) if func.name else ""
    if not isinstance(func, Name):
        return ""
    scope = linker.scopes.owner(code.module, code.facts.qualname, func.name) or ""
    return linker.scopes.dotted(code.module, scope, func.name)
