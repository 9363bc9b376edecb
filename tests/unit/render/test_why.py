"""``why``: the sentence that answers, the evidence under it, and the four questions."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.render import Page, explain_sites, words
from auditor.triage import Site
from tests.unit.render import sample

PAGE = Page(lines=sample.lines, width=10_000)
QUESTIONS = (
    "1. What does it bind to?",
    "2. Is there a gate, and is it enough?",
    "3. Is the cause somewhere else?",
    "4. Is there another way round the gate?",
    "What would change this answer?",
)


def why(site: Site, page: Page = PAGE) -> str:
    return explain_sites(sample.REPORT, [site], page)


@pytest.mark.parametrize("site", sample.SITES, ids=lambda site: site.verdict)
def test_the_four_questions_are_answered_in_order(site: Site) -> None:
    lines = why(site).splitlines()
    places = [lines.index(question) for question in QUESTIONS]
    assert places == sorted(places)
    assert all(lines[place + 1].startswith("   ") for place in places)


def test_already_gated_is_said_in_words() -> None:
    """The story's answer, with the certificate."""
    written = why(sample.SITES[0])
    assert (
        f"Already gated: the wait at {sample.POOL}:2011 (`self.wait_layer_transfer(layer_id)`) comes before "
        "DeepSeekV4TokenToKVPool.get_index_k_with_scale_buffer reads." in written
    )
    assert "Do not add another gate." in written
    for fact in (sample.GATE.on, sample.GATE.layer, sample.GATE.covers, sample.GATE.armed):
        assert fact in written
    for step in sample.GATED.derivation:
        assert f"{step.path}:{step.line}  {step.what}" in written


def test_open_sites_promise_the_known_classes_only() -> None:
    written = why(replace(sample.SITES[0], open=("plugins.py:12",)))
    assert "That holds for 1 known class; open at plugins.py:12." in written
    assert "Do not add another gate." not in written


def test_ungated_has_the_witness_and_the_missing_edge() -> None:
    written = why(sample.SITES[1])
    assert "Not gated: " in written
    for step in sample.UNGATED.witness:
        assert f"{step.path}:{step.line}  " in written
    edge = "a wait for the load of `index_k_with_scale_buffer` in `Indexer._ragged_topk`, before it is read"
    assert f"Missing: {edge} (bypassed-owner)." in written
    assert "2 other sites can reach the same objects: 1 ungated and 1 latent." in written


def test_latent_says_what_keeps_it_from_being_armed() -> None:
    assert "its register method raises" in why(sample.SITES[2])


def test_unknown_says_why_and_where_knowledge_ended() -> None:
    written = why(sample.SITES[4])
    assert "Unknown (receiver-unresolved): no class could be found" in written
    assert f"ended at {sample.INDEXER}:230  kv is the result of a plug-in hook" in written


def test_a_site_without_bindings_has_an_answer_too() -> None:
    assert "Unknown (receiver-unresolved)" in why(replace(sample.SITES[4], bindings=(), open=()))


def test_findings_on_the_loader_answer_the_third_question() -> None:
    finding = replace(sample.FINDINGS[0], check="signal-before-copy", path="loader.py", line=7, sites=())
    report = replace(sample.REPORT, findings=(finding,))
    assert "loader.py:7  signal-before-copy: " in explain_sites(report, sample.SITES[:1], PAGE)


def test_a_derivation_is_told_once() -> None:
    replayed = replace(sample.GATED, mode="replay")
    written = why(replace(sample.SITES[0], bindings=(sample.GATED, replayed)))
    assert written.count("makes DeepSeekV4TokenToKVPool") == 1
    assert "as above" in written


def test_a_derivation_is_told_up_to_where_it_meets_one_above() -> None:
    first, *rest = sample.GATED.derivation
    other = replace(sample.GATED, derivation=(replace(first, line=777), *rest), classes=("pools.Other",))
    written = why(replace(sample.SITES[0], bindings=(sample.GATED, other)))
    assert f"{first.path}:777  " in written
    assert f"and on as above, from {rest[0].path}:{rest[0].line}" in written
    assert written.count(rest[-1].what) == 1


def test_what_another_object_gets_there_is_no_way_round() -> None:
    """A site that is ungated for objects that do not come here is told by what it is for those that do."""
    mixed = sample.site("m", 900, "get", "ungated", replace(sample.UNGATED, objects=("elsewhere.py:1",)), sample.GATED)
    report = replace(sample.REPORT, sites=(sample.SITES[0], mixed))
    told = explain_sites(report, sample.SITES[:1], PAGE)
    assert "1 other site can reach the same objects; each is gated or exempt." in told


def test_one_wait_of_several_objects_is_told_once() -> None:
    other = replace(sample.GATED, gates=(replace(sample.GATE, on="OtherPool"),))
    written = why(replace(sample.SITES[0], bindings=(sample.GATED, other)))
    assert f"on       {sample.GATE.on} or OtherPool" in written
    assert written.count(f"armed    {sample.GATE.armed}") == 1


def test_other_classes_of_a_site_are_told_with_their_verdict() -> None:
    gated = replace(sample.GATED, classes=("pools.Calm",))
    told = why(replace(sample.SITES[1], bindings=(*sample.SITES[1].bindings, gated)))
    assert told.index("Not gated: ") < told.index("Where it is Calm: gated.") < told.index(QUESTIONS[0])


@pytest.mark.parametrize("reason", [*words.UNKNOWN, "limit(call depth)", "", "new-reason"])
def test_every_reason_has_words(reason: str) -> None:
    means, changes = words.unknown(reason)
    assert means
    assert changes


@given(st.text(st.characters(), max_size=8))
def test_no_control_character_comes_through(noise: str) -> None:
    dirty = f"\x1b]0;{noise}\u202e"
    binding = replace(
        sample.GATED,
        classes=(dirty,), objects=(dirty,), method=dirty, scenario=dirty, when=(dirty,), assumptions=(dirty,),
        derivation=(replace(sample.GATED.derivation[0], path=dirty, what=dirty),),
        gates=(replace(sample.GATE, path=dirty, expression=dirty, on=dirty, layer=dirty, covers=dirty, armed=dirty),),
    )  # fmt: skip
    others = [
        replace(binding, verdict=verdict, reason=dirty, witness=sample.UNGATED.witness, mode=dirty)
        for verdict in ("ungated", "unknown", "latent", "exempt")
    ]
    for bindings in ((binding,), tuple(others)):
        site = replace(
            sample.SITES[0],
            path=dirty, name=dirty, receiver=dirty, function=dirty, role=dirty, open=(dirty,), bindings=bindings,
            verdict=bindings[0].verdict,
        )  # fmt: skip
        written = why(site, Page(lines=lambda _path: [dirty] * 100))
        assert all(character.isprintable() or character == "\n" for character in written)


@pytest.mark.parametrize("site", sample.SITES, ids=lambda site: site.verdict)
def test_every_path_starts_where_the_reader_stands(site: Site) -> None:
    page = replace(PAGE, lines=lambda path: sample.lines(path) or [""] if path.startswith("sglang/") else [])
    assert why(site, replace(page, here="top/")) == re.sub(r"\bsglang/", "top/sglang/", why(site, page))
