# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Which names are asked for, and what is assumed where nothing tells."""

from __future__ import annotations

from auditor.facts import Attr
from auditor.link import Linker, Needs, link_on_demand
from auditor.link.tested import wanted_by_tests
from tests.unit.link.programs import facts, link, probe, short

POOL = "class KPool:\n    def get_k(self): return 1\n"


def asked(*sources: str, waits: frozenset[str] = frozenset()) -> list[Needs]:
    """What a supplier without files is asked for."""
    seen: list[Needs] = []
    modules = [facts(f"m{number}", text) for number, text in enumerate(sources)]
    linker = Linker({one.module: one.path for one in modules}, lambda cls, _: cls.endswith("Pool"))

    def supply(wanted: Needs) -> tuple[()]:
        seen.append(wanted)
        return ()

    names = (lambda name: name.startswith("get_"), lambda name: name.endswith("_buffer"))
    link_on_demand(linker, modules, supply, *names, waits=waits)
    return seen


def test_the_callers_of_a_function_with_an_unknown_receiver() -> None:
    assert "forward" in asked(POOL + "def forward(pool):\n    pool.get_k()")[0].functions


def test_the_builders_of_an_object_that_holds_it() -> None:
    source = "class Holder:\n    def __init__(self, pool):\n        self.pool = pool\n    def run(self):\n        self.pool.get_k()"
    wanted = asked(POOL + source)[0]
    assert "pool" in wanted.attributes
    assert "Holder" in wanted.classes


def test_a_variable_that_other_files_can_set() -> None:
    assert "chosen" in asked(POOL + "chosen = KPool()\nchosen.get_k()")[0].attributes
    assert "chosen" in asked(POOL + "class H:\n    chosen = KPool()\nH.chosen.get_k()")[0].attributes


def test_no_variable_of_a_function_though_one_inside_it_reads_it() -> None:
    source = "def outer():\n    chosen = KPool()\n    def inner():\n        return chosen.get_k()\n    return inner\nouter()()"
    assert "chosen" not in asked(POOL + source)[0].attributes


def test_the_classes_of_pools_always() -> None:
    assert "KPool" in asked(POOL + "KPool().get_k()")[0].classes


READ = "class Pass: pass\nnow = Pass()\ndef context(name):\n    return now.layers[name].k_buffer\n"
WAIT = "def run(name):\n    plugin().wait_for(name)\n    return context(name)\n"


def test_who_makes_the_storage_that_somebody_waits_for() -> None:
    assert any("layers" in one.attributes for one in asked(POOL + READ + WAIT, waits=frozenset({"wait_for"})))


def test_of_storage_that_nobody_waits_for_nothing() -> None:
    for waits in (frozenset[str](), frozenset({"wait_for_others"})):
        assert not any("layers" in one.attributes for one in asked(POOL + READ + WAIT, waits=waits))


def test_nothing_twice() -> None:
    first, *rest = asked(POOL + "def forward(pool):\n    pool.get_k()")
    assert all(not (one.functions & first.functions) for one in rest)


def test_a_pool_that_nobody_builds_is_there_all_the_same() -> None:
    linker = link("class KPool:\n    def get_k(self):\n        probe(self)", on_demand=True)
    assert probe(linker) == {"KPool"}


def test_an_annotation_stands_where_nothing_flows() -> None:
    linker = link("class H:\n    pass\ndef f(h: H):\n    probe(h)", on_demand=True)
    assert probe(linker) == {"H"}


def test_an_annotation_adds_nothing_where_something_flows() -> None:
    linker = link("class H: pass\nclass J: pass\ndef f(h: H):\n    probe(h)\nf(J())", on_demand=True)
    assert probe(linker) == {"J"}


def test_a_cast_that_contradicts_the_flow_lets_it_through() -> None:
    source = "from typing import cast\nclass APool: pass\nclass BPool: pass\ndef f(p):\n    probe(cast(BPool, p))\nf(APool())"
    assert probe(link(source, on_demand=True)) == {"APool"}


ONLY = "class APool:\n    def get_a(self): pass\nclass BPool:\n    def get_b(self): pass\nAPool()\nBPool()\n"


def receivers(body: str, name: str) -> set[str]:
    """The classes that the receiver of ``name`` in ``f`` has."""
    linker = link(ONLY + body, on_demand=True)
    frame = linker.frames["m.f", None]
    read = next(one for one in frame.code.defined.values() if isinstance(one, Attr) and one.name == name)
    return {short(one) for one in linker.graph.points_to(frame.node(read.base))}


def test_what_nobody_passes_has_the_method_that_is_called_on_it() -> None:
    assert receivers("def f(pool):\n    pool.get_b()", "get_b") == {"BPool"}


def test_so_has_what_is_read_off_something_that_nobody_passes() -> None:
    assert receivers("def f(meta):\n    pool = meta.inner.pool\n    pool.get_b()", "get_b") == {"BPool"}


def test_a_field_that_nobody_stores_on_a_known_object_stays_unknown() -> None:
    assert receivers("class H: pass\ndef f(h):\n    h.pool.get_b()\nf(H())", "get_b") == set()


def test_a_method_that_two_places_define_tells_nothing() -> None:
    assert (
        receivers("class CPool:\n    def get_b(self): pass\nCPool()\ndef f(meta):\n    meta.pool.get_b()", "get_b")
        == set()
    )


TESTED = {
    "m": """
from platforms import is_fast
from readers import use

class APool:
    def get_a(self): pass

def build():
    if is_fast():
        return APool()
    return None

class Reader:
    def __init__(self, pool):
        self.pool = pool
    def read(self):
        self.pool.get_a()

Reader(build())
"""
}


def test_what_tests_ask_is_needed() -> None:
    """The module of a function that a branch on the way to a pool calls."""
    modules = [facts("m", TESTED["m"])]
    linker = Linker(
        {"m": "m.py", "platforms": "platforms.py", "readers": "readers.py"}, lambda cls, _: cls.endswith("Pool")
    )
    linker.add(modules)
    linker.graph.solve()
    assert wanted_by_tests(linker).modules == {"platforms"}


def test_a_function_that_no_test_asks_is_not_needed() -> None:
    source = TESTED["m"].replace(
        "if is_fast():\n        return APool()\n    return None", "is_fast()\n    return APool()"
    )
    linker = Linker({"m": "m.py", "platforms": "platforms.py"}, lambda cls, _: cls.endswith("Pool"))
    linker.add([facts("m", source)])
    linker.graph.solve()
    assert wanted_by_tests(linker).modules == frozenset()


def test_what_super_leads_to_is_found_when_the_base_is_read_later() -> None:
    base = facts("b", "class Base:\n    def __init__(self, pool):\n        self.pool = pool\n")
    late = "from b import Base\nclass APool: pass\nclass Late(Base):\n    def __init__(self, pool):\n        super().__init__(pool)\n    def f(self):\n        probe(self.pool)\nLate(APool())\n"
    first = facts("m", late)
    linker = Linker({one.module: one.path for one in (first, base)}, lambda cls, _: cls.endswith("Pool"))
    for one in (first, base):
        linker.add([one])
        linker.graph.solve()
    assert probe(linker) == {"APool"}


def test_a_variable_declared_as_a_pool_holds_one_where_nothing_flows() -> None:
    """Only where storage is read of it."""
    pools = "class APool:\n    def __init__(self):\n        self.k_buffer = []\nclass BPool: pass\nAPool()\n"
    linker = link(
        pools + "def f(x):\n    pool: APool | BPool = x.unknown()\n    probe(pool)\n    pool.k_buffer\n", on_demand=True
    )
    assert probe(linker) == {"APool", "BPool"}
    linker = link(pools + "def f(x):\n    pool: APool = x.unknown()\n    probe(pool)\n", on_demand=True)
    assert probe(linker) == set()


def test_a_class_that_is_handed_out_has_an_object() -> None:
    """Who builds it is out of sight; one with subclasses that nobody hands out is taken for abstract."""
    classes = "class APool:\n    def get_a(self):\n        probe(self)\nclass BPool(APool): pass\n"
    assert probe(link(classes, on_demand=True)) == {"BPool"}
    assert probe(link(classes + "def chosen():\n    return APool\nchosen()\n", on_demand=True)) == {"APool", "BPool"}
