"""Plans test what a report claims; evidence that says more than it holds does not get into one."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from auditor.errors import UsageError
from auditor.triage import merge_evidence, probe_plan
from cuda_probe.evidence import Controls, Observation, Tally
from tests.probe.observed import CONFIRMED, H200, ORDERED, document, record

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "reports/schema/probe-plan-v1.schema.json").read_text(encoding="utf-8"))
INNER, OUTER = "e.inner.Inner", "e.outer.Outer"


def binding(verdict: str = "gated", **changes: Any) -> dict[str, Any]:
    gates = [{"on": "Outer"}] if verdict == "gated" else []
    one = {"classes": [INNER], "objects": ["e/outer.py:9"], "method": f"{INNER}.get", "mode": "eager", "check": None}
    return {**one, "verdict": verdict, "gates": gates, **changes}


def site(
    *bindings: dict[str, Any], function: str = f"{OUTER}.get", kind: str = "call", **changes: Any
) -> dict[str, Any]:
    line = changes.pop("line", 5)
    one = {"id": f"e/outer.py:{line}", "path": "e/outer.py", "line": line, "kind": kind, "role": "product"}
    one |= {"receiver": changes.pop("receiver", "pool"), "name": changes.pop("name", "get")}
    return {**one, "function": function, "bindings": list(bindings), **changes}


def finding(**changes: Any) -> dict[str, Any]:
    one = {"check": "ungated-access", "fingerprint": "f1", "class": INNER, "method": "get", "buffer": "buf"}
    return {
        **one,
        "function": f"{INNER}.get",
        "sites": ["e/outer.py:5"],
        "status": "new",
        "witness": [],
        "confirmation": None,
        **changes,
    }


def report(*sites: dict[str, Any], findings: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    engine = {"name": "e", "version": "1", "pack": "e.toml"}
    return {"schema": "report-v1", "engine": engine, "sites": list(sites), "findings": list(findings)}


def entries(plan: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    jsonschema.validate(plan, SCHEMA)
    return [(f"{one['module']}.{one['class']}", one["method"], one["objects"]) for one in plan["experiments"]]


def test_a_finding_is_tested_at_the_function_to_change() -> None:
    """On the objects that the ungated bindings are about, not on those of the others."""
    ungated = binding("ungated", check="ungated-access")
    other = binding("gated", objects=["e/other.py:1"])
    plan = probe_plan(report(site(ungated, other), findings=(finding(),)))
    assert entries(plan)[0] == (INNER, "get", ["e/outer.py:9"])
    assert plan["experiments"][0]["id"] == f"f1:{INNER}.get/base"
    assert plan["experiments"][0]["buffer"] == "buf"


def test_a_finding_is_entered_where_its_path_enters_the_class() -> None:
    """Not at the private method that reads, if a public one of the class leads to it."""
    path = [{"function": "e.model.f"}, {"function": f"{INNER}.get"}, {"function": f"{INNER}._read"}]
    ungated = binding("ungated", check="ungated-access")
    plan = probe_plan(report(site(ungated), findings=(finding(method="_read", witness=path),)))
    assert entries(plan) == [(INNER, "get", ["e/outer.py:9"])]
    plan = probe_plan(report(site(ungated), findings=(finding(method="_read", witness=path[2:]),)))
    assert entries(plan) == [(INNER, "_read", ["e/outer.py:9"])], "called from who knows where"


@pytest.mark.parametrize(
    ("changes", "verdict", "why"),
    [
        ({"status": "suppressed"}, "ungated", "suppressed"),
        ({}, "latent", "no feasible scenario arms"),
        ({"class": "", "method": "", "function": "e.f"}, "ungated", "e.f is no method"),
        ({"check": "false-annotation", "sites": []}, "ungated", "false-annotation says nothing of a read"),
    ],
)
def test_a_finding_that_no_experiment_can_test_is_told(changes: dict[str, Any], verdict: str, why: str) -> None:
    """With its reason: nothing is left out in silence."""
    ungated = binding(verdict, check="ungated-access")
    plan = probe_plan(report(site(ungated), findings=(finding(**changes),)))
    assert entries(plan) == []
    assert why in plan["skipped"][0]["why"]


def test_a_certificate_is_tested_where_its_gate_is() -> None:
    """The inner pool is called through its owner, whose method waits first."""
    plan = probe_plan(report(site(binding())))
    assert entries(plan) == [], "no site shows that Outer is a pool"
    owned = site(binding(classes=[OUTER], method=f"{OUTER}.get", objects=["e/conf.py:3"]), function="e.model.f", line=7)
    plan = probe_plan(report(site(binding()), owned))
    assert entries(plan) == [(OUTER, "get", ["e/conf.py:3"])]
    assert plan["experiments"][0]["sites"] == ["e/outer.py:7", "e/outer.py:5"]


def test_a_raw_read_is_tested_through_the_method_that_leads_to_it() -> None:
    """Its own method if the gate is on the same object, else the owner's that calls it."""
    own = binding(classes=[OUTER], method="", objects=["e/conf.py:3"])
    assert entries(probe_plan(report(site(own, kind="attribute")))) == [(OUTER, "get", ["e/conf.py:3"])]
    raw = site(binding(method=""), function=f"{INNER}.get", kind="attribute", line=2)
    owner = site(binding("unknown", classes=[OUTER], method=f"{OUTER}.get"), function="e.model.f", line=7)
    plan = probe_plan(report(raw, site(binding("exempt")), owner))
    assert entries(plan) == [(OUTER, "get", [])]


def test_a_private_method_is_tested_through_those_that_call_it() -> None:
    """The gate may be in the public one."""
    private = binding(classes=[OUTER], method=f"{OUTER}._get", objects=["e/conf.py:3"])
    called = site(private, receiver="self", name="_get")
    assert entries(probe_plan(report(called))) == [(OUTER, "get", ["e/conf.py:3"])]
    plan = probe_plan(report(site(private, function="e.model.f", name="_get")))
    assert entries(plan) == []
    assert plan["skipped"]


def test_a_private_method_of_an_owner_is_entered_through_its_public_one() -> None:
    """And the method of the inner pool through another of the same object that leads to it."""
    inner = site(binding(method=""), function=f"{INNER}._read", kind="attribute", line=2)
    within = site(binding("exempt", method=f"{INNER}._read"), function=f"{INNER}.get", receiver="self", line=3)
    private = site(binding("exempt"), function=f"{OUTER}._get", line=4)
    public = site(
        binding("exempt", classes=[OUTER], method=f"{OUTER}._get", objects=["e/conf.py:3"]),
        function=f"{OUTER}.get",
        receiver="self",
        name="_get",
        line=5,
    )
    assert entries(probe_plan(report(inner, within, private, public))) == [(OUTER, "get", [])]
    other = site(binding("exempt", objects=["e/other.py:1"]), function=f"{OUTER}._get", line=4)
    assert entries(probe_plan(report(inner, within, other, public))) == [], "another object"


def test_a_finding_about_what_is_unknown_is_no_claim_of_a_hole() -> None:
    """The probe answers what the audit could not tell."""
    plan = probe_plan(report(site(binding("unknown")), findings=(finding(check="unresolved-receiver"),)))
    assert [one["claim"] for one in plan["experiments"]] == ["unknown"]
    assert entries(plan) == [(INNER, "get", [])]


def test_a_certificate_without_a_way_in_is_told() -> None:
    """A raw read in a function of no pool."""
    plan = probe_plan(report(site(binding(method=""), function="e.backend.forward", kind="attribute")))
    assert entries(plan) == []
    assert plan["skipped"][0]["why"].startswith("the gate is on Outer, and no method of it")


def test_tests_and_replays_are_no_claims_of_the_product() -> None:
    """Nor is anything but a certificate."""
    gated = binding(classes=[OUTER], method=f"{OUTER}.get")
    assert entries(probe_plan(report(site(gated, role="test")))) == []
    assert entries(probe_plan(report(site({**gated, "mode": "replay"}, {**gated, "verdict": "exempt"})))) == []


def test_scenarios_multiply() -> None:
    """Each claim under each."""
    gated = binding(classes=[OUTER], method=f"{OUTER}.get")
    plan = probe_plan(report(site(gated)), ("base", "captured"))
    assert [one["scenario"] for one in plan["experiments"]] == ["base", "captured"]
    assert len({one["id"] for one in plan["experiments"]}) == 2


# ---------------------------------------------------------------- merge

NO_GPU = replace(CONFIRMED, failure="no GPU")


def probed(seen: Observation, claim: str = "ungated", scenario: str = "base") -> dict[str, Any]:
    one = record(seen, claim=claim, finding="f1" if claim == "ungated" else None, scenario=scenario)
    return {**one, "target": {**one["target"], "version": "1"}}


def test_a_label_gets_to_its_finding() -> None:
    """That of the base scenario; the report is not changed in place."""
    before = report(findings=(finding(), finding(fingerprint="f2")))
    kept = copy.deepcopy(before)
    other = probed(ORDERED, scenario="captured")
    merged, agreement = merge_evidence(before, document(probed(CONFIRMED), other))
    assert [one["confirmation"] for one in merged["findings"]] == ["confirmed on sim", None]
    assert before == kept
    assert agreement.counts == {("ungated", "confirmed"): 1}
    assert agreement.disagreements == ()


def test_labels_of_several_places_stand_side_by_side() -> None:
    """A simulated device and a GPU are never made one word."""
    both = document(probed(CONFIRMED), probed(NO_GPU))
    merged, _ = merge_evidence(report(findings=(finding(),)), both)
    assert merged["findings"][0]["confirmation"] == "confirmed on sim; could not run: no GPU"


def test_the_agreement_is_a_table_with_the_share_that_was_judged_and_reasons() -> None:
    """The most frequent reason first."""
    why = [probed(replace(CONFIRMED, failure="no class"), claim="gated") for _ in range(2)]
    other = probed(replace(CONFIRMED, doubt="no layer"), claim="unknown")
    _, agreement = merge_evidence(report(findings=(finding(),)), document(probed(CONFIRMED), *why, other))
    lines = [line.split() for line in agreement.lines()]
    assert lines[1:4] == [
        ["gated", "0", "0", "0", "2", "0"],
        ["ungated", "1", "0", "0", "0", "0"],
        ["unknown", "0", "0", "0", "0", "1"],
    ]
    told = [" ".join(line) for line in lines[4:]]
    assert told == [
        "1 of 4 experiments were built and judged: 25 %",
        "2 could not run: no class",
        "1 inconclusive: no layer",
    ]
    assert merge_evidence(report(), document())[1].lines()[1:] == ("0 of 0 experiments were built and judged: 0 %",)


def test_disagreements_are_listed() -> None:
    """What is called gated and was confirmed, and what is called ungated and was ordered."""
    both = document(
        probed(ORDERED),
        probed(CONFIRMED, claim="gated"),
        probed(replace(CONFIRMED, doubt="why"), claim="gated"),
    )
    _, agreement = merge_evidence(report(findings=(finding(),)), both)
    assert [(claim, label) for claim, label, _ in agreement.disagreements] == [
        ("ungated", "ordered on sim"),
        ("gated", "confirmed on sim"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"label": "confirmed on GPU"},
        {"label": "confirmed on Blackwell"},
        {"label": "confirmed on sm_90"},
        {"label": "ordered on sim"},
        {"verdict": "ordered"},
        {"controls": None},
        {"races": []},
        {"trials": {**asdict(CONFIRMED.trials), "raced": 3}},
        {"backend": asdict(H200)},
        {"backend": {**asdict(H200), "device": None}, "label": "confirmed on sm_90"},
        {"backend": asdict(H200), "label": "confirmed on Blackwell sm_100"},
        {"failure": "it never ran"},
        {"trials": {"trials": "many"}},
        {"trials": None},
        {"timeline": {"operations": [{}], "edges": []}},
        {"experiment": {"id": "x", "scenario": "base", "claim": "ungated"}},
        {"more": 1},
    ],
)
def test_evidence_that_says_more_than_it_holds_is_refused(changes: dict[str, Any]) -> None:
    """A label that is none, whose requirements the record does not show, or whose numbers do not earn it."""
    with pytest.raises(UsageError, match=r"is no evidence-v1: |but what it holds earns "):
        merge_evidence(report(findings=(finding(),)), document({**probed(CONFIRMED), **changes}))


def test_a_number_of_trials_that_nobody_ran_is_refused() -> None:
    """The schema cannot compare numbers; the function that makes labels is asked again."""
    one = probed(Observation(H200, Tally(2), Controls(Tally(2, wrong=2), Tally(2))))
    reported = report(findings=(finding(),))
    assert merge_evidence(reported, document(one))[0]["findings"][0]["confirmation"] == "ordered in 2 trials on sm_90"
    with pytest.raises(UsageError, match="earns 'ordered in 2 trials on sm_90'"):
        merge_evidence(reported, document({**one, "label": "ordered in 500 trials on sm_90"}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"finding": "f2"}, "no finding f2"),
        ({"sites": ["e/other.py:7"]}, "no site e/other.py:7"),
    ],
)
def test_evidence_of_another_report_is_refused(changes: dict[str, Any], message: str) -> None:
    """Its findings and sites are not there."""
    one = probed(CONFIRMED)
    one["experiment"] |= changes
    with pytest.raises(UsageError, match=f"of another report: this one has {message}"):
        merge_evidence(report(findings=(finding(),)), document(one))


def test_evidence_of_another_version_is_refused() -> None:
    """A finding has the same fingerprint in each release that has it."""
    one = probed(CONFIRMED)
    one["target"] |= {"version": "0.9"}
    with pytest.raises(UsageError, match=r"it ran 0\.9, and this one is of 1"):
        merge_evidence(report(findings=(finding(),)), document(one))


@pytest.mark.parametrize("other", [{}, [], None, "x", {"schema": "evidence-v2", "records": []}, {"schema": []}])
def test_what_is_something_else_is_refused(other: Any) -> None:
    """Also what a later version may write."""
    with pytest.raises(UsageError, match="no report-v1"):
        probe_plan(other)
    with pytest.raises(UsageError, match="no evidence-v1"):
        merge_evidence(report(), other)
