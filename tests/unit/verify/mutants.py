"""Facts with one thing wrong: what a certificate stood on is gone, late, or for another layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.certificates import Step
from auditor.facts import Argument, Block, Call, Const, FunctionFacts, Instruction, Item, Iterate

Facts = Mapping[str, FunctionFacts]


def without(facts: Facts, step: Step) -> Facts:
    """The call at a place is deleted."""
    return _changed(facts, step, lambda block, index: _spliced(block, index, ()))


def at_the_end(facts: Facts, step: Step) -> Facts:
    """The call, or the round of a loop, at a place comes last in its block."""

    def moved(block: Block, index: int) -> Block:
        rest = _spliced(block, index, ())
        return rest._replace(instructions=(*rest.instructions, block.instructions[index]))

    return _changed(facts, step, moved)


def one_layer_less(facts: Facts, step: Step, position: int) -> Facts:
    """The call at a place waits for layer -7; one without arguments, for what was picked by it."""

    def other(block: Block, index: int) -> Block:
        call = block.instructions[index]
        assert isinstance(call, Call)
        constant = Const(1_000_000 + index, -7, call.at)
        if position >= len(call.arguments):
            before = (
                one._replace(index=constant.dst) if isinstance(one, Item) else one for one in block.instructions[:index]
            )
            return block._replace(instructions=(constant, *before, *block.instructions[index:]))
        arguments = list(call.arguments)
        arguments[position] = Argument(arguments[position].kind, arguments[position].name, constant.dst)
        return _spliced(block, index, (constant, call._replace(arguments=tuple(arguments))))

    return _changed(facts, step, other)


def _changed(facts: Facts, step: Step, change: object) -> Facts:
    """A ``finally`` stands in several blocks: all of them are changed."""
    function = facts[step.function]
    blocks = list(function.blocks)
    for number, index in _calls(function, step):
        blocks[number] = change(blocks[number], index)  # type: ignore[operator]
    return {**facts, step.function: function._replace(blocks=tuple(blocks))}


def _calls(function: FunctionFacts, step: Step) -> Iterator[tuple[int, int]]:
    for number, block in enumerate(function.blocks):
        for index, one in enumerate(block.instructions):
            if isinstance(one, Call | Iterate) and one.at == (step.line, step.column):
                yield number, index


def _spliced(block: Block, index: int, put: tuple[Instruction, ...]) -> Block:
    return block._replace(instructions=(*block.instructions[:index], *put, *block.instructions[index + 1 :]))
