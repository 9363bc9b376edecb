"""Who answers for an attribute of an object: itself, or another that its ``__getattr__`` hands the name on to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from auditor.facts import Value, expression
from auditor.link.constraints import Node
from auditor.link.delegation import SETTER, Answer, stores
from auditor.link.members import answers_of, behind, getters
from auditor.link.objects import Bound, Function, Instance, Object
from auditor.link.program import Frame, Program

Place: TypeAlias = tuple[str, int, str]
"""(path, line, what)."""


class Step(NamedTuple):
    """A name is handed on to ``one``, which ``node`` holds: ``value`` of ``frame``, a ``__getattr__``; ``place`` is
    where."""

    one: Instance
    frame: Frame
    value: Value
    node: Node
    place: Place


class Way(NamedTuple):
    """``one`` answers, under ``name``, for another object that handed the name on by ``steps``."""

    one: Instance
    name: str
    steps: tuple[Step, ...] = ()


class Delegation(NamedTuple):
    """All that answer, and the ``ends``: where a ``__getattr__`` gives what only running tells.
    ``nodes`` hold those that the name is handed on to."""

    ways: tuple[Way, ...]
    ends: tuple[Place, ...]
    nodes: tuple[Node, ...] = ()


def delegated(program: Program, one: Instance, name: str) -> Delegation:
    """Tell who answers for ``one.name``; one that hands nothing on answers itself, whether it has the name or not."""
    if not getters(program, one.cls, name):
        return Delegation((Way(one, name),), ())
    ways: list[Way] = []
    ends: list[Place] = []
    nodes: list[Node] = []
    todo, seen = [Way(one, name)], {(one, name)}
    while todo:
        way = todo.pop()
        found = getters(program, way.one.cls, way.name)
        if way.name in program.hierarchy.attributes(way.one.cls) and (
            not found or program.hierarchy.gives(way.one.cls, way.name)
        ):
            ways.append(way)
        for getter in found:
            frame = program.receiver_frame(getter, way.one)
            for answer in answers_of(program, getter, way.name):
                node, place = behind(program, frame, way.one, answer), _place(frame, answer)
                nodes.append(node)
                held = program.graph.points_to(node)
                if not any(_is_told(one, frame, answer) for one in held):
                    ends.append(place)
                for inner, called in sorted(_answering(held, answer), key=repr):
                    if (inner, called) not in seen:
                        seen.add((inner, called))
                        step = Step(inner, frame, answer.value, node, place)
                        todo.append(Way(inner, called, (*way.steps, step)))
    return Delegation(tuple(ways), tuple(ends), tuple(nodes))


def set_on(program: Program, one: Instance, name: str) -> tuple[Instance, ...]:
    """Tell on which objects ``one.name = …`` may set it: itself, or those that its ``__setattr__`` hands it on to."""
    found: dict[Instance, None] = {one: None}
    for method in program.hierarchy.applicable(one.cls).get(SETTER, ()):
        frame = program.receiver_frame(method, one)
        for answer in stores(frame.code.facts, name):
            held = program.graph.points_to(behind(program, frame, one, answer))
            found.update(dict.fromkeys(sorted((each for each in held if isinstance(each, Instance)), key=repr)))
    return tuple(found)


def _place(frame: Frame, answer: Answer) -> Place:
    code = frame.code
    at = getattr(code.defined[answer.at], "at", code.facts.at)
    return code.path, at.line, expression(code.facts, answer.at, code.defined)


def _is_told(one: Object, frame: Frame, answer: Answer) -> bool:
    """Whether it is known what a call of the answer does; what a function that is made for the name does is not."""
    if isinstance(one, Function) and one.function.startswith(f"{frame.code.name}."):
        return False
    return answer.name is not None or answer.is_itself


def _answering(held: frozenset[Object], answer: Answer) -> Iterator[tuple[Instance, str]]:
    for one in held:
        if isinstance(one, Instance) and not (answer.is_itself or answer.is_element) and answer.name is not None:
            yield one, answer.name
        elif isinstance(one, Bound) and isinstance(one.receiver, Instance) and answer.is_itself:
            yield one.receiver, one.function.rpartition(".")[2].partition("#")[0]
