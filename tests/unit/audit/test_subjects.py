"""What a revision is told to be before it is unpacked is what it is when it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from auditor.audit.subjects import _REMEMBERED, Revision
from auditor.source import INDEX, Revisions, SourceTree, open_tree
from auditor.source.reading import DEFAULT_LIMIT
from auditor.store import Store
from tests.e2e.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache" / "facts.sqlite3")


class Staged:
    """The index as a subject, and how often its files were listed."""

    def __init__(self, repository: Repository, store: Store) -> None:
        self.listed = 0
        with Revisions.around(repository.top) as revisions:
            snapshot = revisions.snapshot(INDEX, Path(), "")
            assert snapshot is not None
            tree = open_tree([revisions.unpack(INDEX)])
            self.unpacked = (tree.shape(), tree.files, [tree.digest(path) for path in tree.files])
            self.subject = Revision(snapshot, store, self._listing(open_tree([revisions.outline(INDEX)])))

    def _listing(self, tree: SourceTree) -> Callable[[], SourceTree]:
        def listing() -> SourceTree:
            self.listed += 1
            return tree

        return listing

    def is_told(self) -> bool:
        """Whether the subject says what the unpacked tree is."""
        return self.unpacked == (self.subject.shape(), self.subject.names(), self.subject.digests())


def test_a_revision_says_what_the_unpacked_tree_is(repository, store):
    first = Staged(repository, store)
    assert first.is_told()
    repository.edit("router.py", "self", "this")
    repository.stage()
    second = Staged(repository, store)
    assert second.is_told()
    assert (first.listed, second.listed) == (1, 0)
    assert second.subject.digests() != first.subject.digests()


def test_a_list_of_other_files_is_told_anew(repository, store):
    Staged(repository, store).subject.digests()
    repository.write("engine/minikv/more.py", "x = 1\n")
    repository.stage()
    other = Staged(repository, store)
    assert other.is_told()
    assert other.listed == 1


def test_digests_of_contents_that_are_in_use_are_kept_longest(repository, store, monkeypatch):
    """However many versions of one file there were, what all versions have in common is never read again."""
    asked: list[int] = []
    contents = Revision.contents

    def counted(one: Revision, names: Collection[str]) -> Mapping[str, bytes]:
        asked.append(len(names))
        return contents(one, names)

    monkeypatch.setattr(Revision, "contents", counted)
    count = len(Staged(repository, store).subject.names())
    for number in range(_REMEMBERED * count):
        repository.write("engine/minikv/router.py", f"x = {number}\n")
        repository.stage()
        assert Staged(repository, store).subject.digests()
        assert asked.pop() == (1 if number else count)


def test_a_file_that_is_too_large_has_no_digest(repository, store):
    repository.write("engine/minikv/large.py", "#" * (DEFAULT_LIMIT + 1))
    repository.stage()
    one = Staged(repository, store)
    assert one.is_told()
    assert "" in one.subject.digests()
    assert "engine/minikv/large.py" not in one.subject.contents(one.subject.names())


@pytest.mark.parametrize("kept", [b"", b"[]", b"{", b"5", b'["a", 5, {}]', b'["a", ["b"], {"c": 1}]', b"[1, [], {}]"])
def test_what_was_kept_by_somebody_else_is_not_believed(repository, store, kept):
    one = Staged(repository, store)
    one.subject.digests()
    store.keep({one.subject._key: kept})
    again = Staged(repository, store)
    assert again.is_told()
    assert again.listed == 1
