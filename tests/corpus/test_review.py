"""The review bot on real sources: a branch that deletes one wait of SGLang, and the step to the next release."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.process import command, environment
from tests.e2e.repository import IDENTITY
from tests.review.double import REPOSITORY, Double, Server
from tests.review.hub import event, opened

pytestmark = [pytest.mark.corpus, pytest.mark.long, pytest.mark.xdist_group("review")]

OLD, NEW = "0.5.21", "0.5.22"
POOL = "python/sglang/srt/mem_cache/memory_pool.py"
WAIT = re.compile(
    r"(class MHATokenToKVPool\(.*?\n    def get_key_buffer\(self[^\n]*\n.*?)"
    r"        if self\.layer_transfer_counter is not None:\n"
    r"            self\.layer_transfer_counter\.wait_until\([^\n]*\n",
    re.DOTALL,
)


class Sources:
    """Two releases as commits of one repository, the later one with a branch that deletes a wait."""

    def __init__(self, top: Path, release: Callable[[str], Path]) -> None:
        self.top = top
        top.mkdir()
        self.git("init", "-q", "-b", "main")
        self.release("before", release(f"sglang=={OLD}"))
        self.release("after", release(f"sglang=={NEW}"))
        file = top / POOL
        text, deleted = WAIT.subn(r"\1", file.read_text(encoding="utf-8"), count=1)
        assert deleted == 1, "the wait is where it was"
        file.write_text(text, encoding="utf-8")
        self.commit("hole")

    def release(self, name: str, folder: Path) -> None:
        shutil.rmtree(self.top / "python", ignore_errors=True)
        shutil.copytree(folder, self.top / "python", ignore=shutil.ignore_patterns("__pycache__"))
        self.commit(name)

    def commit(self, name: str) -> None:
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "--no-verify", "-m", name)
        self.git("tag", name)

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, **IDENTITY}
        return subprocess.run(
            ["git", *arguments], cwd=self.top, env=variables, capture_output=True, text=True, check=check
        )


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory, release: Callable[[str], Path]) -> Sources:
    return Sources(tmp_path_factory.mktemp("review") / "repo", release)


@pytest.fixture
def reviewed(sources: Sources, tmp_path: Path) -> Callable[[str, str], tuple[int, Double]]:
    """Open a pull request, review it, and give the exit status and what stands in it."""

    def review(base: str, head: str) -> tuple[int, Double]:
        double = opened(sources, base, head)  # type: ignore[arg-type]
        with Server(double) as address:
            variables = {
                "GITHUB_API_URL": address,
                "GITHUB_GRAPHQL_URL": f"{address}/graphql",
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_TOKEN": "t0ken",
                "GITHUB_EVENT_PATH": str(event(tmp_path, "pull_request", double)),
            }
            line = command("review", "--jobs", "1", "--pace", "0")
            done = subprocess.run(
                line, cwd=sources.top, env={**environment(), **variables}, capture_output=True, check=False
            )
        assert double.violations == []
        assert double.checks, done.stderr.decode()
        return done.returncode, double

    return review


def test_a_branch_that_deletes_one_wait(reviewed, sources):
    """Every reader that it opens is told once; the ones of the file that was changed in its diff."""
    status, double = reviewed("after", "hole")
    assert status == 1
    inline = [one for one in double.comments if one.path == POOL and one.line]
    assert inline
    assert any("MHATokenToKVPool.get_key_buffer" in one.body for one in inline)
    assert double.checks[0].body["conclusion"] == "failure"
    assert double.checks[0].head == sources.git("rev-parse", "hole").stdout.strip()


def test_from_one_release_to_the_next_it_says_what_got_fixed(reviewed):
    """SG-02: the reader of the hybrid pool waits since 0.5.22."""
    _, double = reviewed("before", "after")
    told = double.checks[0].body["output"]["summary"]
    fixed = told[told.index("Fixed by this pull request") :]
    assert re.search(r"disarmed-gate</code> in <code>HybridLinearKVPool\.get_mla_kv_buffer", fixed)
