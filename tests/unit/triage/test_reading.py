"""A report that was written can be read again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from auditor.errors import UsageError
from auditor.render import FORMATS, Page
from auditor.triage import report_of
from tests.unit.render import sample

WRITTEN = FORMATS["json"](sample.REPORT, Page())


def test_what_is_read_is_written_the_same() -> None:
    """Byte for byte; also without optional keys."""
    read = report_of(json.loads(WRITTEN))
    assert FORMATS["json"](read, Page()) == WRITTEN
    assert [one.hints for one in read.findings] == [one.hints for one in sample.REPORT.findings]
    untimed = replace(sample.REPORT, stats=replace(sample.REPORT.stats, seconds=None))
    text = FORMATS["json"](untimed, Page())
    assert FORMATS["json"](report_of(json.loads(text)), Page()) == text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("sites", 0, "line"), "7"),
        (("sites", 0, "line"), True),
        (("sites", 0, "bindings"), {}),
        (("findings", 0, "witness"), [None]),
        (("findings", 0, "fix"), "x"),
        (("stats", "verdicts"), {"gated": "many"}),
        (("tool",), None),
        (("engine",), []),
    ],
)
def test_what_is_no_report_is_refused(path: tuple[Any, ...], value: Any) -> None:
    """In words, not with an error of ours."""
    plain = json.loads(WRITTEN)
    *above, key = path
    parent = plain
    for part in above:
        parent = parent[part]
    parent[key] = value
    with pytest.raises(UsageError, match="no whole report-v1"):
        report_of(plain)
    del parent[key]
    if key != "fix":  # what may be None may be left out
        with pytest.raises(UsageError, match="no whole report-v1"):
            report_of(plain)
