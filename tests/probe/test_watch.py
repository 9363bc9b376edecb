"""The watch in a process that was started for it: each call judged, nothing changed, nothing raised."""

import importlib
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuda_probe.watch import ENGINES, Judge
from cuda_probe.watch.judge import WRITTEN
from tests.probe.test_cli import plan_of

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "fixtures/engine"


# ---------------------------------------------------------------- judging


class Event:
    def __init__(self):
        self.done = False

    def query(self):
        return self.done


class World:
    """A pool, a counter with one load of three layers, a stream."""

    def __init__(self):
        self.told: list[Any] = []
        self.stream = SimpleNamespace(cuda_stream=7)
        self.load = SimpleNamespace(load_events=[Event() for _ in range(3)])
        self.counter = SimpleNamespace(consumer_index=0, events=[self.load])
        self.pool = SimpleNamespace(layer_transfer_counter=self.counter, start_layer=0)
        self.judge = Judge(ENGINES["sglang"], lambda: self.stream, self.told.append)

    def signal(self, *layers):
        for layer in layers:
            self.judge.recorded(self.load, layer)

    def verdict(self, layer=1):
        before = dict(self.judge.counts)
        self.judge.called("get", self.pool, layer)
        (new,) = (key[1] for key, count in self.judge.counts.items() if before.get(key, 0) != count)
        return new


@pytest.fixture
def world():
    return World()


def test_without_a_counter_or_a_load_there_is_nothing_to_wait_for(world):
    """Not armed, and no load in flight."""
    world.counter.consumer_index = -1
    assert world.verdict() == "no-load"
    world.pool.layer_transfer_counter = None
    assert world.verdict() == "no-counter"
    assert world.told == []


def test_a_wait_for_this_layer_or_a_later_one_orders(world):
    """Not one for the layer before."""
    world.signal(0, 1, 2)
    world.judge.waited(world.load, 1)
    assert world.verdict(0) == world.verdict(1) == "ordered"
    assert world.verdict(2) == "hazard"
    assert (world.told[0].layer, world.told[0].waited, world.told[0].stream) == (2, 1, 7)


def test_without_a_wait_the_event_tells_luck_from_hazard(world):
    """The load was over, or it was not."""
    world.signal(0, 1, 2)
    assert world.verdict() == "hazard"
    world.load.load_events[1].done = True
    assert world.verdict() == "unordered-not-observed"


def test_an_event_that_was_never_recorded_says_yes_and_means_nothing(world):
    """CUDA's query of it says done; the load has not begun to signal."""
    world.load.load_events[1].done = True
    world.judge.waited(world.load, 1)
    assert world.verdict() == "hazard"


def test_a_wait_for_the_load_before_is_none_for_this_one(world):
    """The ring records its events again: generations count."""
    world.signal(0, 1, 2)
    world.judge.waited(world.load, 2)
    world.signal(0, 1, 2)
    assert world.verdict() == "hazard"
    world.judge.waited(world.load, 2)
    assert world.verdict() == "ordered"


def test_a_wait_of_another_stream_is_none_of_this_one(world):
    """Order belongs to a stream."""
    world.signal(0, 1, 2)
    world.judge.waited(world.load, 2)
    world.stream = SimpleNamespace(cuda_stream=8)
    assert world.verdict() == "hazard"


def test_no_event_is_asked_while_a_graph_is_captured(world, monkeypatch):
    """The query would break the capture, in whichever thread it is."""
    world.signal(0, 1, 2)
    world.load.load_events[1].query = lambda: pytest.fail("asked during a capture")
    world.judge.captures = 1
    monkeypatch.setattr(world.judge, "_capturing", lambda: False)
    assert world.verdict() == "unordered"
    monkeypatch.setattr(world.judge, "_capturing", lambda: True)
    assert world.verdict() == "captured"


def test_records_are_bounded_and_calls_are_counted(world):
    """A server runs for long."""
    world.signal(0, 1, 2)
    for _ in range(WRITTEN + 5):
        world.judge.called("get", world.pool, 1)
    assert len(world.told) == WRITTEN
    assert world.judge.counts["get", "hazard"] == WRITTEN + 5


def test_layers_are_counted_from_the_stage_that_the_pool_begins_with(world):
    """Global layer 11 of a pool that begins at 10 is its second."""
    world.pool.start_layer = 10
    world.signal(0, 1, 2)
    world.judge.waited(world.load, 1)
    assert world.verdict(11) == "ordered"
    assert world.verdict(12) == "hazard"


# ---------------------------------------------------------------- a process


def watched(tmp_path, entries, *command, **environment):
    out = tmp_path / "watch.jsonl"
    line = [
        sys.executable,
        "-m",
        "cuda_probe",
        "watch",
        "--plan",
        plan_of(tmp_path, *entries),
        "--out",
        out,
        "--",
        *command,
    ]
    path = {"PYTHONPATH": f"{ENGINE}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [str(part) for part in line],
        env={**os.environ, **path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    records = [json.loads(one) for one in out.read_text().splitlines()] if out.exists() else []
    counts: dict[tuple[str, str], int] = {}
    for record in records:
        for one in record.get("summary", ()):
            key = (one["accessor"].rpartition(".")[2], one["verdict"])
            counts[key] = counts.get(key, 0) + one["calls"]
    return done, records, counts


ROUTER = ("minikv.router", "RouterPool", "get_mla_kv_buffer")
LATENT = ("minikv.pools", "LatentPool", "get_mla_kv_buffer")


def test_a_hole_is_seen_in_the_engine_as_it_runs(tmp_path):
    """The miniature engine on CPU threads: its load really is late, in a process that another one started."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    start = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-m', 'minikv', *sys.argv[1:]]))"
    done, records, counts = watched(tmp_path, [ROUTER], sys.executable, "-c", start, "latent", "latent", "0,2")
    assert done.returncode == 0, done.stderr
    assert "DIFFERENT" in done.stdout
    assert counts["get_mla_kv_buffer", "hazard"] == 2
    assert counts["get_mla_kv_buffer", "no-load"] == 2
    assert {record["verdict"] for record in records if "verdict" in record} == {"hazard"}


def test_what_is_gated_is_ordered_in_the_engine_as_it_runs(tmp_path):
    """The same accessor of a pool that waits."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    done, records, counts = watched(tmp_path, [LATENT], sys.executable, "-m", "minikv", "latent", "latent")
    assert "same" in done.stdout, done.stderr
    assert counts["get_mla_kv_buffer", "ordered"] == 4
    assert not [record for record in records if "verdict" in record]


def test_the_server_runs_on_whatever_is_wrong_with_the_watch(tmp_path):
    """A plan that vanished is told on stderr; the exit status is the command's."""
    (tmp_path / "server.py").write_text("import sys; print('serving'); sys.exit(3)")
    done, _, _ = watched(tmp_path, [LATENT], sys.executable, tmp_path / "server.py")
    assert (done.returncode, done.stdout) == (3, "serving\n")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'cuda_probe/watch/site'}{os.pathsep}{ROOT}",
        "CUDA_PROBE_PLAN": "no",
    }
    bare = subprocess.run(
        [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True, check=False
    )
    assert (bare.returncode, bare.stdout) == (0, "1\n")
    assert "cuda_probe: not watching" in bare.stderr


def test_a_sitecustomize_of_the_environment_still_runs(tmp_path):
    """The watch comes first and hands on."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("print('customised')")
    path = os.pathsep.join([str(ROOT), str(folder)])
    done, _, _ = watched(tmp_path, [LATENT], sys.executable, "-c", "print(1)", PYTHONPATH=path)
    assert done.stdout == "customised\n" * 2 + "1\n", "once where it is launched, once in the command"


def test_mistakes_are_told_before_anything_starts(tmp_path):
    """An engine that nobody knows, a command that is not there."""
    done, _, _ = watched(tmp_path, [("vllm.pool", "Pool", "get")], sys.executable, "-c", "print(1)")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody knows where vllm signals its loads" in done.stderr
    assert "cannot run" in watched(tmp_path, [LATENT], tmp_path / "no-such-command")[0].stderr


# ---------------------------------------------------------------- hooks

PACKAGE = {
    "watchedpkg/__init__.py": "",
    "watchedpkg/pool.py": """
class Pool:
    def get(self, layer_id): return f"layer {layer_id}"
    def get_by_layer(self, layer): return "by layer"
    def get_nothing(self): return "no layer"
""",
}


@pytest.fixture
def hooked(tmp_path, monkeypatch):
    """Import a module with hooks on it; give it and the judge, and forget it afterwards."""
    from cuda_probe.plan import Experiment
    from cuda_probe.watch.start import AfterImport, _hook_accessor

    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    judge = World().judge
    methods = ("get", "get_by_layer", "get_nothing", "get_absent")
    experiments = [Experiment(m, "gated", None, (), "watchedpkg.pool", "Pool", m, (), None, "base") for m in methods]
    hook = AfterImport({"watchedpkg.pool": [partial(_hook_accessor, judge, one) for one in experiments]})
    monkeypatch.setattr(sys, "meta_path", [hook, *sys.meta_path])
    yield importlib.import_module("watchedpkg.pool"), judge
    for name in [name for name in sys.modules if name.startswith("watchedpkg")]:
        del sys.modules[name]


def test_accessors_are_wrapped_as_their_module_is_imported(hooked):
    """By position, by name, through a layer object; what they return stays what it was."""
    module, judge = hooked
    pool = module.Pool()
    assert (pool.get(1), pool.get(layer_id=2)) == ("layer 1", "layer 2")
    assert pool.get_by_layer(SimpleNamespace(layer_id=3)) == "by layer"
    assert pool.get_nothing() == "no layer"
    assert judge.counts == {
        ("watchedpkg.pool.Pool.get", "no-counter"): 2,
        ("watchedpkg.pool.Pool.get_by_layer", "no-counter"): 1,
    }


def test_the_watch_never_raises_into_the_server(hooked):
    """A counter of another shape is counted as an error of the watch, and the accessor returns."""
    module, judge = hooked
    pool = module.Pool()
    pool.layer_transfer_counter = "not a counter"
    assert pool.get(1) == "layer 1"
    ((_, verdict),) = judge.counts
    assert verdict.startswith("error: AttributeError")


def test_captures_are_counted_whatever_happens_in_them():
    """From begin to end, also if the end fails."""
    from cuda_probe.watch.start import _hook_captures

    class CUDAGraph:
        def capture_begin(self): ...

        def capture_end(self):
            raise RuntimeError("the capture was broken")

    judge = World().judge
    _hook_captures(judge, SimpleNamespace(CUDAGraph=CUDAGraph))  # type: ignore[arg-type]
    graph = CUDAGraph()
    graph.capture_begin()
    assert judge.captures == 1
    with pytest.raises(RuntimeError, match="broken"):
        graph.capture_end()
    assert judge.captures == 0
