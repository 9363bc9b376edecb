"""Functions that are lent: stored in an attribute, and replaced there again before the function that made them is left.

Whoever calls the attribute calls them in between, so what is held where they are lent is held when they run.
"""

from __future__ import annotations

from collections.abc import Iterator

from auditor.callgraph import CallGraph, FrameKey
from auditor.facts import At, Closure, Raise, Return, SetAttr
from auditor.gating.symbols import Path, path_of
from auditor.link import Code, successors


def lent(graph: CallGraph, code: Code) -> Iterator[tuple[FrameKey, int, int, At]]:
    """Where a nested function is lent: the frame that made it, with block and index of the store."""
    if not code.facts.scope or code.owner:
        return
    maker = f"{code.module}.{code.facts.scope}"
    for key, frame in graph.frames.items():
        if key[0] == maker:
            for block, index, one in _stores(frame.code, code.facts.qualname):
                if is_replaced(frame.code, block, index, one):
                    yield key, block, index, one.at


def _stores(maker: Code, function: str) -> Iterator[tuple[int, int, SetAttr]]:
    for number, block in enumerate(maker.facts.blocks):
        for index, one in enumerate(block.instructions):
            made = maker.defined.get(one.value) if isinstance(one, SetAttr) else None
            if isinstance(one, SetAttr) and isinstance(made, Closure) and made.function == function:
                yield number, index, one


def is_replaced(maker: Code, block: int, index: int, store: SetAttr, ends: tuple[type, ...] = (Return, Raise)) -> bool:
    """Whether every way out of the maker (that is one of ``ends``) stores something else there first."""
    blocks = maker.facts.blocks
    place = _target(maker, store)
    todo, seen = [(block, index + 1)], set()
    while todo:
        number, first = todo.pop()
        rest = blocks[number].instructions[first:]
        if any(isinstance(one, SetAttr) and _target(maker, one) == place for one in rest):
            continue
        if isinstance(blocks[number].end, ends) and not successors(blocks[number]):
            return False
        for target in successors(blocks[number]):
            if target not in seen:
                seen.add(target)
                todo.append((target, 0))
    return True


def _target(maker: Code, store: SetAttr) -> Path:
    return path_of(maker.defined, store.base).child(store.name)
