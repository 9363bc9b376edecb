"""What the branches taken on the way to a block say of a value: ``isinstance``, ``type(x) is``, ``hasattr``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from auditor.dataflow import Edge, Graph, dominators, edge_dominators
from auditor.facts import (
    NOTHING,
    Attr,
    Block,
    Branch,
    Build,
    Call,
    Choice,
    Class,
    Const,
    Declare,
    FunctionFacts,
    Import,
    Jump,
    Name,
    Op,
    SetAttr,
    Value,
)

Path: TypeAlias = tuple[Value, tuple[str, ...]]
"""An access path: a root value and the attribute names read from it in turn."""


class Condition(NamedTuple):
    """``kind`` (isinstance, type, hasattr) of the value at ``path`` with ``operand``; ``holds`` or its negation.
    Of kind ``any``: all conditions of one of ``ways`` hold, those of one way in to where paths join.
    """

    kind: str
    path: Path
    operand: Value
    holds: bool
    ways: tuple[tuple[Condition, ...], ...] = ()


def access_path(defined: Mapping[Value, object], value: Value) -> Path:
    """The access path that ``value`` was read by."""
    names: list[str] = []
    while True:
        one = defined.get(value)
        if type(one) is Attr:
            names.append(one.name)
            value = one.base
        elif type(one) is Declare:
            value = one.source
        else:
            return value, tuple(reversed(names))


def value_of_path(defined: Mapping[Value, object], path: Path) -> Value | None:
    """Some value that was read by ``path``."""
    if not path[1]:
        return path[0]
    return next(
        (value for value, one in defined.items() if type(one) is Attr and access_path(defined, value) == path), None
    )


def successors(block: Block) -> tuple[int, ...]:
    """The blocks that control can reach next, normal ones first."""
    end = block.end
    if type(end) is Jump:
        normal: tuple[int, ...] = (end.target,)
    elif type(end) is Branch:
        normal = (end.then, end.orelse)
    elif type(end) is Choice:
        normal = end.targets
    else:
        normal = ()
    return normal + block.handlers


def flow_of(function: FunctionFacts) -> Graph:
    """The control flow of a function."""
    return Graph(0, {index: successors(block) for index, block in enumerate(function.blocks)})


def conditions(function: FunctionFacts, defined: Mapping[Value, object]) -> dict[int, tuple[Condition, ...]]:
    """Block -> the conditions that hold in it; empty for a function that tests no class."""
    tests = {
        index: found for index, block in enumerate(function.blocks) if (found := _test(block, defined)) is not None
    }
    if not tests:
        return {}
    flow = flow_of(function)
    result: dict[int, tuple[Condition, ...]] = {}
    dominating = edge_dominators(flow)
    stores = [
        (index, _extended(access_path(defined, one.base), one.name))
        for index, block in enumerate(function.blocks)
        for one in block.instructions
        if type(one) is SetAttr
    ]
    ended: dict[Edge, frozenset[int]] = {}
    for index, edges in dominating.items():
        held = []
        for edge in edges:
            one = _outcome(function, tests, edge)
            if one is None:
                continue
            if edge not in ended:
                sets = [block for block, path in stores if _is_on(path, one.path) and dominating.dominates(edge, block)]
                ended[edge] = _after(flow, edge, sets)
            if index not in ended[edge]:
                held.append(one)
        if held:
            result[index] = tuple(held)
    return _with_joins(function, defined, flow, result)


def _extended(path: Path, name: str) -> Path:
    return path[0], (*path[1], name)


def _is_on(path: Path, other: Path) -> bool:
    """Whether what is read by the other path is read off what this one leads to."""
    return path[0] == other[0] and path[1] == other[1][: len(path[1])]


def _after(flow: Graph, edge: Edge, stores: list[int]) -> frozenset[int]:
    """The blocks of these stores and those behind them, as long as the test of ``edge`` is not made again: what was
    tested is not what an attribute holds there."""
    seen, todo = set(stores), list(stores)
    while todo:
        source = todo.pop()
        for target in flow.successors.get(source, ()):
            if target not in seen and (source, target) != edge:
                seen.add(target)
                todo.append(target)
    return frozenset(seen)


def _with_joins(
    function: FunctionFacts, defined: Mapping[Value, object], flow: Graph, held: dict[int, tuple[Condition, ...]]
) -> dict[int, tuple[Condition, ...]]:
    """The same with what every way in to a block says of a value, each in its own words: ``A or B``."""
    tree = dominators(flow)
    joined: dict[int, tuple[Condition, ...]] = {}
    for block, sources in flow.predecessors.items():
        if len(sources) > 1 and block in tree.idom and not any(tree.dominates(block, source) for source in sources):
            ways = ((*held.get(source, ()), edge_condition(function, defined, source, block)) for source in sources)
            already = held.get(block, ())
            joined[block] = _in_common([[one for one in way if one is not None and one not in already] for way in ways])
    if not any(joined.values()):
        return held
    found = {
        block: (*held.get(block, ()), *(one for join in tree.chain(block) for one in joined.get(join, ())))
        for block in tree.idom
    }
    return {block: conditions for block, conditions in found.items() if conditions}


def _in_common(ways: list[list[Condition]]) -> tuple[Condition, ...]:
    """One condition for each value that every way tells something of."""
    paths = set.intersection(*({one.path for one in way} for way in ways))
    return tuple(
        Condition("any", path, NOTHING, True, tuple(tuple(one for one in way if one.path == path) for way in ways))
        for path in sorted(paths)
    )


def edge_condition(
    function: FunctionFacts, defined: Mapping[Value, object], source: int, target: int
) -> Condition | None:
    """The condition that the edge ``source`` → ``target`` itself adds."""
    found = _test(function.blocks[source], defined)
    return _outcome(function, {source: found}, (source, target)) if found is not None else None


def _outcome(function: FunctionFacts, tests: Mapping[int, Condition], edge: tuple[int, int]) -> Condition | None:
    source, target = edge
    end = function.blocks[source].end
    if source not in tests or type(end) is not Branch or end.then == end.orelse:
        return None
    test = tests[source]
    return test._replace(holds=test.holds == (target == end.then))


def _test(block: Block, defined: Mapping[Value, object]) -> Condition | None:
    end = block.end
    if type(end) is not Branch:
        return None
    return _condition(defined.get(end.test), defined, holds=True)


def _condition(one: object, defined: Mapping[Value, object], *, holds: bool) -> Condition | None:
    if type(one) is Op and one.operator == "not":
        return _condition(defined.get(one.operands[0]), defined, holds=not holds)
    if type(one) is Op and one.operator in _COMPARING and len(one.operands) == 2:
        typed = _typed(defined.get(one.operands[0]), defined)
        if typed is not None:
            return Condition("type", typed, one.operands[1], holds == (one.operator in ("is", "==", "in")))
    if type(one) is Op and one.operator == "match-class":
        return Condition("isinstance", access_path(defined, one.operands[0]), one.operands[1], holds)
    if type(one) is Call and len(one.arguments) == 2 and _called(one, defined) in ("isinstance", "hasattr"):
        path = access_path(defined, one.arguments[0].value)
        return Condition(_called(one, defined), path, one.arguments[1].value, holds)
    return None


_COMPARING = frozenset({"is", "==", "in", "is not", "!=", "not in"})


def _typed(one: object, defined: Mapping[Value, object]) -> Path | None:
    """What ``type(x)`` or ``x.__class__`` is the class of."""
    if type(one) is Call and _called(one, defined) == "type" and len(one.arguments) == 1:
        return access_path(defined, one.arguments[0].value)
    return access_path(defined, one.base) if type(one) is Attr and one.name == "__class__" else None


def _called(call: Call, defined: Mapping[Value, object]) -> str:
    func = defined.get(call.func)
    return func.name if type(func) is Name else ""


def class_operand(defined: Mapping[Value, object], value: Value) -> tuple[tuple[str, str], ...] | None:
    """The classes that the second operand of ``isinstance`` names, each as ("name", dotted), ("import", module.name) or
    ("class", qualname); None where it is not a plain list of names."""
    match defined.get(value):
        case Class(name=name):
            return (("class", name),)
        case Name(name=name):
            return (("name", name),)
        case Import(module=module, name=name):
            return (("import", f"{module}.{name}" if name else module),)
        case Attr(base=base, name=name):
            owner = class_operand(defined, base)
            return None if owner is None or len(owner) != 1 else ((owner[0][0], f"{owner[0][1]}.{name}"),)
        case Build(kind="tuple", elements=parts) | Op(operator="|", operands=parts):
            found = [class_operand(defined, part) for part in parts]
            return None if any(part is None for part in found) else tuple(name for part in found for name in part or ())
    return None


def attribute_operand(defined: Mapping[Value, object], value: Value) -> str | None:
    """The constant attribute name of a ``hasattr`` test."""
    one = defined.get(value)
    return one.value if type(one) is Const and isinstance(one.value, str) else None
