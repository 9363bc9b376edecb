"""The store saves time or does nothing: no accident in its file becomes an answer or an exception."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from auditor.store import Store

KEYS = [bytes([number]) * 20 for number in range(20)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "facts.sqlite3"


def kept(path: Path, values: dict[bytes, bytes], **how: int) -> Store:
    store = Store(path, **how)
    store.keep(values)
    store.close()
    assert store.trouble == ""
    return store


def test_what_is_kept_is_found_by_the_next_run(path):
    kept(path, {KEYS[0]: b"one", KEYS[1]: b""})
    store = Store(path)
    assert store.get(KEYS[:3]) == {KEYS[0]: b"one", KEYS[1]: b""}
    store.close()
    assert store.get(KEYS[:3]) == {}


def test_without_a_path_nothing_is_kept_and_nothing_is_wrong():
    store = Store(None)
    store.keep({KEYS[0]: b"one"})
    assert store.get(KEYS) == {}
    assert store.trouble == ""


def test_more_keys_than_one_query_may_name(path):
    many = {number.to_bytes(20, "big"): str(number).encode() for number in range(1201)}
    kept(path, many)
    assert Store(path).get(list(many)) == many


def test_the_longest_unused_go_first_when_it_is_too_much(path):
    noise = {key: bytes((17 * number + key[0] * 31) % 251 for number in range(400)) for key in KEYS[:6]}
    kept(path, noise)
    again = Store(path)
    again.keep({}, used=KEYS[:2])
    again.close()
    sizes = sqlite3.connect(path).execute("SELECT sum(size) FROM entry").fetchone()[0]
    kept(path, {KEYS[9]: b"new"}, limit=sizes - 1)
    found = Store(path).get(KEYS)
    assert {KEYS[0], KEYS[1], KEYS[9]} <= set(found)
    assert len(found) < 7
    rows = sqlite3.connect(path).execute("SELECT (SELECT count(*) FROM entry), (SELECT count(*) FROM content)")
    assert rows.fetchone() == (len(found), len(found))


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(5000)])
def test_a_damaged_file_is_a_miss_and_says_so(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    store = Store(path)
    assert store.get(KEYS) == {}
    store.keep({KEYS[0]: b"one"})
    assert (store.trouble == "") == (content == b"")
    if content:
        assert "delete it" in store.trouble


def test_a_damaged_value_is_a_miss(path):
    kept(path, {KEYS[0]: b"one" * 100, KEYS[1]: b"two"})
    connection = sqlite3.connect(path)
    connection.execute("UPDATE content SET value = x'789c00' WHERE key = ?", (KEYS[0],))
    connection.commit()
    connection.close()
    store = Store(path)
    assert KEYS[0] not in store.get(KEYS)
    assert "delete it" in store.trouble


def test_a_locked_file_is_still_read_and_its_writes_are_given_up(path, monkeypatch):
    monkeypatch.setattr("auditor.store._WAIT", 0.05)
    kept(path, {KEYS[0]: b"one"})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store = Store(path)
    assert store.get(KEYS) == {KEYS[0]: b"one"}
    store.keep({KEYS[1]: b"two"})
    assert "locked" in store.trouble
    other.execute("ROLLBACK")
    assert Store(path).get(KEYS) == {KEYS[0]: b"one"}


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "cache" / "facts.sqlite3")
    assert store.get(KEYS) == {}
    assert "is not used" in store.trouble


def test_the_folder_is_marked_as_a_cache(path):
    kept(path, {})
    assert (path.parent / ".gitignore").read_text() == "*\n"
    assert (path.parent / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
