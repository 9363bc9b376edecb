"""From TOML to ``EngineSpec``: everything that is wrong with a pack is said at once, each fault at its place."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple, TypeVar

from auditor.errors import AuditError
from auditor.spec.folders import data
from auditor.spec.model import EngineSpec, Uses
from auditor.spec.positions import Address, Position, locate, positions
from auditor.spec.table import (
    ACCESSORS,
    ARMING,
    ASSUMPTIONS,
    BUFFERS,
    ENGINE,
    ENTRIES,
    GATES,
    HOST_SIDE,
    IN_FLIGHT,
    KERNELS,
    NEEDED,
    NOT_POOLS,
    POOLS,
    RECOGNISE,
    REQUIRED,
    SCHEMA_VERSION,
    TABLES,
    USES,
    Engine,
    Field,
    Table,
    accepts,
)

Row = TypeVar("Row")


class Fault(NamedTuple):
    """One thing that is wrong with a pack."""

    path: str
    line: int
    column: int
    what: str

    def __str__(self) -> str:
        """Give the fault in the form that editors jump to."""
        return f"{self.path}:{self.line}:{self.column}: {self.what}"


class PackError(AuditError):
    """Indicates that a rule pack is not in the pack format; ``faults`` lists everything to mend."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep the faults in the order of the file."""
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(map(str, self.faults)))


class UnknownPack(AuditError):
    """Indicates that no rule pack has the wanted name."""


def load_pack(path: Path | Traversable | str, *, origin: str = "") -> EngineSpec:
    """Read one rule pack; ``origin`` names it in faults and displays (if not given, its path as given does).

    Raises:
        PackError: the file cannot be read or is not a rule pack.
    """
    place = Path(path) if isinstance(path, str) else path
    shown = origin or (place.as_posix() if isinstance(place, Path) else str(place))
    try:
        text = place.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise PackError([Fault(shown, 1, 1, f"cannot read it: {error.strerror or error}")]) from None
    except UnicodeDecodeError as error:
        raise PackError([Fault(shown, 1, 1, f"not UTF-8 (byte {error.start})")]) from None
    return parse_pack(text, shown)


def parse_pack(text: str, origin: str) -> EngineSpec:
    """Read a rule pack from its text; ``origin`` names it in faults and displays."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PackError([_syntax_fault(origin, str(error), text)]) from None
    except RecursionError:
        raise PackError([Fault(origin, 1, 1, "nested too deeply to be a rule pack")]) from None
    reader = _Reader(origin, positions(text))
    spec = _spec(reader, document)
    if reader.faults:
        raise PackError(reader.faults)
    return spec


@cache
def built_in_packs() -> tuple[EngineSpec, ...]:
    """Read the packs that come with the tool, in the order of their names."""
    files = [file for file in data("rules").iterdir() if file.name.endswith(".toml")]
    return tuple(load_pack(file, origin=f"rules/{file.name}") for file in sorted(files, key=lambda file: file.name))


def find_pack(name: str, extra: Sequence[EngineSpec] = ()) -> EngineSpec:
    """Return the pack called ``name``, or the pack in the file ``name``; ``extra`` packs go before the built-in ones.

    Raises:
        UnknownPack: there is none.
    """
    if name.endswith(".toml"):
        return load_pack(name)
    packs = (*extra, *built_in_packs())
    for pack in packs:
        if pack.name == name:
            return pack
    names = sorted({pack.name for pack in packs})
    raise UnknownPack(f"no rule pack {name!r}{_did_you_mean(name, names)} (there are: {', '.join(names) or 'none'})")


def _spec(reader: _Reader, document: Mapping[str, object]) -> EngineSpec:
    reader.check_version(document)
    reader.check_keys((), document, ("schema", *(table.name for table in TABLES)), NEEDED)
    engine = reader.one(document, ENGINE, Engine("", "", ""))
    return EngineSpec(
        name=engine.name,
        why=engine.why,
        origin=reader.origin,
        version_file=engine.version_file,
        recognise=reader.rows(document, RECOGNISE),
        pools=reader.rows(document, POOLS),
        accessors=reader.rows(document, ACCESSORS),
        buffers=reader.rows(document, BUFFERS),
        gates=reader.rows(document, GATES),
        arming=reader.rows(document, ARMING),
        in_flight=reader.rows(document, IN_FLIGHT),
        host_side=reader.rows(document, HOST_SIDE),
        not_pools=reader.rows(document, NOT_POOLS),
        kernels=reader.rows(document, KERNELS),
        entries=reader.rows(document, ENTRIES),
        assumptions=reader.rows(document, ASSUMPTIONS),
        uses=reader.one(document, USES, Uses((), (), (), (), (), "")),
    )


@dataclass
class _Reader:
    """Reads the tables of one document and collects what is wrong with them."""

    origin: str
    where: Mapping[Address, Position]
    faults: list[Fault] = field(default_factory=list)

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
        inside = f" in {address[0]}" if address else ""
        for name in row:
            if name not in known:
                self.fault((*address, name), f"unknown key {name!r}{inside}{_did_you_mean(name, known)}")
        for name in needed:
            if name not in row:
                self.fault(address, f"{name!r} is missing{inside}")

    def check_value(self, address: Address, key: Field, value: object) -> None:
        if not accepts(key.kind, value):
            guess = _did_you_mean(value, key.kind.choices) if isinstance(value, str) else ""
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


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _syntax_fault(origin: str, message: str, text: str) -> Fault:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    what = "not TOML: " + (message[: place.start()] if place else message)
    if place and place[1]:
        return Fault(origin, int(place[1]), int(place[2]), what)
    return Fault(origin, text.count("\n") + 1, 1, what + " at the end of the file")
