"""The call graph as `graph` prints it: by qualified name, with what the language calls and what is outside."""

from __future__ import annotations

from auditor.callgraph import by_name
from tests.unit.link.programs import link


def callees(source: str, caller: str = "m") -> set[str]:
    return set(by_name(link(source, tracked="-", closed=True))[caller])


def test_builtins_and_names_from_outside() -> None:
    source = "import os\nfrom ext import Cls, f as g\nlen([])\nos.path.join('a')\ng()\nc = Cls()\nc.fun()"
    assert callees(source) == {"<builtin>.len", "os.path.join", "ext.f", "ext.Cls", "ext.Cls.fun"}


def test_what_the_result_of_an_outside_function_is_is_not_guessed() -> None:
    assert callees("import re\nre.compile('a').match('b')") == {"re.compile"}


def test_a_method_from_outside_is_passed_on() -> None:
    source = "from ext import Cls\ndef call(f):\n    f()\ncall(Cls().fun)"
    assert callees(source, "m.call") == {"ext.Cls.fun"}


def test_what_a_member_of_an_outside_object_has_is_not_named() -> None:
    """Else the names of a large tree would have no end."""
    assert callees("from ext import Cls\nc = Cls()\nc.a.b.c()\nd = c.a\nd.e()") == {"ext.Cls"}


def test_inherited_from_outside() -> None:
    source = "from ext import Base\nclass A(Base):\n    def f(self):\n        self.g()\na = A()\na.f()"
    assert callees(source) == {"m.A.f", "ext.Base.__init__"}
    assert callees(source, "m.A.f") == {"ext.Base.g"}


def test_iterators_and_the_end_of_a_with_block_are_called() -> None:
    source = (
        "class I:\n    def __iter__(self): return self\n    def __next__(self): return 1\n"
        "class M:\n    def __enter__(self): return self\n    def __exit__(self, *a): pass\n"
        "def loop(x):\n    for i in x: pass\ndef hold(x):\n    with x: pass\nloop(I())\nhold(M())"
    )
    assert callees(source, "m.loop") == {"m.I.__iter__", "m.I.__next__"}
    assert callees(source, "m.hold") == {"m.M.__enter__", "m.M.__exit__"}


def test_a_raised_class_is_made() -> None:
    assert callees("class E(Exception):\n    def __init__(self): pass\nraise E") == {"m.E.__init__"}


def test_everything_that_runs_is_a_key() -> None:
    graph = by_name(link("class A:\n    x = len('a')\n    def f(self): pass\ng = lambda: 1", tracked="-", closed=True))
    assert graph == {"<builtin>.len": (), "m": (), "m.<lambda1>": (), "m.A": ("<builtin>.len",), "m.A.f": ()}
