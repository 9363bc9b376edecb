"""The review bot as a server: deliveries over HTTP, a clone, GitHub on the loopback, and what remains when it ends."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from auditor.interfaces.deliveries import FILE, Deliveries
from tests.e2e.process import LIMIT, command, environment, run
from tests.e2e.repository import WAIT, Repository
from tests.review.double import APP, ISSUED, REPOSITORY, Double, Server
from tests.review.hub import opened, pushed

SECRET = "s3cret of the hook"


class Bot:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.told = process, ""
        (address,) = [word for word in self.until("listens on").split() if word.startswith("http")]
        self._host = urlsplit(address).netloc

    def until(self, words: str) -> str:
        """Read what it says, up to the line with these words."""
        assert self.process.stderr
        for line in self.process.stderr:
            self.told += line
            if words in line:
                return line
        raise AssertionError(f"it has ended: {self.process.wait(timeout=LIMIT)}: {self.told}")

    def post(self, body: bytes, **headers: str) -> tuple[int, str]:
        connection = HTTPConnection(self._host, timeout=LIMIT)
        named = {f"X-{name.replace('_', '-')}": value for name, value in headers.items()}
        connection.request("POST", "/webhook", body, named)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def deliver(self, name: str, action: str = "synchronize", repository: str = REPOSITORY) -> tuple[int, str]:
        """Send what GitHub sends."""
        body = json.dumps({"action": action, "number": 7, "repository": {"full_name": repository}}).encode()
        signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        return self.post(body, GitHub_Event="pull_request", GitHub_Delivery=name, Hub_Signature_256=signature)

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Tell it to end, and return how it did."""
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=LIMIT)
        self.told += rest
        assert "Traceback" not in self.told
        assert SECRET not in self.told
        return self.process.returncode


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.git("clone", "-q", "--no-checkout", str(made.top), str(tmp_path / "clone"))
    made.git("checkout", "-qb", "topic")
    made.edit("router.py", WAIT, "")
    made.commit("Wait no more")
    return made


@pytest.fixture
def clone(repository: Repository, tmp_path: Path) -> Path:
    """Made before the branch was."""
    return tmp_path / "clone"


@pytest.fixture
def double(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    made = opened(repository)
    with Server(made) as address:
        monkeypatch.setenv("GITHUB_API_URL", address)
        monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
        monkeypatch.setenv("GITHUB_TOKEN", "gh-s3cret")
        monkeypatch.setenv("BUFGATE_WEBHOOK_SECRET", SECRET)
        for name in ("GITHUB_GRAPHQL_URL", "GITHUB_SERVER_URL", "GITHUB_EVENT_PATH"):
            monkeypatch.delenv(name, raising=False)
        yield made
    assert made.violations == []


@pytest.fixture
def start(clone: Path, double: Double) -> Iterator[Callable[[], Bot]]:
    started: list[subprocess.Popen[str]] = []

    def one() -> Bot:
        line = command("serve", clone, "--port", "0")
        started.append(subprocess.Popen(line, env=environment(), text=True, stderr=subprocess.PIPE))
        return Bot(started[-1])

    yield one
    for process in started:
        process.kill()
        process.communicate()


def test_a_delivery_becomes_a_review(start, double, repository):
    """What was done is not done again; what was pushed since is read when its delivery comes."""
    bot = start()
    assert bot.deliver("d-1", "opened") == (202, "queued")
    bot.until("#7: done")
    assert len(double.ours()) == 2
    assert "RouterPool.get_key_buffer" in double.comments[0].body
    assert [one.body["conclusion"] for one in double.checks] == ["failure"]

    requests = len(double.log)
    assert bot.deliver("d-1", "opened") == (202, "known")
    repository.git("revert", "--no-edit", "HEAD")
    pushed(double, repository)
    assert bot.deliver("d-2") == (202, "queued")
    bot.until("#7: done")
    assert len(double.log) > requests
    assert all("Fixed in" in one.body for one in double.ours())

    writes = double.writes
    assert bot.deliver("d-3") == (202, "queued")
    bot.until("#7: done")
    assert double.writes == writes, "nothing new, nothing written"
    assert bot.end() == 130


def test_who_does_not_know_the_secret_is_not_heard(start, double, clone):
    bot = start()
    body = b'{"action": "opened", "number": 7, "repository": {"full_name": "acme/engine"}}'
    named = {"GitHub_Event": "pull_request", "GitHub_Delivery": "d-1"}
    assert bot.post(body, **named)[0] == 401
    assert bot.post(body, Hub_Signature_256="sha256=" + "0" * 64, **named)[0] == 401
    assert bot.post(b"{", Hub_Signature_256="sha256=" + "0" * 64, **named)[0] == 401, "before it is read"
    assert bot.post(b" " * (25 * 2**20 + 1), **named)[0] == 413
    assert bot.deliver("d-1", "labeled") == (200, "nothing to do")
    assert bot.deliver("d-1", repository="acme/other") == (200, "nothing to do")
    assert bot.deliver("no name")[0] == 400
    assert Deliveries(clone / FILE).next() is None
    assert double.log == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_what_is_not_done_is_done_by_the_next_server(start, double, clone, number, status):
    bot = start()
    assert bot.deliver("d-1")[0] == 202
    assert bot.end(number) == status
    assert Deliveries(clone / FILE).next(), "it was ended on the way"
    assert double.comments == []
    start().until("#7: done")
    assert len(double.ours()) == 2


def test_what_failed_is_tried_when_it_is_delivered_again(start, double, clone):
    bot = start()
    shutil.move(clone / ".git", clone / "gone")
    bot.deliver("d-1")
    bot.until("#7: failed")
    shutil.move(clone / "gone", clone / ".git")
    assert bot.deliver("d-1") == (202, "queued")
    bot.until("#7: done")
    assert len(double.ours()) == 2


def test_a_closed_pull_request_is_left_alone(start, double):
    double.state = "closed"
    bot = start()
    bot.deliver("d-1")
    bot.until("#7: done")
    assert double.log == [("GET", f"/repos/{REPOSITORY}/pulls/7")]


def test_what_reads_the_branch_has_no_secret(start, tmp_path, monkeypatch):
    """git, as the stage that audits runs it, sees neither token nor secret."""
    git, log = shutil.which("git"), tmp_path / "seen"
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "git"
    wrapper.write_text(f'#!/bin/sh\n{{ echo "$@"; env; }} >> {log}."$PPID"\nexec {git} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("BUFGATE_REVIEW_KEY", "k3y of the marks")
    bot = start()
    bot.deliver("d-1")
    bot.until("#7: done")
    reading = [text for file in tmp_path.glob("seen.*") if "merge-base" in (text := file.read_text())]
    assert reading
    assert not [word for word in ("gh-s3cret", SECRET, "k3y of the marks") for text in reading if word in text]


# ---------------------------------------------------------------- as a GitHub App


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def test_an_app_asks_for_a_token_of_its_own(start, double, key, tmp_path, monkeypatch):
    public, plain = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    double.app_key = key.public_key().public_bytes(pem, public).decode()
    file = tmp_path / "app.pem"
    file.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.setenv("BUFGATE_APP_ID", APP)
    monkeypatch.setenv("BUFGATE_APP_KEY_FILE", str(file))
    bot = start()
    bot.deliver("d-1")
    bot.until("#7: done")
    assert len(double.ours()) == 2
    assert ISSUED not in bot.told


@pytest.mark.parametrize(("content", "told"), [(None, "cannot be read"), (b"no key", "names no private key")])
def test_a_key_that_is_none_is_told_at_once(clone, double, tmp_path, monkeypatch, content, told):
    file = tmp_path / "app.pem"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("BUFGATE_APP_ID", APP)
    monkeypatch.setenv("BUFGATE_APP_KEY_FILE", str(file))
    done = run("serve", clone, "--port", "0")
    assert (done.exit, told in done.stderr) == (2, True), done.stderr


# ---------------------------------------------------------------- what it needs


@pytest.mark.parametrize("name", ["BUFGATE_WEBHOOK_SECRET", "GITHUB_TOKEN", "GITHUB_REPOSITORY"])
def test_what_is_missing_is_told_before_anything_is_begun(clone, double, monkeypatch, name):
    monkeypatch.delenv(name)
    done = run("serve", clone, "--port", "0")
    assert done.exit == 2
    assert ("--repo" if name == "GITHUB_REPOSITORY" else name) in done.stderr


def test_a_port_that_is_taken(clone, double, start):
    port = start()._host.rpartition(":")[2]
    done = run("serve", clone, "--port", port)
    assert (done.exit, f"cannot listen on 127.0.0.1:{port}" in done.stderr) == (2, True)


def test_without_the_extra_it_says_how_to_get_it(clone, tmp_path):
    (tmp_path / "starlette.py").write_text("raise ImportError('not installed')\n")
    variables = environment() | {"BUFGATE_WEBHOOK_SECRET": SECRET}
    variables["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{variables['PYTHONPATH']}"
    done = subprocess.run(command("serve", clone), env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'bufgate[app]'" in done.stderr) == (2, True)
