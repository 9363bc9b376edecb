# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Which names are asked for, and what is assumed where nothing tells."""

from __future__ import annotations

from auditor.facts import Attr
from auditor.link import Linker, Needs, link_on_demand
from auditor.link.tested import wanted_by_tests
from tests.unit.link.programs import facts, link, probe, short

POOL = "class KPool:\n    def get_k(self): return 1\n"


def asked(*sources: str, waits: frozenset[str] = frozenset(), unread: tuple[str, ...] = ()) -> list[Needs]:
    """What a supplier without files is asked for; ``unread`` are modules of the tree that it could give."""
    seen: list[Needs] = []
    modules = [facts(f"m{number}", text) for number, text in enumerate(sources)]
    existing = {one.module: one.path for one in modules} | {name: f"{name}.py" for name in unread}
    linker = Linker(existing, lambda cls, _: cls.endswith("Pool"))

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


def test_the_callers_of_a_function_that_asks_a_pool_it_knows() -> None:
    source = (
        POOL + "pool = KPool()\ndef make_arguments():\n    return pool.get_k()\ndef run():\n    return pool.get_k()\n"
    )
    wanted = asked(source)[0].functions
    assert "make_arguments" in wanted
    assert "run" not in wanted  # one common word: who calls it cannot be told by name


def test_no_callers_of_who_asks_something_else() -> None:
    source = POOL + "pool = KPool()\nother = object()\ndef make_arguments():\n    return other.get_k(), pool.size()\n"
    assert "make_arguments" not in asked(source)[0].functions


def modules_asked(*sources: str, unread: tuple[str, ...]) -> set[str]:
    return {name for one in asked(*sources, unread=unread) for name in one.modules}


def test_the_base_of_a_class_that_handles_a_pool() -> None:
    source = (
        POOL
        + "from base import Base\nclass User(Base):\n    def run_it(self):\n        pool = KPool()\n        return pool.get_k()\n"
    )
    assert modules_asked(source, unread=("base",)) == {"base"}


def test_the_base_of_a_pool_and_of_its_bases() -> None:
    source = "from base import Base\nclass Middle(Base): pass\nclass MyPool(Middle):\n    def get_k(self): return 1\nMyPool().get_k()"
    assert modules_asked(source, unread=("base",)) == {"base"}


def test_no_base_of_a_class_that_handles_none() -> None:
    source = POOL + "from base import Base\nclass Layer(Base):\n    def run_it(self): return 1\nKPool().get_k()"
    assert modules_asked(source, unread=("base",)) == set()


def test_a_module_that_passes_on_a_class_that_was_read() -> None:
    layer = POOL + "from package import Base\nclass Layer(Base):\n    def run_it(self): return 1\nKPool().get_k()"
    assert modules_asked(layer, "class Base: pass", unread=("package",)) == {"package"}


def test_the_sources_of_functions_that_storage_is_passed_to() -> None:
    one = "from kernels import put, ops\nimport library.tools as tools\n"
    uses = "def f():\n    pool = KPool()\n    put(pool.k_buffer)\n    ops.Copy.run(pool.k_buffer[0])\n    tools.sizes(pool.k_buffer)\nf()"
    unread = ("kernels", "kernels.ops", "library", "library.tools")
    assert modules_asked(POOL + one + uses, unread=unread) == {"kernels", "kernels.ops", "library.tools"}


def test_no_sources_of_what_has_no_name_or_gets_no_storage() -> None:
    one = "from kernels import put, ops\n"
    uses = (
        "def f(run):\n    pool = KPool()\n    run(pool.k_buffer)\n    run.it(pool.k_buffer)\n    put(pool.size)\nf(len)"
    )
    assert modules_asked(POOL + one + uses, unread=("kernels", "kernels.ops")) == set()


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
