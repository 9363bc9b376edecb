"""What every register program keeps to: dense numbers, definitions that dominate uses, phis that match predecessors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from auditor.facts import (
    NOTHING,
    Bind,
    Branch,
    Build,
    Call,
    Choice,
    Class,
    Closure,
    Declare,
    Delete,
    Exit,
    FunctionFacts,
    Jump,
    ModuleFacts,
    Op,
    Param,
    Phi,
    Raise,
    Return,
    SetAttr,
    SetItem,
)

EFFECTS = (Bind, SetAttr, SetItem, Exit, Delete)
_VALUE_FIELDS = ("base", "index", "func", "iterable", "source", "value", "manager", "test")


def operands(instruction: Any) -> Iterator[int]:
    """Give the values that an instruction or a terminator uses."""
    kind = type(instruction)
    if kind is Call:
        yield instruction.func
        yield from (argument.value for argument in instruction.arguments)
    elif kind is Build:
        yield from instruction.elements
    elif kind is Op:
        yield from instruction.operands
    elif kind is Class:
        yield from instruction.bases
        yield from (value for _, value in instruction.keywords)
    elif kind is Closure:
        yield from (value for _, value in instruction.defaults)
    elif kind is Declare or kind.__name__ == "Unpack":
        yield instruction.source
    elif kind.__name__ not in ("Const", "Opaque", "Name", "Param", "Import", "Phi"):
        yield from (
            getattr(instruction, name) for name in _VALUE_FIELDS if hasattr(instruction, name) and name in kind._fields
        )


def targets(function: FunctionFacts, number: int) -> list[int]:
    """Give the blocks that may follow, without exceptions."""
    match function.blocks[number].end:
        case Jump(target=target):
            return [target]
        case Branch(then=then, orelse=orelse):
            return [then, orelse]
        case Choice(targets=several):
            return list(several)
    return []


def check(facts: ModuleFacts) -> None:
    """Assert that all functions of a file are valid."""
    names = [function.qualname for function in facts.functions]
    assert len(set(names)) == len(names)
    for function in facts.functions:
        check_function(function)


def check_function(function: FunctionFacts) -> None:
    blocks = function.blocks
    predecessors: dict[int, set[tuple[int, bool]]] = {number: set() for number in range(len(blocks))}
    for number, block in enumerate(blocks):
        for target in targets(function, number):
            predecessors[target].add((number, False))
        for handler in block.handlers:
            predecessors[handler].add((number, True))
    dominators = _dominators(predecessors)
    assert all(dominators[number] for number in predecessors), "an unreachable block"
    assert not predecessors[0]
    where: dict[int, tuple[int, int]] = {}
    for number, block in enumerate(blocks):
        for index, instruction in enumerate(block.instructions):
            if not isinstance(instruction, EFFECTS):
                assert instruction.dst == len(where), "values are numbered in order"
                where[instruction.dst] = (number, index)
    _check_uses(function, predecessors, dominators, where)
    assert set(function.names) <= set(where)
    heads = blocks[0].instructions[: len(function.params)]
    assert [i.name for i in heads if isinstance(i, Param)] == [p.name for p in function.params]


def _check_uses(function: FunctionFacts, predecessors: Any, dominators: Any, where: dict[int, tuple[int, int]]) -> None:
    for number, block in enumerate(function.blocks):
        phis = True
        for index, instruction in enumerate((*block.instructions, block.end)):
            if isinstance(instruction, Phi):
                assert phis, "phis stand first"
                _check_phi(function, instruction, number, predecessors, dominators, where)
                continue
            phis = False
            for value in operands(instruction):
                if value != NOTHING:
                    home, place = where[value]
                    assert place < index if home == number else home in dominators[number], (
                        function.qualname,
                        instruction,
                    )
                else:
                    assert type(instruction) in (Build, Declare), (function.qualname, instruction)
        if isinstance(block.end, Raise | Return):
            assert not targets(function, number)


def _check_phi(function: FunctionFacts, phi: Phi, number: int, predecessors: Any, dominators: Any, where: Any) -> None:
    assert [source for source, _ in phi.choices] == sorted(source for source, _ in predecessors[number])
    assert len({value for _, value in phi.choices} - {phi.dst}) > 1, "a trivial phi"
    exceptional = dict(predecessors[number])
    for source, value in phi.choices:
        if value == NOTHING:
            continue
        home, place = where[value]
        assert home in dominators[source]
        if exceptional[source] and home == source:
            assert place < _phis(function, source), "a handler sees the start of the block"


def _phis(function: FunctionFacts, number: int) -> int:
    return sum(isinstance(i, Phi) for i in function.blocks[number].instructions)


def _dominators(predecessors: dict[int, set[tuple[int, bool]]]) -> dict[int, set[int]]:
    everything = set(predecessors)
    found = {number: everything if number else {0} for number in predecessors}
    changed = True
    while changed:
        changed = False
        for number in sorted(predecessors):
            if number:
                sources = [found[source] for source, _ in predecessors[number]]
                new = ({number} | set.intersection(*sources)) if sources else set()
                if new != found[number]:
                    found[number], changed = new, True
    return found
