"""Fixes of public bugs, against the release that fixed them: the same accessors get the same verdicts.

The audit that ``bufgate fix`` makes of the changed tree is not taken on trust: the fixed copy is audited anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.corpus.audits import bufgate, run_audit, short

pytestmark = [pytest.mark.corpus, pytest.mark.long]

POOLS = "sglang/srt/mem_cache"
INDEX_K = ("get_index_k_scale_buffer", "get_index_k_continuous", "get_index_k_scale_continuous")
LATENT = ("get_mla_kv_buffer",)
COMPRESSED = ("get_qsa_compressed_k_buffer",)


def verdicts(report, cls, methods):
    """(method, verdict) of the bindings that run a method of a class."""
    return {
        (short(binding["method"]), binding["verdict"])
        for site in report["sites"]
        for binding in site["bindings"]
        if binding["method"].split(".")[-2:-1] == [cls] and short(binding["method"]) in methods
    }


def waiting(path: Path, method: str) -> list[str]:
    """The lines of a method that wait, as a reader sees them."""
    lines = path.read_text(encoding="utf-8").split("\n")
    start = max(number for number, line in enumerate(lines) if f"def {method}(" in line)
    body = lines[
        start + 1 : next(n for n in range(start + 1, len(lines)) if lines[n].startswith(("    def ", "class ")))
    ]
    return [line.strip() for line in body if "wait" in line and not line.strip().startswith("#")]


@pytest.fixture(scope="module")
def fixed(release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Give a copy of a release in which ``bufgate fix`` has written into some files."""
    done: dict[str, Path] = {}

    def of(version: str, *files: str) -> Path:
        if version not in done:
            copy = tmp_path_factory.mktemp("fixed") / "tree"
            shutil.copytree(release(f"sglang=={version}"), copy)
            for file in (copy / POOLS).glob("*.py"):
                file.chmod(0o644)
            paths = [word for file in files for word in ("--path", f"{POOLS}/{file}")]
            ran = bufgate("fix", str(copy), *paths, "--write", "--jobs", "1")
            assert "the changed tree was audited: nothing else is worse" in ran.stderr, ran.stderr[-2000:]
            done[version] = copy
        return done[version]

    return of


CASES = [
    ("0.5.10.post1", "0.5.11", "memory_pool.py", "NSATokenToKVPool", INDEX_K),
    ("0.5.21", "0.5.22", "memory_pool.py", "HybridLinearKVPool", LATENT),
    ("0.5.21", "0.5.22", "qsa_kv_pool.py", "QSATokenToKVPool", COMPRESSED),
]


@pytest.mark.parametrize(("version", "later", "file", "cls", "methods"), CASES, ids=["SG-01", "SG-02", "SG-14"])
def test_a_fix_has_the_effect_of_upstream(audit, release, fixed, version, later, file, cls, methods):
    """The same verdicts, and the same statements that wait in the same methods."""
    tree = fixed(version, "memory_pool.py", "qsa_kv_pool.py")
    kept = tree.parent / "report"
    if not kept.exists():
        kept.write_text(run_audit(str(tree), jobs=1).text, encoding="utf-8")
    ours = verdicts(_report(kept), cls, methods)
    theirs = verdicts(audit(later).report, cls, methods)
    assert {verdict for _, verdict in verdicts(audit(version).report, cls, methods)} >= {"ungated"}
    assert ours
    assert {one for one in ours if one[1] != "exempt"} == {one for one in theirs if one[1] != "exempt"}
    assert {method for method, _ in ours} >= {method for method, _ in theirs}
    upstream = release(f"sglang=={later}") / POOLS / file
    for method in methods:
        assert waiting(tree / POOLS / file, method) == waiting(upstream, method)


def _report(file: Path):
    return json.loads(file.read_text(encoding="utf-8"))
