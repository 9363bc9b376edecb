"""Observations and the records of them, as the probe writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cuda_probe.evidence import (
    Backend,
    Controls,
    Fidelity,
    Observation,
    OperationSeen,
    RaceSeen,
    Tally,
)
from cuda_probe.records import Record, Target

SIM = Backend("sim", torch="2.13.0")
B200 = Backend("cuda", torch="2.13.0", device="NVIDIA B200", sm="sm_100", driver="580", cuda="13.0")
H200 = replace(B200, device="NVIDIA H200", sm="sm_90")
LOAD = OperationSeen(3, "stream 1", "copy", "load")
READ = OperationSeen(7, "stream 0", "kernel", "read")
RACE = RaceSeen("RAW", "kv_buffer[3]", LOAD, READ, "…", "starve:3", 64, 64)
VALID = Controls(Tally(20, wrong=20, raced=20), Tally(20))
CONFIRMED = Observation(SIM, Tally(20, wrong=11, raced=20), VALID, races=(RACE,))
ORDERED = Observation(SIM, Tally(20), VALID, path=(LOAD, READ))


def record(observation: Observation, **experiment: Any) -> dict[str, Any]:
    """Return the record of an experiment that measured this."""
    texts = dict.fromkeys(("id", "module", "class", "method", "buffer"), "x")
    one: dict[str, Any] = {**texts, "scenario": "base", "claim": "ungated", "finding": None, "sites": [], "objects": []}
    fidelity = Fidelity("real-init", "real", "real-controller", "real")
    return Record({**one, **experiment}, Target("minikv", ""), observation, fidelity).to_json()


def document(*records: dict[str, Any]) -> dict[str, Any]:
    """Return evidence-v1 of these records."""
    return {"schema": "evidence-v1", "records": list(records)}
