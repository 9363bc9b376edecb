"""Whole answers that earlier runs left.

An answer is kept with its *trace*: a digest of every file that was read, and what all others said to what they were
asked (see ``questions``). It is the answer of a fresh run as long as nothing that it rests on is different: our own
code, the packs and options, the *shape* of the tree (which files, modules and roles there are), the files that were
read. A file that was not read may be changed, if it still says the same.
"""

from __future__ import annotations

import datetime
import functools
import json
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from auditor.audit.questions import Questions, Vocabulary, does
from auditor.source import mentions
from auditor.store import Store
from auditor.triage import Report, decode, encode

READ = "="
"""What a file says whose content counts."""
PRODUCT, OTHER = "p", "o"
"""How the answer of a file begins: whether it is product code."""
_SLOTS = 8
"""Answers kept for one shape: of base and head, of the branches that somebody goes to and fro between."""


class Subject(Protocol):
    """A tree, before it is read."""

    def shape(self) -> str:
        """Return a digest of everything but contents."""

    def names(self) -> Sequence[str]:
        """Return the files, in order."""

    def digests(self) -> Sequence[str]:
        """Return a digest of the content of each file; "" where it cannot be read."""

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents of some files, as far as they can be read."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What an answer rests on. ``said``: for each file ``READ``, or the role and what it answered. ``day``: when a
    suppression ends some time, the day for which the answer holds."""

    day: str
    questions: Questions
    said: Mapping[str, str]


class Answers:
    """The answers about one tree that are kept in a store.

    Args:
        asked: a digest of what is asked: code, packs, options.
    """

    def __init__(self, store: Store, subject: Subject, asked: bytes, today: datetime.date | None) -> None:
        self._store = store
        self._subject = subject
        self._today = str(today)
        self._key = blake2b(subject.shape().encode(), digest_size=20, key=asked).digest()

    def recall(self) -> Report | None:
        """Return the report that a fresh run would make, if it is known."""
        kept = self._store.get([self._slot(number) for number in range(_SLOTS)])
        digests = self._subject.digests() if kept else ()
        for key, data in kept.items():
            if (entry := _read(data)) is not None and self._holds(entry, digests):
                report = _decoded(self._store.get([entry.report]).get(entry.report, b""))
                if report is not None:
                    self._store.keep({}, used=(key, entry.report))
                    return report
        return None

    def keep(self, report: Report, trace: Trace, digests: Sequence[str]) -> None:
        """Keep a report."""
        state = blake2b("".join(digests).encode(), digest_size=20, key=self._key).digest()
        said = [trace.said.get(name, READ) for name in self._subject.names()]
        entry = _Entry(state, trace.day, trace.questions, tuple(digests), tuple(said))
        self._store.keep({self._vacant(state[0] % _SLOTS): _written(entry), state: encode(report)})

    def _vacant(self, first: int) -> bytes:
        """A slot that holds nothing, from ``first`` on; else any: two answers that are asked for by turns must not
        drive each other out for ever."""
        slots = [self._slot((first + number) % _SLOTS) for number in range(_SLOTS)]
        kept = self._store.get(slots)
        return next((slot for slot in slots if slot not in kept), random.choice(slots))

    def _slot(self, number: int) -> bytes:
        return self._key + bytes([number])

    def _holds(self, entry: _Entry, digests: Sequence[str]) -> bool:
        if entry.day not in ("", self._today) or len(entry.digests) != len(digests):
            return False
        files = zip(self._subject.names(), entry.digests, digests, entry.said, strict=True)
        changed = {name: said for name, before, now, said in files if before != now}
        if READ in changed.values():
            return False
        contents = self._subject.contents(changed)
        asked = entry.questions.identifiers()
        return contents.keys() == changed.keys() and all(
            said == _says(entry.questions, asked, contents[name], said[:1]) for name, said in changed.items()
        )


def _says(questions: Questions, asked: frozenset[str], content: bytes, role: str) -> str:
    """What a file says that has changed."""
    mentioned = mentions(content, asked)
    chosen = role == PRODUCT and questions.vocabulary.in_(content)
    return role + questions.answer(
        mentioned, lambda name, use: does(name, use, content), product=role == PRODUCT, chosen=chosen
    )


# ---------------------------------------------------------------- as bytes


@dataclass(frozen=True, slots=True)
class _Entry:
    """A trace as it is kept. ``report``: the key of the report; ``digests`` and ``said`` in the order of the files."""

    report: bytes
    day: str
    questions: Questions
    digests: tuple[str, ...]
    said: tuple[str, ...]


def _written(entry: _Entry) -> bytes:
    asked = entry.questions
    names = {use: sorted(found) for use, found in asked.names.items()}
    words = asked.vocabulary
    needles = [one.decode("latin-1") for one in words.needles]
    patterns = [one.pattern.decode("latin-1") for one in (words.pattern, words.members)]
    rows = [entry.report.hex(), entry.day, asked.whole, names, needles, patterns, entry.digests, entry.said]
    return json.dumps(rows, separators=(",", ":")).encode("ascii")


def _read(data: bytes) -> _Entry | None:
    """A trace, or None for what is none: another version's, or an accident."""
    try:
        report, day, whole, names, needles, patterns, digests, said = json.loads(data)
        questions = Questions(
            tuple(map(tuple, whole)),
            {use: frozenset(found) for use, found in names.items()},
            Vocabulary(
                tuple(one.encode("latin-1") for one in needles),
                *(re.compile(one.encode("latin-1")) for one in patterns),
            ),
        )
        return _Entry(bytes.fromhex(report), day, questions, tuple(digests), tuple(said))
    except (ValueError, TypeError, AttributeError, re.error):
        return None


@functools.lru_cache(maxsize=2)
def _decoded(data: bytes) -> Report | None:
    """A report; of two trees with the same answer it is read once."""
    try:
        return decode(data)
    except ValueError:
        return None
