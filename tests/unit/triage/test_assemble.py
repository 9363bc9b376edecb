# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""The report of a judgement: merged bindings, the worst verdict, ids, sums."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from auditor.audit import NothingToAudit, Options, audit
from auditor.source import open_tree
from auditor.triage import VERDICTS, Report, Site
from tests.unit.gating.programs import ENGINE, GATED, READ, SERVE, engine

MIXED = """
class Late(KVCache):
    def get_key_buffer(self, layer_id):
        return self.k_buffer[layer_id]

def mixed(flag, layer_id, q):
    pool = KeyPool(4) if flag else Late(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""


@pytest.fixture
def report(tmp_path: Path):
    def make(text: str, **more: str) -> Report:
        for name, content in {"engine": text, **more}.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return audit(open_tree([tmp_path]), Options(jobs=1, timing=False))

    return make


def site(report: Report, function: str, name: str = "get_key_buffer") -> Site:
    (found,) = (one for one in report.sites if one.function == f"engine.{function}" and one.name == name)
    return found


@pytest.mark.xfail(
    strict=True, reason="gates of different objects are never equal, so bindings of two objects are not merged"
)
def test_equal_bindings_are_merged(report) -> None:
    code = """
def two(flag, layer_id, q):
    pool = KeyPool(4) if flag else KeyPool(8)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""
    (binding,) = site(report(engine(GATED, code)), "two").bindings
    assert binding.classes == ("engine.KeyPool",)
    assert len(binding.objects) == 2
    assert binding.verdict == "gated"


@pytest.mark.xfail(
    strict=True, reason="gates of different objects are never equal, so bindings of two objects are not merged"
)
def test_subclasses_with_one_method_are_merged(report) -> None:
    code = "class Small(KeyPool):\n    pass\n" + MIXED.replace("class Late(KVCache)", "class Unused(KVCache)").replace(
        "Late(4)", "Small(4)"
    )
    (binding,) = site(report(engine(GATED, code)), "mixed").bindings
    assert binding.classes == ("engine.KeyPool", "engine.Small")
    assert binding.method == "engine.KeyPool.get_key_buffer"


def test_different_verdicts_stay_apart(report) -> None:
    bindings = site(report(engine(GATED, MIXED)), "mixed").bindings
    assert [(one.verdict, one.classes) for one in bindings] == [
        ("ungated", ("engine.Late",)),
        ("gated", ("engine.KeyPool",)),
    ]


def test_a_site_is_as_bad_as_its_worst_binding(report) -> None:
    for one in report(engine(GATED, MIXED + SERVE)).sites:
        assert one.bindings
        assert one.verdict == min((binding.verdict for binding in one.bindings), key=VERDICTS.index)
        assert list(one.bindings) == sorted(one.bindings, key=lambda binding: VERDICTS.index(binding.verdict))


def test_sums(report) -> None:
    made = report(engine(GATED, MIXED + SERVE))
    stats = made.stats
    assert set(stats.verdicts) == set(VERDICTS)
    assert sum(stats.verdicts.values()) == stats.sites == len(made.sites)
    assert stats.bindings == sum(len(one.bindings) for one in made.sites)
    assert sum(stats.unknown_reasons.values()) == stats.verdicts["unknown"]
    assert stats.seconds is None


def test_reasons_of_unknown_are_counted(report) -> None:
    made = report(
        engine(GATED, SERVE + "\ndef lost(x, layer_id, q):\n    return q @ x.y.z().get_key_buffer(layer_id)\n")
    )
    assert made.stats.verdicts["unknown"] == 1
    assert made.stats.unknown_reasons == {"receiver-unresolved": 1}


def test_sites_stand_in_order_with_ids_of_their_own(report) -> None:
    made = report(engine(GATED, MIXED + SERVE))
    places = [(one.path, one.line, one.column, one.name) for one in made.sites]
    assert places == sorted(places)
    assert len({one.id for one in made.sites}) == len(made.sites)


def test_findings_name_sites_of_the_report(report) -> None:
    made = report(engine(READ, MIXED + SERVE))
    known = {one.id for one in made.sites}
    assert made.findings
    for one in made.findings:
        assert one.sites
        assert set(one.sites) <= known


def test_an_ungated_site_has_its_check_and_a_witness(report) -> None:
    for one in report(engine(READ, SERVE)).sites:
        for binding in one.bindings:
            assert (binding.verdict, binding.check) == ("ungated", "ungated-access")
            assert binding.witness
            assert not binding.gates


@pytest.mark.xfail(strict=True, reason="the first check told at a site marks all its bindings")
def test_two_findings_at_a_site_each_mark_their_binding(report) -> None:
    """A binding names the check that tells it, not one of another binding."""
    code = MIXED.replace(
        "def get_key_buffer(self, layer_id):\n        return",
        "def get_key_buffer(self, layer_id):\n        if q:\n            self.layer_transfer_counter.wait_until(layer_id)\n        return",
    )
    bindings = site(report(engine(READ, code)), "mixed").bindings
    checks = {one.classes[0].rpartition(".")[2]: one.check for one in bindings}
    assert checks == {"KeyPool": "ungated-access", "Late": "gate-on-some-paths"}


def test_a_gated_site_has_its_certificate(report) -> None:
    for one in report(engine(GATED, SERVE)).sites:
        for binding in one.bindings:
            assert binding.verdict == "gated"
            assert binding.check is None
            assert not binding.witness
            (gate,) = binding.gates
            assert "wait_until" in gate.expression
            assert (gate.on, gate.layer) == ("KeyPool", gate.layer)
            assert gate.covers
            assert gate.armed


def test_the_scenario_of_a_binding_is_one_of_the_report(report) -> None:
    made = report(engine(GATED, SERVE))
    ids = {one.id for one in made.scenarios}
    assert len(ids) == 1
    assert {binding.scenario for one in made.sites for binding in one.bindings} <= ids


def test_an_open_receiver_is_gated_and_open(report) -> None:
    """Gated for all N known classes; open at … (DESIGN.md §3)."""
    code = """
import plugin

def mixed(flag, layer_id, q):
    pool = KeyPool(4) if flag else plugin.OtherPool(4)
    Controller(pool)
    return q @ pool.get_key_buffer(layer_id)
"""
    found = site(report(engine(GATED, code)), "mixed")
    assert found.verdict == "gated"
    assert found.open


def test_tests_build_no_product_objects(report) -> None:
    """Code that is not product adds no allocations, arming or callers (§2.15)."""
    test = "from engine import *\n\ndef test_it(q):\n    pool = KeyPool(9)\n    pool.register_layer_transfer_counter(None)\n    q @ pool.get_key_buffer(0)\n"
    alone, both = report(engine(GATED, SERVE)), report(engine(GATED, SERVE), tests__test_engine=test)
    assert [one for one in both.sites if one.role == "product"] == list(alone.sites)
    assert all(one.severity == "note" for one in both.findings)


def test_what_cannot_be_read_is_a_problem(report) -> None:
    made = report(engine(GATED, SERVE), broken="def get_key_buffer(:\n    wait_until layer_transfer_counter\n")
    assert [one.path for one in made.problems] == ["broken.py"]


def test_nothing_to_audit(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    with pytest.raises(NothingToAudit, match="no engine"):
        audit(open_tree([tmp_path]), Options(jobs=1))


def test_an_engine_without_a_site(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(ENGINE)
    with pytest.raises(NothingToAudit):
        audit(open_tree([tmp_path]), Options(jobs=1))


def test_findings_of_the_report_are_in_order(report) -> None:
    made = report(
        engine(
            READ,
            MIXED
            + SERVE
            + "\ndef kept(layer_id, x):\n    pool = KeyPool(4)\n    Controller(pool)\n    x.kept = pool.get_key_buffer(layer_id)\n",
        )
    )
    order = ("error", "warning", "note")
    assert len(made.findings) > 1
    assert all(order.index(left.severity) <= order.index(right.severity) for left, right in pairwise(made.findings))
    assert len({one.fingerprint for one in made.findings}) == len(made.findings)
