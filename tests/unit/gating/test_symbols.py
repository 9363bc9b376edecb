"""Layer expressions: linear forms, substitution into callers, what a wait covers."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from auditor.extract import extract
from auditor.facts import Call, Name, definitions
from auditor.gating.symbols import (
    EVERY,
    SOME,
    Derived,
    Layer,
    Path,
    covers,
    layer_of,
    path_of,
    substitute,
    without_first_layer,
)

NAMES = st.sampled_from(["layer_id", "index", "i", "other"])
PATHS = st.builds(Path, NAMES, st.sampled_from([(), ("layer_id",), ("start_layer",), ("a", "b")]))
DERIVED = st.builds(
    Derived,
    st.sampled_from(["%7", "%8"]),
    st.lists(PATHS, max_size=2, unique=True).map(lambda found: tuple(sorted(found))),
)
ATOMS = st.one_of(PATHS, DERIVED)
FACTORS = st.integers(-3, 3).filter(bool)
ZERO = Layer()


@st.composite
def forms(draw: st.DrawFn) -> Layer:
    """Normal forms, as ``plus`` makes them."""
    made = Layer((), draw(st.integers(-4, 4)))
    for atom, factor in draw(st.lists(st.tuples(ATOMS, FACTORS), max_size=3)):
        made = made.plus(Layer(((atom, factor),)))
    return made


def number(value: int) -> Layer:
    return Layer((), value)


# ------------------------------------------------------------------ plus


@given(forms(), forms())
def test_plus_commutes(left: Layer, right: Layer) -> None:
    assert left.plus(right) == right.plus(left)


@given(forms(), forms(), forms())
def test_plus_associates(one: Layer, two: Layer, three: Layer) -> None:
    assert one.plus(two).plus(three) == one.plus(two.plus(three))


@given(forms())
def test_zero_changes_nothing(one: Layer) -> None:
    assert one.plus(ZERO) == one
    assert one.plus(ZERO, -1) == one


@given(forms())
def test_minus_itself_is_zero(one: Layer) -> None:
    assert one.plus(one, -1) == ZERO


@given(forms(), forms())
def test_what_is_added_can_be_taken_away(one: Layer, two: Layer) -> None:
    assert one.plus(two).plus(two, -1) == one


@given(forms())
def test_a_form_has_each_atom_once_and_no_zero_factor(one: Layer) -> None:
    atoms = [atom for atom, _ in one.terms]
    assert len(atoms) == len(set(atoms))
    assert all(factor for _, factor in one.terms)


# ------------------------------------------------------------------ layer_of


def layer(expression: str, parameters: str = "self, layer_id, index, pool, table, flag", before: str = "") -> Layer:
    """The form of an expression in a function of these parameters."""
    lines = [
        f"def f({parameters}):",
        *(f"    {line}" for line in dedent(before).splitlines()),
        f"    probe({expression})",
    ]
    module = extract("m.py", "m", False, "\n".join(lines).encode())
    function = next(one for one in module.functions if one.name == "f")
    defined = definitions(function)
    for one in defined.values():
        if isinstance(one, Call) and isinstance(named := defined[one.func], Name) and named.name == "probe":
            return layer_of(defined, one.arguments[0].value)
    raise AssertionError(expression)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("3", "3"),
        ("layer_id", "layer_id"),
        ("layer_id + 1", "layer_id+1"),
        ("1 + layer_id", "layer_id+1"),
        ("layer_id - 1", "layer_id-1"),
        ("layer_id - self.start_layer", "layer_id-self.start_layer"),
        ("layer_id - index", "-index+layer_id"),
        ("layer_id + layer_id", "2layer_id"),
        ("layer_id - layer_id", "0"),
        ("layer_id + index - layer_id", "index"),
        ("self.layer.layer_id", "self.layer.layer_id"),
        ("(layer_id + 2) - (1 + 1)", "layer_id"),
    ],
)
def test_linear_forms(expression: str, text: str) -> None:
    assert str(layer(expression)) == text


@pytest.mark.parametrize(
    ("before", "expression", "same"),
    [
        ("x = layer_id - self.start_layer", "x", "layer_id - self.start_layer"),
        ("x = layer_id\nx = x + 1\nx = x - 1", "x", "layer_id"),
        ("if flag:\n    x = layer_id\nelse:\n    x = layer_id", "x", "layer_id"),
        ("x: int = layer_id", "x", "layer_id"),
    ],
)
def test_locals_are_what_they_were_given(before: str, expression: str, same: str) -> None:
    assert layer(expression, before=before) == layer(same)


@pytest.mark.parametrize(
    "expression",
    [
        "table[layer_id]",
        "table[layer_id].dense",
        "find(layer_id).entry.index",
        "index(layer_id)",
        "layer_id // 2",
        "layer_id % 2",
        "layer_id * 2",
        "-layer_id",
    ],
)
def test_computed_numbers_remember_what_from(expression: str) -> None:
    found = layer(expression)
    assert found.derived
    assert Path("layer_id") in found.roots()


def test_the_table_is_not_what_an_index_is_computed_from() -> None:
    assert layer("table[layer_id]").roots() == {Path("layer_id")}
    assert layer("pool.local(layer_id)").roots() == {Path("layer_id")}


def test_an_attribute_of_one_entry_is_one_layer() -> None:
    assert (
        layer("entry.layer_id - 1", before="entry = table[index]\nentry.layer_id").plus(
            layer("entry.layer_id - 1", before="entry = table[index]\nentry.layer_id"), -1
        )
        == Layer()
    )


def test_two_values_of_a_variable_are_no_one_layer() -> None:
    found = layer("x", before="if flag:\n    x = layer_id\nelse:\n    x = index")
    assert found != layer("layer_id")
    assert found.roots() == {Path("layer_id"), Path("index")}


@pytest.mark.parametrize(
    "expression", ["self.layer_num - 1", "pool.num_layers - 1", "self.config.num_hidden_layers - 1"]
)
def test_the_last_layer(expression: str) -> None:
    assert layer(expression).last


@pytest.mark.parametrize(
    "expression", ["self.layer_num", "self.layer_num - 2", "layer_id - 1", "self.head_num - 1", "self.layer_num + 1"]
)
def test_not_the_last_layer(expression: str) -> None:
    assert not layer(expression).last


def test_true_is_no_number() -> None:
    assert layer("True") != number(1)


def test_path_of_a_chain() -> None:
    module = extract("m.py", "m", False, b"def f(self):\n    return self.a.b")
    function = next(one for one in module.functions if one.name == "f")
    defined = definitions(function)
    assert path_of(defined, max(defined)) == Path("self", ("a", "b"))


# ------------------------------------------------------------------ substitute


def into(form: Layer, **given_: Layer) -> Layer:
    return substitute(form, given_.get, "%5!")


A, B = Layer(((Path("layer_id"), 1),)), Layer(((Path("i"), 1),))


@given(forms())
def test_substituting_each_name_by_itself_changes_nothing(form: Layer) -> None:
    assume(not form.derived)
    assert substitute(form, lambda name: Layer(((Path(name), 1),)), "!") == form


@given(st.integers(-4, 4), st.integers(-4, 4))
def test_shifts_add_up(inner: int, outer: int) -> None:
    assert into(A.plus(number(inner)), layer_id=B.plus(number(outer))) == B.plus(number(inner + outer))


def test_a_number_is_put_in() -> None:
    assert into(A.plus(number(1)), layer_id=number(2)) == number(3)


def test_an_attribute_of_a_path_is_a_longer_path() -> None:
    form = Layer(((Path("layer", ("layer_id",)), 1),))
    assert into(form, layer=Layer(((Path("self", ("attn",)), 1),))) == Layer(((Path("self", ("attn", "layer_id")), 1),))


def test_last_and_every_stay() -> None:
    assert into(Layer((), 0, last=True)).last
    assert into(EVERY).every
    assert into(Layer(((Path("self", ("layer_num",)), 1),), -1, last=True)).last


def test_what_only_the_callee_knows_equals_nothing_of_the_caller() -> None:
    form = Layer(((Path("hidden"), 1),))
    assert into(form) == SOME
    assert into(form).foreign
    assert covers(into(form), A)[0] is not True
    assert covers(A, into(form))[0] is not True


def test_two_calls_do_not_give_the_same_unknown() -> None:
    form = Layer(((Derived("%3", (Path("layer_id"),)), 1),))
    first, second = (substitute(form, {"layer_id": A}.get, mark) for mark in ("%5!", "%6!"))
    assert first != second
    assert first.roots() == second.roots() == {Path("layer_id")}


# ------------------------------------------------------------------ covers


@given(forms())
def test_a_wait_covers_its_own_layer(form: Layer) -> None:
    assert covers(form, form)[0] is True


@given(forms(), st.integers(1, 6))
def test_a_wait_covers_lower_layers(form: Layer, shift: int) -> None:
    assert covers(form, form.plus(number(-shift)))[0] is True


@given(forms(), st.integers(1, 6))
def test_a_wait_never_covers_a_higher_layer(form: Layer, shift: int) -> None:
    """On L never L + k (DESIGN.md §2.3)."""
    assert covers(form, form.plus(number(shift)))[0] is False


@given(forms())
def test_the_last_layer_covers_all(form: Layer) -> None:
    assert covers(Layer((), -1, last=True), form)[0] is True
    assert covers(Layer((), -1, last=True), EVERY)[0] is True


@given(forms())
def test_a_wait_for_one_layer_is_none_for_all(form: Layer) -> None:
    assert covers(form, EVERY)[0] is not True


@given(st.lists(PATHS, min_size=1, max_size=2, unique=True))
def test_an_index_computed_from_the_layer_waited_for_is_covered(paths: list[Path]) -> None:
    assume(all("start_layer" not in path.names for path in paths))
    waited = ZERO
    for path in paths:
        waited = waited.plus(Layer(((path, 1),)))
    assert covers(waited, Layer(((Derived("%9", tuple(sorted(paths))), 1),)))[0] is True


@given(NAMES, NAMES, st.integers(-3, 3), st.integers(-3, 3))
def test_two_parameters_are_two_layers(left: str, right: str, first: int, second: int) -> None:
    assume(left != right)
    waited, read = (Layer(((Path(name), 1),), shift) for name, shift in ((left, first), (right, second)))
    assert covers(waited, read)[0] is False


@given(forms(), forms())
def test_every_answer_has_a_reason(left: Layer, right: Layer) -> None:
    answer, why = covers(left, right)
    assert answer in (True, False, None)
    assert why


def test_a_constant_index_is_comparable() -> None:
    assert covers(number(3), number(2))[0] is True
    assert covers(number(2), number(3))[0] is False


def test_another_variable_is_another_layer() -> None:
    assert covers(A, B) == (False, "the wait is for layer_id, the read is of i")


def test_a_shifted_computed_index_is_not_covered() -> None:
    computed = Layer(((Derived("%9", (Path("layer_id"),)), 1),), 1)
    assert covers(A, computed)[0] is not True


def test_local_and_global_index_are_the_same_layer() -> None:
    local = A.plus(Layer(((Path("self", ("start_layer",)), 1),)), -1)
    assert covers(local, A)[0] is True
    assert covers(A, local)[0] is True
    assert without_first_layer(local) == A


def test_a_wait_for_a_computed_index_does_not_cover_the_plain_one() -> None:
    """Wrappers wait before they remap (DESIGN.md §2.7)."""
    computed = Layer(((Derived("%9", (Path("layer_id"),)), 1),))
    assert covers(computed, A)[0] is not True


def test_an_index_computed_from_nothing_known_is_not_covered() -> None:
    assert covers(A, Layer(((Derived("%9", ()), 1),)))[0] is None


def test_what_is_computed_from_much_takes_no_time() -> None:
    """Each value is looked at once, though it is reached in eight ways from each that is made of it."""
    steps = "\n".join(f"x{n + 1} = table({', '.join([f'x{n}'] * 8)})" for n in range(10))
    found = layer("x10", before=f"x0 = layer_id\n{steps}")
    assert found.roots() == {Path("layer_id", ())}


def test_what_is_too_far_behind_is_left_out() -> None:
    steps = "\n".join(f"x{n + 1} = table(x{n}, index)" for n in range(20))
    assert layer("x20", before=f"x0 = layer_id\n{steps}").roots() == {Path("index", ())}
