# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Laws: C3 is Python's, the fast solver is the slow one, more code never means less, order does not matter."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.link.constraints import ConstraintGraph
from auditor.link.mro import linearize
from auditor.link.objects import Function, Instance
from tests.unit.link.programs import link, probe

SMALL = settings(max_examples=60, deadline=None)


@st.composite
def hierarchies(draw) -> list[list[int]]:
    """Classes by number, each with bases among the earlier ones."""
    size = draw(st.integers(1, 8))
    return [draw(st.lists(st.integers(0, one - 1), max_size=3, unique=True)) if one else [] for one in range(size)]


@SMALL
@given(hierarchies())
def test_c3_is_that_of_python(hierarchy: list[list[int]]) -> None:
    made: list[type | None] = []
    for number, bases in enumerate(hierarchy):
        real = [cls for base in bases if (cls := made[base]) is not None]
        try:
            made.append(type(str(number), tuple(real), {}) if len(real) == len(bases) else None)
        except TypeError:
            made.append(None)
    for number, cls in enumerate(made):
        if cls is not None:
            expected = tuple(one.__name__ for one in cls.__mro__[:-1])
            assert linearize(str(number), lambda name: [str(base) for base in hierarchy[int(name)]]) == expected


@pytest.mark.parametrize("bases", [{"a": ["b"], "b": ["a"]}, {"a": ["b", "c"], "b": ["d", "c"], "c": ["d"], "d": []}])
def test_a_contradiction_still_has_an_order(bases: dict[str, list[str]]) -> None:
    order = linearize("a", lambda name: bases[name])
    assert order[0] == "a"
    assert len(set(order)) == len(order)


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from((None, 0, 1))), max_size=20)
SEEDS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), max_size=8)


def admits(odd: int | None):
    return None if odd is None else (lambda one: int(one.function) % 2 == odd)


@SMALL
@given(EDGES, SEEDS, st.integers(0, 20))
def test_the_solver_is_the_naive_one(edges, seeds, late: int) -> None:
    graph = ConstraintGraph()
    graph.new_nodes(8)
    for number, (source, target, odd) in enumerate(edges):
        if number == late:
            graph.solve()  # goes on from a fixpoint
            graph.settle()
        graph.edge(source, target, admits(odd))
    for node, one in seeds:
        graph.add(node, Function(str(one)))
    graph.solve()
    graph.settle()
    sets: list[set[int]] = [set() for _ in range(8)]
    for node, one in seeds:
        sets[node].add(one)
    for _ in range(100):
        for source, target, odd in edges:
            sets[target] |= {one for one in sets[source] if odd is None or one % 2 == odd}
    assert [
        {int(one.function) for one in graph.points_to(node) if isinstance(one, Function)} for node in range(8)
    ] == sets


def test_nodes_that_hold_the_same_share_it_until_one_gets_more() -> None:
    graph = ConstraintGraph()
    graph.new_nodes(3)
    for node in range(3):
        graph.add(node, Function("0"))
    assert graph.sets[0] is graph.sets[1]
    for node in range(2):
        graph.add(node, Function("1"))
    assert graph.sets[0] is not graph.sets[1]
    graph.settle()
    assert graph.sets[0] is graph.sets[1]
    graph.add(0, Function("2"))
    assert [len(graph.points_to(node)) for node in range(3)] == [3, 2, 1]


STATEMENTS = (
    "x = APool()",
    "y = BPool()",
    "x = y",
    "y = x",
    "h.p = x",
    "h.p = y",
    "x = h.p",
    "y = make(x)",
    "r['k'] = y",
    "x = r['k']",
    "if isinstance(x, APool):\n        y = x",
)
PROGRAM = """
class APool: pass
class BPool: pass
class H: pass
def make(v):
    return v
r = {}
h = H()
def run():
    x = y = None
    %s
    probe(x)
    show(y)
run()
"""


@SMALL
@given(
    st.lists(st.sampled_from(STATEMENTS[2:]), max_size=5),
    st.sampled_from(("h.p = APool()", "r['k'] = BPool()", "make(APool())")),
)
def test_one_more_assignment_never_removes_an_object(body: list[str], more: str) -> None:
    less = link(PROGRAM % "\n    ".join(body or ["pass"]))
    greater = link(PROGRAM % "\n    ".join([*body, more]))
    assert probe(less) <= probe(greater)
    assert probe(less, "show") <= probe(greater, "show")


@SMALL
@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6))
def test_renaming_casting_and_unrelated_files_change_nothing(body: list[str]) -> None:
    text = PROGRAM % "\n    ".join(body)
    expected = probe(link(text))
    assert probe(link(text.replace("y", "other"))) == expected
    assert probe(link("from typing import cast\n" + text.replace("probe(x)", "probe(cast(object, x))"))) == expected
    assert probe(link({"m": text, "unrelated": "class ZPool: pass\nz = ZPool()\n"})) == expected


@SMALL
@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6))
def test_moving_a_function_to_another_module_changes_nothing(body: list[str]) -> None:
    text = PROGRAM % "\n    ".join(body)
    moved = text.replace("def make(v):\n    return v\n", "from helpers import make\n")
    linker = link({"helpers": "def make(v):\n    return v\n", "m": moved})
    for shown in ("probe", "show"):
        assert probe(linker, shown) == probe(link(text), shown)


@SMALL
@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6), st.permutations(range(4)))
def test_the_order_of_definitions_changes_nothing(body: list[str], order: list[int]) -> None:
    text = PROGRAM % "\n    ".join(body)
    classes = ["class APool: pass\n", "class BPool: pass\n", "class H: pass\n", "def make(v):\n    return v\n"]
    shuffled = text.replace("".join(classes), "".join(classes[place] for place in order))
    assert shuffled != text or order == sorted(order)
    assert probe(link(shuffled)) == probe(link(text))


MODULES = {
    "pkg.__init__": "from pkg.pools import *\n",
    "pkg.pools": "class APool:\n    def get_k(self): return self\nclass BPool(APool): pass\n",
    "pkg.make": "from pkg import APool, BPool\nfrom . import state\ndef make(c=BPool):\n    state.pool = c()\n    return state.pool\n",
    "pkg.state": "pool = None\ndef get_pool():\n    return pool\n",
    "pkg.use": "import pkg.make as maker\nfrom pkg.state import get_pool\nmaker.make()\nx = get_pool()\nprobe(x)\nx.get_k()\n",
}


def test_the_order_of_modules_does_not_matter() -> None:
    seen = set()
    for order in permutations(MODULES):
        linker = link({name: MODULES[name] for name in order})
        frame = linker.frames["pkg.use", None]
        (pool,) = (one for one in linker.graph.objects if isinstance(one, Instance))
        value = next(v for v in frame.code.defined if pool in linker.view(frame, v, 0))
        seen.add((frozenset(probe(linker)), tuple(linker.derivation(frame, value, pool))))
    assert len(seen) == 1
    assert next(iter(seen))[0] == {"BPool"}


def test_reordering_definitions_changes_nothing() -> None:
    parts = ["class APool: pass", "def make():\n    return APool()", "def use():\n    probe(make())"]
    assert {frozenset(probe(link("\n".join(order) + "\nuse()"))) for order in permutations(parts)} == {
        frozenset({"APool"})
    }
