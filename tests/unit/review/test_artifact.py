"""review-v1: the schema takes what collect writes; publish refuses what it does not take, by a validator of our own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from auditor.review import LARGEST, ArtifactError, artifact_of, from_json, to_json
from auditor.triage import Fix, Step
from tests.review.stage import GONE, artifact, finding
from tests.unit.render import sample

SCHEMA = json.loads((Path(__file__).parents[3] / "reports/schema/review-v1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
RICH = artifact(finding(1), finding(2, status="suppressed", justification="why"), fixed=(GONE,), problems=("x: bad",))


def test_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_written_and_read_is_the_same() -> None:
    text = to_json(RICH)
    assert list(VALIDATOR.iter_errors(json.loads(text))) == []
    assert from_json(text.encode(), "a") == RICH


def test_a_fix_stays_behind() -> None:
    """Code from a file that a stranger may have written is never offered to be taken over."""
    told = artifact(finding(fix=Fix("a.py", 1, 1, "import os", "import os", "a.py:1")))
    assert "import os" not in to_json(told)
    assert from_json(to_json(told).encode(), "a").introduced[0].fix is None


def test_what_is_too_long_is_cut_and_counted() -> None:
    """The writer keeps the limits that the reader asks for."""
    long = finding(
        message="x" * 5000, witness=tuple(Step("a.py", n, "y" * 3000) for n in range(200)), hints=("h",) * 99
    )
    told = replace(
        RICH, introduced=tuple(replace(long, fingerprint=f"{n:016x}") for n in range(1200)), coverage="c" * 9000
    )
    text = to_json(told)
    assert len(text) <= LARGEST
    read = from_json(text.encode(), "a")
    assert read.left_out == 1200 - len(read.introduced) > 0
    (first, *_) = read.introduced
    assert (len(first.witness), first.witness[0].line, first.witness[-1].line) == (60, 0, 199)
    short = from_json(to_json(replace(told, introduced=tuple(finding(n) for n in range(1200)))).encode(), "a")
    assert (len(short.introduced), short.left_out) == (1000, 200)


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"{", "no artifact"), (b"[1, Infinity]", "no JSON"), (b"1" * 9000, "no artifact"), (b"{}", "has no 'schema'")],
)
def test_what_is_none_is_refused(content: bytes, what: str) -> None:
    with pytest.raises(ArtifactError, match=what):
        from_json(content, "a.json")


def test_a_fingerprint_that_comes_twice_is_refused() -> None:
    with pytest.raises(ArtifactError, match="twice"):
        from_json(to_json(artifact(finding(1), finding(1))).encode(), "a")


# ---------------------------------------------------------------- collect

AFTER = sample.REPORT
BEFORE = replace(AFTER, findings=(), problems=())


def test_what_only_the_head_has_is_introduced() -> None:
    made = artifact_of(BEFORE, AFTER, base="b" * 40, head="a" * 40)
    new = {one.fingerprint for one in AFTER.findings if one.status == "new"}
    assert {one.fingerprint for one in made.introduced if one.status == "new"} == new
    assert made.introduced[0].fingerprint == "f1", "the worst comes first"
    assert [one.fingerprint for one in made.introduced if one.status == "suppressed"] == ["f5"]
    assert (made.known, made.fixed) == (0, ())


def test_what_both_have_is_known_and_what_is_gone_is_fixed() -> None:
    same = artifact_of(AFTER, AFTER, base="b" * 40, head="a" * 40)
    assert (same.introduced, same.fixed) == ((), ())
    assert same.known == sum(one.status == "new" for one in AFTER.findings)
    gone = artifact_of(AFTER, BEFORE, base="b" * 40, head="a" * 40)
    assert {one.fingerprint for one in gone.fixed} == {one.fingerprint for one in AFTER.findings if one.status == "new"}


def test_a_finding_that_is_suppressed_now_is_not_fixed() -> None:
    hidden = replace(AFTER, findings=tuple(replace(one, status="suppressed") for one in AFTER.findings))
    made = artifact_of(AFTER, hidden, base="b" * 40, head="a" * 40)
    assert made.fixed == ()
    assert {one.status for one in made.introduced} == {"suppressed"}


def test_a_base_without_an_engine_makes_all_new() -> None:
    made = artifact_of(None, AFTER, base="b" * 40, head="a" * 40)
    assert len(made.introduced) == len(AFTER.findings)
    assert "so all is new" in made.coverage


def test_relevant_problems_of_the_head_make_it_incomplete_those_of_the_base_are_told() -> None:
    made = artifact_of(AFTER, AFTER, base="b" * 40, head="a" * 40)
    assert made.problems == (f"{sample.INDEXER}:12: syntax error: the rest of the file was not read",)
    assert "could not be read: 1" in made.coverage


def test_a_lost_proof_names_the_gates_that_it_had_by_their_places_in_the_base() -> None:
    gated, *others = AFTER.sites
    undecided = replace(gated, verdict="unknown", bindings=(sample.UNKNOWN,))
    made = artifact_of(AFTER, replace(AFTER, sites=(undecided, *others)), base="b" * 40, head="a" * 40)
    (lost,) = made.introduced
    assert (lost.check, lost.witness) == ("proof-lost", ())
    assert [(step.path, step.line) for step in lost.gates] == [(sample.GATE.path, sample.GATE.line)]
