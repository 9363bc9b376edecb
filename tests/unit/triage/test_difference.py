"""Sites of two reports: which are the same, what became of their gates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditor.triage import Report, Site, Step, changes, explained, lost_proofs
from tests.unit.render import sample

ASKED = Step("m.py", 4, "self.wait(layer)", "m.Pool.get")
GATE = replace(sample.GATE, asked=ASKED, expression="self.wait(layer)", on="Pool")
GATED = replace(sample.GATED, gates=(GATE,))


def site(verdict: str = "gated", function: str = "m.read", line: int = 10, **changes: object) -> Site:
    binding = {"gated": GATED, "unknown": sample.UNKNOWN, "ungated": sample.UNGATED, "exempt": sample.EXEMPT}[verdict]
    one = replace(binding, classes=("m.Pool",))
    made = sample.site(f"m.py:{line}", line, "get", verdict, one, function=function)
    return replace(made, **changes)  # type: ignore[arg-type]


def report(*sites: Site) -> Report:
    return replace(sample.REPORT, sites=sites)


def what(before: list[Site], after: list[Site]) -> list[tuple[str, int, int]]:
    return [(one.what, one.before.line, one.after.line) for one in changes(report(*before), report(*after))]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("gated", "ungated", "lost"),
        ("gated", "unknown", "proof-lost"),
        ("gated", "exempt", "verdict"),
        ("ungated", "gated", "gained"),
        ("unknown", "gated", "gained"),
        ("unknown", "ungated", "verdict"),
    ],
)
def test_verdicts(before: str, after: str, told: str) -> None:
    assert what([site(before)], [site(after)]) == [(told, 10, 10)]


def test_a_class_that_joins_a_site_loses_no_gate() -> None:
    other = replace(sample.UNGATED, classes=("n.OtherPool",))
    both = site("ungated", bindings=(other, replace(GATED, classes=("m.Pool",))))
    assert what([site()], [both]) == [("joined", 10, 10)]
    assert changes(report(site()), report(both))[0].newcomers() == ("OtherPool",)
    assert what([site()], [site("ungated", bindings=(other, *site("ungated").bindings))]) == [("lost", 10, 10)]


POOL, UNGATED = replace(GATED, classes=("m.Pool",)), replace(sample.UNGATED, classes=("m.Pool",))


def test_an_object_that_joins_a_site_loses_no_gate() -> None:
    """Of a class that came there before: an inner pool whose counter was taken away, say."""
    both = site("ungated", bindings=(UNGATED, POOL))
    assert what([site()], [both]) == [("joined", 10, 10)]
    assert changes(report(site()), report(both))[0].newcomers() == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((POOL, POOL), (UNGATED, POOL)),
        ((replace(POOL, classes=("m.Kid", "m.Pool")),), (UNGATED, replace(POOL, classes=("m.Kid",)))),
        ((replace(POOL, objects=("a.py:1", "a.py:2")),), (UNGATED, replace(POOL, objects=("a.py:2",)))),
        ((POOL, replace(POOL, mode="replay")), (replace(UNGATED, mode="replay"), POOL)),
        ((POOL,), (UNGATED, replace(POOL, gates=(replace(GATE, on="Other"),)))),
    ],
    ids=["one of two", "one of two classes", "one of two objects", "in one mode", "another gate"],
)
def test_a_gate_that_is_lost_for_a_part_is_lost(before: Any, after: Any) -> None:
    assert what([site(bindings=before)], [site("ungated", bindings=after)]) == [("lost", 10, 10)]


@pytest.mark.parametrize("verdict", ["gated", "ungated", "unknown", "exempt"])
def test_nothing_changed(verdict: str) -> None:
    assert what([site(verdict)], [site(verdict, line=99)]) == []


@pytest.mark.parametrize(
    "part", [{"asked": replace(ASKED, function="m.Wrapper.get")}, {"on": "Wrapper"}, {"expression": "self.wait_all()"}]
)
def test_a_gate_that_moved_is_not_lost(part: dict[str, Any]) -> None:
    moved = replace(GATED, gates=(replace(GATE, **part),))
    assert what([site()], [site(bindings=(moved,))]) == [("moved", 10, 10)]


def test_a_gate_on_another_line_has_not_moved() -> None:
    assert what([site()], [site(bindings=(replace(GATED, gates=(replace(GATE, line=1, path="n.py"),)),))]) == []
    renamed = replace(GATED, gates=(replace(GATE, asked=replace(ASKED, function="home.m.Pool.get")),))
    assert what([site()], [site(bindings=(renamed,))]) == []


def test_copies_are_paired_in_order() -> None:
    before = [site(line=1), site("ungated", line=2)]
    after = [site(line=11), site("gated", line=12)]
    assert what(before, after) == [("gained", 2, 12)]


def test_another_receiver_is_the_same_site_still() -> None:
    assert what([site()], [site("unknown", receiver="getattr(self, name)")]) == [("proof-lost", 10, 10)]


def test_the_same_receiver_goes_first() -> None:
    before = [site(line=1, receiver="a"), site("ungated", line=2, receiver="b")]
    after = [site("ungated", line=1, receiver="b"), site(line=2, receiver="a")]
    assert what(before, after) == []


def test_a_function_that_moved_takes_its_sites_along() -> None:
    assert what([site(function="m.Pool.f")], [site("ungated", function="n.Pool.f")]) == [("lost", 10, 10)]
    assert what([site(function="m.Pool.f")], [site("ungated", function="n.Other.f")]) == []


def test_a_lost_proof_is_a_finding() -> None:
    found = changes(report(site(line=1), site(line=2)), report(site("unknown", line=3), site("unknown", line=4)))
    told = lost_proofs(found)
    assert [(one.check, one.severity, one.line) for one in told] == [
        ("proof-lost", "warning", 3),
        ("proof-lost", "warning", 4),
    ]
    assert len({one.fingerprint for one in told}) == 2
    assert told[0].related[0].what == "before, it was gated by self.wait(layer)"
    assert "receiver-unresolved" in told[0].message


def test_new_findings_name_the_gates_that_were_lost() -> None:
    old = site(
        bindings=(
            *site().bindings,
            replace(GATED, gates=(replace(GATE, asked=replace(ASKED, function="m.Other.get", line=5)),)),
        )
    )
    new = site("ungated", bindings=(*site("ungated").bindings, replace(GATED, gates=(GATE,))))
    finding = replace(sample.FINDINGS[0], sites=(new.id,), hints=())
    known = replace(finding, status="known")
    told = explained([finding, known], changes(report(old), report(new)))
    (hint,) = told[0].hints
    assert hint == "lost gate: before, Other.get waited for it (m.py:5)"
    assert told[1].hints == ()
