"""Conditions from the command line: ``when`` in the answers, ``--assume``, and a plugin beside its engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.process import check, run

CASE = Path(__file__).parents[2] / "fixtures" / "binding" / "conditions"
PLUGIN = '''"""A backend of its own for the engine's pools."""

from minikv.runner import ModelRunner


class PluginBackend:
    def __init__(self, runner: ModelRunner):
        self.pool = runner.token_to_kv_pool

    def forward(self, layer_id):
        return self.pool.get_key_buffer(layer_id).sum()
'''


def bindings(done, line):
    (site,) = (one for one in done.report["sites"] if one["line"] == line and one["kind"] == "call")
    return site, {name.rpartition(".")[2]: one for one in site["bindings"] for name in one["classes"]}


@pytest.fixture(scope="module")
def lines():
    text = (CASE / "engine.py").read_text(encoding="utf-8").splitlines()
    marks = {"extend": "receiver: {BarePool, FlatPool}", "flat": "receiver: {FlatPool}"}
    return {name: next(n for n, line in enumerate(text, 1) if mark in line) for name, mark in marks.items()}


def test_the_report_says_when_and_what_is_kept_away(lines):
    done = check(CASE)
    _, both = bindings(done, lines["extend"])
    assert both["FlatPool"]["when"] == ["ServerArgs.layout == 'flat'", "ServerArgs.reuse"]
    assert both["BarePool"]["when"] == ["ServerArgs.layout != 'flat'", "ServerArgs.reuse"]
    assert {one["feasible"] for one in both.values()} == {"proved"}
    site, flat = bindings(done, lines["flat"])
    assert flat.keys() == {"FlatPool"}
    (excluded,) = site["excluded"]
    assert excluded["classes"] == ["engine.BarePool"]
    assert excluded["why"] == (
        "it is made only where ServerArgs.layout != 'flat', control comes here only where ServerArgs.layout == 'flat'"
    )
    assert excluded["derivation"]


def test_why_tells_both(lines):
    told = run("why", f"engine.py:{lines['flat']}", CASE, "--jobs", "1").stdout
    words = " ".join(told.split())
    assert "when ServerArgs.layout == 'flat'" in words
    assert "Not BarePool: it is made only where ServerArgs.layout != 'flat'" in words


@pytest.mark.parametrize("assumed", ["layout=flat", "use_flat=true"])
def test_assume_prunes(lines, assumed):
    done = check(CASE, "--assume", assumed)
    _, kept = bindings(done, lines["extend"])
    assert kept.keys() == {"FlatPool"}
    assert done.exit == 0


def test_an_answer_that_was_kept_is_one_of_the_same_assumptions(lines, tmp_path):
    """The cache of answers knows what was assumed."""
    for arguments, classes in ((["--assume", "layout=flat"], {"FlatPool"}), ([], {"BarePool", "FlatPool"})):
        for _ in range(2):
            assert bindings(check(CASE, *arguments), lines["extend"])[1].keys() == classes


@pytest.mark.parametrize(
    ("assumed", "said"),
    [("layuot=flat", "did you mean 'layout'?"), ("platform=cudda", "did you mean 'cuda'?"), ("layout", "NAME=VALUE")],
)
def test_what_nothing_mentions_is_an_error(assumed, said):
    done = run("check", CASE, "--assume", assumed, "--jobs", "1")
    assert done.exit == 2
    assert said in done.stderr


def test_a_plugin_is_read_beside_its_engine(tree, tmp_path):
    """Sites of the plugin are told with the engine's classes; those of the engine are not told."""
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "backend.py").write_text(PLUGIN, encoding="utf-8")
    done = check(plugin, "--with", str(tree), "--engine", "sglang")
    (site,) = done.report["sites"]
    assert (site["path"], site["name"]) == ("backend.py", "get_key_buffer")
    assert {"minikv.pools.PairPool", "minikv.pools.LatentPool"} <= {
        name for one in site["bindings"] for name in one["classes"]
    }
    told = {place for one in done.report["findings"] for place in one["sites"]}
    assert all(place.startswith("backend.py:") for place in told)
    assert run("check", plugin, "--jobs", "1").exit == 2  # alone it is no engine


def test_what_contradicts_itself_on_the_way_is_kept_away():
    """The class meets the receiver, but no path from it to a read is ever taken; ``why`` says what each needs."""
    case = CASE.parents[1] / "paths" / "ok_storage_made_otherwise"
    text = (case / "engine.py").read_text(encoding="utf-8").splitlines()
    line = next(n for n, each in enumerate(text, 1) if "self.pool.get_key_buffer" in each)
    words = " ".join(run("why", f"engine.py:{line}", case, "--jobs", "1").stdout.split())
    assert "Not BarePool: every path from here to a read needs" in words
    assert "ServerArgs.layout != 'flat' and ServerArgs.layout == 'flat'" in words
