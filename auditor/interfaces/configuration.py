"""Configuration: ``bufgate.toml``, or ``[tool.bufgate]`` in ``pyproject.toml``; the nearest above what is audited.

The search ends at the top of the repository; outside of one at the working directory. One table, ``FIELDS``, is what is
read, checked, shown and published as a schema. Relative paths in it are meant from the folder of the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auditor.interfaces.exits import FAIL_ON
from auditor.scales import CONFIDENCES
from auditor.source import ROLES
from auditor.spec import (
    BOOLEAN,
    SENTENCE,
    Address,
    Fault,
    Faulty,
    Field,
    Reader,
    Table,
    listing,
    one_of,
    parse_toml,
    read_toml,
    table_schema,
)

FILE, PYPROJECT = "bufgate.toml", "pyproject.toml"
BASELINE = "bufgate-baseline.json"

FIELDS = (
    Field(
        "paths",
        listing(SENTENCE),
        "What is audited when no PATHS are given; without it, the current folder.",
        default=(".",),
    ),
    Field("engine", SENTENCE, "The rule pack to use instead of the one that is recognised.", default=""),
    Field("rules", listing(SENTENCE, may_be_empty=True), "Rule packs of this project (files).", default=()),
    Field("assumptions", BOOLEAN, "Whether the assumptions of the rule pack count.", default=True),
    Field("fail-on", one_of(*FAIL_ON), "The severity from which findings fail the run.", default="error"),
    Field("min-confidence", one_of(*CONFIDENCES), "Findings below it do not fail the run.", default="medium"),
    Field("strict", BOOLEAN, "Whether every problem fails the run, not only one in a relevant file.", default=False),
    Field("baseline", SENTENCE, "The file with the findings that are accepted for now.", default=BASELINE),
)
ROLE_FIELDS = tuple(
    Field(role, listing(SENTENCE), f"Patterns of paths that are {role} code, as in `tests/`.", default=())
    for role in ROLES
)
TABLE: Table[object] = Table("bufgate", dict, "The configuration of bufgate.", FIELDS, many=False)
ROLE_TABLE: Table[object] = Table(
    "roles", dict, "Roles of files, tried before the built-in ones.", ROLE_FIELDS, many=False
)


class ConfigurationError(Faulty):
    """Indicates what is wrong with a configuration; every fault stands under its line of the file."""

    text = ""

    def __str__(self) -> str:
        """Give the faults in the form that editors jump to, each with its line."""
        lines = self.text.split("\n")
        return "\n".join(part for fault in self.faults for part in _framed(fault, lines))


@dataclass(frozen=True, slots=True)
class Configuration:
    """What holds: each value of ``FIELDS`` by its name, the patterns of the roles, and where a value comes from.

    ``file`` is None where there is none; ``folder`` is what paths are relative to.
    """

    folder: Path
    file: Path | None = None
    values: Mapping[str, Any] = field(default_factory=lambda: {one.name: one.default for one in FIELDS})
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """Return the value that holds for a key."""
        return self.values[name]

    def path(self, written: str) -> Path:
        """Return a path of the configuration as seen from the working directory."""
        return Path(os.path.relpath(self.folder / written))

    def origin(self, name: str) -> str:
        """Say where a value comes from: ``default`` or ``FILE:LINE``."""
        return f"{os.path.relpath(self.file)}:{self.lines[name]}" if self.file and name in self.lines else "default"


# ---------------------------------------------------------------- finding


def find(audited: Sequence[str]) -> Configuration:
    """Find and read the configuration of the paths, or return the defaults."""
    start = _common_folder(audited)
    folders = list(_upwards(start))
    for folder in folders:
        for name in (FILE, PYPROJECT):
            if (folder / name).is_file() and (found := read(folder / name)) is not None:
                return found
    return Configuration(folders[-1])


def _common_folder(audited: Sequence[str]) -> Path:
    folders = [path if path.is_dir() else path.parent for path in map(Path, audited or ["."])]
    return Path(os.path.commonpath([os.path.realpath(folder) for folder in folders]))


def _upwards(start: Path) -> Iterator[Path]:
    """``start`` and the folders above it, up to the top of the repository, else to the working directory."""
    chain = [start, *start.parents]
    here = Path(os.path.realpath("."))
    top = next((folder for folder in chain if os.path.lexists(folder / ".git")), here if here in chain else start)
    yield from chain[: chain.index(top) + 1]


# ---------------------------------------------------------------- reading


def read(file: Path) -> Configuration | None:
    """Read one file; None if it is a ``pyproject.toml`` that does not speak of bufgate.

    Raises:
        ConfigurationError: with everything that is wrong with it.
    """
    shown = os.path.relpath(file)
    text = read_toml(file, shown, ConfigurationError)
    at: Address = ("tool", "bufgate") if file.name == PYPROJECT else ()
    try:
        document: Any = parse_toml(text, shown, ConfigurationError)
        for part in at:
            document = document.get(part) if isinstance(document, dict) else None
        if document is None:
            return None
        return _configuration(file, text, at, document)
    except ConfigurationError as error:
        error.text = text
        raise


def _configuration(file: Path, text: str, at: Address, table: Any) -> Configuration:
    reader = Reader.of(os.path.relpath(file), text)
    if not isinstance(table, dict):
        reader.fault(at, "tool.bufgate must be a table: write [tool.bufgate]")
        table = {}
    roles = table.get(ROLE_TABLE.name, {})
    _check(reader, at, table, TABLE, (ROLE_TABLE.name,))
    if isinstance(roles, dict):
        _check(reader, (*at, ROLE_TABLE.name), roles, ROLE_TABLE, ())
    else:
        reader.fault((*at, ROLE_TABLE.name), "roles must be a table of lists, as in roles.test = ['checks/']")
    if reader.faults:
        raise ConfigurationError(reader.faults)
    return Configuration(
        folder=file.parent,
        file=file,
        values={one.name: table.get(one.name, one.default) for one in FIELDS},
        roles={role: tuple(patterns) for role, patterns in roles.items()},
        lines={name: reader.line((*at, name)) for name in table},
    )


def _check(reader: Reader, at: Address, values: Mapping[str, Any], table: Table[object], others: Iterable[str]) -> None:
    reader.check_keys(at, values, [*(one.name for one in table.fields), *others], ())
    for one in table.fields:
        if one.name in values:
            reader.check_value((*at, one.name), one, values[one.name])


def _framed(fault: Fault, lines: Sequence[str]) -> Iterator[str]:
    yield str(fault)
    if fault.line <= len(lines) and lines[fault.line - 1].strip():
        line = lines[fault.line - 1].replace("\t", " ")
        word = re.match(r"[^\s=\]]+|.?", line[fault.column - 1 :])
        gutter = " " * len(str(fault.line))
        yield f"  {fault.line} | {line}"
        yield f"  {gutter} | {' ' * (fault.column - 1)}{'^' * max(1, len(word[0]) if word else 0)}"


# ---------------------------------------------------------------- showing


def schema() -> dict[str, object]:
    """Describe ``bufgate.toml`` (and ``[tool.bufgate]``) as a JSON Schema."""
    table = table_schema(TABLE)
    properties = table["properties"]
    assert isinstance(properties, dict)
    properties[ROLE_TABLE.name] = table_schema(ROLE_TABLE)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "bufgate.toml"} | table


def show(configuration: Configuration) -> Iterator[str]:
    """Write every value with its origin, a line each."""
    import json

    rows = [(one.name, json.dumps(configuration[one.name], ensure_ascii=False), one.name) for one in FIELDS]
    rows += [(f"roles.{role}", json.dumps(patterns), ROLE_TABLE.name) for role, patterns in configuration.roles.items()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    yield f"# {os.path.relpath(configuration.file) if configuration.file else 'no configuration found'}"
    for name, value, key in rows:
        yield f"{name:<{widths[0]}} = {value:<{widths[1]}}  # {configuration.origin(key)}"
