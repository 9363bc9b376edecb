"""The fix of each finding, where one is known: from the cache, else written now, which loads a parser."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from auditor.audit.extracting import code_digest
from auditor.checks import Finding
from auditor.gating import Remedy
from auditor.source import SourceTree
from auditor.store import Store
from auditor.triage import Fix

ROOMS = ("fix",)
"""Whose code decides what a fix is, beside the remedy and the source."""


def fixes_of(findings: Sequence[Finding], tree: SourceTree, store: Store) -> list[Fix | str]:
    """Return for each finding its fix, or why there is none."""
    keys = {one.remedy: _key(one.remedy, tree) for one in findings if isinstance(one.remedy, Remedy)}
    known = {key: fix for key, data in store.get(list(keys.values())).items() if (fix := _decoded(data)) is not None}
    missing = [remedy for remedy, key in keys.items() if key not in known]
    if missing:
        from auditor.fix import Proposer

        proposer = Proposer(tree.lines)
        made = {keys[remedy]: proposer.fix(remedy) for remedy in missing}
        store.keep({key: _encoded(fix) for key, fix in made.items()}, used=known)
        known.update(made)
    return [one.remedy if isinstance(one.remedy, str) else known[keys[one.remedy]] for one in findings]


def _key(remedy: Remedy, tree: SourceTree) -> bytes:
    """What a fix depends on: the remedy, the lines of the functions that it names, the code that writes it."""
    digest = hashlib.blake2b(repr(remedy).encode("utf-8", "surrogatepass"), digest_size=20, key=code_digest(*ROOMS))
    for extent in dict.fromkeys((remedy.extent, *(one.extent for one in remedy.waits))):
        for line in tree.lines(extent.path)[extent.start - 1 : extent.end]:
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.digest()


def _encoded(fix: Fix | str) -> bytes:
    return json.dumps(fix if isinstance(fix, str) else asdict(fix)).encode()


def _decoded(data: bytes) -> Fix | str | None:
    """A fix, or None for what an accident has left: a miss."""
    try:
        kept = json.loads(data)
        return kept if isinstance(kept, str) else Fix(**kept)
    except (ValueError, TypeError):
        return None
