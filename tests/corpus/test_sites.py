"""SGLang 0.5.23 whole: it ends, nothing relevant is left out, every site is listed and every site has a verdict."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from auditor.triage import VERDICTS
from tests.corpus.candidates import calls

pytestmark = pytest.mark.corpus
NEWEST = pytest.mark.parametrize("version", ["0.5.23"])


@NEWEST
def test_it_ends_without_a_crash_or_a_relevant_problem(audit, version):
    done = audit(version)
    assert done.exit in (0, 1), done.stderr
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert [problem for problem in done.report["problems"] if problem["relevant"]] == []


@NEWEST
def test_the_report_is_one_of_its_schema(audit, version, root):
    schema = json.loads((root / "reports/schema/report-v1.schema.json").read_text(encoding="utf-8"))
    wrong = [
        f"{error.json_path}: {error.message[:200]}"
        for error in Draft202012Validator(schema).iter_errors(audit(version).report)
    ]
    assert wrong == []


@NEWEST
def test_every_site_has_bindings_with_verdicts_and_the_worst_is_its_own(audit, version):
    sites = audit(version).report["sites"]
    wrong = []
    for site in sites:
        verdicts = [binding["verdict"] for binding in site["bindings"]]
        if not verdicts or site["verdict"] != min(verdicts, key=VERDICTS.index):
            wrong.append((site["path"], site["line"], site["name"], site["verdict"], verdicts))
    assert wrong == []
    assert len({site["id"] for site in sites}) == len(sites)


@NEWEST
def test_the_numbers_of_verdicts_are_those_of_the_sites(audit, version):
    report = audit(version).report
    stats = report["stats"]
    assert stats["sites"] == len(report["sites"]) == sum(stats["verdicts"].values())
    counted = Counter(site["verdict"] for site in report["sites"])
    assert stats["verdicts"] == {verdict: counted[verdict] for verdict in VERDICTS}
    assert stats["bindings"] == sum(len(site["bindings"]) for site in report["sites"])


@NEWEST
def test_what_must_be_carried_is_carried(audit, version):
    """gated: a gate; ungated and latent: a check; exempt and unknown: a reason."""
    wrong = [
        (site["path"], site["line"], site["name"], binding["verdict"])
        for site in audit(version).report["sites"]
        for binding in site["bindings"]
        if not binding[{"gated": "gates", "ungated": "check", "latent": "check"}.get(binding["verdict"], "reason")]
    ]
    assert wrong == []


@NEWEST
def test_every_call_by_name_is_a_site(audit, version, release, capsys):
    """Both ways: what the names give and the report does not, and the other way round, is explained by the report."""
    report = audit(version).report
    named = set(calls(release(f"sglang=={version}"), "sglang/srt"))
    listed = {(site["path"], site["line"], site["name"]): site for site in report["sites"]}
    in_srt = {place for place in listed if place[0].startswith("sglang/srt/")}
    reported = {place for place in in_srt if listed[place]["kind"] == "call"}
    explained = {place for place in reported - named if _is_not_a_pool(listed[place]) or _is_replay(listed[place])}
    problems = {problem["path"] for problem in report["problems"]}
    missing = sorted(place for place in named - listed.keys() if place[0] not in problems)
    extra = sorted(reported - named - explained)
    verdicts = Counter(listed[place]["verdict"] for place in named & listed.keys())
    with capsys.disabled():
        print(
            f"\nsglang {version}: {len(named)} calls by name in sglang/srt, {len(named & listed.keys())} of them sites"
            f" ({dict(verdicts)}, {sum(_is_not_a_pool(listed[p]) for p in named & listed.keys())} not-a-pool),"
            f" {len(missing)} missing, {len(extra)} reported calls without such a name, {len(explained)} explained"
        )
    assert (missing, extra) == ([], [])


@NEWEST
def test_a_call_is_reported_as_a_call(audit, version, release):
    named = set(calls(release(f"sglang=={version}"), "sglang/srt"))
    sites = audit(version).report["sites"]
    kinds = {(site["path"], site["line"], site["name"]): site["kind"] for site in sites}
    assert sorted(place for place in named & kinds.keys() if kinds[place] != "call") == []


def _is_replay(site: dict) -> bool:
    """The replay of a graph, which reads what the graph recorded and calls nothing by name."""
    return {binding["mode"] for binding in site["bindings"]} == {"replay"}


def _is_not_a_pool(site: dict) -> bool:
    reasons = {(binding["verdict"], binding["reason"]) for binding in site["bindings"]}
    return bool(reasons) and reasons <= {("exempt", "not-a-pool"), ("unknown", "pack-gap")}
