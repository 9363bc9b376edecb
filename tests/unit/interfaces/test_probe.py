"""``bufgate probe``: a report becomes a plan, a plan evidence, and evidence labels in the report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from auditor.interfaces.cli import main

CHECK = "disarmed-gate"


def bufgate(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def story(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report of the miniature engine, and its plan."""
    folder = tmp_path_factory.mktemp("story")
    assert bufgate("check", root / "fixtures/engine", "-o", f"json:{folder / 'report.json'}").exit_code == 1
    done = bufgate("probe", "plan", folder / "report.json", "-o", folder / "plan.json")
    assert done.exit_code == 0, done.output
    return folder


def read(file: Path) -> dict:
    plain: dict = json.loads(file.read_text(encoding="utf-8"))
    return plain


def test_the_plan_has_findings_and_certificates(story: Path, root: Path) -> None:
    """Both kinds of claims are tested, and the plan keeps its schema."""
    plan = read(story / "plan.json")
    jsonschema.validate(plan, read(root / "reports/schema/probe-plan-v1.schema.json"))
    claims = {(one["class"], one["method"]): one["claim"] for one in plan["experiments"]}
    assert claims["RouterPool", "get_mla_kv_buffer"] == "ungated"
    assert claims["CompressedPool", "get_index_k_with_scale_buffer"] == "gated"
    assert ("IndexerPool", "get_index_k_with_scale_buffer") not in claims, "its owner is the way in"


def test_the_whole_story(story: Path, root: Path) -> None:
    """Audit, plan, run, merge: the finding is confirmed, the certificate is ordered, the report keeps its schema."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    plan = read(story / "plan.json")
    chosen = [
        one
        for one in plan["experiments"]
        if (one["class"], one["method"]) in (("RouterPool", "get_mla_kv_buffer"), ("RouterPool", "get_key_buffer"))
    ]
    (story / "few.json").write_text(json.dumps({**plan, "experiments": chosen}))
    engine = root / "fixtures/engine"
    run = ["probe", "run", story / "few.json", "--tree", engine, "-o", story / "evidence.json"]
    assert bufgate(*run).exit_code == 2, "not without --execute"
    assert bufgate(*run, "--execute").exit_code == 1
    merge = ["probe", "merge", story / "report.json", story / "evidence.json"]
    done = bufgate(*merge, "-o", story / "probed.json", "--html", story / "probed.html", "--tree", engine)
    assert done.exit_code == 0
    table = [line.removeprefix("bufgate: ").split() for line in done.output.splitlines()]
    assert table[0] == ["confirmed", "ordered", "not-reproduced", "could-not-run", "inconclusive"]
    assert table[1:3] == [["gated", "0", "1", "0", "0", "0"], ["ungated", "1", "0", "0", "0", "0"]]
    assert " ".join(table[3]) == "2 of 2 experiments were built and judged: 100 %"
    probed = read(story / "probed.json")
    jsonschema.validate(probed, read(root / "reports/schema/report-v1.schema.json"))
    labels = {one["check"]: one["confirmation"] for one in probed["findings"] if one["check"] == CHECK}
    assert labels == {CHECK: "confirmed on sim"}
    page = (story / "probed.html").read_text(encoding="utf-8")
    assert page.count('<svg class="timeline"') == 2
    assert page.count('class="missing"') >= 1
    assert "def get_mla_kv_buffer" in page, "source lines come from the tree"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "{}/no.json"], "cannot read"),
        (["plan", "{}/text"], "is no JSON"),
        (["plan", "{}/plan.json"], "no report-v1; write one with `bufgate check -o json:FILE`"),
        (["merge", "{}/report.json", "{}/plan.json"], "no evidence-v1"),
        (["merge", "{}/report.json", "{}/newer.json"], "no evidence-v1; write it with"),
        (["merge", "{}/report.json", "{}/cut.json"], "is no JSON"),
        (["merge", "{}/report.json", "{}/halves.json"], "no evidence-v1: $.records[0] has no 'experiment'"),
        (["run", "{}/plan.json", "--tree", "{}", "--python", "{}/no-python"], "cannot run"),
    ],
)
def test_mistakes_are_told_in_one_line(story: Path, arguments: list[str], message: str) -> None:
    """And end with 2."""
    (story / "text").write_text("hello")
    (story / "newer.json").write_text('{"schema": "evidence-v2", "records": []}')
    (story / "cut.json").write_text('{"schema": "evidence-v1", "records": [{"experiment": {"id": "x')
    (story / "halves.json").write_text('{"schema": "evidence-v1", "records": [{}]}')
    done = bufgate("probe", *(argument.format(story) for argument in arguments))
    assert done.exit_code == 2
    assert message in done.output
    assert done.output.count("\n") == 1
