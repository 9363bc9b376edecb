"""What could not be published: kept in ``.bufgate/outbox`` until ``bufgate review publish --resume``.

An entry holds the artifact and where it goes, not the requests: what has to be written is worked out anew from what
then stands in the pull request, so nothing is posted twice however the run before it ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor.errors import UsageError
from auditor.interfaces.output import deliver
from auditor.review import LARGEST, Artifact, from_json, to_json

FOLDER = Path(".bufgate") / "outbox"
SCHEMA = "outbox-v1"


@dataclass(frozen=True, slots=True)
class Entry:
    """An artifact for a pull request; ``number`` 0 where it was not known yet."""

    repository: str
    number: int
    artifact: Artifact


def keep(entry: Entry) -> Path:
    """Write an entry; a later one for the same commit takes its place."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER.parent / ".gitignore").write_text("*\n", encoding="ascii")
    file = FOLDER / f"{entry.repository.replace('/', '+')}-{entry.artifact.head[:12]}.json"
    document = {
        "schema": SCHEMA,
        "repository": entry.repository,
        "number": entry.number,
        "artifact": to_json(entry.artifact),
    }
    deliver(json.dumps(document) + "\n", file)
    return file


def kept(repository: str) -> Iterator[tuple[Path, Entry]]:
    """Read the entries for a repository.

    Raises:
        UsageError: a file is none.
    """
    for file in sorted(FOLDER.glob("*.json")):
        entry = _read(file)
        if entry.repository == repository:
            yield file, entry


def _read(file: Path) -> Entry:
    try:
        document = json.loads(file.read_bytes()[: 8 * LARGEST])
        if document["schema"] != SCHEMA:
            raise ValueError(document["schema"])
        number, repository = int(document["number"]), str(document["repository"])
        content = str(document["artifact"]).encode()
    except (OSError, ValueError, TypeError, KeyError):
        raise UsageError(f"{file} is no entry of the outbox: delete it, or write it again by publishing") from None
    return Entry(repository, number, from_json(content, str(file)))
