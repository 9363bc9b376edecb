"""report-v1: what the schema says, and what it refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from auditor.render import FORMATS, Page
from auditor.triage import Report
from tests.unit.render import sample

SCHEMA = json.loads((Path(__file__).parents[3] / "reports/schema/report-v1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def written(report: Report = sample.REPORT) -> str:
    return FORMATS["json"](report, Page())


def document(report: Report = sample.REPORT) -> Any:
    return json.loads(written(report))


def test_golden(golden: Callable[[Path, str], None], root: Path) -> None:
    golden(root / "tests/golden/report.json", written())


def test_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_object_of_the_schema_is_closed() -> None:
    """A key that nobody declared is a fault, everywhere."""

    def open_objects(node: Any, where: str) -> list[str]:
        if isinstance(node, list):
            return [path for n, item in enumerate(node) for path in open_objects(item, f"{where}/{n}")]
        if not isinstance(node, dict):
            return []
        is_object = node.get("type") == "object" or node.get("type") == ["object", "null"]
        here = [where] if is_object and "additionalProperties" not in node else []
        return here + [path for key, item in node.items() for path in open_objects(item, f"{where}/{key}")]

    assert open_objects(SCHEMA, "") == []


@pytest.mark.parametrize("report", [sample.REPORT, sample.CLEAN_REPORT], ids=["rich", "clean"])
def test_reports_are_valid(report: Report) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(document(report))] == []


def changed(path: list[str | int], value: object) -> Any:
    report = copy.deepcopy(document())
    node = report
    for key in path[:-1]:
        node = node[key]
    if value is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return report


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["schema"], "report-v2"),
        (["extra"], 1),
        (["findings"], ...),
        (["stats", "verdicts", "safe"], 1),
        (["stats", "unknown_reasons"], {"because": 1}),
        (["stats", "files"], -1),
        (["sites", 0, "verdict"], "safe"),
        (["sites", 0, "kind"], "read"),
        (["sites", 0, "role"], "prod"),
        (["sites", 0, "path"], "/home/me/x.py"),
        (["sites", 0, "line"], 0),
        (["sites", 0, "bindings", 0, "mode"], "capture"),
        (["sites", 0, "bindings", 0, "phase"], "decode"),
        (["sites", 0, "bindings", 0, "feasible"], "maybe"),
        (["sites", 0, "bindings", 0, "gates"], []),
        (["sites", 1, "bindings", 0, "witness"], []),
        (["sites", 4, "bindings", 0, "reason"], "because"),
        (["sites", 3, "bindings", 0, "reason"], ""),
        (["findings", 0, "severity"], "fatal"),
        (["findings", 0, "confidence"], "sure"),
        (["findings", 0, "status"], "old"),
        (["findings", 0, "check"], "Not Kebab"),
        (["findings", 0, "fingerprint"], ""),
        (["problems", 0, "relevant"], "yes"),
    ],
)
def test_schema_refuses(path: list[str | int], value: object) -> None:
    assert not VALIDATOR.is_valid(changed(path, value))


def test_limit_may_say_which() -> None:
    assert VALIDATOR.is_valid(changed(["sites", 4, "bindings", 0, "reason"], "limit(call depth)"))


def test_keys_stand_in_the_order_of_the_design() -> None:
    report = document()
    assert list(report) == ["schema", "tool", "engine", "scenarios", "stats", "sites", "findings", "problems"]
    assert list(report["stats"]["verdicts"]) == ["gated", "ungated", "latent", "exempt", "unknown"]
    assert list(report["findings"][0])[:5] == ["check", "severity", "confidence", "message", "fingerprint"]


def test_no_timing_leaves_the_seconds_out() -> None:
    report = replace(sample.REPORT, stats=replace(sample.REPORT.stats, seconds=None))
    assert "seconds" not in document(report)["stats"]
    assert VALIDATOR.is_valid(document(report))


def test_same_report_same_bytes_whatever_the_order_of_its_counts() -> None:
    counts = {"receiver-unresolved": 1, "limit": 2, "pack-gap": 3}
    reports = [
        replace(sample.REPORT, stats=replace(sample.REPORT.stats, unknown_reasons=dict(items)))
        for items in (counts.items(), reversed(counts.items()))
    ]
    assert written(reports[0]) == written(reports[1])


@given(st.lists(st.text(min_size=1, max_size=8), max_size=8))
def test_every_fingerprint_is_there_in_order(fingerprints: list[str]) -> None:
    """Nothing is left out, merged or sorted away, whatever it is made of; and the bytes are ASCII."""
    findings = tuple(replace(sample.FINDINGS[0], fingerprint=fingerprint) for fingerprint in fingerprints)
    text = written(replace(sample.REPORT, findings=findings))
    assert text.isascii()
    assert [finding["fingerprint"] for finding in json.loads(text)["findings"]] == fingerprints
