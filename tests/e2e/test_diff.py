"""``bufgate diff``: two trees, revisions or releases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import copy_engine
from tests.e2e.process import Done, run
from tests.e2e.repository import WAIT, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


def diff(*arguments: str, cwd: Path) -> Done:
    return run("diff", *arguments, "--jobs", "1", "--quiet", cwd=cwd)


def document(*arguments: str, cwd: Path) -> dict:
    made: dict = json.loads(diff(*arguments, "--format", "json", cwd=cwd).stdout)
    return made


def kinds(made: dict) -> set[tuple[str, str]]:
    return {(one["what"], one["after"]["function"].rpartition("minikv.")[2]) for one in made["sites"]}


def test_the_same_twice(repository):
    done = diff("HEAD", ".", cwd=repository.top)
    assert done.exit == 0
    assert done.stdout.startswith("0 new findings, 0 worse, 0 gone, ")
    assert "as before; gates: 0 lost, 0 moved, 0 gained, 0 proofs lost." in done.stdout


def test_a_lost_gate_is_worse(repository):
    repository.edit("router.py", WAIT, "")
    done = diff("main", ".", cwd=repository.top)
    assert done.exit == 1
    assert "new (4)" in done.stdout
    assert "gate lost (7)" in done.stdout
    told = " ".join(done.stdout.split())
    assert "waited in RouterPool.get_key_buffer (engine/minikv/router.py:42); is ungated now" in told
    made = document("main", ".", cwd=repository.top)
    assert (made["schema"], made["before"]["name"], made["after"]["name"]) == ("diff-v1", "main", ".")
    assert (len(made["new"]), made["gone"], made["worse"]) == (4, [], [])
    assert len(made["known"]) > 3
    assert ("lost", "router.RouterPool.get_key_buffer") in kinds(made)


def test_the_way_back_is_better(repository):
    repository.edit("router.py", WAIT, "")
    done = diff(".", "main", cwd=repository.top)
    assert done.exit == 0
    assert "gone (4)" in done.stdout
    assert "gate gained (7)" in done.stdout


def test_a_moved_gate_is_told_from_a_lost_one(repository):
    """The wait goes from the pool into the one of its readers that runs while a load may be in flight."""
    repository.edit("router.py", WAIT, "")
    repository.edit(
        "attention.py",
        "        keys = self.token_to_kv_pool.get_key_buffer(layer.layer_id)  # gated: wait_until|_wait_for_layer\n"
        "        values = forward_batch",
        "        pool = self.token_to_kv_pool\n"
        "        if pool.layer_transfer_counter is not None:\n"
        "            pool.layer_transfer_counter.wait_until(layer.layer_id - pool.start_layer)\n"
        "        keys = pool.get_key_buffer(layer.layer_id)\n"
        "        values = forward_batch",
    )
    made = document("main", ".", cwd=repository.top)
    assert ("moved", "attention.GatherBackend.forward_extend") in kinds(made)
    assert {what for what, _ in kinds(made)} == {"moved"}
    told = " ".join(diff("main", ".", cwd=repository.top).stdout.split())
    assert "waited in RouterPool.get_key_buffer (engine/minikv/router.py:42); waits in" in told


def test_releases_of_any_kind_are_told_apart(repository, tmp_path):
    """A folder called like a revision is a folder."""
    copy_engine(tmp_path / "repo" / "main")
    made = document("main", "HEAD", cwd=repository.top)
    assert made["new"] == []
    assert {one["path"].split("/")[0] for one in made["gone"]} <= {"minikv"}


def test_only_a_part(repository):
    repository.write("other/minikv/pools.py", (repository.top / "engine/minikv/pools.py").read_text())
    repository.commit("A copy")
    assert len(document("HEAD~1", "HEAD", cwd=repository.top)["new"]) > 0
    assert document("HEAD~1", "HEAD", "--path", "engine", cwd=repository.top)["new"] == []
    done = diff("HEAD", "HEAD", "--path", "nowhere", cwd=repository.top)
    assert (done.exit, done.stdout) == (2, "")
    assert "HEAD has no nowhere" in done.stderr


def test_two_at_a_time_say_the_same(repository):
    repository.edit("router.py", WAIT, "")
    one = run("diff", "main", ".", "--jobs", "1", "--format", "json", "-q", cwd=repository.top)
    two = run("diff", "main", ".", "--jobs", "2", "--format", "json", "-q", cwd=repository.top)
    assert one == two


def test_to_a_file(repository, tmp_path):
    done = diff("HEAD", ".", "--format", "json", "-o", "d.json", cwd=repository.top)
    assert (done.exit, done.stdout) == (0, "")
    assert json.loads((repository.top / "d.json").read_text())["schema"] == "diff-v1"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nowhere", "HEAD"], "'nowhere' is no commit of"),
        (["HEAD", "other"], "no engine is recognised"),
        (["HEAD", ".", "--format", "sarif"], "Unknown format 'sarif'"),
        (["HEAD"], "Missing argument 'B'"),
        (["==", "HEAD"], "is no release"),
    ],
)
def test_refused(repository, arguments, what):
    (repository.top / "other").mkdir()
    shutil.copy(repository.top / "engine/minikv/device.py", repository.top / "other")
    done = diff(*arguments, cwd=repository.top)
    assert (done.exit, done.stdout) == (2, "")
    assert what in done.stderr


def test_half_an_audit_is_no_comparison(repository):
    repository.write("engine/minikv/broken.py", "def read(pool):\n    return pool.get_key_buffer(\n")
    done = run("diff", "HEAD", ".", "--jobs", "1", cwd=repository.top)
    assert done.exit == 2
    assert "not complete" in done.stderr
