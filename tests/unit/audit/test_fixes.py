"""Fixes are kept between runs, and written anew when anything that they depend on changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditor.audit import Options, audit
from auditor.source import open_tree
from auditor.triage import Report
from tests.e2e.process import ENGINE


@pytest.fixture
def written(monkeypatch):
    """The remedies for which a fix is written, as they come."""
    seen = []
    from auditor.fix import Proposer

    original = Proposer.fix

    def fix(self, remedy):
        seen.append(remedy)
        return original(self, remedy)

    monkeypatch.setattr(Proposer, "fix", fix)
    return seen


def audited(cache, text: bytes | None = None) -> Report:
    tree = open_tree([ENGINE])
    if text is not None:
        tree = tree.changed({"minikv/router.py": text})
    return audit(tree, Options(jobs=1, timing=False, cache=cache))


def test_a_second_run_writes_none(tmp_path, written):
    first = audited(tmp_path)
    count = len(written)
    assert count == 4
    assert audited(tmp_path) == first
    assert len(written) == count


def test_another_text_of_the_function_is_another_fix(tmp_path, written):
    audited(tmp_path)
    del written[:]
    text = (
        (ENGINE / "minikv/router.py").read_bytes().replace(b"view = Dense", b"seen = Dense").replace(b"(view", b"(seen")
    )
    report = audited(tmp_path, text)
    assert [one.extent.function for one in written] == ["minikv.router.RouterPool.get_mla_kv_buffer"]
    assert any(one.fix and one.fix.path == "minikv/router.py" for one in report.findings)


def test_what_an_accident_left_is_a_miss(tmp_path, written, monkeypatch):
    monkeypatch.setattr("auditor.audit.fixes._encoded", lambda fix: b'{"path": 1}')
    first = audited(tmp_path)
    assert audited(tmp_path) == first
    assert len(written) == 8


def test_a_changed_tree_is_the_tree_with_other_contents():
    tree = open_tree([ENGINE])
    other = tree.changed({"minikv/router.py": b"x = 1\n"})
    assert (other.read("minikv/router.py"), other.lines("minikv/router.py")) == (b"x = 1\n", ("x = 1",))
    assert other.read("minikv/pools.py") == tree.read("minikv/pools.py")
    assert (tree.read("minikv/router.py") or b"").startswith(b'"""')
    assert other.digest("minikv/router.py") != tree.digest("minikv/router.py")
    assert "minikv/router.py" not in other.mentioning(frozenset({"RouterPool"}))["RouterPool"]
    assert replace(other, _memory=tree._memory) == tree
