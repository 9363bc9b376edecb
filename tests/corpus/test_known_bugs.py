"""Public bugs: flagged in a release that has them and, where that release is audited here, silent in the one that fixed
them. ``make truth`` asks about every release of the list."""

from __future__ import annotations

import pytest

from tests.corpus.audits import short

pytestmark = pytest.mark.corpus

INDEX_K = ("get_index_k_scale_buffer", "get_index_k_continuous", "get_index_k_scale_continuous")


def findings(report, cls, methods, checks=None):
    """(check, method) of the findings of a function of a class that count: not notes, not below medium confidence."""
    return {
        (finding["check"], short(finding["function"]))
        for finding in report["findings"]
        if finding["severity"] != "note"
        and finding["confidence"] != "low"
        and finding["function"].split(".")[-2:-1] == [cls]
        and short(finding["function"]) in methods
        and (checks is None or finding["check"] in checks)
    }


@pytest.mark.parametrize("version", ["0.5.10.post1"])
def test_sg01_is_flagged_in_each_of_the_three_readers(audit, version):
    found = findings(audit(version).report, "NSATokenToKVPool", INDEX_K)
    assert found == {("ungated-access", method) for method in INDEX_K}


@pytest.mark.parametrize("version", ["0.5.11"])
def test_sg01_is_silent_after_the_fix(audit, version):
    assert findings(audit(version).report, "NSATokenToKVPool", INDEX_K) == set()


@pytest.mark.parametrize("version", ["0.5.10.post1", "0.5.21"])
def test_sg02_is_flagged(audit, version):
    found = findings(audit(version).report, "HybridLinearKVPool", ("get_mla_kv_buffer",))
    assert ("disarmed-gate", "get_mla_kv_buffer") in found


@pytest.mark.parametrize("version", ["0.5.22"])
def test_sg02_is_silent_after_the_fix(audit, version):
    assert findings(audit(version).report, "HybridLinearKVPool", ("get_mla_kv_buffer",)) == set()


COMPRESSED = ("get_qsa_compressed_k_buffer",)


@pytest.mark.parametrize("version", ["0.5.21"])
def test_sg14_is_flagged(audit, version):
    found = findings(audit(version).report, "QSATokenToKVPool", COMPRESSED)
    assert found == {("ungated-access", COMPRESSED[0])}


@pytest.mark.parametrize("version", ["0.5.22"])
def test_sg14_is_silent_after_the_fix(audit, version):
    assert findings(audit(version).report, "QSATokenToKVPool", COMPRESSED) == set()


@pytest.mark.parametrize("version", ["0.5.23"])
def test_op01_and_op03_are_flagged(audit, version):
    """Open in the newest release: an optional gate that no caller asks for, a backend that reads storage itself."""
    report = audit(version).report
    found = findings(report, "LayerSplitDSATokenToKVPool", ("prefetch_kv_buffer",))
    assert found == {("optional-gate-not-passed", "prefetch_kv_buffer")}
    assert findings(report, "aiter_utils", ("forward_extend_vectorized_5d",)) == {
        ("bypassed-owner", "forward_extend_vectorized_5d")
    }


LOADING = ("load_thread_func_layer_by_layer",)


@pytest.mark.parametrize("version", ["0.4.7.post1", "0.4.9"])
def test_sg11_is_flagged_where_the_loader_signals(audit, version):
    found = findings(audit(version).report, "HiCacheController", LOADING, {"signal-before-copy"})
    assert found == {("signal-before-copy", LOADING[0])}


@pytest.mark.parametrize("version", ["0.4.9.post6"])
def test_sg11_is_silent_after_the_fix(audit, version):
    assert findings(audit(version).report, "HiCacheController", LOADING) == set()


@pytest.mark.parametrize(("version", "told"), [("0.4.7.post1", True), ("0.4.8", False)])
def test_sg10_is_flagged_before_each_load_had_its_counter(audit, version, told):
    found = findings(audit(version).report, "HiCacheController", LOADING, {"counter-reuse"})
    assert found == ({("counter-reuse", LOADING[0])} if told else set())


STARTING = ("start_loading",)


@pytest.mark.parametrize(("version", "told"), [("0.5.10.post1", True), ("0.5.11", False)])
def test_sg16_is_flagged_before_the_draft_pool_was_carried(audit, version, told):
    found = findings(audit(version).report, "HiCacheController", STARTING, {"untransferred-buffer"})
    assert found == ({("untransferred-buffer", STARTING[0])} if told else set())
