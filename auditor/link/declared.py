"""What a class says that its fields are: ``self.x: T = …``, ``x: T`` in its body, or a constructor that only returns
where ``isinstance(self.x, T)`` holds. A declaration filters what is stored into the field and adds nothing."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.facts import Declare, Return, SetAttr
from auditor.link.annotations import annotated_class
from auditor.link.constraints import Accept
from auditor.link.filters import subclass_filter
from auditor.link.narrowing import class_operand
from auditor.link.objects import Instance, Object
from auditor.link.program import Code, Program


def field_filter(program: Program, one: Instance, name: str) -> Accept | None:
    """What the field ``name`` of ``one`` can hold by the declarations of its class; None where there is none."""
    classes = [cls for base in program.hierarchy.mro(one.cls) for cls in _fields(program, base).get(name, ())]
    if not classes:
        return None
    accepts = [subclass_filter(program, cls) for cls in dict.fromkeys(classes)]

    def admits(value: Object) -> bool:
        return all(accept(value) for accept in accepts)

    return admits


def _fields(program: Program, cls: str) -> dict[str, tuple[str, ...]]:
    """Field -> the tracked classes that ``cls`` itself declares for it."""
    known = program.declared.get(cls)
    if known is None:
        found: dict[str, list[str]] = {}
        for name, declared in _declarations(program, cls):
            if declared in program.hierarchy.classes and program.tracked(declared):
                found.setdefault(name, []).append(declared)
        known = program.declared[cls] = {name: tuple(classes) for name, classes in found.items()}
    return known


def _declarations(program: Program, cls: str) -> Iterator[tuple[str, str]]:
    info = program.hierarchy.classes.get(cls)
    if info is None:
        return
    for one in info.facts.fields:
        named = annotated_class(program.scopes, info.module, info.facts.qualname, one.annotation)
        if named is not None:
            yield one.name, named
    for method in info.facts.methods:
        code = program.codes.get(f"{cls}.{method}")
        if code is not None and code.facts.params:
            yield from _assigned(program, code)
            if method == "__init__":
                yield from _required(program, code)


def _assigned(program: Program, code: Code) -> Iterator[tuple[str, str]]:
    """``self.x: T = v``"""
    for block in code.facts.blocks:
        for one in block.instructions:
            if isinstance(one, SetAttr) and one.base == 0:
                value = code.defined.get(one.value)
                if isinstance(value, Declare):
                    named = annotated_class(program.scopes, code.module, code.facts.qualname, value.type)
                    if named is not None:
                        yield one.name, named


def _required(program: Program, code: Code) -> Iterator[tuple[str, str]]:
    """``isinstance(self.x, T)`` that holds wherever the constructor returns."""
    returning = [index for index, block in enumerate(code.facts.blocks) if isinstance(block.end, Return)]
    if not code.conditions or not returning:
        return
    for condition in code.conditions.get(returning[0], ()):
        root, names = condition.path
        if condition.kind != "isinstance" or not condition.holds or root != 0 or len(names) != 1:
            continue
        if all(condition in code.conditions.get(index, ()) for index in returning):
            operands = class_operand(code.defined, condition.operand) or ()
            if len(operands) == 1 and operands[0][0] == "name":
                yield names[0], program.scopes.dotted(code.module, code.facts.qualname, operands[0][1])
