"""``rules learn`` on real releases: what it finds of the packs that were written by hand. The figures are a ratchet."""

from __future__ import annotations

import functools

import pytest

from auditor.spec import find_pack
from tests.learned import RELEASES, WRITTEN, Learnt, Row, compared, learn, parsed

pytestmark = pytest.mark.corpus

FIGURES = {
    "sglang==0.5.10.post1": {"pools": (1.0, 1.0), "accessors": (0.96, 1.0), "gates": (1.0, 1.0)},
    "sglang==0.5.23": {"pools": (1.0, 0.96), "accessors": (0.93, 0.95), "gates": (1.0, 1.0)},
    "vllm==0.33.0": {"pools": (1.0, 1.0), "hooks": (1.0, 1.0)},
    "vllm-ascend==0.23.0": {"pools": (1.0, 1.0), "hooks": (1.0, 1.0)},
    "lmcache==0.5.6": {"pools": (1.0, 1.0), "accessors": (1.0, 1.0)},
    "aibrix-kvcache==0.8.0": {"pools": (1.0, 1.0), "hooks": (1.0, 1.0)},
}
"""Release → kind → (recall, precision) that were reached; rounded down."""
SECONDS, GIGABYTES = 100, 0.5
"""What an audit of SGLang 0.5.23 costs; learning from it takes a third of that. A loaded machine doubles CPU time."""


@functools.cache
def learnt(requirement: str) -> Learnt:
    return learn(requirement)


@pytest.mark.parametrize("requirement", RELEASES)
def test_a_pack_comes_out_that_is_valid_and_it_takes_less_than_an_audit(release, requirement: str) -> None:
    release(requirement)
    done = learnt(requirement)
    assert done.text, done.said
    assert parsed(done.text).recognise
    assert done.cost.cpu < SECONDS
    assert done.cost.peak < GIGABYTES


@pytest.mark.parametrize("requirement", FIGURES)
def test_it_finds_what_was_written_by_hand(release, requirement: str) -> None:
    root = release(requirement)
    written = find_pack(WRITTEN[requirement.partition("==")[0]])
    rows = {row.kind: row for row in compared(root, written, parsed(learnt(requirement).text))}
    short = [
        f"{kind}: recall {rows[kind].recall:.3f}, precision {rows[kind].precision:.3f}"
        for kind, (recall, precision) in FIGURES[requirement].items()
        if rows[kind].recall < recall or rows[kind].precision < precision
    ]
    assert short == []


def test_recall_and_precision_are_those_of_the_sets() -> None:
    row = Row("pools", missed={"a"}, found={"b", "c", "d"}, more={"e"})
    assert (row.recall, row.precision) == (0.75, 0.75)
    assert (Row("gates", set(), set(), set()).recall, Row("gates", set(), set(), set()).precision) == (1.0, 1.0)
