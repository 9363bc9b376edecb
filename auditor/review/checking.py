"""The check run: one for each head, with annotations for what no comment tells. It is a display, not the gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Protocol

from auditor.render import clean
from auditor.review import wording
from auditor.review.artifact import Artifact
from auditor.review.policy import Policy
from auditor.review.pull import Annotate, Annotation, PostCheck, Pull, Write

BATCH = 50
"""Annotations of one request."""
MOST = 500
"""Annotations of a check run; the summary has the others."""
_LEVELS = {"error": "failure", "warning": "warning", "note": "notice"}


class Review(Protocol):
    """What is to be told and how."""

    @property
    def artifact(self) -> Artifact: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def links(self) -> wording.Links: ...


def check_writes(review: Review, pull: Pull, places: Mapping[str, str]) -> Iterator[Write]:
    """Post the check run, or append the annotations that a run which broke off did not."""
    check = _check(review, places)
    there = next((one for one in pull.checks if one.key == check.key), None)
    if there is None:
        yield replace(check, annotations=check.annotations[:BATCH])
    for start in range(BATCH, len(check.annotations), BATCH):
        part = check.annotations[start : start + BATCH]
        if there is None:
            yield Annotate("", check.title, check.summary, part)  # of the run that was just posted
        elif there.annotations < start + len(part):
            yield Annotate(there.id, check.title, check.summary, part[max(0, there.annotations - start) :])


def _check(review: Review, places: Mapping[str, str]) -> PostCheck:
    artifact, policy = review.artifact, review.policy
    conclusion = policy.conclusion(artifact)
    title = wording.title(artifact, policy)
    text = wording.summary(artifact, policy, review.links, {})
    annotations = tuple(_annotations(artifact, places))
    told = repr((conclusion, title, text, annotations))
    key = f"bufgate:v1:{blake2b(told.encode('utf-8', 'backslashreplace'), digest_size=8).hexdigest()}"
    return PostCheck(artifact.head, key, conclusion, title, text, annotations)


def _annotations(artifact: Artifact, places: Mapping[str, str]) -> Iterator[Annotation]:
    told = [one for one in artifact.introduced if one.status == "new" and places.get(one.fingerprint, "here") == "here"]
    for one in told[:MOST]:
        title, message = wording.annotation(one)
        yield Annotation(clean(one.path), max(1, one.line), _LEVELS[one.severity], title, message)
