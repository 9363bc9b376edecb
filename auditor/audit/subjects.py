"""Trees as the subjects of answers: a work tree, and a revision before it is unpacked.

Both say the same of the same files, so that one answer serves a work tree, the commit that is made of it and whoever
looks at that commit later. What reading the files would tell is kept from run to run: of a work tree what its files
looked like, of a revision what its list of files and its contents were found to be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b

from auditor.audit.kept import code_digest
from auditor.source import Snapshot, SourceTree, Stamps, digest_of
from auditor.store import Store

_REMEMBERED = 2
"""The digests of so many times the files of a tree are kept: of base and head, and of some revisions before."""


class WorkTree:
    """A tree whose files lie there; what they looked like is kept from run to run."""

    def __init__(self, tree: SourceTree, store: Store) -> None:
        self._tree = tree
        self._store = store
        self._stamped = blake2b("\n".join(tree.roots).encode("utf-8", "surrogateescape"), digest_size=20).digest()

    def shape(self) -> str:
        return self._tree.shape()

    def names(self) -> Sequence[str]:
        return self._tree.files

    def digests(self) -> Sequence[str]:
        stamps = Stamps(self._store.get([self._stamped]).get(self._stamped, b""))
        digests = self._tree.digests(stamps)
        if stamps.changed:
            self._store.keep({self._stamped: stamps.encoded()})
        return digests

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        return {name: content for name in names if (content := self._tree.read(name)) is not None}


class Revision:
    """A revision of a repository. Its list of files decides the shape of the tree that it is unpacked to, and git's
    name of a content never means another one: both are known without unpacking once they were seen."""

    def __init__(self, snapshot: Snapshot, store: Store, tree: Callable[[], SourceTree | None]) -> None:
        """``tree``: opens the tree that the revision is unpacked to, or one with the same files; their contents do not
        matter."""
        self._snapshot = snapshot
        self._store = store
        self._key = blake2b(snapshot.listing().encode(), digest_size=20, key=code_digest("source")).digest()
        self._shape, self._names, self._digests = _read(store.get([self._key]).get(self._key, b""))
        if not self._shape and (made := tree()) is not None:
            self._shape, self._names = made.shape(), made.files

    def shape(self) -> str:
        return self._shape

    def names(self) -> Sequence[str]:
        return self._names

    def digests(self) -> Sequence[str]:
        blobs = self._blobs()
        contents = self.contents([path for path, name in blobs.items() if name not in self._digests])
        self._keep({blobs[path]: digest_of(content) for path, content in contents.items()})
        return [self._digests.get(name, "") for name in blobs.values()]

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        return self._snapshot.contents(names)

    def remember(self, digests: Sequence[str]) -> None:
        """Remember the digests of all files, in order."""
        self._keep(dict(zip(self._blobs().values(), digests, strict=True)))

    def _blobs(self) -> dict[str, str]:
        """The files of the tree, in order, and git's names of their contents."""
        blobs = self._snapshot.blobs()
        return {path: blobs.get(path, "") for path in self._names}

    def _keep(self, digests: Mapping[str, str]) -> None:
        new = {name: digest for name, digest in digests.items() if name and name not in self._digests}
        if new:
            self._digests.update(new)
            here = self._digests.keys() & self._blobs().values()
            in_use = sorted(self._digests.items(), key=lambda one: one[0] in here)  # what is asked for now comes last
            rows = [self._shape, [*self._names], dict(in_use[-_REMEMBERED * len(self._names) :])]
            self._store.keep({self._key: json.dumps(rows, separators=(",", ":")).encode("ascii")})


def _read(kept: bytes) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """What was kept of a list of files; nothing from bytes that hold anything else."""
    try:
        shape, names, digests = json.loads(kept)
        texts = [shape, *names, *digests, *digests.values()]
    except (ValueError, TypeError, AttributeError):
        return "", (), {}
    return (shape, tuple(names), digests) if all(type(text) is str for text in texts) else ("", (), {})
