"""Which engine a tree is, and which of its classes are pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.errors import AuditError
from auditor.source import SourceTree
from auditor.spec import EngineSpec, built_in_packs, find_pack, load_pack, matcher

if TYPE_CHECKING:
    from auditor.link import Hierarchy


class NothingToAudit(AuditError):
    """Indicates that no engine is recognised in the tree, or that it shows no pool, gate or accessor."""


def packs(rules: Sequence[Path]) -> tuple[EngineSpec, ...]:
    """The packs in the files ``rules``, then the built-in ones."""
    return (*(load_pack(path) for path in rules), *built_in_packs())


def choose_engine(
    tree: SourceTree, name: str | None, known_packs: Sequence[EngineSpec], *, assumptions: bool
) -> EngineSpec:
    """The pack called ``name``, or the first that recognises the tree; without its assumptions if they are not wanted.

    Raises:
        NothingToAudit: no pack recognises the tree.
    """
    if name is not None:
        spec = find_pack(name, known_packs)
    else:
        tried = [(spec, *recognised(tree, spec)) for spec in known_packs]
        known = [spec for spec, found, _ in tried if found]
        if not known:
            looked = "".join(f"\n  {spec.name}: {why}" for spec, _, why in tried)
            raise NothingToAudit(
                f"no engine is recognised in {tree.root}. Looked for:{looked}\n"
                "Name the folder of an engine's sources, choose a rule pack with --engine PACK, or have one written: "
                "bufgate rules learn PATH."
            )
        spec = known[0]
    return spec if assumptions else replace(spec, assumptions=(), implications=())


def recognised(tree: SourceTree, spec: EngineSpec) -> tuple[bool, str]:
    """Whether one file holds all identifiers of one feature, and which."""
    for feature in spec.recognise:
        found = tree.mentioning(frozenset(feature.identifiers))
        common = frozenset.intersection(*(found.get(name, frozenset()) for name in feature.identifiers))
        if common:
            return True, f"{', '.join(feature.identifiers)} in {min(common)}"
    wanted = " or ".join(", ".join(feature.identifiers) for feature in spec.recognise)
    return False, f"no file mentions all of {wanted}"


def version(tree: SourceTree, spec: EngineSpec) -> str:
    """The version that the tree says it has, for display only; "" where it is computed."""
    for path in version_files(tree, spec):
        for line in tree.lines(path):
            *names, value = (part.strip() for part in line.split("="))
            if value[:1] in ("'", '"') and {"__version__", "version"}.intersection(names):
                return value.strip("\"'")
    return ""


def version_files(tree: SourceTree, spec: EngineSpec) -> list[str]:
    """The files that may tell the version. What a build has written beside the file of the pack (``_version.py``, as
    setuptools-scm does) counts first."""
    folder, _, name = spec.version_file.rpartition("/")
    found = (
        next((one for one in tree.files if one == wanted or one.endswith(f"/{wanted}")), None)
        for wanted in (f"{folder}/_{name}", spec.version_file)
    )
    return [path for path in found if path is not None]


def is_pool(spec: EngineSpec, cls: str, hierarchy: Hierarchy) -> bool:
    """A class of a pool family, or one that can be given a counter and keeps it."""
    if (
        hierarchy.is_kind_of(cls, matcher(spec.host_side))
        or matcher(spec.not_pools)(cls.rpartition(".")[2]) is not None
    ):
        return False
    if hierarchy.is_kind_of(cls, matcher(spec.pools)):
        return True
    counters = {gate.counter for gate in spec.gates}
    methods = {arming.method for arming in spec.arming}
    return any(
        not methods.isdisjoint(hierarchy.classes[base].facts.methods)
        and not counters.isdisjoint(hierarchy.stored(base))
        for base in hierarchy.mro(cls)
        if base in hierarchy.classes
    )
