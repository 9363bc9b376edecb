"""The text of ``diff``: a gate that moved, and one that stands where it stood and is another wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from auditor.render import DIFFERENCE_FORMATS, Page
from auditor.triage import difference_of
from tests.unit.render import sample

GATED = sample.SITES[0]
(GATE,) = GATED.bindings[0].gates


def told(**changes: Any) -> str:
    gate = replace(GATE, **changes)
    site = replace(GATED, bindings=(replace(GATED.bindings[0], gates=(gate,)),))
    before, after = (replace(sample.REPORT, sites=(one,), findings=()) for one in (GATED, site))
    return DIFFERENCE_FORMATS["text"](difference_of(before, after), Page(width=10_000))


def test_another_wait_in_the_same_place_is_told_by_what_it_is() -> None:
    line = next(line for line in told(expression="other.wait(layer)", on="Other").splitlines() if " waited " in line)
    assert f"waited with `{GATE.expression}` on {GATE.on}; waits with `other.wait(layer)` on Other now, in " in line


def test_a_gate_in_another_function_is_told_by_where_it_is() -> None:
    moved = told(asked=replace(GATE.asked, function="pkg.Pool.other", line=7))
    assert f"waits in Pool.other ({GATE.asked.path}:7)" in moved
    assert " now, in " not in moved


def test_what_joined_is_named_by_its_class_or_is_another_object() -> None:
    """The gate stands where it stood, so it is not called lost."""
    ungated = replace(sample.UNGATED, classes=GATED.bindings[0].classes)
    for joins, name in ((ungated, "another object"), (replace(ungated, classes=("pkg.Newcomer",)), "Newcomer")):
        site = replace(GATED, verdict="ungated", bindings=(joins, *GATED.bindings))
        before, after = (replace(sample.REPORT, sites=(one,), findings=()) for one in (GATED, site))
        written = DIFFERENCE_FORMATS["text"](difference_of(before, after), Page(width=10_000))
        assert f"; is ungated now for {name}\n" in written
        assert "gates: 0 lost, 1 missing for what joined, " in written
