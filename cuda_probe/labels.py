"""Labels: what an observation allows to be said, and no more. The only place that makes one; total.

| label | requires |
|---|---|
| ``confirmed on sim`` | a race in every trial, a witness schedule that read wrong bytes, controls valid |
| ``confirmed on sm_90``, ``confirmed on Blackwell sm_100`` | wrong bytes, or a read done before its load, on that
device | | ``ordered on sim`` | no race in any trial, no wrong byte, the chain of edges from load to read | |
``ordered in N trials on sm_90`` | 0 of N, while the positive control was caught N of N: evidence, no proof | | ``not
reproduced in N trials on …`` | nothing wrong was read, and neither of the two above holds | | ``could not run: …`` |
with the reason | | ``inconclusive: …`` | a control failed, trials disagree, or the experiment shows nothing |
"""

from __future__ import annotations

from typing import Literal

from cuda_probe.evidence import Backend, Controls, Observation

Verdict = Literal["confirmed", "ordered", "not-reproduced", "could-not-run", "inconclusive"]

BLACKWELL = frozenset({"sm_100", "sm_103", "sm_110", "sm_120", "sm_121"})


def verdict(observation: Observation) -> Verdict:
    """Return what was found out, in one word."""
    return _judge(observation)[0]


def label(observation: Observation) -> str:
    """Return what may be said of it."""
    word, reason = _judge(observation)
    where, trials = place(observation.backend), observation.trials.trials
    match word:
        case "could-not-run":
            return f"could not run: {reason}"
        case "inconclusive":
            return f"inconclusive: {reason}"
        case "confirmed":
            return f"confirmed on {where}"
        case "ordered":
            return (
                f"ordered on {where}" if observation.backend.kind == "sim" else f"ordered in {trials} trials on {where}"
            )
        case "not-reproduced":
            return f"not reproduced in {trials} trials on {where}"


def place(backend: Backend) -> str:
    """Return ``sim``, ``sm_90`` or ``Blackwell sm_100``: the family is never named without the exact number."""
    if backend.kind == "sim":
        return "sim"
    sm = backend.sm or "an unknown device"
    return f"Blackwell {sm}" if sm in BLACKWELL else sm


def _judge(observation: Observation) -> tuple[Verdict, str]:
    if observation.failure is not None:
        return "could-not-run", observation.failure
    if observation.doubt is not None:
        return "inconclusive", observation.doubt
    if observation.trials.trials == 0:
        return "inconclusive", "no trial was run"
    if observation.controls is None:
        return "inconclusive", "no controls were run"
    if observation.backend.kind == "cuda" and observation.backend.sm is None:
        return "inconclusive", "the architecture of the device is not known"
    if failed := _failed_control(observation.controls, observation.backend):
        return "inconclusive", failed
    return _judge_sim(observation) if observation.backend.kind == "sim" else _judge_cuda(observation)


def _judge_sim(observation: Observation) -> tuple[Verdict, str]:
    trials = observation.trials
    if 0 < trials.raced < trials.trials:
        return (
            "inconclusive",
            f"a race in {trials.raced} of {trials.trials} schedules: the program depends on its schedule",
        )
    if trials.raced:
        witnessed = any(race.witness is not None and race.witness_wrong > 0 for race in observation.races)
        return ("confirmed", "") if witnessed else ("not-reproduced", "")
    if observation.races:
        return "inconclusive", "a race is recorded that no trial counted"
    if trials.wrong:
        return "inconclusive", "wrong bytes were read and no race explains them"
    return (
        ("ordered", "")
        if observation.path
        else ("inconclusive", "no chain of edges from the load to the read was found")
    )


def _judge_cuda(observation: Observation) -> tuple[Verdict, str]:
    trials, controls = observation.trials, observation.controls
    assert controls is not None
    if trials.wrong or trials.early:
        return "confirmed", ""
    always_caught = controls.positive.wrong == controls.positive.trials >= trials.trials
    return ("ordered", "") if always_caught else ("not-reproduced", "")


def _failed_control(controls: Controls, backend: Backend) -> str | None:
    positive, negative = controls.positive, controls.negative
    if positive.trials == 0 or negative.trials == 0:
        return "a control was not run"
    if positive.wrong == 0 or (backend.kind == "sim" and positive.raced < positive.trials):
        return "window not open: the read without any gate was not caught"
    if negative.wrong or negative.raced or negative.early:
        return "the load is not what makes bytes right: the read behind the finished load was not clean"
    return None
