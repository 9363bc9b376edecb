"""From TOML to ``EngineSpec``: everything that is wrong with a pack is said at once, each fault at its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path

from auditor.errors import AuditError
from auditor.spec.folders import data
from auditor.spec.model import Connectors, EngineSpec, Graphs, Uses
from auditor.spec.reader import Faulty, Reader, did_you_mean, parse_toml, read_toml
from auditor.spec.table import (
    ACCESSORS,
    ARMING,
    ASSUMPTIONS,
    BUFFERS,
    CONFIGURATION,
    CONNECTORS,
    ENGINE,
    ENTRIES,
    GATES,
    GRAPHS,
    HOST_SIDE,
    IMPLICATIONS,
    IN_FLIGHT,
    KERNELS,
    LAUNCHES,
    MEANINGS,
    NEEDED,
    NOT_POOLS,
    PARAMETERS,
    POOLS,
    RECOGNISE,
    TABLES,
    TRANSFERS,
    USES,
    Engine,
)


class PackError(Faulty):
    """Indicates that a rule pack is not in the pack format."""


class UnknownPack(AuditError):
    """Indicates that no rule pack has the wanted name."""


def load_pack(path: Path | Traversable | str, *, origin: str = "") -> EngineSpec:
    """Read one rule pack; ``origin`` names it in faults and displays (if not given, its path as given does).

    Raises:
        PackError: the file cannot be read or is not a rule pack.
    """
    place = Path(path) if isinstance(path, str) else path
    shown = origin or (place.as_posix() if isinstance(place, Path) else str(place))
    return parse_pack(read_toml(place, shown, PackError), shown)


def pack_text(spec: EngineSpec) -> str:
    """Return the text of a pack's file; its ``origin`` tells which that is."""
    if spec in built_in_packs():
        return data("rules").joinpath(spec.origin.removeprefix("rules/")).read_text(encoding="utf-8")
    return read_toml(Path(spec.origin), spec.origin, PackError)


def parse_pack(text: str, origin: str) -> EngineSpec:
    """Read a rule pack from its text; ``origin`` names it in faults and displays."""
    document = parse_toml(text, origin, PackError)
    reader = Reader.of(origin, text)
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
    raise UnknownPack(f"no rule pack {name!r}{did_you_mean(name, names)} (there are: {', '.join(names) or 'none'})")


def _spec(reader: Reader, document: Mapping[str, object]) -> EngineSpec:
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
        transfers=reader.rows(document, TRANSFERS),
        launches=reader.rows(document, LAUNCHES),
        kernels=reader.rows(document, KERNELS),
        entries=reader.rows(document, ENTRIES),
        assumptions=reader.rows(document, ASSUMPTIONS),
        configuration=reader.rows(document, CONFIGURATION),
        meanings=reader.rows(document, MEANINGS),
        implications=reader.rows(document, IMPLICATIONS),
        uses=reader.one(document, USES, Uses((), (), (), (), (), "")),
        graphs=reader.one(document, GRAPHS, Graphs((), "", (), "")),
        connectors=reader.one(document, CONNECTORS, Connectors((), "", "", "", (), (), "", "")),
        parameters=reader.rows(document, PARAMETERS),
    )
