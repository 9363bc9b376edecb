"""The pack format as one table: every table and key, its kind, its default, its meaning.

The validator and the JSON Schema both read this table, so a key that is added here is checked and published at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from auditor.spec.model import (
    Arming,
    Assumption,
    Connectors,
    EntryPoint,
    GatePrimitive,
    Graphs,
    Implication,
    InFlight,
    Kernel,
    Meaning,
    Names,
    Recognition,
    Uses,
)

SCHEMA_VERSION = 1

JsonSchema: TypeAlias = dict[str, object]
Row_co = TypeVar("Row_co", covariant=True)
REQUIRED = object()
"""The default of a key that has none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value. ``wanted`` completes "must be …"; ``of`` makes it a list; ``choices`` makes it closed."""

    wanted: str
    types: tuple[type, ...]
    pattern: str = ""
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    of: Kind | None = None
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a table."""

    name: str
    kind: Kind
    doc: str
    default: object = REQUIRED


@dataclass(frozen=True, slots=True)
class Table(Generic[Row_co]):
    """``[name]`` or, if ``many``, ``[[name]]``; ``make`` builds its value. No two rows share a value of ``unique``."""

    name: str
    make: Callable[..., Row_co]
    doc: str
    fields: tuple[Field, ...]
    many: bool = True
    unique: tuple[str, ...] = ()


def accepts(kind: Kind, value: object) -> bool:
    """Tell whether ``value`` is of ``kind``."""
    if isinstance(value, bool) or not isinstance(value, kind.types):
        return isinstance(value, bool) and bool in kind.types
    if isinstance(value, list):
        return (bool(value) or kind.may_be_empty) and kind.of is not None and all(accepts(kind.of, v) for v in value)
    if isinstance(value, int):
        return kind.minimum is None or value >= kind.minimum
    if kind.choices:
        return value in kind.choices
    return not kind.pattern or re.search(kind.pattern, str(value)) is not None


def listing(of: Kind, *, may_be_empty: bool = False) -> Kind:
    """Make the kind of a list of ``of``."""
    size = "a list" if may_be_empty else "a list (not empty)"
    return Kind(f"{size}, each {of.wanted}", (list,), of=of, may_be_empty=may_be_empty)


def one_of(*choices: str) -> Kind:
    """Make a closed kind."""
    return Kind("one of " + ", ".join(map(repr, choices)), (str,), choices=choices)


SENTENCE = Kind("a text that says something", (str,), pattern=r"\S")
TEXT = Kind("a text", (str,))
IDENTIFIER = Kind("a plain name without dots or wildcards", (str,), pattern=r"^[^\W\d]\w*\Z")
PATTERN = Kind("a name pattern (the last part of a name: no dots)", (str,), pattern=r"^[\w*?\[\]!-]+\Z")
QUALIFIED = Kind("a pattern of qualified names", (str,), pattern=r"^[\w*?\[\]!.-]+\Z")
SLUG = Kind("an id of small letters, digits and dashes", (str,), pattern=r"^[a-z][a-z0-9-]*\Z")
BOOLEAN = Kind("true or false", (bool,))
INTEGER = Kind("a whole number", (int,))
POSITION = Kind("a position (a whole number from 0)", (int,), minimum=0)
PARAMETER = Kind('a parameter name, a position from 0 or "*"', (str, int), pattern=r"^(?:\*|[^\W\d]\w*)\Z", minimum=0)

CONDITION = Kind("a condition: X, not X, X == V or X != V", (str,), pattern=r"^\S[^\n]*\Z")

WHY = Field("why", SENTENCE, "The sentence that a report shows when somebody asks why this entry is here.")


def _names(name: str, doc: str) -> Table[Names]:
    patterns = Field("patterns", listing(PATTERN), "Shell patterns, matched against the last part of a name.")
    return Table(name, Names, doc, (patterns, WHY), unique=("patterns",))


def _uses(name: str, doc: str) -> Field:
    return Field(name, listing(IDENTIFIER, may_be_empty=True), doc, default=())


@dataclass(frozen=True, slots=True)
class Engine:
    """The head of a pack."""

    name: str
    why: str
    version_file: str


ENGINE = Table(
    "engine",
    Engine,
    "What the pack is about.",
    (
        Field("name", SLUG, "The name of the engine, as in --engine."),
        WHY,
        Field("version_file", TEXT, "The file (a path in the tree) that tells the version; display only.", default=""),
    ),
    many=False,
)
RECOGNISE = Table(
    "recognise",
    Recognition,
    "The engine is there if one file holds all the identifiers of one entry.",
    (Field("identifiers", listing(IDENTIFIER), "Whole identifiers."), WHY),
)
POOLS = _names("pools", "Classes that start a family of pools; subclasses belong to it.")
ACCESSORS = _names("accessors", "Methods that hand out or read buffers.")
BUFFERS = _names("buffers", "Attributes that hold guarded storage.")
HOST_SIDE = _names("host_side", "Classes that hold no device buffers, or that do the transfer themselves.")
NOT_POOLS = _names("not_pools", "Classes whose methods merely look like accessors.")
TRANSFERS = _names("transfers", "Functions that enqueue a copy of storage, which no code of the tree shows.")
LAUNCHES = _names(
    "launches", "Methods that run a forward pass: the stream that is current there is the compute stream."
)
PARAMETERS = _names("parameters", "Parameters of a pool's methods by which callers outside the tree pass it storage.")
GATES = Table(
    "gates",
    GatePrimitive,
    "<owner>.<counter>.<method>(layer): the calls that make the order.",
    (
        Field("method", IDENTIFIER, "The method that waits."),
        Field("counter", IDENTIFIER, "The attribute of a pool that holds the counter."),
        Field("argument", POSITION, "The position of the layer among the arguments.", default=0),
        Field("index", one_of("local", "global"), "The index space of the layer.", default="local"),
        WHY,
    ),
    unique=("method", "counter"),
)
ARMING = Table(
    "arming",
    Arming,
    "Methods that give an object its counter, or None.",
    (
        Field("method", IDENTIFIER, "The method that registers."),
        Field("argument", POSITION, "The position of the counter among the arguments.", default=0),
        WHY,
    ),
    unique=("method",),
)
IN_FLIGHT = Table(
    "in_flight",
    InFlight,
    "<counter>.<attribute> <operator> <value> is true exactly while a load can be in flight.",
    (
        Field("attribute", IDENTIFIER, "An attribute of the counter."),
        Field("operator", one_of(">=", ">", "==", "!=", "<", "<="), "The comparison."),
        Field("value", INTEGER, "What it is compared with."),
        WHY,
    ),
)
KERNELS = Table(
    "kernels",
    Kernel,
    "Functions with parameters that they only store to.",
    (
        Field("name", PATTERN, "The functions: a pattern of the last part of a name."),
        Field("stores", listing(PARAMETER), 'The parameters that are only stored to: names, positions, "*" for all.'),
        WHY,
    ),
    unique=("name",),
)
ENTRIES = Table(
    "entries",
    EntryPoint,
    "Functions that start an execution, with its mode and phase.",
    (
        Field("function", QUALIFIED, "A pattern of qualified names."),
        Field("mode", one_of("eager", "replay"), "Does Python run, or is a captured graph replayed?"),
        Field("phase", one_of("load-possible", "no-load"), "Can a load be in flight?"),
        WHY,
    ),
    unique=("function", "mode", "phase"),
)
ASSUMPTIONS = Table(
    "assumptions",
    Assumption,
    "Facts that no code contains.",
    (
        Field("id", SLUG, "The id that verdicts and reports name."),
        Field("fact", SENTENCE, "What is assumed, in one sentence."),
        Field("scope", QUALIFIED, "A pattern of the qualified names of the functions where it holds."),
        Field(
            "verdict",
            one_of("metadata", "address", "store", "not-loaded", "no-load", "transfer-side", "not-a-pool"),
            "The reason why reads there are exempt.",
        ),
        WHY,
        Field("upstream", SENTENCE, "The line of the engine that supports it."),
    ),
    unique=("id",),
)
CONFIGURATION = _names("configuration", "Classes whose fields keep their value once the first pool is built.")
MEANINGS = Table(
    "meanings",
    Meaning,
    "Tests that are another name of a condition.",
    (
        Field("test", CONDITION, "The test as reports show it."),
        Field("means", CONDITION, "The condition that it is: exactly one of the two values, or that it is true."),
        WHY,
    ),
    unique=("test",),
)
IMPLICATIONS = Table(
    "implications",
    Implication,
    "Conditions that hold together, which no code says.",
    (
        Field("when", TEXT, "The condition that implies the others; without one they always hold.", default=""),
        Field("scope", listing(QUALIFIED, may_be_empty=True), "Patterns of the functions it is about.", default=()),
        Field("classes", listing(PATTERN, may_be_empty=True), "Patterns of the classes of objects.", default=()),
        Field("then", listing(CONDITION), "The conditions that hold as well."),
        WHY,
    ),
    unique=("when", "scope", "classes"),
)
USES = Table(
    "uses",
    Uses,
    "How tensors are used, by attribute and method name.",
    (
        _uses("metadata", "Read no element."),
        _uses("address", "Take the address."),
        _uses("views", "Make another view of the same storage."),
        _uses("stores", "Write elements and read none."),
        _uses("synchronizes", "Wait for the device from the host."),
        WHY,
    ),
    many=False,
)
GRAPHS = Table(
    "graphs",
    Graphs,
    "Captured device graphs: their replay runs no Python, so no wait that Python makes.",
    (
        Field("classes", listing(IDENTIFIER), "Classes whose objects record the with block that begins with them."),
        Field("replay", IDENTIFIER, "Their method that runs the record.", default="replay"),
        Field(
            "forwards",
            listing(QUALIFIED, may_be_empty=True),
            "Calls, by the end of the dotted expression, that run the network where the code hides which it is.",
            default=(),
        ),
        WHY,
    ),
    many=False,
)
CONNECTORS = Table(
    "connectors",
    Connectors,
    "Plugins that load, each with a wait for the layer at hand.",
    (
        Field("roots", listing(IDENTIFIER), "Classes that connectors derive from."),
        Field("wait", IDENTIFIER, "The method that returns when the layer at hand is there."),
        Field("load", IDENTIFIER, "The method that starts the loads of a forward pass."),
        Field("offer", IDENTIFIER, "The method that tells how much can be loaded, and whether between passes."),
        Field(
            "absent", listing(IDENTIFIER, may_be_empty=True), "Functions: false where no connector loads.", default=()
        ),
        Field("idle", listing(IDENTIFIER, may_be_empty=True), "Names: None in a pass without requests.", default=()),
        Field(
            "uncaptured",
            IDENTIFIER,
            "The method by which a plugin asks that no captured graph holds the reads that it waits for.",
            default="",
        ),
        WHY,
    ),
    many=False,
)

TABLES: tuple[Table[object], ...] = (
    *(ENGINE, RECOGNISE, POOLS, ACCESSORS, BUFFERS, HOST_SIDE, NOT_POOLS, TRANSFERS, LAUNCHES),
    *(GATES, ARMING, IN_FLIGHT, KERNELS, ENTRIES, ASSUMPTIONS),
    *(CONFIGURATION, MEANINGS, IMPLICATIONS, USES, GRAPHS, CONNECTORS, PARAMETERS),
)
"""Every table of a pack, in the order of the documentation."""

NEEDED = (ENGINE.name, RECOGNISE.name)
"""The tables that no pack can do without."""


def pack_schema() -> JsonSchema:
    """Describe the pack format as a JSON Schema (editors complete and check TOML with it)."""
    version: JsonSchema = {"const": SCHEMA_VERSION, "description": "The version of this format."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "pack-v1.schema.json",
        "title": "bufgate rule pack",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema", *NEEDED],
        "properties": {"schema": version} | {table.name: table_schema(table) for table in TABLES},
    }


def table_schema(table: Table[object]) -> JsonSchema:
    """Describe one table as a JSON Schema."""
    row: JsonSchema = {
        "type": "object",
        "additionalProperties": False,
        "required": [field.name for field in table.fields if field.default is REQUIRED],
        "properties": {field.name: _field_schema(field) for field in table.fields},
    }
    return {"description": table.doc, "type": "array", "items": row} if table.many else {"description": table.doc} | row


def _field_schema(field: Field) -> JsonSchema:
    default = {} if field.default is REQUIRED else {"default": _as_json(field.default)}
    return {"description": field.doc} | default | _kind_schema(field.kind)


def _as_json(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


_JSON_TYPES: Mapping[type, str] = {bool: "boolean", str: "string", int: "integer", list: "array"}


def _kind_schema(kind: Kind) -> JsonSchema:
    if kind.of is not None:
        size: JsonSchema = {} if kind.may_be_empty else {"minItems": 1}
        return {"type": "array", "items": _kind_schema(kind.of)} | size
    if kind.choices:
        return {"enum": list(kind.choices)}
    names = [_JSON_TYPES[accepted] for accepted in kind.types]
    schema: JsonSchema = {"type": names[0] if len(names) == 1 else names}
    if kind.pattern:
        schema["pattern"] = kind.pattern.replace(r"\Z", "$")
    if kind.minimum is not None:
        schema["minimum"] = kind.minimum
    return schema
