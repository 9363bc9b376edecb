"""What could not be published is kept, per repository and commit, and read back with the same care as any artifact."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from auditor.errors import AuditError
from auditor.interfaces.outbox import Entry, keep, kept
from tests.review.stage import NEXT, artifact, finding

ENTRY = Entry("acme/engine", 7, artifact(finding()))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_kept_and_read_is_the_same() -> None:
    file = keep(ENTRY)
    assert list(kept("acme/engine")) == [(file, ENTRY)]
    assert Path(".bufgate/.gitignore").read_text() == "*\n", "git does not see it"


def test_one_entry_a_commit_and_only_those_of_the_repository() -> None:
    keep(ENTRY)
    keep(ENTRY)
    keep(Entry("acme/engine", 0, artifact(head=NEXT)))
    keep(Entry("acme/other", 1, artifact()))
    assert [entry.number for _, entry in kept("acme/engine")] == [7, 0]


def test_nothing_was_kept() -> None:
    assert list(kept("acme/engine")) == []


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema": "outbox-v0"}', '{"schema": "outbox-v1", "number": "x"}']
)
def test_a_damaged_entry_is_named(content: str) -> None:
    file = keep(ENTRY)
    file.write_text(content)
    with pytest.raises(AuditError, match=re.escape(f"{file} is no entry")):
        list(kept("acme/engine"))


def test_a_damaged_artifact_is_refused() -> None:
    file = keep(ENTRY)
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "artifact": "{}"}))
    with pytest.raises(AuditError, match="no artifact"):
        list(kept("acme/engine"))
