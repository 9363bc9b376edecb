"""TOML files that people write: everything that is wrong with one is said at once, each fault at its place."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from auditor.errors import AuditError
from auditor.spec.positions import Address, Position, locate, positions
from auditor.spec.table import REQUIRED, SCHEMA_VERSION, Field, Table, accepts

Row = TypeVar("Row")


class Fault(NamedTuple):
    """One thing that is wrong with a file."""

    path: str
    line: int
    column: int
    what: str

    def __str__(self) -> str:
        """Give the fault in the form that editors jump to."""
        return f"{self.path}:{self.line}:{self.column}: {self.what}"


class Faulty(AuditError):
    """Indicates that a file is not in its format; ``faults`` lists everything to mend."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep the faults in the order of the file."""
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(map(str, self.faults)))


def read_toml(place: Path | Traversable, origin: str, refuse: type[Faulty]) -> str:
    """Return the text of a file; ``origin`` names it in faults."""
    try:
        return place.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise refuse([Fault(origin, 1, 1, f"cannot read it: {error.strerror or error}")]) from None
    except UnicodeDecodeError as error:
        raise refuse([Fault(origin, 1, 1, f"not UTF-8 (byte {error.start})")]) from None


def parse_toml(text: str, origin: str, refuse: type[Faulty]) -> dict[str, Any]:
    """Return the document of a text, or refuse it at the place where it breaks."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise refuse([_syntax_fault(origin, str(error), text)]) from None
    except RecursionError:
        raise refuse([Fault(origin, 1, 1, "nested too deeply to be read")]) from None


@dataclass
class Reader:
    """Reads the tables of one document and collects what is wrong with them."""

    origin: str
    where: Mapping[Address, Position]
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def of(cls, origin: str, text: str) -> Reader:
        """Make the reader of a text."""
        return cls(origin, positions(text))

    def line(self, address: Address) -> int:
        """Return the line of a key."""
        return locate(self.where, address)[0]

    def fault(self, address: Address, what: str) -> None:
        self.faults.append(Fault(self.origin, *locate(self.where, address), what))

    def check_version(self, document: Mapping[str, object]) -> None:
        version = document.get("schema")
        if version is None:
            self.fault((), f"schema = {SCHEMA_VERSION} is missing (the version of the pack format)")
        elif version != SCHEMA_VERSION or isinstance(version, bool):
            self.fault(("schema",), f"schema must be {SCHEMA_VERSION}, the only version of the format, not {version!r}")

    def one(self, document: Mapping[str, object], table: Table[Row], absent: Row) -> Row:
        row = document.get(table.name)
        if row is None:
            return absent
        if not isinstance(row, dict):
            self.fault((table.name,), f"{table.name} must be one table: write [{table.name}]")
            return absent
        return self.row((table.name,), table, row) or absent

    def rows(self, document: Mapping[str, object], table: Table[Row]) -> tuple[Row, ...]:
        rows = document.get(table.name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            self.fault((table.name,), f"{table.name} must be a list of tables: write [[{table.name}]]")
            return ()
        self.check_unique(table, rows)
        read = [self.row((table.name, number), table, row) for number, row in enumerate(rows)]
        return tuple(row for row in read if row is not None)

    def row(self, address: Address, table: Table[Row], row: Mapping[str, object]) -> Row | None:
        """Check one row; None if something is wrong with it."""
        before = len(self.faults)
        needed = [key.name for key in table.fields if key.default is REQUIRED]
        self.check_keys(address, row, [key.name for key in table.fields], needed)
        for key in table.fields:
            if key.name in row:
                self.check_value((*address, key.name), key, row[key.name])
        if len(self.faults) > before:
            return None
        return table.make(**{key.name: _frozen(row.get(key.name, key.default)) for key in table.fields})

    def check_keys(
        self, address: Address, row: Mapping[str, object], known: Sequence[str], needed: Sequence[str]
    ) -> None:
        inside = f" in {'.'.join(part for part in address if isinstance(part, str))}" if address else ""
        for name in row:
            if name not in known:
                self.fault((*address, name), f"unknown key {name!r}{inside}{did_you_mean(name, known)}")
        for name in needed:
            if name not in row:
                self.fault(address, f"{name!r} is missing{inside}")

    def check_value(self, address: Address, key: Field, value: object) -> None:
        if not accepts(key.kind, value):
            guess = did_you_mean(value, key.kind.choices) if isinstance(value, str) else ""
            self.fault(address, f"{key.name} must be {key.kind.wanted}, not {_shortened(value)}{guess}")

    def check_unique(self, table: Table[Row], rows: Sequence[Mapping[str, object]]) -> None:
        """Of a list every element is unique, of several keys their combination."""
        first: dict[tuple[str, ...], int] = {}
        for number, row in enumerate(rows):
            for identity in _identities(table, row):
                if identity in first:
                    line = locate(self.where, (table.name, first[identity]))[0]
                    shown = " ".join(identity)
                    what = f"{shown!r} is already in {table.name} (line {line})"
                    self.fault((table.name, number, table.unique[0]), what)
                first.setdefault(identity, number)


def _identities(table: Table[Row], row: Mapping[str, object]) -> list[tuple[str, ...]]:
    if not table.unique or not all(name in row for name in table.unique):
        return []
    values = [row[name] for name in table.unique]
    if isinstance(values[0], list):
        return [(str(element),) for element in values[0]]
    return [tuple(map(str, values))]


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _shortened(value: object) -> str:
    shown = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name as a question in brackets, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _syntax_fault(origin: str, message: str, text: str) -> Fault:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    what = "not TOML: " + (message[: place.start()] if place else message)
    if place and place[1]:
        return Fault(origin, int(place[1]), int(place[2]), what)
    return Fault(origin, text.count("\n") + 1, 1, what + " at the end of the file")
