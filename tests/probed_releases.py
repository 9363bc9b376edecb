"""A table: public bugs and their fixes, run on the simulated device. ``python -m tests.probed_releases``; with
``--interpret`` those whose accessors launch Triton kernels, which Triton's interpreter runs, under three schedules.

Releases are fetched from PyPI once, unpacked and partly executed: their pools and counters are real, see ``fidelity``
in the evidence.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.source import fetch_release
from cuda_probe.plan import Experiment, Plan
from cuda_probe.records import Record
from cuda_probe.running import run_plan

POOLS, V4 = "sglang.srt.mem_cache.memory_pool", "sglang.srt.mem_cache.deepseek_v4_memory_pool"


OFFLOAD = "vllm.v1.simple_kv_offload.worker"
MORIIO = "vllm.distributed.kv_transfer.kv_connector.v1.moriio.moriio_connector"
LMCACHE = "lmcache.v1.cache_engine"


@dataclass(frozen=True, slots=True)
class Case:
    """An accessor in some releases of a package under a scenario, and the label that each release earns."""

    module: str
    class_: str
    method: str
    releases: tuple[str, ...]
    expected: str
    scenario: str = "base"

    @property
    def package(self) -> str:
        """Return the name of the package."""
        return self.module.partition(".")[0]

    @property
    def experiment(self) -> Experiment:
        """Return its experiment, in any of its releases."""
        name = f"{self.class_}.{self.method}" + ("" if self.scenario == "base" else f"/{self.scenario}")
        return Experiment(name, "ungated", None, (), self.module, self.class_, self.method, (), None, self.scenario)


FEW = ("latest", "earliest", "random:0")
CONFIRMED, ORDERED = "confirmed on sim", "ordered on sim"
NO_WINDOW = "inconclusive: window not open: the read without any gate was not caught"
INDEX = ("get_index_k_continuous", "get_index_k_scale_continuous", "get_index_k_scale_buffer")
STORY = ("0.5.12", "0.5.14", "0.5.18", "0.5.22", "0.5.23")

CASES = (
    *(Case(POOLS, "NSATokenToKVPool", method, ("0.5.10",), CONFIRMED) for method in INDEX),
    *(Case(POOLS, "NSATokenToKVPool", method, ("0.5.11",), ORDERED) for method in INDEX),
    Case(POOLS, "HybridLinearKVPool", "get_mla_kv_buffer", ("0.5.10", "0.5.11", "0.5.21"), CONFIRMED),
    Case(POOLS, "HybridLinearKVPool", "get_mla_kv_buffer", ("0.5.22", "0.5.23"), ORDERED),
    Case(V4, "DeepSeekV4IndexerPool", "get_index_k_with_scale_buffer", STORY, CONFIRMED),
    Case(V4, "DeepSeekV4TokenToKVPool", "get_index_k_with_scale_buffer", STORY, ORDERED),
    Case(POOLS, "NSATokenToKVPool", "get_key_buffer", ("0.5.10", "0.5.11"), ORDERED),
    Case(POOLS, "NSATokenToKVPool", "get_index_k_with_scale_buffer", ("0.5.10", "0.5.11"), ORDERED),
    Case(POOLS, "HybridLinearKVPool", "get_key_buffer", ("0.5.10", "0.5.21", "0.5.22"), ORDERED),
    Case(OFFLOAD, "SimpleCPUOffloadWorker", "get_finished", ("0.23.0",), CONFIRMED),
    Case(OFFLOAD, "SimpleCPUOffloadWorker", "get_finished", ("0.24.0",), ORDERED),
    Case(OFFLOAD, "SimpleCPUOffloadWorker", "wait_for_save", ("0.33.0",), ORDERED),
    Case(OFFLOAD, "SimpleCPUOffloadWorker", "start_load_kv", ("0.24.0", "0.33.0"), CONFIRMED, "load-over-read"),
    Case(OFFLOAD, "SimpleCPUOffloadWorker", "start_load_kv", ("0.24.0", "0.33.0"), ORDERED, "load-over-read-fenced"),
    Case(MORIIO, "MoRIIOConnector", "wait_for_layer_load", ("0.27.1",), CONFIRMED),
    Case(MORIIO, "MoRIIOConnector", "wait_for_layer_load", ("0.28.0",), ORDERED),
    Case(MORIIO, "MoRIIOConnector", "wait_for_layer_load", ("0.28.0",), CONFIRMED, "captured"),
    Case(MORIIO, "MoRIIOConnector", "wait_for_layer_load", ("0.33.0",), NO_WINDOW),
    Case(LMCACHE, "LMCacheEngine", "retrieve_layer", ("0.3.1", "0.5.6"), ORDERED),
    Case(LMCACHE, "LMCacheEngine", "retrieve_layer", ("0.3.1", "0.5.6"), CONFIRMED, "captured"),
    Case(LMCACHE, "LMCacheEngine", "retrieve_layer", ("0.3.1", "0.5.6"), ORDERED, "captured-waited"),
    Case(LMCACHE, "LMCacheEngine", "store_layer", ("0.3.1", "0.5.6"), ORDERED),
)

RELEASES = sorted({(case.package, release) for case in CASES for release in case.releases})


def probed(
    package: str, release: str, schedules: Sequence[str] | None = None, *, interpret: bool = False
) -> Iterator[tuple[Case, Record]]:
    """Run all cases of a release."""
    cases = [case for case in CASES if case.package == package and release in case.releases]
    tree = fetch_release(f"{package}=={release}")
    plan = Plan(package, release, tuple(case.experiment for case in cases))
    yield from zip(cases, run_plan(plan, tree, schedules=schedules, interpret=interpret), strict=True)


def main() -> int:
    """Print the table; 1 if a label is not the expected one."""
    surprises, interpret = 0, "--interpret" in sys.argv
    schedules = FEW if interpret else None
    print(f"{'release':<16}{'accessor':<64}{'race':>7}{'wrong':>7}{'witness':>20}  label")
    for package, release in RELEASES:
        for case, record in probed(package, release, schedules, interpret=interpret):
            if interpret and (record.fidelity is None or record.fidelity.kernels != "interpreted"):
                continue
            plain, trials = record.to_json(), record.observation.trials
            race = next(iter(record.observation.races), None)
            witness = f"{race.witness_wrong}/{race.bytes} B" if race else "-"
            surprising = plain["label"] != case.expected
            surprises += surprising
            seen = f"{trials.raced:>4}/{trials.trials}{trials.wrong:>4}/{trials.trials}{witness:>20}"
            label = f"{plain['label']}{' (not expected)' if surprising else ''}"
            print(f"{package + ' ' + release:<16}{case.experiment.id:<64}{seen}  {label}", flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
