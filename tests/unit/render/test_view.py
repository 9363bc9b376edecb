"""What the HTML page shows of a report: counted, merged, and told once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from auditor.render import Page
from auditor.render.flows import Flow
from auditor.render.view import LONGEST, View, view
from auditor.triage import Binding, Report, Site, Step
from tests.unit.render import sample

PAGE = Page(lines=sample.lines)


def viewed(*sites: Site, report: Report = sample.REPORT) -> View:
    return view(replace(report, sites=sites) if sites else report, PAGE)


def test_excerpts_show_the_lines_around_each_step() -> None:
    """Marked where a step stands, without the common margin, in parts where steps lie apart."""
    (excerpt,) = viewed().findings[0].excerpts
    assert [[line.number for line in part] for part in excerpt.parts] == [
        [118, 119, 120, 121, 122],
        [138, 139, 140, 141, 142],
    ]
    hits = [line for part in excerpt.parts for line in part if line.hit]
    assert [line.number for line in hits] == [120, 140]
    assert hits[1].text.startswith("keys = forward_batch.token_to_kv_pool")


def test_no_source_no_excerpt_and_long_lines_are_cut() -> None:
    long = Page(lines=lambda _path: ["x" * 100_000] * 200)
    assert view(sample.REPORT, Page()).findings[0].excerpts[0].parts == ()
    assert {len(line.text) for part in view(sample.REPORT, long).findings[0].excerpts[0].parts for line in part} == {
        LONGEST + 1
    }


def test_tallies_are_worst_first_and_add_up() -> None:
    found = viewed()
    assert [tally.name for tally in found.accessors][:2] == ["get_index_k_scale_continuous", "get_key_buffer"]
    assert sum(tally.total for tally in found.accessors) == len(sample.SITES)
    assert [file.tally.counts for file in found.files] == [found.verdicts.counts]
    for tally in (*found.accessors, found.verdicts):
        ends = [(start, start + length) for _, start, length in tally.bar]
        assert ends[0][0] == 0
        assert ends[-1][1] == pytest.approx(100, abs=0.1)
        assert all(one[1] == pytest.approx(other[0], abs=0.1) for one, other in pairwise(ends))


def test_matrix_counts_bindings_by_accessor_mode_and_verdict() -> None:
    replayed = replace(sample.UNGATED, mode="replay")
    found = viewed(sample.site("s1", 5, "get_k", "ungated", sample.UNGATED, sample.UNGATED, replayed))
    (pool,) = found.pools
    assert (pool.tally.name.rpartition(".")[2], pool.modes) == ("DeepSeekV4IndexerPool", ("eager", "replay"))
    assert pool.matrix == (("get_k", {("eager", "ungated"): 2, ("replay", "ungated"): 1}),)


def test_what_is_no_pool_has_no_matrix() -> None:
    other = replace(sample.EXEMPT, reason="not-a-pool", classes=("torch.Module",))
    assert viewed(sample.site("s1", 5, "get_buffer", "exempt", other)).pools == ()


def test_bindings_that_differ_in_their_objects_only_are_one_row() -> None:
    other = replace(sample.GATED, classes=("p.Other",), objects=("x.py:1",), assumptions=("another",))
    found = viewed(sample.site("s", 5, "k", "ungated", sample.GATED, other, sample.UNGATED))
    ((worse, row),) = [one.rows for file in found.files for one in file.sites]
    assert [target.classes[0].rpartition(".")[2] for target in row.targets] == ["DeepSeekV4TokenToKVPool", "Other"]
    assert row.assumptions == {"decode-slots-disjoint", "another"}
    assert (worse.verdict, row.verdict) == ("ungated", "gated")


def test_rows_lead_to_the_findings_that_tell_them() -> None:
    rows = {one.id: one.rows for file in viewed().files for one in file.sites}
    assert rows["s2"][0].findings == ("f2",)
    assert rows["s1"][0].findings == ()


def test_a_gate_is_told_once_with_its_facts_for_each_object() -> None:
    other = replace(sample.GATED, gates=(replace(sample.GATE, on="another object"),))
    (gate,) = viewed(sample.site("s1", 5, "k", "gated", sample.GATED, other)).gates
    assert [fact.on for fact in gate.facts] == [sample.GATE.on, "another object"]


def test_unknown_is_grouped_by_reason() -> None:
    (unknown,) = viewed().unknown
    assert (unknown.reason, len(unknown.cases)) == ("receiver-unresolved", 1)
    assert unknown.meaning.startswith("no class could be found")


# ---------------------------------------------------------------- ways


def flows(*ways: str) -> tuple[Flow, ...]:
    """The flows of derivations that are written as letters, one a step; the site is somewhere else."""
    bindings = [binding(way) for way in ways]
    return viewed(sample.site("s1", 999, "k", "gated", *bindings)).flows


def binding(way: str) -> Binding:
    return replace(sample.GATED, derivation=tuple(Step("x.py", ord(letter), letter) for letter in way))


def written(flow: Flow) -> str:
    run = "".join(f"{step.what}{'.' if id_ else ''}" for id_, step in flow.run)
    return run + "".join(f"({written(branch)})" for branch in flow.branches)


@pytest.mark.parametrize(
    ("ways", "shown"),
    [
        (["abc"], ["abc."]),
        (["abc", "abd"], ["ab(c.)(d.)"]),
        (["abc", "ab"], ["ab.c."]),
        (["abc", "abde", "abdf", "x"], ["ab(c.)(d(e.)(f.))", "x."]),
        (["abc", "abc"], ["abc."]),
    ],
)
def test_ways_share_what_they_have_in_common(ways: list[str], shown: list[str]) -> None:
    """A dot is where a way ends; branches stand in parentheses."""
    assert [written(flow) for flow in flows(*ways)] == shown


def test_the_site_itself_is_no_step_of_its_way() -> None:
    """So that all sites of a class share one way."""
    at = Step(sample.INDEXER, 999, "reads it here")
    ended = replace(sample.GATED, derivation=(*binding("ab").derivation, at))
    (flow,) = viewed(sample.site("s1", 999, "k", "gated", ended)).flows
    assert written(flow) == "ab."
