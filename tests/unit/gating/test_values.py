# a program a line reads better than a program torn apart
"""The lattice of held gates: laws of ``meet``."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from auditor.gating.symbols import Layer, Path
from auditor.gating.values import Gate, Held, Place, Vacuous, meet
from auditor.link import Instance

ONE, TWO = Instance("m.A", "m.py", 1, 1), Instance("m.B", "m.py", 2, 1)
PATHS = st.sampled_from([Path("self"), Path("pool"), None])
OWNERS = st.sampled_from([frozenset({ONE}), frozenset({ONE, TWO}), None])
LAYERS = st.sampled_from([Layer(((Path("layer_id"), 1),)), Layer(((Path("i"), 1),)), Layer((), 0, last=True)])
PLACES = st.builds(Place, st.just("m.py"), st.integers(1, 3), st.just(1), st.just("m.f"))
GATES = st.builds(Gate, OWNERS, PATHS, LAYERS, place=PLACES)
VACUOUS = st.builds(Vacuous, PATHS.filter(bool))
HELD = st.frozensets(st.one_of(GATES, VACUOUS), max_size=4)


@given(HELD, HELD)
def test_meet_commutes(left: Held, right: Held) -> None:
    assert meet(left, right) == meet(right, left)


@given(HELD, HELD, HELD)
def test_meet_associates(one: Held, two: Held, three: Held) -> None:
    assert meet(meet(one, two), three) == meet(one, meet(two, three))


@given(HELD)
def test_meet_with_itself_changes_nothing(one: Held) -> None:
    assert meet(one, one) == one


@given(HELD, HELD)
def test_meet_makes_nothing_up(left: Held, right: Held) -> None:
    """Between the intersection and the union: what both hold stays, nothing is held that neither holds."""
    assert left & right <= meet(left, right) <= left | right


@given(HELD, HELD)
def test_what_one_side_alone_holds_stays_only_for_an_excuse(left: Held, right: Held) -> None:
    for one in meet(left, right) - (left & right):
        other = right if one in left else left
        assert isinstance(one, Gate)
        assert any(isinstance(each, Vacuous) for each in other)


@given(st.frozensets(GATES, max_size=4), st.frozensets(GATES, max_size=4))
def test_without_excuses_it_is_the_intersection(left: Held, right: Held) -> None:
    assert meet(left, right) == left & right


@given(GATES)
def test_nothing_held_and_no_excuse_loses_the_gate(gate: Gate) -> None:
    assert meet(frozenset({gate}), frozenset()) == frozenset()


@given(GATES)
def test_a_gate_is_kept_where_there_was_nothing_to_wait_for(gate: Gate) -> None:
    if gate.through is not None:
        assert gate in meet(frozenset({gate}), frozenset({Vacuous(gate.through)}))


def test_an_excuse_of_another_object_is_none() -> None:
    gate = Gate(frozenset({ONE}), Path("self"), Layer())
    assert gate not in meet(frozenset({gate}), frozenset({Vacuous(Path("other"))}))


def test_where_a_gate_stands_does_not_tell_it_apart() -> None:
    first, second = (Gate(None, Path("self"), Layer(), place=Place("m.py", line, 1, "m.f")) for line in (1, 2))
    assert first == second
    assert meet(frozenset({first}), frozenset({second})) == {first}
