"""A changed tree is audited as if it were written: neither what earlier runs kept nor the disk speaks for it."""

from __future__ import annotations

from auditor.audit import Options, audit
from auditor.source import open_tree
from auditor.triage import Report
from tests.e2e.process import ENGINE

ROUTER = "minikv/router.py"


def audited(cache, text: bytes | None = None) -> Report:
    tree = open_tree([ENGINE])
    return audit(tree if text is None else tree.changed({ROUTER: text}), Options(jobs=1, timing=False, cache=cache))


def test_a_kept_answer_is_not_that_of_the_changed_tree(tmp_path):
    before = audited(tmp_path)
    text = (ENGINE / ROUTER).read_bytes().replace(b"self._wait_for_layer(layer_id)\n", b"pass\n")
    after = audited(tmp_path, text)
    assert len(after.findings) > len(before.findings)
    assert audited(tmp_path) == before
    assert audited(tmp_path, text) == after


def test_a_changed_tree_is_the_tree_with_other_contents():
    tree = open_tree([ENGINE])
    other = tree.changed({ROUTER: b"x = 1\n"})
    assert (other.read(ROUTER), other.lines(ROUTER)) == (b"x = 1\n", ("x = 1",))
    assert other.read("minikv/pools.py") == tree.read("minikv/pools.py")
    assert (tree.read(ROUTER) or b"").startswith(b'"""')
    assert other.digest(ROUTER) != tree.digest(ROUTER)
    assert ROUTER not in other.mentioning(frozenset({"RouterPool"}))["RouterPool"]
    assert other.changed({"minikv/pools.py": b""}).read(ROUTER) == b"x = 1\n"
