"""Labels say what was measured and no more; the schema refuses those that say more."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.conforms import faults
from cuda_probe.evidence import (
    Controls,
    Observation,
    RaceSeen,
    Tally,
    Timeline,
)
from cuda_probe.labels import label
from cuda_probe.records import earned
from tests.probe.observed import B200, CONFIRMED, H200, LOAD, ORDERED, RACE, READ, SIM, VALID, document, record

SCHEMA = json.loads((Path(__file__).parents[2] / "reports/schema/evidence-v1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        (CONFIRMED, "confirmed on sim"),
        (replace(CONFIRMED, trials=Tally(20, wrong=0, raced=20)), "confirmed on sim"),  # the witness is enough
        (ORDERED, "ordered on sim"),
        (Observation(B200, Tally(20, wrong=3), VALID), "confirmed on Blackwell sm_100"),
        (Observation(H200, Tally(20, early=1), VALID), "confirmed on sm_90"),
        (Observation(B200, Tally(20), VALID), "ordered in 20 trials on Blackwell sm_100"),
        (Observation(H200, Tally(20), VALID), "ordered in 20 trials on sm_90"),
    ],
)
def test_what_was_shown_is_said(observation, expected):
    """With the place, and the family of a device never without its number."""
    assert label(observation) == expected


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        (replace(CONFIRMED, races=(replace(RACE, witness=None),)), "not reproduced in 20 trials on sim"),
        (replace(CONFIRMED, races=(replace(RACE, witness_wrong=0),)), "not reproduced in 20 trials on sim"),
        (replace(CONFIRMED, trials=Tally(20, raced=19)), "inconclusive: a race in 19 of 20 schedules"),
        (replace(CONFIRMED, controls=None), "inconclusive: no controls were run"),
        (replace(CONFIRMED, controls=replace(VALID, positive=Tally(20))), "inconclusive: window not open"),
        (replace(CONFIRMED, controls=replace(VALID, positive=Tally(20, wrong=20))), "inconclusive: window not open"),
        (replace(CONFIRMED, controls=replace(VALID, negative=Tally(20, raced=1))), "inconclusive: the load is not"),
        (replace(ORDERED, controls=replace(VALID, negative=Tally(20, wrong=1))), "inconclusive: the load is not"),
        (replace(ORDERED, controls=replace(VALID, negative=Tally(0))), "inconclusive: a control was not run"),
        (replace(ORDERED, path=()), "inconclusive: no chain of edges"),
        (replace(ORDERED, trials=Tally(20, wrong=1)), "inconclusive: wrong bytes were read"),
        (replace(ORDERED, races=(RACE,)), "inconclusive: a race is recorded"),
        (replace(ORDERED, trials=Tally(0)), "inconclusive: no trial was run"),
        (replace(ORDERED, failure="no GPU"), "could not run: no GPU"),
        (replace(ORDERED, doubt="nothing loads it"), "inconclusive: nothing loads it"),
        (
            Observation(H200, Tally(20), replace(VALID, positive=Tally(20, wrong=19))),
            "not reproduced in 20 trials on sm_90",
        ),
        (Observation(replace(H200, sm=None), Tally(20, wrong=20), VALID), "inconclusive: the architecture"),
    ],
)
def test_what_was_not_shown_is_not_said(observation, expected):
    """Each requirement that is missing takes the claim away."""
    assert label(observation).startswith(expected)


# ---------------------------------------------------------------- every observation there is

few = st.integers(0, 3)
tallies = st.builds(Tally, few, few, few, few, few)
races = st.builds(
    RaceSeen,
    st.sampled_from(["RAW", "WAR", "WAW"]),
    st.just("kv_buffer"),
    st.just(LOAD),
    st.just(READ),
    st.just("…"),
    st.sampled_from([None, "starve:3"]),
    few,
    few,
)
reasons = st.sampled_from([None, "why"])
observations = st.builds(
    Observation,
    st.sampled_from([SIM, B200, H200, replace(H200, sm=None)]),
    tallies,
    st.none() | st.builds(Controls, tallies, tallies),
    st.lists(races, max_size=2).map(tuple),
    st.sampled_from([(), (LOAD, READ)]),
    timeline=st.just(Timeline((LOAD, READ))),
    failure=reasons,
    doubt=reasons,
)


@given(observations)
@settings(max_examples=500, deadline=None)
def test_every_record_validates(observation):
    """Total: whatever was measured gets a label, and the record keeps the schema."""
    one = record(observation)
    VALIDATOR.validate(document(one))
    assert list(faults(document(one), SCHEMA)) == []
    assert earned(json.loads(json.dumps(one))) == (one["verdict"], one["label"])


CLAIMS = ("confirmed on sim", "ordered on sim", "confirmed on sm_90", "confirmed on Blackwell sm_100")


@given(observations, st.sampled_from(CLAIMS))
@settings(max_examples=500, deadline=None)
def test_the_schema_refuses_a_claim_that_the_record_does_not_hold(observation, claim):
    """A label changed by hand to a stronger one does not validate."""
    one = record(observation)
    if one["verdict"] in ("could-not-run", "inconclusive", "not-reproduced"):
        one["label"] = claim
        assert not VALIDATOR.is_valid(document(one))
        assert list(faults(document(one), SCHEMA)) != []


@pytest.mark.parametrize("claim", ["confirmed on GPU", "confirmed", "confirmed on Blackwell", "refuted", "safe", ""])
def test_the_schema_knows_no_other_label(claim):
    """Blackwell without its number, or a GPU without one, is no place."""
    one = record(CONFIRMED)
    VALIDATOR.validate(document(one))
    one["label"] = claim
    assert not VALIDATOR.is_valid(document(one))


def test_a_claim_of_the_simulated_device_is_not_one_of_a_gpu():
    """Nor the other way round."""
    one = record(CONFIRMED)
    one["label"] = "confirmed on sm_90"
    assert not VALIDATOR.is_valid(document(one))
    other = record(Observation(H200, Tally(20, wrong=3), VALID))
    VALIDATOR.validate(document(other))
    other["label"] = "confirmed on sim"
    assert not VALIDATOR.is_valid(document(other))
