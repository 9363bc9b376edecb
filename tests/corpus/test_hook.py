"""The hook in a repository made of a release: a commit that takes a wait out of a pool is blocked, and the readers that
it opens are named, which lie in files that the commit does not touch."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.audits import LIMIT, ROOT
from tests.e2e.repository import IDENTITY

pytestmark = [pytest.mark.corpus, pytest.mark.long]

POOL = "python/sglang/srt/mem_cache/memory_pool.py"
ACCESSOR = "    def get_key_buffer(self, layer_id: int, scale: Optional[float] = None):\n"
WAIT = "        self._wait_for_layer(layer_id)\n"
HOOK = "#!/bin/sh\nexec {python} -m auditor check python/sglang --hook --quiet --jobs 1\n"


def git(top: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **IDENTITY, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        ["git", *words], cwd=top, env=environment, capture_output=True, text=True, timeout=LIMIT, check=check
    )


@pytest.fixture(scope="module")
def repository(release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SGLang 0.5.22 in a repository of one commit, with the hook of ``bufgate check --hook``."""
    top = tmp_path_factory.mktemp("clone")
    shutil.copytree(release("sglang==0.5.22") / "sglang", top / "python" / "sglang")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "--all")
    git(top, "commit", "-q", "-m", "SGLang 0.5.22")
    hook = top / ".git" / "hooks" / "pre-commit"
    hook.write_text(HOOK.format(python=shlex.quote(sys.executable)), encoding="utf-8")
    hook.chmod(0o755)
    return top


def test_a_commit_that_deletes_a_wait_is_blocked_and_the_readers_are_named(repository: Path) -> None:
    file = repository / POOL
    file.chmod(0o644)
    text = file.read_text(encoding="utf-8")
    wrapper = text.index("class HybridLinearKVPool(")
    start = text.index(ACCESSOR, wrapper) + len(ACCESSOR)
    assert text[start:].startswith(WAIT), "the accessor of the release begins with its wait"
    file.write_text(text[:start] + text[start + len(WAIT) :], encoding="utf-8")
    before = git(repository, "rev-parse", "HEAD").stdout
    done = git(repository, "commit", "-q", "-a", "-m", "Simplify", check=False)
    told = done.stdout + done.stderr
    assert done.returncode != 0, told
    assert git(repository, "rev-parse", "HEAD").stdout == before
    assert "HybridLinearKVPool.get_key_buffer" in told
    assert "lost gate: before, HybridLinearKVPool.get_key_buffer waited for it" in told
    readers = {
        word
        for word in told.split()
        if word.startswith("python/sglang/srt/") and "mem_cache/memory_pool.py" not in word
    }
    assert sum("/layers/" in reader for reader in readers) > 3, told
    assert "get_mla_kv_buffer is" not in told
