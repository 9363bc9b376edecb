"""What GitHub sends to a server: whether it comes from GitHub, and which pull request has news.

Rules: docs.github.com, "Validating webhook deliveries" and "Webhook events and payloads", ``pull_request``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, NamedTuple

NEWS = frozenset({"opened", "reopened", "synchronize", "ready_for_review"})
"""Actions after which what was told may no longer hold."""


class Called(NamedTuple):
    """A pull request that a delivery speaks of."""

    repository: str
    number: int


def signed(secret: bytes, body: bytes, signature: str) -> bool:
    """Tell whether the sender of ``body`` knows the secret. ``signature`` is the header ``X-Hub-Signature-256``.

    The comparison takes the same time wherever a wrong signature differs from the right one.
    """
    right = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(right.encode(), signature.encode("utf-8", "surrogateescape"))


def called(event: str, body: bytes) -> Called | None:
    """Return the pull request that is to be reviewed, None where the event asks for nothing.

    Raises:
        ValueError: the body is not what GitHub sends.
    """
    if event != "pull_request":
        return None
    try:
        document = json.loads(body)
        repository, number = document["repository"]["full_name"], document["number"]
        news = document["action"] in NEWS or _other_base(document)
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("no event of a pull request") from error
    if type(repository) is not str or type(number) is not int or not 0 < number < 2**31:
        raise ValueError("no event of a pull request")
    return Called(repository, number) if news else None


def _other_base(document: Any) -> bool:
    return bool(document["action"] == "edited" and "base" in document["changes"])
