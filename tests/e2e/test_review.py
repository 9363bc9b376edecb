"""The review bot as workflows run it: a real git repository, the command as a subprocess, GitHub on the loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.process import Done, run
from tests.e2e.repository import WAIT, WAITING, Repository
from tests.review.double import REPOSITORY, Double, Fault, Server
from tests.review.hub import event, opened, pushed

ROUTER = "engine/minikv/router.py"


class Hub:
    """A pull request that takes the wait out of the router, the repository, and the environment of its workflows."""

    def __init__(self, repository: Repository, double: Double, address: str, folder: Path, monkeypatch) -> None:
        self.repository, self.double, self.folder, self._patch = repository, double, folder, monkeypatch
        monkeypatch.setenv("GITHUB_API_URL", f"{address}/api/v3")
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", f"{address}/api/v3/graphql")
        monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
        monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
        monkeypatch.setenv("GITHUB_TOKEN", "gh-s3cret")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
        self.trusted = folder / "trusted"
        self.trusted.mkdir()

    def review(self, *more: str) -> Done:
        """In the workflow of the pull request."""
        self._patch.setenv("GITHUB_EVENT_PATH", str(event(self.folder, "pull_request", self.double)))
        return self._clean(run("review", *more, "--jobs", "1", "-q", "--pace", "0", cwd=self.repository.top))

    def collect(self, *more: str) -> Done:
        self._patch.setenv("GITHUB_EVENT_PATH", str(event(self.folder, "pull_request", self.double)))
        self._patch.delenv("GITHUB_TOKEN")
        done = run("review", "collect", *more, "-o", self.artifact, "--jobs", "1", cwd=self.repository.top)
        self._patch.setenv("GITHUB_TOKEN", "gh-s3cret")
        return self._clean(done)

    def publish(self, *more: str) -> Done:
        """In the other workflow, in a folder that has nothing of the branch."""
        self._patch.setenv("GITHUB_EVENT_PATH", str(event(self.folder, "workflow_run", self.double)))
        done = run("review", "publish", "--artifact", self.artifact, "--pace", "0", *more, cwd=self.trusted)
        return self._clean(done)

    @property
    def artifact(self) -> Path:
        return self.folder / "bufgate-review.json"

    def step_summary(self) -> str:
        return (self.folder / "summary.md").read_text(encoding="utf-8")

    def _clean(self, done: Done) -> Done:
        assert self.double.violations == []
        assert "gh-s3cret" not in done.stdout + done.stderr
        return done


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.git("checkout", "-qb", "topic")
    made.edit("router.py", WAIT, "")
    made.commit("Wait no more")
    return made


@pytest.fixture
def hub(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    double = opened(repository)
    with Server(double, prefix="/api/v3") as address:
        yield Hub(repository, double, address, tmp_path, monkeypatch)


# ---------------------------------------------------------------- one workflow


def test_the_life_of_a_pull_request(hub):
    """Introduced, again without a write, fixed, and the check run follows."""
    done = hub.review()
    assert done.exit == 1, done.stderr
    assert [(one.path, one.side) for one in hub.double.comments] == [(ROUTER, "RIGHT")] * 2
    assert "RouterPool.get_key_buffer" in hub.double.comments[0].body
    assert "before, this waited" in hub.double.comments[0].body
    assert f"```suggestion\r\n{WAIT.rstrip()}\r\n" in hub.double.comments[0].body
    writes = hub.double.writes
    assert hub.review().exit == 1
    assert hub.double.writes == writes, "the same again writes nothing"

    hub.repository.git("revert", "--no-edit", "HEAD")
    pushed(hub.double, hub.repository)
    assert hub.review().exit == 0
    assert all("Fixed in" in one.body and one.hidden == "RESOLVED" for one in hub.double.comments)
    assert len(hub.double.notes) == 1
    assert [one.body["conclusion"] for one in hub.double.checks] == ["failure", "success"]


def test_a_deleted_wait_is_where_a_reader_in_another_file_is_told(hub):
    """The reader that this opens lies in a file that nobody touched; no line of its path is in the diff."""
    hub.repository.git("reset", "-q", "--hard", "main")
    hub.repository.edit("router.py", WAITING, "            pass\n")
    hub.repository.commit("Say nothing")
    pushed(hub.double, hub.repository)
    assert hub.review().exit == 1
    sides = {(one.path, one.side) for one in hub.double.comments}
    assert (ROUTER, "LEFT") in sides
    assert any("attention.py" in one.body for one in hub.double.comments if one.side == "LEFT")


def test_a_rebase_tells_nothing_twice(hub):
    hub.review()
    before = [(one.id, one.body) for one in hub.double.comments]
    hub.repository.git("checkout", "-q", "main")
    hub.repository.write("README.md", "Another engine.\n")
    hub.repository.commit("Meanwhile")
    hub.repository.git("checkout", "-q", "topic")
    hub.repository.git("rebase", "-q", "main")
    hub.double.base = hub.repository.git("rev-parse", "main").stdout.strip()
    pushed(hub.double, hub.repository)
    assert hub.review().exit == 1
    assert [(one.id, one.body) for one in hub.double.comments] == before


def test_a_token_that_may_only_read(hub):
    """As in the pull request of a fork: the log and the step summary say it all, and the exit status holds."""
    hub.double.may = set()
    done = hub.review()
    assert done.exit == 1
    assert (hub.double.comments, hub.double.notes, hub.double.checks) == ([], [], [])
    assert done.stdout.count("::error file=engine/minikv/router.py,line=") == 4
    assert "4 findings introduced" in hub.step_summary()


def test_what_github_does_not_show_of_a_diff_is_read_from_the_clone(hub):
    hub.double.too_large = True
    hub.review()
    assert [one.line for one in hub.double.comments] == [42, 46]


def test_without_a_clone_a_finding_is_told_on_its_file(hub):
    hub.double.too_large = True
    hub.collect()
    hub.publish()
    assert [(one.path, one.line) for one in hub.double.comments] == [(ROUTER, 0)] * 2


def test_a_branch_without_python_is_not_audited(hub):
    hub.repository.git("reset", "-q", "--hard", "main")
    hub.repository.write("README.md", "Another engine.\n")
    hub.repository.commit("Words")
    pushed(hub.double, hub.repository)
    assert hub.review().exit == 0
    assert "No Python file differs" in hub.double.checks[0].body["output"]["summary"]


# ---------------------------------------------------------------- two workflows


def test_collect_then_publish(hub):
    done = hub.collect()
    assert (done.exit, done.stdout) == (1, "")
    assert "4 findings introduced" in done.stderr
    assert hub.double.log == [], "collect asks nobody"
    assert "4 findings introduced" in hub.step_summary()
    done = hub.publish()
    assert (done.exit, len(hub.double.comments)) == (0, 2), done.stderr
    assert hub.publish().exit == 0
    assert len(hub.double.comments) == 2


def test_dry_run_says_what_would_be_written(hub):
    hub.collect()
    done = hub.publish("--dry-run")
    assert done.exit == 0
    assert (hub.double.writes, hub.double.comments) == (0, [])
    assert "post a review of 2 comments" in done.stdout
    assert "post the summary" in done.stdout
    assert "post the check run: failure" in done.stdout
    hub.publish()
    assert hub.publish("--dry-run").stdout == "nothing to write\n"


def test_limits_are_those_of_the_base(hub):
    """The branch says that nothing fails; the base says that warnings do."""
    hub.repository.write("bufgate.toml", 'fail-on = "never"\n')
    hub.repository.commit("Do not fail")
    pushed(hub.double, hub.repository)
    assert hub.collect().exit == 1
    hub.publish()
    assert hub.double.checks[0].body["conclusion"] == "failure"
    hub.double.contents["bufgate.toml"] = 'fail-on = "never"\n'
    hub.publish()
    assert hub.double.checks[-1].body["conclusion"] == "neutral"


def test_an_artifact_of_another_commit_is_refused(hub):
    hub.collect()
    hub.double.head = "e" * 40
    done = hub.publish()
    assert done.exit == 2
    assert "is of commit" in done.stderr
    assert hub.double.writes == 0


def test_a_pull_request_that_moved_on_is_left_to_the_newer_run(hub):
    hub.collect()
    head = hub.double.head
    hub.double.head = "e" * 40
    done = hub.publish("--head", head, "--pr", "7")
    assert (done.exit, hub.double.writes) == (0, 0)
    assert "has moved on" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("schema", "review-v9", "$.schema"),
        ("extra", 1, "'extra'"),
        ("head", "main; rm -rf /", "$.head"),
        ("introduced", [{"path": "../../etc/passwd"}], "$.introduced[0]"),
        ("problems", ["x" * 3000], "longer than"),
    ],
)
def test_an_artifact_that_is_not_of_the_form_is_refused(hub, name, value, what):
    hub.collect()
    document = json.loads(hub.artifact.read_text())
    hub.artifact.write_text(json.dumps({**document, name: value}))
    done = hub.publish()
    assert done.exit == 2
    assert what in done.stderr
    assert hub.double.writes == 0


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b"\xff\xfe", b"NaN", b" " * 5_000_000])
def test_a_file_that_is_no_artifact(hub, content):
    hub.artifact.write_bytes(content)
    done = hub.publish()
    assert (done.exit, hub.double.log) == (2, [])
    assert "bufgate review collect" in done.stderr


def test_hostile_text_is_shown_and_never_obeyed(hub):
    hub.collect()
    document = json.loads(hub.artifact.read_text())
    evil = "--> <img src=x> @ada [click](https://evil.example) #1 \u202e ``` | \n# heading"
    for one in document["introduced"]:
        one.update(message=evil, function=evil, justification=evil, hints=[evil])
    document["coverage"] = evil
    hub.artifact.write_text(json.dumps(document))
    assert hub.publish().exit == 0
    for body in [*(one.body for one in hub.double.comments), hub.double.notes[0].body]:
        assert "<img" not in body
        assert "@ada" not in body
        assert "](https://evil" not in body
        assert "\u202e" not in body
        assert body.count("-->") == 1, "only our own mark"


# ---------------------------------------------------------------- when the host fails


def test_what_could_not_be_published_is_kept_and_resumed(hub):
    hub.collect()
    hub.double.faults += [Fault("POST", "/reviews$", "before", 502)] * 50
    done = hub.publish()
    assert done.exit == 2
    assert "--resume" in done.stderr
    (kept,) = (hub.trusted / ".bufgate/outbox").iterdir()
    assert "4 findings introduced" in hub.step_summary()
    hub.double.faults.clear()
    done = hub.publish("--resume")
    assert (done.exit, len(hub.double.comments), kept.exists()) == (0, 2, False), done.stderr
    assert "nothing for" in hub.publish("--resume").stderr


def test_what_has_no_pull_request_any_more_leaves_the_outbox(hub):
    hub.collect()
    hub.double.faults += [Fault("GET", "/commits/.*/pulls$", "before", 502)] * 50
    assert hub.publish().exit == 2
    hub.double.faults.clear()
    hub.double.state = "closed"
    done = hub.publish("--resume")
    assert (done.exit, hub.double.writes) == (0, 0)
    assert list((hub.trusted / ".bufgate/outbox").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["review", "--base", "main", "--repo", "nonsense"], "is no repository"),
        (["review", "--base", "main", "--api-url", "http://github.example"], "is no https:// address"),
        (["review", "--base", "nowhere"], "'nowhere' is no commit of"),
        (["review", "--base", "main", "publish"], "belongs after 'publish'"),
        (["review", "publish", "--artifact", "missing.json"], "cannot be read"),
        (["review", "collect"], "--base REV"),
    ],
)
def test_refused(hub, arguments, what):
    done = run(*arguments, cwd=hub.repository.top)
    assert done.exit == 2
    assert what in done.stderr


def test_without_a_token(hub, monkeypatch):
    hub.collect()
    monkeypatch.delenv("GITHUB_TOKEN")
    done = hub.publish()
    assert done.exit == 2
    assert "set $GITHUB_TOKEN" in done.stderr
