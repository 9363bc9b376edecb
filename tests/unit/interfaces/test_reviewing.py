"""The thread that reviews: what goes wrong with one pull request, and what must not pass in silence."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.errors import UsageError
from auditor.interfaces.deliveries import FILE, Deliveries
from auditor.interfaces.hosting import place
from auditor.interfaces.reviewing import Reviewer

Start = Callable[[BaseException], Reviewer]


@pytest.fixture
def queue(tmp_path: Path) -> Deliveries:
    return Deliveries(tmp_path / FILE)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def start(queue: Deliveries, tmp_path: Path, told: list[str]) -> Start:
    def one(error: BaseException) -> Reviewer:
        def token() -> str:
            raise error

        made = Reviewer(place("acme/engine", None, {}), tmp_path, queue, token, (), told.append)
        queue.add("d-1", 7)
        made.start()
        return made

    return one


def test_what_can_be_mended_is_told_and_the_next_one_is_done(start, queue, told):
    reviewer = start(UsageError("no token today"))
    queue.add("d-2", 8)
    reviewer.wake()
    end = time.monotonic() + 60
    while len(told) < 4 and time.monotonic() < end:
        time.sleep(0.01)
    reviewer.stop()
    failed = "failed; a new delivery tries it again"
    assert told == ["#7: no token today", f"#7: {failed}", "#8: no token today", f"#8: {failed}"]
    assert queue.next() is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_our_own_ends_the_server(start, queue, told, monkeypatch):
    """The delivery is not the first thing that the next server does."""
    sent = []
    monkeypatch.setattr(os, "kill", lambda *signalled: sent.append(signalled))
    start(KeyError("base"))._thread.join(60)
    assert sent == [(os.getpid(), signal.SIGTERM)]
    assert told == ["#7: failed; a new delivery tries it again"]
    assert queue.next() is None
