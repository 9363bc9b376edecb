"""review-v1, the one file that goes from ``collect`` to ``publish`` (reports/schema/review-v1.schema.json).

Whoever can open a pull request can write this file, so it is read as hostile: its size is bounded before it is parsed,
its form after; its texts are escaped where they are shown, and its paths count only where the host knows them as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from auditor.conforms import faults
from auditor.errors import AuditError
from auditor.spec import data
from auditor.triage import Fix, Step

SCHEMA = "review-v1"
LARGEST = 4 * 1024 * 1024
"""Bytes of an artifact."""
MOST, LONGEST, DEEPEST = 1000, 2000, 60
"""Findings of a list, characters of a text, steps of a path. The schema has the same numbers."""


class ArtifactError(AuditError):
    """Indicates that a file is no artifact of ``review collect``; the user can collect anew."""


@dataclass(frozen=True, slots=True)
class Introduced:
    """A finding that is in the head and not in the merge base. ``status``: ``new`` or ``suppressed``, then with its
    ``justification``. ``gates`` are those that its sites had before, by their places in the merge base. ``fix`` is not
    in the file: whoever wrote it could put code there that people take over with one click."""

    fingerprint: str
    check: str
    severity: str
    confidence: str
    message: str
    path: str
    line: int
    function: str
    buffer: str
    status: str
    justification: str
    witness: tuple[Step, ...]
    gates: tuple[Step, ...]
    hints: tuple[str, ...]
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """A finding that is in the merge base and not in the head."""

    fingerprint: str
    check: str
    severity: str
    function: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """Head − merge base. Paths are relative to the top of the repository. ``problems`` made the audit incomplete,
    ``left_out`` counts introduced findings beyond the limit, ``known`` those that were there before."""

    tool_version: str
    base: str
    head: str
    coverage: str
    problems: tuple[str, ...]
    known: int
    left_out: int
    introduced: tuple[Introduced, ...]
    fixed: tuple[Gone, ...]


def to_json(artifact: Artifact) -> str:
    """Write an artifact, cut to the limits of its schema; one finding a line."""
    introduced = _fitting(_finding(one) for one in artifact.introduced[:MOST])
    left_out = artifact.left_out + len(artifact.introduced) - len(introduced)
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": {"name": "bufgate", "version": artifact.tool_version},
        "base": artifact.base,
        "head": artifact.head,
        "coverage": _cut(artifact.coverage),
        "problems": [_cut(problem) for problem in artifact.problems[:MOST]],
        "known": artifact.known,
        "left_out": left_out,
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    lines.append(f'"introduced": {_rows(introduced)}')
    lines.append(f'"fixed": {_rows(_fitting(_document(asdict(one)) for one in artifact.fixed[:MOST]))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _finding(one: Introduced) -> Any:
    row = asdict(_shortened(one))
    del row["fix"]
    return _document(row)


def _shortened(one: Introduced) -> Introduced:
    steps = one.witness
    if len(steps) > DEEPEST:  # where it begins and where it ends
        steps = (*steps[: DEEPEST // 2], *steps[-DEEPEST // 2 :])
    return replace(one, witness=steps, gates=one.gates[:DEEPEST], hints=one.hints[:DEEPEST])


def _document(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, dict):
        return {name: _document(part) for name, part in value.items()}
    return [_document(part) for part in value] if isinstance(value, list | tuple) else value


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _fitting(items: Iterable[object]) -> list[str]:
    """Write items as long as the file stays below its limit: each of two lists has a third of it."""
    room = LARGEST // 3
    rows: list[str] = []
    for item in items:
        rows.append(json.dumps(item))
        room -= len(rows[-1])
        if room < 0:
            return rows[:-1]
    return rows


def _rows(rows: list[str]) -> str:
    return "[\n  " + ",\n  ".join(rows) + "\n]" if rows else "[]"


# ---------------------------------------------------------------- reading


def schema() -> Mapping[str, Any]:
    """Return the JSON Schema of an artifact."""
    text = data("reports").joinpath("schema", "review-v1.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def from_json(content: bytes, origin: str) -> Artifact:
    """Read an artifact from whoever wrote it; ``origin`` names it in errors.

    Raises:
        ArtifactError: it is too large, no JSON, or not of the form of the schema.
    """
    if len(content) > LARGEST:
        raise ArtifactError(f"{origin} is larger than {LARGEST:,} bytes: not written by `bufgate review collect`")
    try:
        document = json.loads(content, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{origin} is no artifact of `bufgate review collect`: {str(error)[:200]}") from None
    if fault := next(faults(document, schema()), None):
        raise ArtifactError(f"{origin} is no artifact of `bufgate review collect`, version {SCHEMA}: {fault}")
    names = [row["fingerprint"] for row in document["introduced"]]
    if len(set(names)) != len(names):
        raise ArtifactError(f"{origin} is no artifact of `bufgate review collect`: a fingerprint comes twice")
    return Artifact(
        tool_version=document["tool"]["version"],
        **{name: document[name] for name in ("base", "head", "coverage", "known", "left_out")},
        problems=tuple(document["problems"]),
        introduced=tuple(map(_introduced, document["introduced"])),
        fixed=tuple(Gone(**row) for row in document["fixed"]),
    )


def _refused(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _introduced(row: dict[str, Any]) -> Introduced:
    steps = {name: tuple(Step(**step) for step in row[name]) for name in ("witness", "gates")}
    return Introduced(**{**row, **steps, "hints": tuple(row["hints"])})
