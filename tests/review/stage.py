"""A pull request to try things on: an artifact made by hand, a double that shows its diff, a run of the publisher."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from auditor.review import (
    Artifact,
    Client,
    Clock,
    GitHub,
    Gone,
    Introduced,
    Links,
    Marks,
    Outcome,
    Policy,
    Review,
    publish,
)
from auditor.review.github_client import API_VERSION, Answer
from auditor.triage import Step
from tests.review.double import REPOSITORY, Double, Server

BASE, HEAD, NEXT = "b" * 40, "a" * 40, "c" * 40
READER, POOL, FAR = "engine/reader.py", "engine/pool.py", "engine/far.py"
PATCH = """\
@@ -8,4 +8,5 @@ def read(pool, layer):
 eight
 nine
+ten is new
 eleven
 twelve"""
DELETION = """\
@@ -30,4 +30,3 @@ class Pool:
 thirty
-    self.wait(layer)
 thirty-two
 thirty-three"""
LINKS = Links("https://github.example", REPOSITORY)


def finding(number: int = 1, **changes: Any) -> Introduced:
    """Make a finding whose reader is the new line of ``PATCH``; each is in a function of its own."""
    made = Introduced(
        fingerprint=f"{number:016x}",
        check="ungated-access",
        severity="error",
        confidence="high",
        message=f"finding {number} reads `Pool.k_buffer` with no gate",
        path=READER,
        line=10,
        function=f"engine.reader.read_{number}",
        buffer="k_buffer",
        status="new",
        justification="",
        witness=(
            Step(FAR, 3, "calls read", "engine.far.run"),
            Step(READER, 10, "reads the buffer", "engine.reader.read"),
        ),
        gates=(Step(POOL, 31, "self.wait(layer)", "engine.pool.Pool.get"),),
        hints=("put the wait back", "lost gate: before, Pool.get waited"),
    )
    return replace(made, **changes)


def artifact(*introduced: Introduced, head: str = HEAD, **changes: Any) -> Artifact:
    made = Artifact("0.1.0", BASE, head, "3 errors in 50 sites of an engine.", (), 2, 0, introduced, ())
    return replace(made, **changes)


GONE = Gone("f" * 16, "disarmed-gate", "error", "engine.pool.Pool.old", POOL, 12)


class FakeTime:
    """A clock that stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)


@dataclass(slots=True)
class Direct(Client):
    """A client that talks to a double without HTTP between them, for tests that make many requests."""

    double: Double | None = None

    def _once(self, method: str, address: str, body: Mapping[str, object] | None) -> Answer:
        assert self.double is not None
        headers = {"authorization": "Bearer s3cret", "user-agent": "bufgate", "x-github-api-version": API_VERSION}
        content = b"" if body is None else json.dumps(body).encode()
        status, answer, more = self.double.handle(method, address.removeprefix(self.api), headers, content)
        if status is None:
            raise ConnectionResetError("dropped")
        lower = {name.lower(): value.replace("http://HOST", self.api) for name, value in more.items()}
        return Answer(status, lower, json.dumps(answer).encode())


@dataclass
class Stage:
    """A double that is served, and what connects to it."""

    double: Double
    address: str
    time: FakeTime = field(default_factory=FakeTime)
    said: list[str] = field(default_factory=list)
    key: bytes = b""

    def client(self, **changes: Any) -> Client:
        made = Client(self.address, f"{self.address}/graphql", "s3cret", clock=self.time.clock(), say=self.said.append)
        return replace(made, **changes)

    def direct(self) -> GitHub:
        """The double as a host, without HTTP."""
        api = "https://direct.example"
        client = Direct(api, f"{api}/graphql", "s3cret", clock=self.time.clock(), double=self.double)
        return GitHub(client, REPOSITORY, 7, self.marks())

    def marks(self) -> Marks:
        return Marks(f"{LINKS.server}/{REPOSITORY}#7", self.key)

    def host(self) -> GitHub:
        return GitHub(self.client(), REPOSITORY, 7, self.marks())

    def review(self, told: Artifact, policy: Policy | None = None) -> Review:
        return Review(told, policy or Policy(), LINKS, self.marks())

    def publish(self, told: Artifact, policy: Policy | None = None) -> Outcome:
        """Publish, and count what was written to the double."""
        before = self.double.writes
        outcome = publish(self.review(told, policy), self.host(), say=self.said.append)
        assert self.double.violations == []
        return replace(outcome, writes=self.double.writes - before)

    def live(self, fingerprint: str) -> list[Any]:
        """The live comments of a finding."""
        marks = self.marks()
        return [
            one
            for one in self.double.ours()
            if (mark := marks.read(one.body)) and mark.state == "open" and fingerprint in mark.members
        ]

    def summary(self) -> str:
        """The one summary comment, or nothing."""
        ours = [note.body for note in self.double.notes if note.author != "ada"]
        assert len(ours) <= 1, "two summaries"
        return ours[0] if ours else ""


@contextmanager
def stage(**changes: Any) -> Iterator[Stage]:
    """Serve a double with ``PATCH`` in the reader and ``DELETION`` in the pool."""
    values = {"head": HEAD, "base": BASE, "patches": {READER: PATCH, POOL: DELETION}, **changes}
    double = Double(**values)
    with Server(double) as address:
        yield Stage(double, address)
