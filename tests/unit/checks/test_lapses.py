"""What is wrong with a loader becomes a finding without a site, in the shape of report-v1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditor.audit import Options, audit
from auditor.render import FORMATS, Page
from auditor.source import open_tree
from auditor.triage import Report, ReportedFinding

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
FOUND = {
    "signal-before-copy/bad_branch_not_joined": ("error", "high", "CacheController.start_loading", "k_buffer"),
    "signal-before-copy/bad_other_stream": ("error", "medium", "CacheController.start_loading", "k_buffer"),
    "unfenced-transfer/bad_event_left_out": ("warning", "medium", "Worker.load", ""),
    "unfenced-transfer/bad_behind_the_caller": ("warning", "medium", "CacheController.start_loading", "start_event"),
    "untransferred-buffer/bad_base_class_first": ("warning", "medium", "CacheController.__init__", "index_k_buffer"),
    "layer-range-mismatch/bad_count_as_bound": (
        *("warning", "medium", "engine.assemble"),
        "len(full_mapping | state_mapping)",
    ),
    "counter-reuse/bad_reset_by_thread": ("warning", "medium", "CacheController.run", "LayerDoneCounter"),
    "override-drops-gate/bad_loader_drops_pool": ("error", "high", "PackedController.start_loading", "draft"),
}


def reported(case: str) -> Report:
    return audit(open_tree([FIXTURES / case]), Options(jobs=1, timing=False))


def the_lapse(report: Report) -> ReportedFinding:
    (found,) = [one for one in report.findings if not one.sites]
    return found


@pytest.mark.parametrize("case", FOUND)
def test_a_lapse_is_told(case: str) -> None:
    severity, confidence, function, buffer = FOUND[case]
    found = the_lapse(reported(case))
    assert (found.check, found.severity, found.confidence) == (case.partition("/")[0], severity, confidence)
    assert found.message.startswith(f"{function} ")
    assert found.function.endswith(function)
    assert found.buffer == buffer
    assert not found.message.endswith(".")


@pytest.mark.parametrize("case", FOUND)
def test_it_has_no_site_and_its_path_is_the_loaders(case: str) -> None:
    found = the_lapse(reported(case))
    assert (found.sites, found.related, found.fix) == ((), (), None)
    assert len(found.witness) >= 2
    assert (found.path, found.line) in {(step.path, step.line) for step in found.witness}
    assert [hint for hint in found.hints if hint.startswith("missing: ")]


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_every_format_shows_it(format_: str) -> None:
    report = reported("signal-before-copy/bad_branch_not_joined")
    found = the_lapse(report)
    text = FORMATS[format_](report, Page())
    assert found.fingerprint in text
    assert "signal-before-copy" in text


def test_the_text_points_to_the_story_and_speaks_of_no_read() -> None:
    report = reported("override-drops-gate/bad_loader_drops_pool")
    text = FORMATS["text"](report, Page())
    assert "error[override-drops-gate]" in text
    assert f"bufgate explain {report.findings[0].fingerprint[:16]}" in text
    assert "reads `" not in text
    assert "a wait for the load" not in text


def test_findings_about_reads_and_loaders_are_in_one_order() -> None:
    report = reported("counter-reuse/bad_one_set_of_events")
    weights = [("error", "warning", "note").index(one.severity) for one in report.findings]
    assert weights == sorted(weights)
    assert json.loads(FORMATS["json"](report, Page()))["findings"][0]["check"] == "counter-reuse"
