"""What is introduced since a revision, and what a commit introduces: head − base by fingerprint."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.e2e.process import Done, check, run
from tests.e2e.repository import WAIT, WAITING, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


def since(repository: Repository, ref: str, *more: str) -> Done:
    return check("--since", ref, *more, cwd=repository.top)


def hook(repository: Repository, *more: str) -> Done:
    return run("check", "--hook", "-o", "json", "--no-timing", "--jobs", "1", "--quiet", *more, cwd=repository.top)


def told(done: Done, status: str = "new") -> set[tuple[str, str]]:
    return {
        (one["check"], one["function"].rpartition("minikv.")[2])
        for one in done.report["findings"]
        if one["status"] == status
    }


ROUTER = {
    ("disarmed-gate", "router.RouterPool.get_key_buffer"),
    ("disarmed-gate", "router.RouterPool.get_value_buffer"),
}


# ---------------------------------------------------------------- --since


def test_nothing_is_new_where_nothing_changed(repository):
    done = since(repository, "HEAD")
    assert done.exit == 0
    assert {one["status"] for one in done.report["findings"]} == {"known"}


def test_what_the_work_tree_adds_is_new(repository):
    repository.edit("router.py", WAIT, "")
    done = since(repository, "main")
    assert (told(done), done.exit) == (ROUTER, 1)
    assert told(done, "known") == told(check("--no-baseline", cwd=repository.top)) - ROUTER


def test_the_base_is_where_the_work_parted(repository):
    """What others did on main meanwhile is neither new nor gone."""
    repository.git("checkout", "-qb", "topic")
    repository.edit("router.py", WAIT, "")
    repository.commit("Wait no more")
    repository.git("checkout", "-q", "main")
    repository.edit("pools.py", "class DraftPool", "class OtherPool(KVCache):\n    pass\n\n\nclass DraftPool")
    repository.commit("Meanwhile")
    repository.git("checkout", "-q", "topic")
    assert told(since(repository, "main")) == ROUTER
    text = run("check", "--since", "main", "--jobs", "1", cwd=repository.top).stdout
    base = repository.git("rev-parse", "main~1").stdout[:12]
    assert re.search(rf"compared with main \({base}\): \d known, 4 new, 0 gone", text)


def test_a_reader_in_a_file_that_nobody_touched(repository):
    """The commit takes the wait out of the router; a backend that relied on it has a hole now."""
    repository.edit("router.py", WAITING, "            pass\n")
    done = since(repository, "main")
    assert "attention.OrderedVectorBackend.forward_extend" in {function for _, function in told(done)}
    assert done.exit == 1


def test_the_lost_gate_is_named(repository):
    repository.edit("router.py", WAIT, "")
    text = run("check", "--since", "main", "--jobs", "1", cwd=repository.top).stdout
    assert "lost gate: before, RouterPool.get_key_buffer waited for it" in text
    assert "lost gate: before, LatentPool" not in text, "that one still waits"


def test_a_hole_that_moves_with_its_file_is_known(repository):
    repository.git("mv", "engine/minikv/router.py", "engine/minikv/routing.py")
    for name in ("attention.py", "configurator.py"):
        repository.edit(name, "minikv.router", "minikv.routing")
    done = since(repository, "HEAD")
    assert (told(done), done.exit) == (set(), 0)


def test_a_proof_that_is_lost_is_told(repository):
    """Gated before, unknown now: a warning, so it fails only where warnings do."""
    repository.edit(
        "attention.py", "self.token_to_kv_pool.get_key_buffer", "getattr(self, layer.pool_name).get_key_buffer"
    )
    done = since(repository, "HEAD")
    lost = [one for one in done.report["findings"] if one["check"] == "proof-lost"]
    assert {one["function"].rpartition("minikv.")[2] for one in lost} == {
        "attention.AttentionBackend.forward_decode",
        "attention.GatherBackend.forward_extend",
    }
    assert all("wait_until" in step["what"] for one in lost for step in one["related"])
    assert done.exit == 0
    assert since(repository, "HEAD", "--fail-on", "warning").exit == 1


def test_a_revision_without_the_engine(repository):
    """All is new where there was nothing."""
    repository.git("checkout", "-q", "--orphan", "empty")
    repository.git("rm", "-rfq", ".")
    repository.write("setup.py", "x = 1\n")
    repository.commit("Nothing yet")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--allow-unrelated-histories", "empty")
    done = since(repository, "empty")
    assert {one["status"] for one in done.report["findings"]} == {"new"}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--since", "nowhere"], "'nowhere' is no commit of"),
        (["--since", "HEAD", "--hook"], "exclude each other"),
        (["--since", "HEAD", "--release", "sglang==0.5.23"], "exclude each other"),
        (["--since", "alone"], "have no commit in common"),
        (["--since", "HEAD", "..", "."], "is in no git repository"),
    ],
)
def test_refused(repository, arguments, what):
    repository.git("checkout", "-q", "--orphan", "alone")
    repository.commit("Alone")
    repository.git("checkout", "-q", "main")
    done = check(*arguments, cwd=repository.top)
    assert (done.exit, done.stdout) == (2, "")
    assert what in done.stderr


def test_outside_of_a_repository(tree):
    done = check("--since", "HEAD", cwd=tree)
    assert done.exit == 2
    assert "in no git repository" in done.stderr


def test_nothing_is_left_and_nothing_is_checked_out(repository, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    repository.edit("router.py", WAIT, "")
    before = repository.git("status", "--porcelain").stdout
    since(repository, "HEAD")
    hook(repository)
    assert repository.git("status", "--porcelain").stdout == before
    assert os.listdir(tmp_path / "scratch") == []


def test_accepted_findings_are_known_as_well(repository):
    repository.edit("router.py", WAIT, "")
    run("baseline", "write", "--jobs", "1", cwd=repository.top)
    assert since(repository, "HEAD").exit == 0
    assert since(repository, "HEAD", "--no-baseline").exit == 1


def test_one_process_or_two_say_the_same(repository):
    repository.edit("router.py", WAIT, "")
    one, two = (
        run("check", "--since", "HEAD", "--no-timing", "-q", "--jobs", jobs, cwd=repository.top) for jobs in ("1", "2")
    )
    assert one == two


# ---------------------------------------------------------------- --hook


def test_a_commit_that_introduces_a_hole_is_blocked(repository):
    repository.edit("router.py", WAIT, "")
    repository.stage()
    done = hook(repository)
    assert (told(done), done.exit) == (ROUTER, 1)
    assert len(done.report["findings"]) == 4, "those that were there before are not listed"


def test_a_commit_on_top_of_old_holes_passes(repository):
    repository.edit("router.py", "# Forgets to wait", "# Still forgets to wait")
    repository.stage()
    done = hook(repository)
    assert (done.report["findings"], done.exit) == ([], 0)


def test_only_what_is_staged_counts(repository):
    """Neither changes that are not staged nor files that git does not know."""
    repository.edit("router.py", "# Forgets to wait", "# Still forgets to wait")
    repository.stage()
    repository.edit("router.py", WAIT, "")
    repository.write("engine/minikv/more.py", "def read(pool):\n    return pool.k_buffer[0] * 2\n")
    assert hook(repository).report["findings"] == []
    repository.stage()
    assert told(hook(repository)) == ROUTER


@pytest.mark.parametrize("change", ["README.md", "bufgate.toml"])
def test_a_commit_without_python_costs_nothing(repository, change):
    repository.write(change, "strict = true\n")
    repository.stage()
    done = hook(repository)
    assert (done.exit, done.stdout) == (0, "")


def test_a_file_that_is_deleted_is_a_change(repository):
    repository.git("rm", "-q", "engine/minikv/device.py")
    assert hook(repository).stdout != ""


def test_the_first_commit(tmp_path):
    repository = Repository(tmp_path / "repo")
    repository.git("update-ref", "-d", "HEAD")
    done = hook(repository)
    assert done.exit == 1
    assert told(done) == told(check(cwd=repository.top))


def test_a_range_as_before_a_push(repository, monkeypatch):
    repository.edit("router.py", WAIT, "")
    repository.commit("Wait no more")
    repository.edit("router.py", "# Forgets to wait", "# Still forgets to wait")
    repository.commit("Words")
    for start, new in (("HEAD~2", ROUTER), ("HEAD~1", set())):
        monkeypatch.setenv("PRE_COMMIT_FROM_REF", start)
        monkeypatch.setenv("PRE_COMMIT_TO_REF", "HEAD")
        assert told(hook(repository)) == new


def test_a_commit_with_nothing_to_audit_is_not_passed_in_silence(repository):
    repository.git("rm", "-rq", "engine")
    repository.write("setup.py", "x = 1\n")
    repository.stage()
    done = hook(repository)
    assert (done.exit, done.stdout) == (2, "")
    assert f"no engine is recognised in {repository.top}." in done.stderr


def test_half_an_audit_blocks(repository):
    repository.write("engine/minikv/broken.py", "def read(pool):\n    return pool.get_key_buffer(\n")
    repository.stage()
    assert hook(repository).exit == 2


def test_paths_of_the_report_are_those_of_a_check_of_the_work_tree(repository):
    """In text as they are found from where the hook runs, the top of the repository."""
    repository.edit("router.py", WAIT, "")
    repository.stage()
    paths = {one["path"] for one in hook(repository).report["findings"]}
    assert paths == {"engine/minikv/router.py"}
    paths = {one["path"] for one in hook(repository, "engine").report["findings"]}
    assert paths == {"minikv/router.py"}
    assert paths < {one["path"] for one in check("engine", cwd=repository.top).report["findings"]}
    text = run("check", "engine", "--hook", "--jobs", "1", cwd=repository.top)
    assert "engine/minikv/router.py:" in text.stdout
    assert "self.full_kv_pool.get_key_buffer(layer_id)" in text.stdout
    assert "bufgate-" not in text.stdout
    assert json.dumps(str(repository.top)) not in text.stdout


@pytest.mark.parametrize("what", [["--hook"], ["--since", "HEAD"]], ids=["hook", "since"])
def test_hosts_get_paths_from_the_top_of_the_repository(repository, what):
    """Also where the audited tree is a copy of a revision."""
    repository.edit("router.py", WAIT, "")
    repository.stage()
    done = run("check", "engine", *what, "-o", "gitlab", "--jobs", "1", "--quiet", cwd=repository.top)
    paths = {one["location"]["path"] for one in json.loads(done.stdout)}
    assert "engine/minikv/router.py" in paths
    assert all(path.startswith("engine/minikv/") for path in paths)


# ---------------------------------------------------------------- answers that were kept


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache of this test alone."""
    monkeypatch.setenv("BUFGATE_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("kept")
def test_a_hook_whose_answers_are_known_says_the_same_again(repository):
    repository.edit("router.py", WAIT, "")
    repository.stage()
    first, again = hook(repository), hook(repository)
    assert (told(first), first.exit) == (ROUTER, 1)
    assert again == first
    assert again == hook(repository, "--no-cache")


@pytest.mark.usefixtures("kept")
def test_a_hook_on_a_file_that_nobody_reads_says_what_a_fresh_one_does(repository):
    """The answer for the last commit serves for the next one as well; lines of findings come from git."""
    repository.write("engine/minikv/aside.py", "x = 1\n")
    repository.commit("A file")
    repository.edit("router.py", WAIT, "")
    repository.stage()
    hook(repository)
    repository.write("engine/minikv/aside.py", "x = 2\n")
    repository.stage()
    again = run("check", "--hook", "-o", "text", "--no-timing", "-q", cwd=repository.top)
    fresh = run("check", "--hook", "-o", "text", "--no-timing", "-q", "--no-cache", cwd=repository.top)
    assert again == fresh
    assert "return self.full_kv_pool.get_key_buffer(layer_id)" in again.stdout


@pytest.mark.usefixtures("kept")
def test_a_hook_with_links_in_the_tree_says_what_a_fresh_one_does(repository):
    """A link makes one blob the content of two files."""
    (repository.top / "engine/minikv/linked.py").symlink_to("router.py")
    repository.commit("A link")
    hook(repository)
    repository.edit("router.py", WAIT, "")
    repository.stage()
    assert hook(repository) == hook(repository, "--no-cache")
