"""Rule packs: what the tool must be told of an engine, because no code says it. Data (TOML), never Python.

A *pack* is one file about one engine, an *entry* one row of it, a *why* the sentence that justifies an entry. A pack is
checked as a whole: what comes out of this room is valid, and a file that is not is refused with every fault at its
line. Nothing here looks at audited code.

The format is one table, ``auditor.spec.table``; ``rules/schema/pack-v1.schema.json`` is generated from it.
"""

from auditor.spec.folders import MissingData, data
from auditor.spec.load import Fault, PackError, UnknownPack, built_in_packs, find_pack, load_pack, parse_pack
from auditor.spec.match import Matcher, matcher, matches, needles, seed_pattern, seeds
from auditor.spec.model import (
    Arming,
    Assumption,
    EngineSpec,
    EntryPoint,
    GatePrimitive,
    InFlight,
    Kernel,
    Names,
    Recognition,
    Uses,
)
from auditor.spec.table import SCHEMA_VERSION, pack_schema

__all__ = [
    "SCHEMA_VERSION",
    "Arming",
    "Assumption",
    "EngineSpec",
    "EntryPoint",
    "Fault",
    "GatePrimitive",
    "InFlight",
    "Kernel",
    "Matcher",
    "MissingData",
    "Names",
    "PackError",
    "Recognition",
    "UnknownPack",
    "Uses",
    "built_in_packs",
    "data",
    "find_pack",
    "load_pack",
    "matcher",
    "matches",
    "needles",
    "pack_schema",
    "parse_pack",
    "seed_pattern",
    "seeds",
]
