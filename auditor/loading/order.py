"""What comes after what in a function: paths between operations."""

from __future__ import annotations

from collections.abc import Collection

from auditor.facts import Branch, Choice, Jump
from auditor.link import Code

At = tuple[int, int]
"""Block and index in it."""
START: At = (0, -1)


def path(code: Code, start: At, goal: At, stops: Collection[At] = ()) -> tuple[int, ...] | None:
    """The blocks of a shortest path from behind ``start`` to ``goal`` that meets none of ``stops``, or None. What an
    exception does is not followed."""
    came: dict[int, int] = {}
    front = [(start[0], start[1])]
    while front:
        following = []
        for block, index in front:
            ahead = [at for at in (*stops, goal) if at[0] == block and at[1] > index]
            first = min(ahead, default=None)
            if first == goal and goal not in stops:
                return _back(came, block, start[0])
            if first is not None:
                continue
            for target in _targets(code, block):
                if target not in came:
                    came[target] = block
                    following.append((target, -1))
        front = following
    return None


def _targets(code: Code, block: int) -> tuple[int, ...]:
    match code.facts.blocks[block].end:
        case Jump(target=target):
            return (target,)
        case Branch(then=then, orelse=orelse):
            return then, orelse
        case Choice(targets=targets):
            return targets
    return ()


def _back(came: dict[int, int], block: int, start: int) -> tuple[int, ...]:
    """The way back; ``start`` may have been come by again, by a loop."""
    found = [block]
    while found[-1] != start and found[-1] in came:
        found.append(came[found[-1]])
    return tuple(reversed(found))
