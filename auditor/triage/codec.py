"""Report to bytes and back, for the cache: compact JSON in which each distinct value is written once.

A row is a value: a tuple of texts, a tuple of values, or a value of the report with its fields. What is not a text,
number or dictionary is written as the number of an earlier row, so that values that sites share are shared again when
they are read. Decoding checks every type; reading strange bytes can give a wrong report but run nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from auditor.triage import report as values
from auditor.triage.report import Report

_CLASSES: tuple[type, ...] = (
    values.Step, values.Gate, values.Binding, values.ExcludedBinding, values.Site, values.Fix, values.ReportedFinding,
    values.ReportedProblem,
    values.Engine, values.Scenario, values.Stats, values.Report,
)  # fmt: skip
"""A class is written as its number here."""
_TEXTS, _NOTHING = "t", "e"
"""Kinds of tuples of texts, and of the empty tuple, which is one of each kind."""


class _Field(NamedTuple):
    """A field: the kind of row that it refers to, or "" where its value stands in the row itself; ``fits`` tells
    whether what is written there can be meant."""

    name: str
    kind: str
    fits: Callable[[Any], bool]


class _Shape(NamedTuple):
    """A class and its fields. ``references``: position and kind of those that are other rows; ``types``: types of whole
    rows that were found to fit, which spares a look at each field of the next."""

    cls: type
    kind: str
    fields: tuple[_Field, ...]
    references: tuple[tuple[int, str], ...]
    types: set[tuple[type, ...]]

    @classmethod
    def of(cls, described: type) -> _Shape:
        hints = get_type_hints(described)
        made = tuple(_field(one.name, hints[one.name]) for one in fields(described))
        references = tuple((position, one.kind) for position, one in enumerate(made) if one.kind)
        return cls(described, str(_CLASSES.index(described)), made, references, set())

    def require(self, cells: Sequence[Any]) -> None:
        for one, cell in zip(self.fields, cells, strict=True):
            if not one.fits(cell):
                raise _Malformed(f"{one.name} is {cell!r}")


class _Malformed(ValueError):
    """Indicates bytes that are no report of this version."""


def encode(report: Report) -> bytes:
    """Encode a report."""
    writer = _Writer()
    writer.number(report)
    return json.dumps(writer.rows, separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> Report:
    """Decode a report; raise ``ValueError`` for what ``encode`` does not give."""
    try:
        made: list[Any] = []
        kinds: list[str] = []
        for tag, *cells in json.loads(data):
            kind, value = _value(tag, cells, made, kinds)
            kinds.append(kind)
            made.append(value)
        if not made or not isinstance(made[-1], Report):
            raise _Malformed("the last row is no report")
        return made[-1]
    except (TypeError, ValueError, KeyError, IndexError, RecursionError) as error:
        raise _Malformed(f"no report: {error}") from error


# ---------------------------------------------------------------- encoding


class _Writer:
    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._numbers: dict[str, int] = {}
        self._seen: dict[int, int] = {}

    def number(self, value: Any) -> int:
        """The row of a tuple or of a value of the report; written if it is new."""
        if id(value) not in self._seen:
            row = self._row(value)
            text = json.dumps(row)
            if text not in self._numbers:
                self._numbers[text] = len(self.rows)
                self.rows.append(row)
            self._seen[id(value)] = self._numbers[text]
        return self._seen[id(value)]

    def _row(self, value: Any) -> list[Any]:
        if not isinstance(value, tuple):
            number = _CLASSES.index(value.__class__)
            parts = ((getattr(value, one.name), one.kind) for one in _SHAPES[number].fields)
            return [number, *[self.number(part) if kind and part is not None else part for part, kind in parts]]
        if not value:
            return [_NOTHING]
        if isinstance(value[0], str):
            return [_TEXTS, *value]
        return [_many(_CLASSES.index(value[0].__class__)), *map(self.number, value)]


# ---------------------------------------------------------------- decoding


def _value(tag: Any, cells: list[Any], made: list[Any], kinds: list[str]) -> tuple[str, Any]:
    """The kind of a row and its value."""
    if type(tag) is int:
        shape = _SHAPES[tag]
        types = tuple(map(type, cells))
        if types not in shape.types:
            shape.require(cells)
            if dict not in types:  # what is in a dictionary, its type does not tell
                shape.types.add(types)
        for position, kind in shape.references:
            cell = cells[position]
            if cell is None:
                continue
            if kinds[cell] != kind and (kinds[cell] != _NOTHING or kind.isdigit()):
                raise _Malformed(f"field {position} of {shape.cls.__name__} is a {kinds[cell]}")
            cells[position] = made[cell]
        return shape.kind, shape.cls(*cells)
    if tag == _TEXTS:
        if not all(map(_is_text, cells)):
            raise _Malformed("a text is missing")
        return _TEXTS, tuple(cells)
    if tag == _NOTHING and not cells:
        return _NOTHING, ()
    if any(_many(kinds[cell]) != tag for cell in cells):
        raise _Malformed(f"{tag!r} holds something else")
    return tag, tuple([made[cell] for cell in cells])


# ---------------------------------------------------------------- what fields hold


def _many(kind: int | str) -> str:
    return f"*{kind}"


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_one_of(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


def _is_mapping(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is dict and all(type(one) is kind for one in value.values())


def _field(name: str, hint: Any) -> _Field:
    """A field by its annotation."""
    if hint in _CLASSES:
        return _Field(name, str(_CLASSES.index(hint)), _is_one_of(int))
    arguments = get_args(hint)
    if get_origin(hint) is tuple:
        inner = arguments[0]
        return _Field(name, _TEXTS if inner is str else _many(_CLASSES.index(inner)), _is_one_of(int))
    if get_origin(hint) is dict:
        return _Field(name, "", _is_mapping(arguments[1]))
    if arguments:  # X | None
        one = _field(name, arguments[0])
        return _Field(name, one.kind, lambda value: value is None or one.fits(value))
    return _Field(name, "", _is_one_of(hint))


_SHAPES = tuple(_Shape.of(cls) for cls in _CLASSES)
