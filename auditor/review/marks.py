"""The hidden mark at the head of each comment of ours: for which findings it stands, and what it said last.

A mark counts only in a comment that the token's own account wrote. In a workflow that account writes for every other
workflow as well; with a key, marks are signed, and one without the right signature is none.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, replace
from hashlib import blake2b

FINDING, SUMMARY = "finding", "summary"
OPEN, FIXED, SUPPRESSED, MOVED = "open", "fixed", "suppressed", "moved"

_MARK = re.compile(r"<!-- bufgate:v1 ([\w=.,: -]*) -->\r?\n?")
_FIELDS = ("kind", "group", "state", "head", "members", "refused", "digest", "mac")


@dataclass(frozen=True, slots=True)
class Mark:
    """``group`` names the findings that a comment stands for, ``members`` are their fingerprints (none in a summary).
    ``head`` is the commit that was last spoken of; ``digest`` stands for the text under the mark as we wrote it (hosts
    change line ends and blanks); ``refused`` are the groups whose place in the diff the host did not take at this head.
    """

    kind: str
    group: str = ""
    state: str = ""
    head: str = ""
    members: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """Writes and reads marks of one pull request (``scope``: ``host/owner/name#number``)."""

    scope: str
    key: bytes = b""

    def put(self, mark: Mark, text: str) -> str:
        """Return a text with its mark before it."""
        signed = replace(mark, digest=_digest(text))
        fields = _written(signed)
        if self.key:
            fields = f"{fields} mac={self._mac(fields)}"
        return f"<!-- bufgate:v1 {fields} -->\n{text}"

    def read(self, body: str) -> Mark | None:
        """Return the mark of a comment, or None where there is none that counts."""
        found = _MARK.match(body)
        if found is None:
            return None
        written, _, mac = found[1].partition(" mac=")
        if self.key and not hmac.compare_digest(mac, self._mac(written)):
            return None
        values = dict(part.partition("=")[::2] for part in written.split(" "))
        if not {"kind", "digest"} <= values.keys() <= set(_FIELDS):
            return None
        members, refused = (tuple(filter(None, values.pop(name, "").split(","))) for name in ("members", "refused"))
        return Mark(members=members, refused=refused, **values)

    def _mac(self, fields: str) -> str:
        return hmac.digest(self.key, f"{self.scope}\0{fields}".encode(), "sha256").hex()[:32]


def unmarked(body: str) -> str:
    """Return what a comment says without its mark."""
    return _MARK.sub("", body, count=1)


def same(mark: Mark | None, text: str) -> bool:
    """Whether a comment with this mark says the text already."""
    return mark is not None and mark.digest == _digest(text)


def _written(mark: Mark) -> str:
    values = {
        "kind": mark.kind,
        "group": mark.group,
        "state": mark.state,
        "head": mark.head,
        "members": ",".join(mark.members),
        "refused": ",".join(mark.refused),
        "digest": mark.digest,
    }
    return " ".join(f"{name}={value}" for name, value in values.items() if value)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
