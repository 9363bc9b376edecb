"""The word index of an earlier run, as one file in a cache folder.

Layout: a checksum, then zlib of: a line of JSON (sizes), the digests, the words, per word the number of its postings,
the postings. Written beside and renamed; a file that is damaged, half or of another version is a miss, and a folder
that cannot be written is none.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_VERSION = f"words-1 {sys.byteorder} {array('I').itemsize} {sys.version_info[0]}.{sys.version_info[1]}"
_CHECKSUM_BYTES = 16
_KEPT_FILES = 5


@dataclass(frozen=True, slots=True)
class KeptWords:
    """The index as it was kept: word to number, number to the slice of ``postings`` that names its contents."""

    digests: Mapping[str, int]
    order: Sequence[str]
    numbers: Mapping[bytes, int]
    ends: array[int]
    postings: array[int]

    def holders(self, word: bytes) -> Iterator[str]:
        """Return the digests of the contents that hold a word."""
        number = self.numbers.get(word, -1)
        if number >= 0:
            start = self.ends[number - 1] if number else 0
            yield from (self.order[position] for position in self.postings[start : self.ends[number]])


def kept_words(file: Path) -> KeptWords | None:
    """Return the index in ``file``, None where there is none that can be trusted."""
    import zlib

    try:
        data = file.read_bytes()
        if data[:_CHECKSUM_BYTES] != _checksum(data[_CHECKSUM_BYTES:]):
            return None
        return _unpacked(zlib.decompress(data[_CHECKSUM_BYTES:]))
    except (OSError, ValueError, zlib.error):
        return None


def keep_words(file: Path, digests: Sequence[str], holders: Mapping[bytes, Sequence[str]]) -> None:
    """Write the index to ``file``; remove the files of the trees that were not audited for longest."""
    import tempfile
    import zlib

    body = zlib.compress(_packed(digests, holders), 1)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, scratch = tempfile.mkstemp(dir=file.parent, prefix=".words-")
        try:
            with open(descriptor, "wb") as stream:
                stream.write(_checksum(body) + body)
            os.replace(scratch, file)
        except OSError:
            os.unlink(scratch)
            raise
        for old in sorted(file.parent.glob("*.words"), key=lambda path: path.stat().st_mtime)[:-_KEPT_FILES]:
            old.unlink(missing_ok=True)


def _packed(digests: Sequence[str], holders: Mapping[bytes, Sequence[str]]) -> bytes:
    positions = {digest: position for position, digest in enumerate(digests)}
    counts = array("I", map(len, holders.values()))
    postings = array("I")
    for held in holders.values():
        postings.extend([positions[digest] for digest in held])
    parts = ("\n".join(digests).encode(), b"\n".join(holders), counts.tobytes(), postings.tobytes())
    head = json.dumps([_VERSION, *map(len, parts)]).encode()
    return b"\n".join((head, b"".join(parts)))


def _unpacked(data: bytes) -> KeptWords:
    from itertools import accumulate

    head, _, rest = data.partition(b"\n")
    version, *sizes = json.loads(head)
    if version != _VERSION:
        raise ValueError(version)
    ends = list(accumulate(sizes))
    digests, words, counts, postings = (rest[end - size : end] for size, end in zip(sizes, ends, strict=True))
    order = digests.decode().split("\n")
    numbers = {word: number for number, word in enumerate(words.split(b"\n") if words else ())}
    places = {digest: position for position, digest in enumerate(order)}
    return KeptWords(places, order, numbers, array("I", accumulate(array("I", counts))), array("I", postings))


def _checksum(data: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(data, digest_size=_CHECKSUM_BYTES).digest()
