# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Who calls whom."""

from __future__ import annotations

from auditor.callgraph import freeze
from tests.unit.link.programs import callees, link


def test_functions_methods_and_modules() -> None:
    linker = link("def f(): g()\ndef g(): pass\nclass H:\n    def m(self): f()\nf()\nH().m()")
    assert callees(linker, "m.f") == {"m.g"}
    assert callees(linker, "m.H.m") == {"m.f"}
    assert {"m.f", "m.H.m"} <= callees(linker, "m")


def test_constructors_properties_and_managers() -> None:
    source = (
        "class H:\n    def __init__(self): pass\n    @property\n    def p(self): return 1\n    def __enter__(self): return self\n"
        "    def __exit__(self, *a): pass\ndef f():\n    with H() as h:\n        h.p"
    )
    assert {"m.H.__init__", "m.H.p", "m.H.__enter__"} <= callees(link(source), "m.f")


def test_a_pool_has_a_frame_for_each_object() -> None:
    graph = freeze(link("class KPool:\n    def get_k(self): return self\na = KPool()\nb = KPool()\na.get_k()"))
    frames = [context for name, context in graph.frames if name == "m.KPool.get_k"]
    called = [key for key in graph.callers if key[0] == "m.KPool.get_k"]
    assert len(frames) == 2
    assert len(called) == 1


def test_entries_are_what_nobody_calls() -> None:
    graph = freeze(link("def f(): g()\ndef g(): pass"))
    assert {name for name, _ in graph.entries()} == {"m", "m.f"}


def test_reaching_goes_back_over_callers() -> None:
    graph = freeze(link("def f(): g()\ndef g(): h()\ndef h(): pass\ndef other(): pass"))
    assert {name for name, _ in graph.reaching([("m.h", None)])} == {"m.f", "m.g", "m.h"}
