"""The command: what it refuses, what it writes, how it ends."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from cuda_probe.cli import _finish
from cuda_probe.records import Record, Target
from tests.probe.observed import CONFIRMED, ORDERED

ROOT = Path(__file__).parents[2]
ENGINE = str(ROOT / "fixtures/engine")
PLAN_SCHEMA = json.loads((ROOT / "reports/schema/probe-plan-v1.schema.json").read_text(encoding="utf-8"))


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "cuda_probe", *map(str, arguments)]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


WRONG = json.dumps(
    {
        "schema": "probe-plan-v1",
        "engine": {"name": "x", "version": ""},
        "experiments": [
            dict.fromkeys(("id", "claim", "finding", "module", "class", "method", "buffer", "scenario"), 5)
            | {"sites": [], "objects": []}
        ],
    }
)


def plan_of(folder: Path, *entries: tuple[str, str, str]) -> Path:
    plan = {
        "schema": "probe-plan-v1",
        "engine": {"name": "minikv", "version": ""},
        "experiments": [
            {
                "id": method,
                "claim": "gated",
                "finding": None,
                "sites": [],
                "module": module,
                "class": class_,
                "method": method,
                "objects": [],
                "buffer": None,
                "scenario": "base",
            }
            for module, class_, method in entries
        ],
        "skipped": [],
    }
    jsonschema.validate(plan, PLAN_SCHEMA)
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    return file


GATED = ("minikv.router", "RouterPool", "get_key_buffer")
UNGATED = ("minikv.router", "RouterPool", "get_mla_kv_buffer")
ABSENT = ("minikv.pools", "KVCache", "get_value_buffer")


@pytest.mark.parametrize(
    ("entries", "status"), [((GATED,), 0), ((GATED, UNGATED), 1), ((UNGATED, ABSENT), 2), ((ABSENT,), 2)]
)
def test_the_exit_status_says_what_was_found(tmp_path, entries, status):
    """0 all ordered, 1 something confirmed, 2 something could not be run: it beats 1."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    out = tmp_path / "evidence.json"
    done = command("run", plan_of(tmp_path, *entries), "--tree", ENGINE, "--execute", "-o", out)
    assert done.returncode == status, done.stderr
    assert len(json.loads(out.read_text())["records"]) == len(entries)


def test_without_a_gpu_the_gpu_is_told_apart(tmp_path):
    """The simulated device has run, the GPU has not: two records, two labels."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    out = tmp_path / "evidence.json"
    done = command("run", plan_of(tmp_path, GATED), "--tree", ENGINE, "--execute", "--gpu", "-o", out)
    assert done.returncode == 2
    labels = [record["label"] for record in json.loads(out.read_text())["records"]]
    assert labels == ["ordered on sim", "could not run: no GPU: torch.cuda.is_available() says no"]


def test_a_record_can_be_run_again(tmp_path):
    """By default under the witness of its race."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    out = tmp_path / "evidence.json"
    command("run", plan_of(tmp_path, UNGATED, GATED), "--tree", ENGINE, "--execute", "-o", out, "--only", UNGATED[2])
    again = command("replay", out, UNGATED[2], "--tree", ENGINE, "--execute")
    assert again.returncode == 1, again.stderr
    (record,) = json.loads(again.stdout)["records"]
    assert record["schedules"][0].startswith("starve:")
    assert record["trials"]["wrong"] == 1
    assert "no record of 'get_key_buffer'" in command("replay", out, "get_key_buffer", "--tree", ENGINE).stderr


def test_nothing_is_executed_without_being_told_to(tmp_path):
    """The probe runs what it probes, so it asks first."""
    done = command("run", plan_of(tmp_path, GATED), "--tree", ENGINE)
    assert done.returncode == 2
    assert "say --execute" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read"),
        ("{", "is no JSON"),
        ("[]", "is no probe-plan-v1; write one with `bufgate probe plan REPORT`"),
        ('{"schema": "probe-plan-v1"}', "is damaged"),
        ('{"schema": "probe-plan-v2", "experiments": []}', "no probe-plan-v1"),
        ('{"schema": "probe-plan-v1", "engine": {"name": "x", "version": ""}, "experiments": ["x"]}', "is damaged"),
        (WRONG, "is damaged"),
    ],
)
def test_a_plan_that_is_none_is_refused(tmp_path, text, message):
    """In one line that says what to do."""
    file = tmp_path / "plan.json"
    if text is not None:
        file.write_text(text)
    done = command("run", file, "--tree", ENGINE, "--execute")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_other_mistakes_are_told(tmp_path):
    """A tree that is not there, an experiment that is not there, a place that cannot be written to."""
    plan = plan_of(tmp_path, GATED)
    assert "there is no folder" in command("run", plan, "--tree", tmp_path / "no", "--execute").stderr
    assert "has no experiment 'x'" in command("run", plan, "--tree", ENGINE, "--execute", "--only", "x").stderr
    assert "is no evidence-v1" in command("replay", plan, "x", "--tree", ENGINE).stderr


def test_without_torch_it_says_what_to_install(tmp_path):
    """The reason is a label like any other."""
    hide = "import sys, importlib.util as u; f = u.find_spec; u.find_spec = lambda n: None if n == 'torch' else f(n)"
    program = f"{hide}; from cuda_probe.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["run", str(plan_of(tmp_path, GATED)), "--tree", ENGINE, "--execute"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "could not run: PyTorch is not installed (pip install 'bufgate[probe]')" in done.stdout


def test_a_sweep_judges_every_accessor_or_tells_why_not(tmp_path):
    """Without a report: a line a pair, the sum, the causes."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    out = tmp_path / "evidence.json"
    done = command("sweep", "minikv", "--tree", ENGINE, "--execute", "-o", out)
    assert done.returncode == 0, done.stderr
    labels = {
        line.split()[0]: line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if "." in line.split(" ")[0]
    }
    assert labels["RouterPool.get_mla_kv_buffer"] == "confirmed on sim"
    assert labels["RouterPool.get_key_buffer"] == "ordered on sim"
    assert labels["DraftPool.get_key_buffer"].startswith("inconclusive: get_key_buffer reads no buffer of the pool")
    total = len(json.loads(out.read_text())["records"])
    assert f"\n{total} pairs: " in done.stdout


@pytest.mark.parametrize(
    ("package", "message"),
    [("tokenspeed", "there is no recipe for tokenspeed"), ("sglang", "has no pool of sglang in")],
)
def test_a_sweep_of_nothing_is_told(package, message):
    """An engine without a recipe, a tree of another engine."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    done = command("sweep", package, "--tree", ENGINE, "--execute")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("observations", "status"),
    [
        ((ORDERED,), 0),
        ((ORDERED, CONFIRMED), 1),
        ((replace(CONFIRMED, races=()), ORDERED), 2),
        ((replace(ORDERED, doubt="why"), CONFIRMED), 2),
    ],
)
def test_what_is_not_conclusive_is_no_success(observations, status, tmp_path):
    """A race whose witness read nothing wrong is neither ordered nor confirmed."""
    experiment = {"id": "x", "claim": "gated", "scenario": "base"}
    records = [Record(experiment, Target("minikv", ""), observation, None) for observation in observations]
    assert _finish(records, tmp_path / "evidence.json") == status
