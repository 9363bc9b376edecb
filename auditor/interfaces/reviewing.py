"""One review after another, as the server asks for them: fetch, ``review collect``, ``review publish``.

Both stages are commands of their own. The first gets no secret; the second takes what the first wrote as hostile, so
every pull request is treated like that of a fork. All may be stopped at any time and done again: nothing is told twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from auditor.errors import AuditError
from auditor.interfaces.again import command, environment
from auditor.interfaces.deliveries import Deliveries, Work
from auditor.interfaces.hosting import KEY, TOKEN, Place
from auditor.review import pull_commits
from auditor.source import Revisions

SECRET = "BUFGATE_WEBHOOK_SECRET"
LONGEST = 3600.0
"""Seconds of one stage."""
PATIENCE = 10.0
"""Seconds for the thread to clear up when it is stopped."""
_OF_THE_SERVER = frozenset({SECRET, "GITHUB_EVENT_PATH", "GITHUB_STEP_SUMMARY"})


@dataclass(slots=True)
class Reviewer:
    """Works the queue off in a thread, one pull request at a time. ``parts``: audit only these paths."""

    place: Place
    clone: Path
    deliveries: Deliveries
    token: Callable[[], str]
    parts: Sequence[str]
    say: Callable[[str], None]
    _news: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stage: subprocess.Popen[bytes] | None = None
    _stopped: bool = False
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, with what an earlier server left."""
        self._thread = threading.Thread(target=self._work, name="reviewer", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Tell that there is something in the queue."""
        self._news.set()

    def stop(self) -> None:
        """End what runs; it stays in the queue."""
        with self._lock:
            self._stopped = True
            self._kill()
        self._news.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _work(self) -> None:
        try:
            while not self._stopped:
                self._news.clear()
                while not self._stopped and (work := self.deliveries.next()):
                    self._one(work)
                self._news.wait()
        finally:
            if not self._stopped:  # a server that takes deliveries and does nothing would be worse than none
                os.kill(os.getpid(), signal.SIGTERM)

    def _one(self, work: Work) -> None:
        well = False
        try:
            well = self._review(work.number)
        except (AuditError, OSError) as error:
            self.say(f"#{work.number}: {error}")
        finally:
            if not self._stopped:
                self.deliveries.end(work, well=well)
                self.say(f"#{work.number}: {'done' if well else 'failed; a new delivery tries it again'}")

    def _review(self, number: int) -> bool:
        commits = pull_commits(self.place.client(token=self.token()), self.place.repository, number)
        if commits is None:
            return True
        base, head = commits
        Revisions.around(self.clone).fetch(base, head)
        with TemporaryDirectory(prefix="bufgate-") as folder:
            plain = {name: value for name, value in environment().items() if name not in {TOKEN, KEY, *_OF_THE_SERVER}}
            plain["TMPDIR"] = folder
            artifact = Path(folder) / "review.json"
            parts = [word for part in self.parts for word in ("--path", part)]
            self._run(plain, "collect", "--base", base, "--head", head, *parts, "--quiet", "-o", str(artifact))
            if not artifact.exists():
                return False
            secrets = {TOKEN: self.token(), KEY: os.environ.get(KEY, "")}  # an App's token holds for an hour
            trusted = plain | self.place.variables() | secrets
            return self._run(trusted, "publish", "--artifact", str(artifact), "--head", head, "--pr", str(number)) == 0

    def _run(self, variables: Mapping[str, str], *words: str) -> int | None:
        """Run a stage; None where it did not end by itself."""
        with self._lock:
            if self._stopped:
                return None
            self._stage = subprocess.Popen(
                command("review", *words),
                cwd=self.clone,
                env=variables,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            return self._stage.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self._kill()
            self._stage.wait()
            return None

    def _kill(self) -> None:
        """End the stage that runs, with all its processes; what it leaves lies in the folder that it was given."""
        if self._stage is not None and self._stage.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._stage.pid, signal.SIGKILL)
