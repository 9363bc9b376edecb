"""The miniature engine on the simulated device: its holes are confirmed, what looks like them is ordered, and both
for the reason."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe import experiment as experiments
from cuda_probe.plan import Experiment, Plan
from cuda_probe.running import run_plan
from cuda_probe.scenarios import NEGATIVE

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "fixtures/engine"
pytestmark = pytest.mark.xdist_group("probe")  # one worker builds the evidence for all

SCHEMA = json.loads((ROOT / "reports/schema/evidence-v1.schema.json").read_text(encoding="utf-8"))
FEW = ("latest", "earliest", "random:0", "random:1")

CONFIRMED, ORDERED = "confirmed on sim", "ordered on sim"


def asked(claim: str) -> Experiment:
    """``pools.PairPool.get_key_buffer@minikv/router.py:24/captured``"""
    entry, _, scenario = (
        claim.partition("/") if "@" not in claim else (*claim.rpartition("/")[:2], claim.rpartition("/")[2])
    )
    entry, _, place = entry.partition("@")
    module, class_, method = entry.split(".")
    objects = (place,) if place else ()
    return Experiment(claim, "gated", None, (), f"minikv.{module}", class_, method, objects, None, scenario or "base")


def probed(*claims: str, tree: Path = ENGINE, schedules=FEW):
    records = run_plan(Plan("minikv", "", tuple(map(asked, claims))), tree, schedules=schedules)
    plain = [record.to_json() for record in records]
    jsonschema.validate({"schema": "evidence-v1", "records": plain}, SCHEMA)
    return {one["experiment"]["id"]: one for one in plain}


EXPECTED = {
    # the holes of fixtures/engine/README.md
    "pools.IndexedLatentPool.get_index_k_continuous/base": CONFIRMED,
    "router.RouterPool.get_mla_kv_buffer/base": CONFIRMED,
    "pools.LatentPool.get_staged_buffer/base": CONFIRMED,
    "pools.LatentPool.get_mla_kv_buffer@minikv/router.py:24/base": CONFIRMED,
    # and what looks like them
    "pools.IndexedLatentPool.get_index_k_with_scale_buffer/base": ORDERED,
    "router.RouterPool.get_key_buffer/base": ORDERED,
    "pools.LatentPool.get_mla_kv_buffer@minikv/configurator.py:43/base": ORDERED,
    # backends that go round the pool, one of them in order
    "attention.VectorBackend.forward_extend/base": CONFIRMED,
    "attention.OrderedVectorBackend.forward_extend/base": ORDERED,
    "attention.GatherBackend.forward_extend/base": ORDERED,
    # the story: the inner pool has no gate, and is reached through the outer one, which has
    "compressed.IndexerPool.get_index_k_with_scale_buffer/base": CONFIRMED,
    "compressed.CompressedPool.get_index_k_with_scale_buffer/base": ORDERED,
    # gated, and what can still go wrong
    "pools.PairPool.get_key_buffer/base": ORDERED,
    "pools.PairPool.get_key_buffer/stale-consumer": CONFIRMED,
    "pools.PairPool.get_key_buffer/counter-disarmed": CONFIRMED,
    "pools.PairPool.get_key_buffer/never-recorded": CONFIRMED,
    "pools.PairPool.get_key_buffer/other-stream": CONFIRMED,
    "pools.PairPool.get_key_buffer/other-stream-joined": ORDERED,
    "pools.PairPool.get_key_buffer/captured": CONFIRMED,
    "pools.PairPool.get_key_buffer/captured-waited": ORDERED,
    "pools.PairPool.get_key_buffer/early-complete": CONFIRMED,
    "pools.PairPool.get_key_buffer/load-over-write": CONFIRMED,
    "pools.PairPool.get_key_buffer/load-over-write-fenced": ORDERED,
    "pools.PairPool.get_key_buffer/load-over-read": CONFIRMED,
    "pools.PairPool.get_key_buffer/load-over-read-fenced": ORDERED,
    "pools.PairPool.get_key_buffer/wrong-layer": CONFIRMED,
    # what shows nothing says so
    "pools.DraftPool.get_key_buffer/base": "inconclusive: get_key_buffer reads no buffer of the pool",
    "pools.KVCache.get_key_buffer/base": "could not run: ModelRunner holds no KVCache",
    "pools.PairPool.get_missing/base": "could not run: PairPool has no method get_missing",
    "pools.PairPool.get_kv_size_bytes/base": "inconclusive: get_kv_size_bytes hands out no tensor",
    "pools.Nothing.get_key_buffer/base": "could not run: minikv.pools has no class Nothing",
    "pools.PairPool.get_key_buffer/tomorrow": "could not run: no scenario is called 'tomorrow'",
    "pools.PairPool.get_key_buffer@minikv/elsewhere.py:1/base": "could not run: no PairPool is made at",
}


@pytest.fixture(scope="module")
def evidence():
    return probed(*EXPECTED)


@pytest.mark.parametrize("claim", EXPECTED)
def test_every_claim_gets_the_label_that_it_earns(evidence, claim):
    """The same under each schedule; what cannot be shown is told with the reason."""
    assert evidence[claim]["label"].startswith(EXPECTED[claim])


def test_a_race_is_told_with_both_places_and_a_witness_that_reads_wrong_bytes(evidence):
    """The load, the read, the missing edge, and a schedule under which every byte due is wrong."""
    record = evidence["router.RouterPool.get_mla_kv_buffer/base"]
    race = record["races"][0]
    assert (race["kind"], race["buffer"]) == ("RAW", "full_kv_pool.kv_buffer[1]")
    assert race["first"]["site"][0].startswith("minikv/device.py:")
    assert race["second"]["site"][1].endswith("RouterPool.get_mla_kv_buffer")
    assert race["missing_edge"].startswith("stream 0 comes after stream 1 only up to")
    assert race["witness_wrong"] == race["bytes"] > 0
    assert record["layer"] == 2, "the last layer that it has"


def test_an_order_is_proved_by_its_chain(evidence):
    """From the last copy into the buffer to the read: the record of its layer, the wait of the gate."""
    chain = evidence["pools.PairPool.get_key_buffer/base"]["path"]
    assert [one["kind"] for one in chain] == ["kernel", "record", "wait", "kernel"]
    assert chain[1]["site"][0].endswith("LayerLoadingEvent.complete")
    assert chain[2]["site"][1].endswith("LayerDoneCounter.wait_until")


def test_what_was_real_is_said(evidence):
    """The engine's own pools, counter and controller; no stub."""
    record = evidence["pools.PairPool.get_key_buffer/base"]
    assert record["fidelity"] == {
        "pool": "real-init",
        "counter": "real",
        "loader": "real-controller",
        "kernels": "real",
        "stubs": [],
    }
    assert list(record["target"]["files"]) == ["minikv/pools.py"]


def edited(tmp_path: Path, file: str, old: str, new: str) -> Path:
    tree = tmp_path / "engine"
    shutil.copytree(ENGINE, tree)
    text = (tree / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tree / file).write_text(text.replace(old, new), encoding="utf-8")
    return tree


def test_removing_the_gate_flips_the_label(tmp_path):
    """The probe is sensitive to what it claims to measure."""
    gate = "        self.wait_layer_transfer(layer_id)\n        return self.indexer_pool."
    tree = edited(tmp_path, "minikv/compressed.py", gate, "        return self.indexer_pool.")
    claim = "compressed.CompressedPool.get_index_k_with_scale_buffer/base"
    assert probed(claim, tree=tree)[claim]["label"] == CONFIRMED


def test_adding_the_gate_flips_the_label(tmp_path):
    """The fix of a finding shows."""
    view = "        view = DenseLayer(self._dense(layer.layer_id))"
    tree = edited(tmp_path, "minikv/router.py", view, f"        self._wait_for_layer(layer.layer_id)\n{view}")
    claim = "router.RouterPool.get_mla_kv_buffer/base"
    assert probed(claim, tree=tree)[claim]["label"] == ORDERED


def test_a_broken_control_makes_it_inconclusive(monkeypatch):
    """If the read without a gate is not caught, nothing else is believed."""
    monkeypatch.setattr(experiments, "POSITIVE", NEGATIVE)
    claim = "router.RouterPool.get_mla_kv_buffer/base"
    assert probed(claim)[claim]["label"].startswith("inconclusive: window not open")


def test_a_loader_that_brings_nothing_makes_it_inconclusive(tmp_path):
    """Otherwise the stale bytes would be the right ones, and every read clean."""
    tree = edited(tmp_path, "minikv/device.py", "        target[target_rows] = ", "        _ = ")
    claim = "pools.PairPool.get_key_buffer/base"
    assert probed(claim, tree=tree)[claim]["label"].startswith("inconclusive: the loader writes nothing")


def test_a_module_that_is_not_in_the_tree_is_told():
    """A plan of another release."""
    claim = "nowhere.Pool.get_key_buffer/base"
    assert probed(claim)[claim]["label"].startswith("could not run: minikv.nowhere has no class Pool")


def test_an_engine_without_a_recipe_is_told():
    """Nothing is guessed of its constructors."""
    foreign = Experiment("x", "gated", None, (), "tokenspeed.pool", "Pool", "get", (), None, "base")
    (record,) = run_plan(Plan("tokenspeed", "", (foreign,)), ENGINE)
    assert record.to_json()["label"] == "could not run: there is no recipe for tokenspeed"
