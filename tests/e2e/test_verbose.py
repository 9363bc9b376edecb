"""``--verbose``: what is read, where it comes from, and each phase, on stderr; the report stays as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.audit.phases import Phases
from tests.e2e.process import ENGINE, run


def test_what_is_read_and_each_phase_is_told(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUFGATE_CACHE", str(tmp_path / "cache"))
    arguments = ("check", tree, "-o", "json", "--no-timing", "--jobs", "1")
    plain, again = run(*arguments), run(*arguments, "-v")
    assert plain.stdout == again.stdout
    assert "minikv" not in plain.stderr
    assert "the answer of an earlier run holds" in again.stderr
    (tree / "minikv" / "pools.py").write_text((ENGINE / "minikv/pools.py").read_text("utf-8") + "x = 1\n", "utf-8")
    changed = run(*arguments, "--verbose")
    assert "bufgate: minikv/pools.py: parsed\n" in changed.stderr
    assert "bufgate: minikv/router.py: facts from the cache\n" in changed.stderr
    for said in (
        "17 files below ",
        "engine sglang, rules ",
        "the facts of 15 of them from the cache",
        "judged ",
        "told ",
    ):
        assert said in changed.stderr
    assert len(re.findall(r" \(\d+\.\d\d s\)\n", changed.stderr)) == 4


def test_without_the_cache_all_is_parsed(tree: Path) -> None:
    done = run("check", tree, "-v", "--no-cache", "--jobs", "1")
    assert "bufgate: minikv/pools.py: parsed\n" in done.stderr
    assert "facts from the cache" not in done.stderr


def test_quiet_and_verbose_exclude_each_other(tree: Path) -> None:
    done = run("check", tree, "-q", "-v")
    assert (done.exit, done.stdout) == (2, "")
    assert "--quiet and --verbose exclude each other" in done.stderr


def test_a_phase_takes_from_the_end_of_the_one_before() -> None:
    told: list[str] = []
    times = iter([1.0, 1.5, 4.0])
    phase = Phases(told.append, lambda: next(times))
    phase("read")
    phase("judged")
    assert told == ["read (0.50 s)", "judged (2.50 s)"]
