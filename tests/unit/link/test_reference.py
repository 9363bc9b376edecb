# a program a line reads better than a program torn apart
"""On random programs the linker says what a slow, obvious solver says, and never less than what really happens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.facts import Call
from auditor.link import Instance, Linker
from tests.unit.link.programs import facts, probe
from tests.unit.link.reference import Reference

CLASSES = """
class A:
    def __init__(self, v=None):
        self.f = v
    def get(self):
        return self.f
    def put(self, v):
        self.g = v
        return self
class B(A):
    def get(self):
        return self
class C(B):
    pass
"""
VARIABLES = ("x", "y", "z")
EXPRESSIONS = (
    "A()", "B()", "C()", "A(x)", "C(y)", "B", "x", "y", "z", "x.f", "y.g", "x.get()", "y.put(z)", "z.get", "(x, y)[0]",
    "(x, y)[1]", "swap(x, y)", "swap(q=x, p=z)", "make(B)", "make(c=C)", "make()", "keep", "keep()", "hidden()",
)  # fmt: skip
FUNCTIONS = """
def swap(p, q):
    return q
def make(c=A):
    return c()
def keep():
    return kept
def hidden():
    local = A(kept)
    def inner():
        return local
    return inner()
"""
SMALL = settings(max_examples=40, deadline=None)


@st.composite
def programs(draw: Callable[..., object]) -> str:
    """A module that computes with three variables in a function, with branches, and shows them at its end."""
    lines = []
    for _ in range(draw(st.integers(1, 8))):  # type: ignore[call-overload]
        variable, expression = draw(st.sampled_from(VARIABLES)), draw(st.sampled_from(EXPRESSIONS))
        target = draw(st.sampled_from((variable, variable, f"{variable}.f", "kept")))
        lines.append(draw(st.sampled_from(("", "if choose(): "))) + f"{target} = {expression}")  # type: ignore[operator]
    body = "".join(f"    {line}\n" for line in lines)
    head = "    global kept\n    x, y, z = A(), B(), C()\n"
    return f"kept = None\n{CLASSES}{FUNCTIONS}def run():\n{head}{body}    probe(x)\n    probe(y)\n    probe(z)\nrun()\n"


def linked(text: str) -> Linker:
    module = facts("m", text)
    linker = Linker({"m": "m.py"}, lambda cls, _: False)
    linker.add([module])
    linker.graph.solve()
    return linker


@SMALL
@given(programs())
def test_the_linker_agrees_with_the_reference(text: str) -> None:
    linker, reference = linked(text), Reference(facts("m", text))
    frame = linker.frames["m.run", None]
    for one in frame.code.defined.values():
        for argument in one.arguments if isinstance(one, Call) else ():
            held = linker.graph.points_to(frame.node(argument.value))
            fast = {each.cls.removeprefix("m.") for each in held if isinstance(each, Instance)}
            assert fast == reference.instances("run", argument.value), text


@SMALL
@given(programs(), st.lists(st.booleans(), max_size=12))
def test_what_really_happens_is_among_the_answers(text: str, choices: list[bool]) -> None:
    left, shown = list(choices), set()
    names = {"choose": lambda: bool(left and left.pop()), "probe": lambda one: shown.add(type(one).__name__)}
    with suppress(AttributeError, TypeError):  # what was shown until then has happened
        exec(compile(text, "m", "exec"), names)  # a program of this file, not of anybody else
    assert shown & {"A", "B", "C"} <= probe(linked(text)), text
