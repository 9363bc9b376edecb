"""Which contents mention which identifiers: an inverted index over bytes.

Built in one pass (bytes.translate and split beat a regular expression by a third, measured); a query is a look-up.
Comments and strings count. Python compares identifiers after NFKC normalisation, so words with non-ASCII letters are
indexed in that form too; contents in another encoding are indexed as their text. Contents are named by their digests,
so an index that an earlier run kept serves for everything that has not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from auditor.collector import no_collector
from auditor.source.reading import declared_encoding
from auditor.source.wordstore import KeptWords, keep_words, kept_words

_WORD_BYTES = bytes(byte if chr(byte).isalnum() or byte == 0x5F or byte >= 0x80 else 0x20 for byte in range(256))
_UNCHANGED_SHARE = 0.9  # below it an index of an earlier run is not mended but built anew


class WordIndex:
    """Identifier to the digests of the contents that hold it."""

    def __init__(self, contents: Mapping[str, bytes], store: Path | None = None) -> None:
        self._kept = _worth_keeping(kept_words(store) if store else None, contents)
        old = self._kept.digests if self._kept else ()
        self._scanned = _scanned({digest: data for digest, data in contents.items() if digest not in old})
        if store and self._kept is None:
            keep_words(store, list(contents), self._scanned)

    def holders(self, identifier: str) -> list[str]:
        """Return the digests of the contents that hold ``identifier`` as a whole word; old ones may be among them."""
        word = normalised(identifier)
        return [*self._scanned.get(word, ()), *(self._kept.holders(word) if self._kept else ())]


def words(data: bytes) -> set[bytes]:
    """Return every identifier-like word of Python source, in the form that Python compares."""
    if data.isascii() and b"coding" not in data[:400]:
        return set(data.translate(_WORD_BYTES).split())
    encoding = declared_encoding(data)
    if encoding not in ("utf-8", "ascii"):
        data = _recoded(data, encoding)
    found = set(data.translate(_WORD_BYTES).split())
    found.update([part for word in found if not word.isascii() for part in _unicode_words(word)])
    return found


def mentions(data: bytes, identifiers: Iterable[str]) -> frozenset[str]:
    """Return those of ``identifiers`` that a content holds as a whole word, as ``WordIndex`` tells it."""
    held = words(data)
    return frozenset(name for name in identifiers if normalised(name) in held)


def normalised(identifier: str) -> bytes:
    """Return the UTF-8 of an identifier as Python compares it."""
    if identifier.isascii():
        return identifier.encode()
    import unicodedata

    return unicodedata.normalize("NFKC", identifier).encode("utf-8", "surrogateescape")


def _worth_keeping(kept: KeptWords | None, contents: Mapping[str, bytes]) -> KeptWords | None:
    if kept is None:
        return None
    unchanged = sum(len(data) for digest, data in contents.items() if digest in kept.digests)
    return kept if unchanged >= _UNCHANGED_SHARE * sum(map(len, contents.values())) else None


def _scanned(contents: Mapping[str, bytes]) -> dict[bytes, list[str]]:
    holders: dict[bytes, list[str]] = {}
    with no_collector():  # a hundred thousand lists and no cycle: the collector would look at them all, many times
        for digest, data in contents.items():
            for word in words(data):
                if word in holders:
                    holders[word].append(digest)
                else:
                    holders[word] = [digest]
    return holders


def _recoded(data: bytes, encoding: str) -> bytes:
    try:
        return data.decode(encoding, "replace").encode("utf-8", "replace")
    except (LookupError, UnicodeError):
        return data


def _unicode_words(word: bytes) -> Iterator[bytes]:
    import re

    for part in re.findall(r"\w+", word.decode("utf-8", "replace")):
        yield normalised(part)
