"""The hook under real pre-commit and prek: installed from a clone, run by ``git commit`` in a repository of its own.

One worker builds the environments once (xdist_group); that needs PyPI for the dependencies. The runs themselves are
made with a package index that does not exist: a hook needs no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.repository import IDENTITY, WAIT, WAITING, Repository

pytestmark = [pytest.mark.packaging, pytest.mark.network, pytest.mark.xdist_group("hook")]

FRAMEWORKS = ("pre-commit", "prek")


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    line = [str(word) for word in command]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PRE_COMMIT"))}
    return subprocess.run(
        line,
        cwd=cwd,
        env={**kept, **IDENTITY, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def clone(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as a repository with one commit: what a user's configuration points at."""
    copy = tmp_path_factory.mktemp("clone") / "bufgate"
    shutil.copytree(
        root, copy, ignore=shutil.ignore_patterns(".git", ".venv", "out", "dist", ".*_cache", ".hypothesis")
    )
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "release"]):
        done = run("git", *command, cwd=copy)
        assert done.returncode == 0, done.stderr
    return copy


@pytest.fixture(scope="session", params=FRAMEWORKS)
def framework(
    request: pytest.FixtureRequest, clone: Path, pypi: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, str]]:
    """A framework whose environment for the hook is built, and the variables that point at it."""
    program = Path(sys.executable).with_name(request.param)
    if not program.exists():
        pytest.fail(f"{request.param} is not installed: `make venv`")
    home = tmp_path_factory.mktemp(request.param)
    variables = {"PRE_COMMIT_HOME": str(home), "PREK_HOME": str(home)}
    repository = configured(Repository(tmp_path_factory.mktemp("first") / "repo"), clone)
    done = run(program, "install-hooks", cwd=repository.top, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return request.param, variables


def configured(repository: Repository, clone: Path) -> Repository:
    rev = run("git", "rev-parse", "HEAD", cwd=clone).stdout.strip()
    repository.write(
        ".pre-commit-config.yaml",
        f"repos:\n- repo: {clone}\n  rev: {rev}\n  hooks:\n  - id: bufgate\n  - id: bufgate-full\n",
    )
    repository.commit("The hook")
    return repository


class Committer:
    """Commits as a person does, with the hook installed."""

    def __init__(self, repository: Repository, framework: tuple[str, dict[str, str]]) -> None:
        self.repository = repository
        self.program, self.variables = Path(sys.executable).with_name(framework[0]), framework[1]
        done = run(self.program, "install", cwd=repository.top, **self.variables)
        assert done.returncode == 0, done.stderr

    def commit(self, *options: str) -> tuple[bool, str]:
        """Whether the commit was made, and what was said."""
        before = self.repository.git("rev-parse", "HEAD").stdout
        done = run("git", "commit", "-m", "A change", *options, cwd=self.repository.top, **self.variables, **OFFLINE)
        made = self.repository.git("rev-parse", "HEAD").stdout != before
        assert made == (done.returncode == 0)
        return made, done.stdout + done.stderr

    def run(self, *arguments: str) -> tuple[int, str]:
        done = run(self.program, "run", *arguments, cwd=self.repository.top, **self.variables, **OFFLINE)
        return done.returncode, done.stdout + done.stderr


OFFLINE = {"PIP_INDEX_URL": "https://index.invalid", "UV_INDEX_URL": "https://index.invalid", "PIP_NO_INDEX": "1"}


@pytest.fixture
def committer(tmp_path: Path, clone: Path, framework: tuple[str, dict[str, str]]) -> Committer:
    return Committer(configured(Repository(tmp_path / "repo"), clone), framework)


def test_a_commit_on_top_of_old_holes_passes(committer: Committer) -> None:
    committer.repository.edit("router.py", "# Forgets to wait", "# Still forgets to wait")
    made, told = committer.commit("-a")
    assert made, told
    assert "Passed" in told


def test_a_commit_that_takes_a_wait_out_is_blocked(committer: Committer) -> None:
    committer.repository.edit("router.py", WAIT, "")
    made, told = committer.commit("-a")
    assert not made
    assert "error[disarmed-gate]" in told
    assert "engine/minikv/router.py:43:34" in told
    assert "get_mla_kv_buffer to" not in told, "that hole was there before"


def test_readers_in_files_that_the_commit_does_not_touch(committer: Committer) -> None:
    """The gate goes in one file, the readers that it opens are in another."""
    committer.repository.edit("router.py", WAITING, "            pass\n")
    assert committer.repository.git("diff", "--name-only").stdout.split() == ["engine/minikv/router.py"]
    made, told = committer.commit("-a")
    assert not made
    assert "engine/minikv/attention.py:87" in told
    assert "OrderedVectorBackend.forward_extend" in told
    assert "lost gate: before, OrderedVectorBackend.forward_extend waited for it" in " ".join(told.split())


def test_a_commit_that_only_deletes(committer: Committer) -> None:
    """Frameworks pass no deleted files; the hook looks all the same."""
    repository = committer.repository
    method = (
        "    def _wait_for_layer(self, layer_id: int) -> None:\n        if self.layer_transfer_counter is not None:\n"
    )
    repository.write("engine/minikv/waiting.py", f"class Waiting:\n{method}{WAITING}")
    repository.edit("router.py", f"{method}{WAITING}", "")
    repository.edit("router.py", "class RouterPool(KVCache)", "class RouterPool(Waiting, KVCache)")
    repository.edit("router.py", "\nfrom minikv.pools", "\nfrom minikv.waiting import Waiting\nfrom minikv.pools")
    repository.commit("The wait lies in a file of its own")
    repository.git("rm", "-q", "engine/minikv/waiting.py")
    made, told = committer.commit()
    assert not made
    assert "engine/minikv/router.py" in told


def test_a_commit_without_python_passes_at_once(committer: Committer) -> None:
    committer.repository.write("README.md", "Words.\n")
    made, told = committer.commit("-a")
    assert made, told


def test_what_is_not_staged_does_not_count(committer: Committer) -> None:
    committer.repository.write("README.md", "Words.\n")
    committer.repository.edit("pools.py", "class DraftPool", "# A class.\nclass DraftPool")
    committer.repository.stage()
    committer.repository.edit("router.py", WAIT, "")
    made, told = committer.commit()
    assert made, told
    assert WAIT not in (committer.repository.top / "engine/minikv/router.py").read_text()


def test_a_commit_of_named_files_has_an_index_of_its_own(committer: Committer) -> None:
    committer.repository.edit("router.py", WAIT, "")
    committer.repository.write("README.md", "Words.\n")
    made, told = committer.commit("README.md")
    assert made, told
    made, told = committer.commit("engine/minikv/router.py")
    assert not made, told


def test_a_suppression_lets_it_through(committer: Committer) -> None:
    hole = "        return self.full_kv_pool.get_value_buffer(self._dense(layer_id))"
    committer.repository.edit(
        "router.py", f"{WAIT}{hole}", f"        # bufgate: ignore[disarmed-gate] -- a trial\n{hole}"
    )
    committer.repository.edit("attention.py", "values[forward_batch.rows]", "None")
    made, told = committer.commit("-a")
    assert made, told


def test_a_range_as_in_ci(committer: Committer) -> None:
    committer.repository.edit("router.py", WAIT, "")
    committer.repository.commit("Not hooked")
    status, told = committer.run("bufgate", "--from-ref", "HEAD~1", "--to-ref", "HEAD")
    assert status == 1
    assert "error[disarmed-gate]" in told
    status, told = committer.run("bufgate", "--from-ref", "HEAD", "--to-ref", "HEAD")
    assert status == 0, told


def test_the_full_hook_tells_everything(committer: Committer) -> None:
    status, told = committer.run("bufgate-full", "--hook-stage", "manual", "--all-files")
    assert status == 1
    assert "get_mla_kv_buffer" in told
