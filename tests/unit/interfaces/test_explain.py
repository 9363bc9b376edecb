"""``explain`` and ``rules``: what is documented, and the story of a finding."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditor.checks import CHECKS
from auditor.interfaces.cli import main
from auditor.triage import Report
from tests.unit.interfaces import fake
from tests.unit.render import sample

Run = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[3]
MARKS = ("abcd000000000000", "abcd111111111111", "0123456789abcdef")
FINDINGS = tuple(replace(one, fingerprint=mark) for one, mark in zip(sample.FINDINGS, MARKS, strict=False))
REPORT = replace(sample.REPORT, findings=FINDINGS)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / sample.INDEXER
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(sample.lines(sample.INDEXER)) + "\n", encoding="utf-8")

    def runner(*arguments: str, report: Report = REPORT) -> Result:
        monkeypatch.setitem(sys.modules, fake.NAME, fake.spine(report))
        return CliRunner().invoke(main, arguments, prog_name="bufgate")

    return runner


# ---------------------------------------------------------------- explain


@pytest.mark.parametrize("check", [check.id for check in CHECKS])
def test_every_check_is_explained(run: Run, check: str) -> None:
    told = run("explain", check)
    assert told.exit_code == 0
    assert told.stdout.startswith(f"{check}\n\n")
    assert "# bad" in told.stdout
    assert "# good" in told.stdout
    assert "```" not in told.stdout
    assert max(map(len, told.stdout.split("\n"))) <= 120


def test_examples_are_painted_where_colours_are_wanted(run: Run) -> None:
    plain, painted = run("explain", "noop-gate").stdout, run("explain", "noop-gate", "--color").stdout
    assert "\x1b[" not in plain
    assert "\x1b[31m\x1b[1m# bad" in painted
    assert "\x1b[32m\x1b[1m# good" in painted


def test_a_check_needs_no_tree(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert run("explain", "noop-gate").exit_code == 0


@pytest.mark.parametrize("what", ["ungated-acces", "Ungated-Access", "x", "abc"])
def test_what_is_neither_is_refused(run: Run, what: str) -> None:
    told = run("explain", what)
    assert (told.exit_code, told.stdout) == (2, "")
    assert "is neither a check nor a fingerprint" in told.stderr
    assert "Checks: replay-skips-gate, " in told.stderr
    assert ("Did you mean 'ungated-access'?" in told.stderr) == (what.lower().startswith("ungated-acces"))


@pytest.mark.parametrize("what", ["abcd1", MARKS[1]])
def test_the_story_of_a_finding(run: Run, what: str) -> None:
    """The finding with its frame and path, what its check means, what is known of the site, how to ask of others."""
    told = run("explain", what)
    assert told.exit_code == 0
    assert told.stdout.startswith("error[bypassed-owner]: ")
    assert "140 | " in told.stdout
    assert "`bufgate explain bypassed-owner` tells what the check means." in told.stdout
    assert told.stdout.count("1. What does it bind to?") == 1
    assert "It is read at 1 other place, too:\n  bufgate why " in told.stdout


def test_a_long_story_is_cut(run: Run) -> None:
    copies = [sample.site(f"c{n}", 400 + n, "get", "ungated", sample.UNGATED) for n in range(14)]
    many = replace(FINDINGS[1], sites=tuple(one.id for one in copies))
    told = run("explain", "abcd1", report=replace(REPORT, sites=tuple(copies), findings=(many,))).stdout
    assert told.count("1. What does it bind to?") == 1
    assert "It is read at 13 other places, too:" in told
    assert told.endswith(f"  bufgate why {sample.INDEXER}:410\n  and 3 more\n")


def test_what_is_audited_is_repeated_in_what_to_ask(run: Run, tmp_path: Path) -> None:
    """A command that a report names audits what the report is of, wherever it was asked."""
    (tmp_path / "my pool").mkdir()
    (tmp_path / "my pool/m.py").write_text("x = 1\n")
    path = str(tmp_path / "my pool")
    for words in (("check", path, "--assume", "platform=cuda"), ("explain", "abcd1", path, "--no-assumptions")):
        told = run(*words)
        asked = [line for line in told.stdout.splitlines() if "bufgate why " in line or "bufgate explain abc" in line]
        assert asked
        assert all(
            shlex.quote(path) in line and ("--assume platform=cuda" in line or "--no-assumptions" in line)
            for line in asked
        )


def test_known_and_suppressed_findings_have_a_story_too(run: Run) -> None:
    hidden = replace(REPORT, findings=(replace(FINDINGS[1], status="suppressed"),))
    assert run("explain", "abcd1", report=hidden).stdout.startswith("error[bypassed-owner]: ")


@pytest.mark.parametrize(
    ("what", "told"),
    [("abcd", "2 findings start with abcd"), ("ffff", "no finding has a fingerprint that starts with ffff")],
)
def test_a_fingerprint_has_to_mean_one(run: Run, what: str, told: str) -> None:
    result = run("explain", what)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_the_text_report_says_how_to_ask(run: Run) -> None:
    assert f"explain: bufgate explain {MARKS[1]}\n" in run("check").stdout


# ---------------------------------------------------------------- rules


def test_rules_list(run: Run, tmp_path: Path) -> None:
    """Packs of the project come first, as they are tried."""
    (tmp_path / "mine.toml").write_text((ROOT / "tests/unit/spec/example.toml").read_text())
    (tmp_path / "bufgate.toml").write_text("rules = ['mine.toml']\n")
    lines = run("rules", "list").stdout.split("\n")
    assert "(mine.toml): " in lines[0]
    assert any(line.startswith("sglang (rules/sglang.toml): ") for line in lines)


def test_rules_show_is_the_file(run: Run, tmp_path: Path) -> None:
    assert run("rules", "show", "sglang").stdout == (ROOT / "rules/sglang.toml").read_text()
    example = (ROOT / "tests/unit/spec/example.toml").read_text()
    (tmp_path / "mine.toml").write_text(example)
    assert run("rules", "show", "mine.toml").stdout == example


def test_rules_show_knows_no_such_pack(run: Run) -> None:
    result = run("rules", "show", "sglan")
    assert result.exit_code == 2
    assert "did you mean 'sglang'?" in result.stderr


def test_rules_validate(run: Run, tmp_path: Path) -> None:
    """What is fine goes to stdout; every fault of every file to stderr."""
    (tmp_path / "good.toml").write_text((ROOT / "tests/unit/spec/example.toml").read_text())
    assert run("rules", "validate", "good.toml").exit_code == 0
    (tmp_path / "bad.toml").write_text("schema = 1\n\n[engin]\n")
    result = run("rules", "validate", "good.toml", "bad.toml", "nowhere.toml")
    assert result.exit_code == 2
    assert result.stdout.startswith("good.toml: fine: ")
    assert "bad.toml:3:1: unknown key 'engin' (did you mean 'engine'?)" in result.stderr
    assert "nowhere.toml:1:1: cannot read it" in result.stderr


def test_rules_validate_wants_a_file(run: Run) -> None:
    assert run("rules", "validate").exit_code == 2
