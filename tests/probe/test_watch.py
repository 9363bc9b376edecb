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


def calls(world):
    return [record for record in world.told if "verdict" in record]


@pytest.fixture
def world():
    return World()


def test_without_a_counter_or_a_load_there_is_nothing_to_wait_for(world):
    """Not armed, and no load in flight."""
    world.counter.consumer_index = -1
    assert world.verdict() == "no-load"
    world.pool.layer_transfer_counter = None
    assert world.verdict() == "no-counter"
    assert calls(world) == []


def test_a_wait_for_this_layer_or_a_later_one_orders(world):
    """Not one for the layer before."""
    world.signal(0, 1, 2)
    world.judge.waited(world.load, 1)
    assert world.verdict(0) == world.verdict(1) == "ordered"
    assert world.verdict(2) == "hazard"
    (call,) = calls(world)
    assert (call["layer"], call["waited"], call["stream"]) == (2, 1, 7)


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
    """The query would break the capture, in whichever thread it is and by whatever means it was begun."""
    world.signal(0, 1, 2)
    world.load.load_events[1].query = lambda: pytest.fail("asked during a capture")
    world.judge.capturing(1)
    assert world.verdict() == "unordered"
    world.judge.capturing(-1)
    monkeypatch.setattr("cuda_probe.watch.judge._captured", lambda: True)
    assert world.verdict() == "captured"
    world.counter.consumer_index = -1
    assert world.verdict() == "captured", "its replays come with loads"


def test_records_are_bounded_and_calls_are_counted(world):
    """A server runs for long."""
    world.signal(0, 1, 2)
    for _ in range(WRITTEN + 5):
        world.judge.called("get", world.pool, 1)
    assert len(calls(world)) == WRITTEN
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
    return done, records, counted(records)


def counted(records):
    """Add up the last summaries of all processes."""
    last = {record["pid"]: record["summary"] for record in records if "summary" in record}
    counts: dict[tuple[str, str], int] = {}
    for one in (one for summary in last.values() for one in summary):
        key = (one["accessor"].rpartition(".")[2], one["verdict"])
        counts[key] = counts.get(key, 0) + one["calls"]
    return counts


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
        "PYTHONPATH": str(ROOT / "cuda_probe/watch/site"),
        "CUDA_PROBE_ROOT": str(ROOT),
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


# ---------------------------------------------------------------- a server that makes it hard

SERVER = {
    "torch/__init__.py": "from torch import compiler, cuda",
    "torch/compiler.py": "def is_compiling(): return False",
    "torch/cuda/__init__.py": """
from types import SimpleNamespace
from threading import get_ident
capturing = False
class CUDAGraph:
    def capture_begin(self, fails=False):
        if fails: raise RuntimeError("no capture")
    def capture_end(self): pass
def current_stream(): return SimpleNamespace(cuda_stream=get_ident())
def is_initialized(): return True
def is_current_stream_capturing(): return capturing
""",
    "sglang/__init__.py": "",
    "sglang/srt/__init__.py": "",
    "sglang/srt/managers/__init__.py": "",
    "sglang/srt/managers/cache_controller.py": """
class Event:
    def query(self): return False
class LayerLoadingEvent:
    def __init__(self): self.load_events = [Event(), Event()]
    def complete(self, layer): pass
    def wait(self, layer): pass
class Counter:
    def __init__(self): self.events, self.consumer_index = [LayerLoadingEvent()], 0
""",
    "sglang/pool.py": """
from sglang.srt.managers.cache_controller import Counter
class Pool:
    def __init__(self): self.layer_transfer_counter = Counter()
    def get(self, layer_id): return layer_id
    @property
    def shape(self): return 3
    @staticmethod
    def pages(layer_id): return layer_id
def loaded():
    pool = Pool()
    pool.layer_transfer_counter.events[0].complete(0)
    return pool
""",
}
ACCESSORS = [("sglang.pool", "Pool", method) for method in ("get", "shape", "pages", "get_absent")]


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path):
    """A run before was killed, or its disk was full: what is appended begins a line of its own."""
    out = tmp_path / "watch.jsonl"
    out.write_text('{"schema": "watch-v1", "pi')
    command = [sys.executable, "-m", "cuda_probe", "watch", "--plan", plan_of(tmp_path, *ACCESSORS), "--out", out, "--"]
    server = [sys.executable, "-c", "import sglang.pool"]
    for name, text in SERVER.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    assert subprocess.run([*map(str, command), *server], env={**os.environ, **path}, check=False).returncode == 0
    cut, *others = out.read_text().splitlines()
    assert cut == '{"schema": "watch-v1", "pi'
    assert others
    assert {json.loads(line)["schema"] for line in others} == {"watch-v1"}


def serving(tmp_path, program, out=None):
    """Run a program that has this engine, under the watch; return the process and what is counted."""
    for name, text in {**SERVER, "server.py": program}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    out = out or tmp_path / "watch.jsonl"
    line = ["-m", "cuda_probe", "watch", "--plan", plan_of(tmp_path, *ACCESSORS), "--out", out, "--"]
    done = subprocess.run(
        [sys.executable, *map(str, line), sys.executable, str(tmp_path / "server.py")],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = out.read_text().splitlines() if out.is_file() else []
    return done, counted([json.loads(one) for one in lines])


def test_what_cannot_be_wrapped_stays_as_it_is_and_is_told(tmp_path):
    """A property, a static method, a method that is not there."""
    done, counts = serving(
        tmp_path, "from sglang.pool import loaded; p = loaded(); print(p.shape, p.pages(1), p.get(0))"
    )
    assert (done.stdout, done.stderr) == ("3 1 0\n", "")
    assert counts == {
        ("get", "hazard"): 1,
        ("shape", "not watched: no plain method"): 1,
        ("pages", "not watched: no plain method"): 1,
        ("get_absent", "not watched: no such method"): 1,
    }


def test_a_server_whose_parts_have_other_names_is_served(tmp_path):
    """The class of signals was renamed: its module is imported as ever, and the summary says what is wrong."""
    program = """
import pathlib, sglang
part = pathlib.Path(sglang.__file__).parent / "srt/managers/cache_controller.py"
part.write_text(part.read_text().replace("LayerLoadingEvent", "Loading"))
from sglang.pool import Pool
print(Pool().get(0))
"""
    done, counts = serving(tmp_path, program)
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert any(verdict.startswith("error: AttributeError") for _, verdict in counts)
    assert counts["get", "hazard"] == 1


def test_a_module_is_hooked_each_time_that_it_is_executed(tmp_path):
    """The first import fails and is tried again; later the module is reloaded; no call counts twice."""
    program = """
import importlib, pathlib, sys
import sglang
pool = pathlib.Path(sglang.__file__).parent / "pool.py"
text = pool.read_text()
pool.write_text("raise ImportError('not yet')")
try:
    import sglang.pool
except ImportError as error:
    print(error)
pool.write_text(text + "__name__ = 'renamed'")
import sglang.pool
first = sglang.pool.loaded()
again = importlib.reload(sglang.pool)
first.get(0)
again.loaded().get(0)
importlib.reload(sys.modules["sglang.srt.managers.cache_controller"])
print(type(sglang.pool.__loader__).__name__, type(sglang.pool.__spec__.loader).__name__)
"""
    done, counts = serving(tmp_path, program)
    assert (done.stdout, done.stderr) == ("not yet\nSourceFileLoader SourceFileLoader\n", "")
    assert counts["get", "hazard"] == 2


def test_a_forked_worker_goes_on_and_counts_for_itself(tmp_path):
    """Forked while another thread is in the judge, whose lock nobody would give back; and by multiprocessing, which
    leaves no time for a last summary."""
    program = """
import multiprocessing, os, threading
from sglang.pool import loaded
pool = loaded()
def work():
    for _ in range(64): pool.get(0)
if __name__ == "__main__":
    pool.get(0)
    stop = threading.Event()
    def busy():
        while not stop.is_set(): pool.get(1)
    thread = threading.Thread(target=busy)
    thread.start()
    for _ in range(20):
        if (child := os.fork()) == 0:
            pool.get(0)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    thread.join()
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
    print(worker.exitcode, os.getpid(), worker.pid)
"""
    done, _ = serving(tmp_path, program)
    status, parent, worker = map(int, done.stdout.split())
    assert (status, done.returncode) == (0, 0), done.stderr
    records = [json.loads(one) for one in (tmp_path / "watch.jsonl").read_text().splitlines()]
    last = {record["pid"]: record["summary"] for record in records if "summary" in record}
    assert [(one["verdict"], one["calls"]) for one in last.pop(worker)] == [("hazard", 64)]
    assert sum(one["calls"] for one in last.pop(parent)) > 1
    assert [sum(one["calls"] for one in summary) for summary in last.values()] == [1] * 20


def test_a_process_that_is_killed_has_told_more_than_half(tmp_path):
    """Engines kill their workers."""
    program = """
import os, signal
from sglang.pool import loaded
pool = loaded()
for _ in range(1000): pool.get(0)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done, counts = serving(tmp_path, program)
    assert done.returncode == -9
    assert 500 <= counts["get", "hazard"] <= 1000


def test_a_full_disk_is_the_watchs_own_affair(tmp_path):
    """Not a word on stderr, no other exit status."""
    program = "import sys; from sglang.pool import loaded; print([loaded().get(0) for _ in range(3)]); sys.exit(4)"
    done, _ = serving(tmp_path, program, Path("/dev/full"))
    assert (done.stdout, done.stderr, done.returncode) == ("[0, 0, 0]\n", "", 4)


def test_threads_capture_and_call_at_the_same_time(tmp_path):
    """A query during a capture would break it; a capture that could not begin is none."""
    program = """
import sys, threading
import torch.cuda
from sglang.pool import loaded
sys.setswitchinterval(1e-6)
pool, broken, graph, capturing = loaded(), [], torch.cuda.CUDAGraph(), []
event = pool.layer_transfer_counter.events[0].load_events[0]
event.query = lambda: broken.append(1) if capturing else False
def capture():
    for _ in range(300):
        graph.capture_begin()
        capturing.append(1)
        capturing.pop()
        graph.capture_end()
def call():
    for _ in range(300): pool.get(0)
threads = [threading.Thread(target=one) for one in (capture, call, call)]
for one in threads: one.start()
for one in threads: one.join()
try:
    graph.capture_begin(fails=True)
except RuntimeError as error:
    print(error, len(broken))
torch.cuda.capturing = True
pool.get(0)
torch.cuda.capturing = False
pool.get(0)
"""
    done, counts = serving(tmp_path, program)
    assert (done.stdout, done.stderr) == ("no capture 0\n", "")
    assert counts["get", "captured"] == 1
    assert counts["get", "hazard"] + counts.get(("get", "unordered"), 0) == 601


def test_the_server_finds_the_modules_that_it_would_find(tmp_path):
    """The folder of the probe is not put on its path: there may be a ``tests`` in it."""
    done, _ = serving(tmp_path, "import os, sys; print(os.environ['PYTHONPATH'], len(sys.path) - len(set(sys.path)))")
    assert done.stdout == f"{ROOT / 'cuda_probe/watch/site'} 0\n"


def test_where_nothing_can_be_written_nothing_starts(tmp_path):
    """The folder is not there."""
    done, _ = serving(tmp_path, "print('started')", tmp_path / "no" / "watch.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write" in done.stderr


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
    hook = AfterImport(judge, {"watchedpkg.pool": [partial(_hook_accessor, judge, one) for one in experiments]})
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
        ("watchedpkg.pool.Pool.get_nothing", "not judged: it is told no layer"): 1,
        ("watchedpkg.pool.Pool.get_absent", "not watched: no such method"): 1,
    }


def test_the_watch_never_raises_into_the_server(hooked):
    """A counter of another shape is counted as an error of the watch, and the accessor returns."""
    module, judge = hooked
    pool = module.Pool()
    pool.layer_transfer_counter = "not a counter"
    assert pool.get(1) == "layer 1"
    assert any(verdict.startswith("error: AttributeError") for _, verdict in judge.counts)


def test_a_call_that_is_compiled_is_not_judged(hooked):
    """PyTorch traces through it as through the accessor alone, without a break."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    module, judge = hooked
    pool = module.Pool()
    compiled = torch.compile(lambda one: (pool.get(1), one + 1), fullgraph=True, backend="eager")
    before = dict(judge.counts)
    assert compiled(torch.ones(1))[0] == "layer 1"
    assert judge.counts == before


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
