"""Facts of files: from the cache where an earlier run left them, else extracted and left there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from auditor.audit.kept import code_digest
from auditor.extract import Source
from auditor.facts import ModuleFacts, decode
from auditor.store import Store

ROOMS = ("extract", "facts")
"""Whose code decides what the facts of a file are."""


class FactsOf:
    """Call it with sources: it yields the facts of each, in order, and tells ``detail`` where they come from."""

    def __init__(
        self,
        extract: Callable[[Sequence[Source]], Iterable[bytes]],
        store: Store,
        detail: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._extract = extract
        self._store = store
        self._detail = detail
        self.kept = 0
        """Files whose facts came from the cache."""

    def __call__(self, sources: Sequence[Source]) -> Iterator[ModuleFacts]:
        keys = [key(source) for source in sources]
        known = {name: facts for name, data in self._store.get(keys).items() if (facts := _decoded(data)) is not None}
        made = iter(self._extract([source for source, name in zip(sources, keys, strict=True) if name not in known]))
        fresh: dict[bytes, bytes] = {}
        self.kept += len(known)
        for source, name in zip(sources, keys, strict=True):
            self._detail(f"{source.path}: {'facts from the cache' if name in known else 'parsed'}")
            if name not in known:
                fresh[name] = next(made)
            yield known[name] if name in known else decode(fresh[name])
        self._store.keep(fresh, used=known)


def key(source: Source) -> bytes:
    """What the facts of a file depend on: its content and place, and the code that extracts."""
    digest = hashlib.blake2b(digest_size=20, key=code_digest(*ROOMS))
    for text in (source.path, source.module, "package" if source.is_package else ""):
        part = text.encode("utf-8", "surrogatepass")  # names of files need not be Unicode
        digest.update(len(part).to_bytes(4, "big") + part)
    digest.update(source.content)
    return digest.digest()


def _decoded(data: bytes) -> ModuleFacts | None:
    """The facts, or None for what another version or an accident has left: a miss."""
    try:
        return decode(data)
    except ValueError:
        return None
