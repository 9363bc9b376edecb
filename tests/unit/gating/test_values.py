# a program a line reads better than a program torn apart
"""The lattice of held gates: laws of ``meet``."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from auditor.gating.symbols import Layer, Path
from auditor.gating.values import PASSED_ON, Gate, Given, Held, Place, Vacuous, implies, meet, simplest
from auditor.link import Instance

ONE, TWO = Instance("m.A", "m.py", 1, 1), Instance("m.B", "m.py", 2, 1)
PATHS = st.sampled_from([Path("self"), Path("pool"), Path("self", ("pool",)), None])
OWNERS = st.sampled_from([frozenset({ONE}), frozenset({ONE, TWO}), None])
LAYERS = st.sampled_from([Layer(((Path("layer_id"), 1),)), Layer(((Path("i"), 1),)), Layer((), 0, last=True)])
PLACES = st.builds(Place, st.just("m.py"), st.integers(1, 3), st.just(1), st.just("m.f"))
GIVEN = st.sampled_from([(), ("pool",)])
GATES = st.builds(Gate, OWNERS, PATHS, LAYERS, given=GIVEN, place=PLACES)
OWNED = st.builds(Vacuous, st.frozensets(PATHS.filter(bool), min_size=1, max_size=3))
NOT_PASSED = st.builds(Vacuous, st.frozensets(PATHS.filter(bool), max_size=2), st.just(frozenset({"pool"})))
VACUOUS = st.one_of(OWNED, NOT_PASSED)
HELD = st.frozensets(st.one_of(GATES, VACUOUS), max_size=4).map(simplest)


def vacuous(*paths: Path) -> Vacuous:
    return Vacuous(frozenset(paths))


@given(HELD, HELD)
def test_meet_commutes(left: Held, right: Held) -> None:
    assert meet(left, right) == meet(right, left)


@given(HELD, HELD, HELD)
def test_meet_associates(one: Held, two: Held, three: Held) -> None:
    left, right = meet(meet(one, two), three), meet(one, meet(two, three))
    assert all(follows(each, right) for each in left)
    assert all(follows(each, left) for each in right)


def follows(one: Gate | Vacuous, held: Held) -> bool:
    """Whether ``one`` says no more than ``held``; where there is nothing to wait for, any gate of the owner is held."""
    return any(implies(other, one) or meet(frozenset({one}), frozenset({other})) == {one} for other in held)


@given(HELD)
def test_meet_with_itself_changes_nothing(one: Held) -> None:
    assert meet(one, one) == one


@given(HELD, HELD)
def test_meet_makes_nothing_up(left: Held, right: Held) -> None:
    """What both hold stays; a gate that is held after is one of either side, at most with more conditions."""
    met = meet(left, right)
    assert all(follows(one, met) for one in left & right)
    before = [one for one in left | right if isinstance(one, Gate)]
    for gate in (one for one in met if isinstance(one, Gate)):
        assert any(replace(one, given=gate.given) == gate and set(one.given) <= set(gate.given) for one in before)


@given(HELD, HELD)
def test_what_one_side_alone_holds_stays_only_for_an_excuse(left: Held, right: Held) -> None:
    for one in meet(left, right) - (left & right):
        if one in left | right and isinstance(one, Gate) and not one.given:
            other = right if one in left else left
            assert any(isinstance(each, Vacuous) for each in other)


SURE = st.frozensets(GATES.filter(lambda gate: not gate.given), max_size=4)


@given(SURE, SURE)
def test_without_excuses_it_is_the_intersection(left: Held, right: Held) -> None:
    assert meet(left, right) == left & right


@given(GATES)
def test_nothing_held_and_no_excuse_loses_the_gate(gate: Gate) -> None:
    assert meet(frozenset({gate}), frozenset()) == frozenset()


@given(GATES)
def test_a_gate_is_kept_where_there_was_nothing_to_wait_for(gate: Gate) -> None:
    if gate.through is not None:
        assert gate in meet(frozenset({gate}), frozenset({vacuous(gate.through)}))


def test_an_excuse_of_another_object_is_none() -> None:
    gate = Gate(frozenset({ONE}), Path("self"), Layer())
    assert gate not in meet(frozenset({gate}), frozenset({vacuous(Path("other"))}))


def test_two_guards_of_which_one_kept_from_waiting_excuse_a_gate_that_needs_both() -> None:
    """``if counter is not None and index is not None: counter.wait_until(index)``"""
    gate = Gate(None, Path("counter"), Layer(((Path("index"), 1),)), given=(Given("counter", PASSED_ON),))
    without_index: Held = frozenset({Vacuous(without=frozenset({Given("index", PASSED_ON)}))})
    paths: list[Held] = [frozenset({gate}), frozenset({vacuous(Path("counter"))}), without_index]
    for one, two, three in permutations(paths):
        assert meet(meet(one, two), three) == {
            replace(gate, given=(Given("counter", PASSED_ON), Given("index", PASSED_ON)))
        }


def test_a_guard_of_an_object_excuses_no_gate_that_depends_on_an_argument() -> None:
    gate = Gate(None, Path("counter"), Layer(), given=(Given("counter", PASSED_ON),))
    excuse: Held = frozenset({vacuous(Path("self", ("pool",)))})
    assert meet(frozenset({gate}), excuse) == frozenset()


def test_where_a_gate_stands_does_not_tell_it_apart() -> None:
    first, second = (Gate(None, Path("self"), Layer(), place=Place("m.py", line, 1, "m.f")) for line in (1, 2))
    assert first == second
    assert meet(frozenset({first}), frozenset({second})) == {first}
