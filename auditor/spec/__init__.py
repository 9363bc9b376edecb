"""Rule packs: what the tool must be told of an engine, because no code says it. Data (TOML), never Python.

A *pack* is one file about one engine, an *entry* one row of it, a *why* the sentence that justifies an entry. A pack is
checked as a whole: what comes out of this room is valid, and a file that is not is refused with every fault at its
line. Nothing here looks at audited code.

The format is one table, ``auditor.spec.table``; ``rules/schema/pack-v1.schema.json`` is generated from it.
"""

from auditor.spec.folders import MissingData, data
from auditor.spec.load import (
    PackError,
    UnknownPack,
    built_in_packs,
    find_pack,
    load_pack,
    pack_text,
    parse_pack,
)
from auditor.spec.match import Matcher, matcher, matches, member_pattern, needles, seed_pattern, seeds
from auditor.spec.model import (
    Arming,
    Assumption,
    Connectors,
    EngineSpec,
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
from auditor.spec.positions import Address
from auditor.spec.reader import Fault, Faulty, Reader, did_you_mean, parse_toml, read_toml
from auditor.spec.table import (
    BOOLEAN,
    SCHEMA_VERSION,
    SENTENCE,
    SLUG,
    Field,
    Table,
    listing,
    one_of,
    pack_schema,
    table_schema,
)

__all__ = [
    "BOOLEAN",
    "SCHEMA_VERSION",
    "SENTENCE",
    "SLUG",
    "Address",
    "Arming",
    "Assumption",
    "Connectors",
    "EngineSpec",
    "EntryPoint",
    "Fault",
    "Faulty",
    "Field",
    "GatePrimitive",
    "Graphs",
    "Implication",
    "InFlight",
    "Kernel",
    "Matcher",
    "Meaning",
    "MissingData",
    "Names",
    "PackError",
    "Reader",
    "Recognition",
    "Table",
    "UnknownPack",
    "Uses",
    "built_in_packs",
    "data",
    "did_you_mean",
    "find_pack",
    "listing",
    "load_pack",
    "matcher",
    "matches",
    "member_pattern",
    "needles",
    "one_of",
    "pack_schema",
    "pack_text",
    "parse_pack",
    "parse_toml",
    "read_toml",
    "seed_pattern",
    "seeds",
    "table_schema",
]
