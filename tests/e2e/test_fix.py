"""``bufgate fix`` as a user runs it, on a copy of the miniature engine."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import libcst as cst
import pytest
from click.testing import CliRunner

from auditor.interfaces.cli import main
from tests.e2e.process import Done, check, run

FIXED = {"bypassed-owner": 2, "ungated-access": 1, "disarmed-gate": 1}
"""The errors of the engine. What is left then is a warning: an argument that a caller leaves out."""


def fix(*arguments: str | Path) -> Done:
    return run("fix", *arguments, "--jobs", "1")


def contents(tree: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(tree.rglob("*.py"))}


def test_a_diff_changes_nothing_and_is_what_write_does(tree: Path) -> None:
    before = contents(tree)
    done = fix(tree)
    assert (done.exit, contents(tree)) == (1, before)
    assert "4 would be closed, in 3 files" in done.stderr
    subprocess.run(["patch", "-p1", "-s"], input=done.stdout, text=True, cwd=tree, check=True)
    patched = contents(tree)
    assert patched != before
    for name, data in before.items():
        next(tree.rglob(name)).write_bytes(data)
    assert fix(tree, "--write").exit == 1
    assert contents(tree) == patched


def test_after_write_the_findings_are_gone_and_nothing_else_changed(tree: Path) -> None:
    before = check(tree).report
    done = fix(tree, "--write")
    assert (done.exit, done.stdout) == (1, ""), "the warning that no wait mends is left"
    assert "is left: the gate is there: the caller has to pass the argument it depends on" in done.stderr
    after = check(tree).report
    left = {one["fingerprint"] for one in after["findings"]}
    gone = [one["check"] for one in before["findings"] if one["fingerprint"] not in left]
    assert {name: gone.count(name) for name in gone} == FIXED
    assert left < {one["fingerprint"] for one in before["findings"]}
    assert after["stats"]["verdicts"]["unknown"] == before["stats"]["verdicts"]["unknown"]
    assert after["stats"]["verdicts"]["ungated"] < before["stats"]["verdicts"]["ungated"]
    again = fix(tree, "--write")
    assert "0 closed, in 0 files" in again.stderr


def test_a_finding_is_selected_by_its_fingerprint_check_or_file(tree: Path) -> None:
    (one,) = (each for each in check(tree).report["findings"] if each["check"] == "disarmed-gate")
    by_check = fix(tree, "--check", "disarmed-gate")
    assert "+        self._wait_for_layer(layer.layer_id)\n" in by_check.stdout
    assert by_check.stdout.count("\n+++ ") == 1
    assert fix(tree, "--fingerprint", one["fingerprint"][:8]).stdout == by_check.stdout
    assert fix(tree, "--path", one["path"]).stdout == by_check.stdout
    assert fix(tree, "--check", "disarmed-gate", "--write").exit == 0, "nothing that was selected is left"


def test_a_selection_that_fits_nothing_is_told(tree: Path) -> None:
    done = fix(tree, "--fingerprint", "00000000")
    assert (done.exit, done.stdout) == (2, "")
    assert "no finding fits the selection" in done.stderr
    assert "Did you mean 'disarmed-gate'?" in fix(tree, "--check", "disarmed-gates").stderr


def test_the_report_holds_what_is_written(tree: Path) -> None:
    """Whoever applies the fix of the report by hand gets what --write makes."""
    report = check(tree).report
    (one,) = (each for each in report["findings"] if each["check"] == "ungated-access" and each["fix"])
    file = tree / one["fix"]["path"]
    lines = file.read_text(encoding="utf-8").split("\n")
    lines[one["fix"]["line"] - 1 : one["fix"]["end_line"]] = one["fix"]["text"].split("\n")
    fix(tree, "--fingerprint", one["fingerprint"], "--write")
    assert file.read_text(encoding="utf-8") == "\n".join(lines)
    assert all((each["fix"] is None) == bool(each["unfixed"]) for each in report["findings"])


def test_line_ends_encoding_and_permissions_stay(tree: Path) -> None:
    file = tree / "minikv" / "router.py"
    text = "# coding: latin-1\n# é\n" + file.read_text(encoding="utf-8").replace("\t", " ")
    file.write_bytes(text.encode("latin-1").replace(b"\n", b"\r\n"))
    file.chmod(0o755)
    assert fix(tree, "--check", "disarmed-gate", "--write").exit == 0
    data = file.read_bytes()
    assert b"# \xe9\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")
    assert b"        self._wait_for_layer(layer.layer_id)\r\n" in data
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o755


def test_a_fix_that_does_not_help_is_not_written(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is proposed, the audit of the changed tree decides."""
    monkeypatch.setattr("auditor.fix.proposer.replaced", lambda _statement, _values: cst.parse_statement("pass"))
    before = contents(tree)
    done = CliRunner().invoke(
        main, ["fix", str(tree), "--check", "disarmed-gate", "--write", "--jobs", "1", "--no-cache"]
    )
    assert (done.exit_code, done.stdout, contents(tree)) == (1, "", before)
    assert "disarmed-gate 0f782e52 would still be found" in done.stderr
    assert done.stderr.endswith("so nothing is changed\n")


def test_a_release_is_never_written_to() -> None:
    done = fix("--release", "sglang==0.5.23", "--write")
    assert done.exit == 2
    assert "--write changes files, and a release has none of yours" in done.stderr


def test_sarif_has_the_fix_too(tree: Path) -> None:
    done = run("check", tree, "-o", "sarif", "--quiet")
    results = json.loads(done.stdout)["runs"][0]["results"]
    assert sum("fixes" in one for one in results) == sum(FIXED.values())
