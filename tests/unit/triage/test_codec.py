"""Reports to bytes and back: nothing is lost, nothing else is taken for one."""

from __future__ import annotations

import json
import random

import pytest

from auditor.triage import decode, encode
from tests.unit.render.sample import CLEAN_REPORT, REPORT

DATA = encode(REPORT)


@pytest.mark.parametrize("report", [REPORT, CLEAN_REPORT])
def test_a_report_comes_back(report):
    assert decode(encode(report)) == report


def test_equal_values_are_written_once():
    rows = [json.dumps(row) for row in json.loads(DATA)]
    assert len(rows) == len(set(rows))


def test_values_that_are_shared_come_back_shared():
    steps = [step for site in decode(DATA).sites for one in site.bindings for step in one.derivation]
    assert len({id(step) for step in steps}) == len(set(steps))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"null", b"[[0]]", b"[[99]]", b'[["t", 1]]', b"[[9, 1]]", b"\xff"])
def test_other_bytes_are_no_report(text):
    with pytest.raises(ValueError, match="no report"):
        decode(text)


def test_a_row_that_is_changed_is_refused_or_is_a_report():
    """Every part of a value is checked: what comes out has the types of a report, whatever came in."""
    choice = random.Random(0)
    refused = 0
    for _ in range(500):
        rows = json.loads(DATA)
        row = choice.choice(rows)
        row[choice.randrange(len(row))] = choice.choice((None, "", 0, 1, True, [], {}, "t", "e", "*0", 10**6))
        try:
            again = decode(json.dumps(rows).encode())
        except ValueError:
            refused += 1
        else:
            assert decode(encode(again)) == again
    assert refused > 100
