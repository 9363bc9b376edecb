# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""A tree that is read whole: literals are followed to the subscripts that use them, later star imports hide earlier."""

from __future__ import annotations

import pytest

from auditor.link import Linker, link_whole
from tests.unit.link.programs import facts, probe

CLASSES = "class A: pass\nclass B: pass\nclass C: pass\nxs = [A(), B(), C()]\n"

KEYS = {
    "parameter": ("def f(i):\n    probe(xs[i])\nf(1)", {"B"}),
    "parameter of two calls": ("def f(i):\n    probe(xs[i])\nf(0)\nf(i=1)", {"A", "B"}),
    "default": ("def f(i=1):\n    probe(xs[i])\nf()", {"B"}),
    "parameter that nobody passes": ("def f(i):\n    probe(xs[i])", {"A", "B", "C"}),
    "from another module": ("from k import key\nprobe(xs[key])", {"B"}),
    "module": ("import k\nprobe(xs[k.key])", {"B"}),
    "result": ("def f():\n    return 1\nprobe(xs[f()])", {"B"}),
    "result from outside": ("from ext import f\nprobe(xs[f()])", {"A", "B", "C"}),
    "choice": ("i = 0 if cond else 1\nprobe(xs[i])", {"A", "B"}),
    "choice of a literal and what nobody knows": ("from ext import f\ni = 0 if cond else f()\nprobe(xs[i])", {"A", "B", "C"}),
    "computed": ("def f(i):\n    probe(xs[i + 1])\nf(0)", {"A", "B", "C"}),
    "field": ("class H:\n    def __init__(self, i):\n        self.i = i\n    def f(self):\n        probe(xs[self.i])\nH(2).f()", {"C"}),
    "loop": ("for i in range(2):\n    probe(xs[i])", {"A", "B", "C"}),
    "global that a function changes": ("i = 0\ndef f():\n    global i\n    i = len(xs)\ndef g():\n    probe(xs[i])", {"A", "B", "C"}),
}  # fmt: skip


def whole(sources: dict[str, str]) -> Linker:
    modules = [facts(name, text) for name, text in sources.items()]
    linker = Linker({one.module: one.path for one in modules}, lambda cls, _: False, closed=True)
    link_whole(linker, modules)
    return linker


@pytest.mark.parametrize("case", KEYS)
def test_elements_by_keys_that_come_from_elsewhere(case: str) -> None:
    body, expected = KEYS[case]
    assert probe(whole({"m": CLASSES + body, "k": "key = 1"})) == expected


ONE, TWO = "class A: pass\nx = A()\n_y = A()", "class B: pass\nx = B()\n_y = B()"

STARS = {
    "the later one": ("from one import *\nfrom two import *\nprobe(x)", {"B"}),
    "something between": ("from one import *\nlen('')\nfrom two import *\nprobe(x)", {"A", "B"}),
    "the later one in a branch": ("from one import *\nif cond:\n    from two import *\nprobe(x)", {"A", "B"}),
    "bound only sometimes": ("from one import *\nfrom three import *\nprobe(x)", {"A", "B"}),
    "listed names": ("from one import *\nfrom four import *\nprobe(x)", {"A", "B"}),
    "through another star": ("from one import *\nfrom five import *\nprobe(x)", {"B"}),
}


@pytest.mark.parametrize("case", STARS)
def test_a_later_star_import_hides_an_earlier_one(case: str) -> None:
    body, expected = STARS[case]
    others = {
        "one": ONE,
        "two": TWO,
        "three": "class B: pass\nif cond:\n    x = B()",
        "four": f"__all__ = ['B']\n{TWO}",
        "five": "from two import *",
    }
    assert probe(whole({"m": body, **others})) == expected
