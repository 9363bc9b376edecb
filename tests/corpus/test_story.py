"""The story this project starts from: the gate was already there, and the report shows where."""

from __future__ import annotations

import re

import pytest

from tests.corpus.audits import bufgate, short
from tests.corpus.candidates import calls, lines_calling, methods

pytestmark = pytest.mark.corpus
STORY = pytest.mark.parametrize("version", ["0.5.12", "0.5.14", "0.5.18", "0.5.23"])

ACCESSOR = "get_index_k_with_scale_buffer"
INDEXER_PATH = re.compile(r"sglang/srt/layers/attention/(dsv4/.*indexer.*|deepseek_v4_backend[^/]*)\.py")
POOLS = "sglang/srt/mem_cache/deepseek_v4_memory_pool.py"
OWNER = "DeepSeekV4TokenToKVPool"
NPU = "DSV4NPUTokenToKVPool"


@STORY
def test_the_call_binds_to_the_owner(audit, version, release):
    sites = _sites(audit(version).report, release(f"sglang=={version}"))
    wrong = {}
    for place, site in sites.items():
        bound = {short(name) for binding in site["bindings"] for name in binding["classes"]}
        if OWNER not in bound or not bound <= {OWNER, NPU}:
            wrong[place] = sorted(bound) or [binding["reason"] for binding in site["bindings"]]
    assert wrong == {}


@STORY
def test_the_call_is_gated_by_the_wait_of_the_owner(audit, version, release):
    root = release(f"sglang=={version}")
    wanted = _gate_lines(root)
    wrong, read = {}, 0
    for place, site in _sites(audit(version).report, root).items():
        gates = {
            (binding["verdict"], *((gate["path"], gate["line"]) for gate in binding["gates"][:1]))
            for binding in site["bindings"]
            if binding["reason"] != "store"  # it is handed to a kernel that only writes it
        }
        read += bool(gates)
        if not gates <= {("gated", (POOLS, line)) for line in wanted}:
            wrong[place] = sorted(map(str, gates))
    assert read
    assert wrong == {}, f"expected a gate at {POOLS}:{sorted(wanted)}"


@STORY
def test_why_says_that_the_gate_is_already_there(version, release):
    root = release(f"sglang=={version}")
    path, line, _ = next(iter(_calls(root)))
    told = bufgate("why", f"{path}:{line}", "--release", f"sglang=={version}", "--quiet")
    assert told.returncode == 0, told.stderr
    words = " ".join(told.stdout.split())
    assert re.search(r"[Aa]lready (gated|there)", words), words
    assert any(f"{POOLS}:{gate}" in words for gate in _gate_lines(root)), words


def _calls(root):
    everywhere = calls(root, "sglang/srt/layers/attention", (ACCESSOR,))
    found = [place for place in everywhere if INDEXER_PATH.fullmatch(place.path)]
    assert found
    return found


def _sites(report, root):
    """The sites of the calls, all of them there."""
    listed = {(site["path"], site["line"], site["name"]): site for site in report["sites"]}
    return {f"{place.path}:{place.line}": listed[place] for place in _calls(root)}


def _gate_lines(root):
    """Where the owner's accessor waits: the call of its wrapper, or the wait in the wrapper."""
    own = methods(root, POOLS, OWNER)
    waits = lines_calling(own[ACCESSOR], "wait_layer_transfer", "wait_until")
    assert waits
    return waits | lines_calling(own["wait_layer_transfer"], "wait_until")
