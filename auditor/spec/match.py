"""Does a name belong to a pack? One compiled matcher a group of names, and one byte pattern for whole files."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache

from auditor.spec.model import EngineSpec, Names

_WORD = r"[\w\x80-\xff]"
"""A byte of an identifier: of UTF-8, every byte of a letter outside ASCII is above 0x7f."""
_WIDE = r"[\xc2-\xf4][\x80-\xbf]+"
_CHARACTER = rf"(?:\w|{_WIDE})"


class Matcher:
    """Finds the first group that a name belongs to. Keep one where names are looked up in a loop."""

    __slots__ = ("_answers", "_groups", "_pattern")

    def __init__(self, groups: tuple[Names, ...]) -> None:
        """Compile the patterns of ``groups`` into one expression, a branch a group."""
        branches = ("|".join(map(fnmatch.translate, group.patterns)) for group in groups)
        self._groups = groups
        self._pattern = re.compile("|".join(f"({branch})" for branch in branches)) if groups else None
        self._answers: dict[str, Names | None] = {}

    def __call__(self, name: str) -> Names | None:
        """Return the group of the last part of a dotted name."""
        last = name.rpartition(".")[2]
        if last not in self._answers:
            self._answers[last] = self._find(last)
        return self._answers[last]

    def _find(self, last: str) -> Names | None:
        found = self._pattern.match(last) if self._pattern else None
        return self._groups[found.lastindex - 1] if found and found.lastindex else None


@lru_cache(maxsize=256)
def matcher(groups: tuple[Names, ...]) -> Matcher:
    """Return the matcher of ``groups``, compiled once."""
    return Matcher(groups)


def matches(name: str, groups: tuple[Names, ...]) -> Names | None:
    """Return the first group with a pattern that the last part of ``name`` matches (case counts)."""
    return matcher(groups)(name)


def seeds(spec: EngineSpec) -> frozenset[str]:
    """List the literal identifiers that make a file worth a look: gates, counters, arming calls, pools, graphs."""
    calls = {name for gate in spec.gates for name in (gate.method, gate.counter)} | {arm.method for arm in spec.arming}
    calls |= {spec.connectors.wait, spec.connectors.offer} - {""}
    pools = {pattern for group in _asked_pools(spec) for pattern in group.patterns}
    return frozenset(calls | set(spec.graphs.classes) | {pool for pool in pools if not _is_wild(pool)})


@lru_cache(maxsize=64)
def seed_pattern(spec: EngineSpec) -> re.Pattern[bytes]:
    """Compile the pattern that finds, in the bytes of a file, every whole identifier the pack has a word for."""
    return re.compile(_identifiers(_seed_patterns(spec)).encode("latin-1"))


@lru_cache(maxsize=64)
def member_pattern(spec: EngineSpec) -> re.Pattern[bytes]:
    """Compile the pattern of the identifiers among them that are accessors or buffers alone: members of an object."""
    groups = (*spec.accessors, *spec.buffers)
    others = seeds(spec) | _patterns(*_asked_pools(spec), *spec.transfers, *spec.parameters)
    return re.compile(_identifiers(_patterns(*groups) - others).encode("latin-1"))


@lru_cache(maxsize=64)
def needles(spec: EngineSpec) -> tuple[bytes, ...]:
    """List byte strings of which every identifier that ``seed_pattern`` finds holds at least one.

    A file without any needs no scan, and ``needle in content`` is several times faster than a scan.
    """
    longest = {max(re.split(r"[*?]|\[!?\]?[^\]]*\]", pattern), key=len) for pattern in _seed_patterns(spec)}
    return tuple(sorted(word.encode() for word in longest if not any(other in word for other in longest - {word})))


def _seed_patterns(spec: EngineSpec) -> frozenset[str]:
    groups = (*spec.accessors, *spec.buffers, *_asked_pools(spec), *spec.transfers, *spec.parameters)
    return seeds(spec) | _patterns(*groups)


def _patterns(*groups: Names) -> frozenset[str]:
    return frozenset(pattern for group in groups for pattern in group.patterns)


def _asked_pools(spec: EngineSpec) -> tuple[Names, ...]:
    """The pools, unless each object is a layer: then one stands for all, and who builds them does not matter."""
    return () if spec.connectors.wait else spec.pools


def _identifiers(patterns: Iterable[str]) -> str:
    """Join identifier patterns, grouped by their first byte.

    That no identifier byte stands before is tested after the first byte: so the engine can skip to a possible start.
    """
    by_start: dict[str, list[str]] = {}
    for pattern in sorted(patterns):
        plain = re.match("[A-Za-z_]", pattern)
        head, tail = (pattern[0], pattern[1:]) if plain else ("", pattern)
        by_start.setdefault(head, []).append(_expression(tail))
    before = {head: rf"{head}(?<!{_WORD}.)" if head else rf"(?<!{_WORD})(?={_WORD})" for head in by_start}
    branches = (f"{before[head]}(?:{'|'.join(tails)})(?!{_WORD})" for head, tails in by_start.items())
    return "|".join(branches) or "(?!)"


def _expression(pattern: str) -> str:
    """Translate a shell pattern. All but the last star take the first chunk that fits, once and for all (as ``fnmatch``
    does), so no identifier, however long, takes more than a linear time a star."""
    first, *rest = (_fixed(chunk) for chunk in re.split(r"\*+", pattern))
    if not rest:
        return first
    middle = "".join(f"(?>{_WORD}*?{chunk})" for chunk in rest[:-1])
    return f"{first}{middle}{_WORD}*{rest[-1]}"


def _fixed(chunk: str) -> str:
    return "".join(map(_piece, re.findall(r"\[!?\]?[^\]]*\]|.", chunk)))


def _piece(piece: str) -> str:
    if piece == "?":
        return _CHARACTER
    if piece.startswith("[") and piece.endswith("]"):  # of letters outside ASCII: any, which finds more, never less
        inside = piece[1:-1].replace("\\", r"\\")
        return rf"(?:[^{inside[1:]}]|{_WIDE})" if inside.startswith("!") else rf"(?:[{inside}]|{_WIDE})"
    return "".join(map(re.escape, piece.encode().decode("latin-1")))


def _is_wild(pattern: str) -> bool:
    return any(character in pattern for character in "*?[")
