"""Positions, compared with those of the standard library's parser."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.extract import parse, survey
from auditor.facts import Attr, Call, Delete, Item, ModuleFacts, Op, SetAttr, Yield
from tests.unit.extract.corpus import files
from tests.unit.extract.dump import facts
from tests.unit.extract.programs import program

AWKWARD = '''
@dec("é", x . y)
class Ünï(a.b, m=c.d):  # comment with 'quotes" and (brackets
    """doc " with ' quotes"""
    match = case = type = 1
    def f(self, *a: "x.y()", b=(c.d), **k) -> e.f: return self.x[a.b].y((a.b)(c), *d.e, **f.g)
if (yes): pass
elif (a.b) (c): x.y += z.w; del q.r, s[t.u]
x = "é" f"{a.b!r:>{c.d}}é{e.f=}" 'x' f\'\'\'{
    g.h (i)}{{}}{j["k"].l}\'\'\' rf"\\{m.n}\\d" f"\\N{DIGIT ONE}{o.p:%H:%M}" + (lambda q, r=s.t: q.u)(1)
y = [é.v for é.w in x.y if é.z for a in b.c] + ((d.e) if f.g else h.i) + -j.k ** ~l.m, not n.o
z = {**a.b, c.d: e.f, 'g': (yield_ := h.i)}; w = {*j.k}, (l.m for n in o.p), ((q.r), s), ...
match (a.b), c.d:
    case (e.f | 1, [g.h(i=j), *_]) | {"k": l, **m}: a.m1()
    case match.x(case=_) if n.o: a.m2()
    case {1: -1, None: (2)}: pass
    case _: match.a(case.b); type.c
async def g():
    async with (a.b as c, d.e): await f.g; yield h.i
    async for j.k in l.m: return
with (a.b): pass
with (a.b) as c.d, e.f() as (g, h.i): pass
for (x) in (y.z): continue
else:
    if x: raise a.b from c.d
try: assert a.b, c.d
except (e.f, g.h) as i: global_ = 0x1e + 1_000.5e-3j + 1 .real + 1..imag
finally: print(a.b, end=c.d)
s = a[b.c:d.e, ::f.g, ...][h.i](j) if not k.l is not m.n not in o.p else q.r; from_ = s . \\
    t
lambda: (yield a.b)
'''

NESTED = """x = f"{a.b(f"{c.d!r}" + "}")}{e.f["g"]:{h.i}}" + f'{j.k(f'{l.m}') ** n.o:{p.q(f'{r.s}')}}'\ny.z()\n"""


def expected(source: str) -> Counter[Any]:
    """Read calls, attributes and definitions off the standard syntax tree."""
    tree = ast.parse(source)
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", source)
    skipped = {id(n) for annotation in _annotations(tree) for n in ast.walk(annotation)}

    def at(line: int, column: int) -> tuple[int, int]:
        return line, len(lines[line - 1].encode()[:column].decode()) + 1

    def name_of(node: Any) -> tuple[int, int]:
        line, column = at(node.end_lineno, node.end_col_offset)
        return line, column - len(node.attr)

    found: Counter[Any] = Counter()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Attribute):
            found["attr", type(node.ctx).__name__, node.attr, *name_of(node)] += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found["call", *name_of(node.func)] += 1
        elif isinstance(node, ast.Call):
            found[
                "call", *(at(node.func.lineno, node.func.col_offset) if isinstance(node.func, ast.Name) else "()")
            ] += 1
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            found["attr", "Load", node.target.attr, *name_of(node.target)] += 1
        elif isinstance(node, ast.MatchClass):
            for attr, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
                line, column = at(pattern.lineno, pattern.col_offset)
                found["attr", "Load", attr, line, column - len(attr) - 1] += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            name = getattr(node, "name", "lambda")
            found["def", name, *at(node.lineno, node.col_offset), node.end_lineno] += 1
            for decorator in getattr(node, "decorator_list", ()):
                place = (
                    name_of(decorator)
                    if isinstance(decorator, ast.Attribute)
                    else at(decorator.lineno, decorator.col_offset)
                )
                found["call", *place] += 1
    return found


def _annotations(tree: ast.AST) -> list[ast.AST]:
    found: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
    return [annotation for annotation in found if annotation is not None]


def actual(made: ModuleFacts, source: str) -> Counter[Any]:
    """Read the same off the facts. A call of what has no name stands at its bracket, which the standard tree does not
    tell."""
    found: Counter[Any] = Counter()
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", source)
    for function in made.functions:
        if function.kind != "module":
            name = "lambda" if function.kind == "lambda" else function.name
            found["def", name, *function.at, function.end_line] += 1
        for block in function.blocks:
            for i in block.instructions:
                if isinstance(i, Attr | SetAttr) or (isinstance(i, Delete) and i.name):
                    context = {Attr: "Load", SetAttr: "Store", Delete: "Del"}[type(i)]
                    found["attr", context, i.name, *i.at] += 1
                elif isinstance(i, Call):
                    bracket = lines[i.at.line - 1][i.at.column - 1] == "("
                    found["call", *("()" if bracket else i.at)] += 1
    return found


def compare(source: str, made: ModuleFacts | None = None, *, reachable_only: bool = False) -> None:
    """Every call, attribute and definition is where Python says.

    What cannot be reached is left out of the facts, what is lowered for several ways out comes several times.
    """
    wanted, given_ = expected(source), actual(made or facts(source), source)
    assert set(given_) <= set(wanted) or not (set(given_) - set(wanted) - {("call", "(", ")")})
    if not reachable_only:
        assert set(wanted) - set(given_) == set()
        if "finally" not in source and "with" not in source:
            assert given_ == wanted


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast way must do."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("the words and the tree disagree")

    monkeypatch.setattr(parse, "PlacedSurvey", refuse)


def test_awkward_source():
    source = AWKWARD
    made = facts(source)
    compare(source, made)
    compare(source.replace("\n", "\r\n"), facts(source.replace("\n", "\r\n")))


def test_parts_of_f_strings_with_quotes_of_their_own():
    """PEP 701, which the parser of Python 3.11 cannot read."""
    made = facts(NESTED).functions[0]
    found = {(i.name, i.at.line, i.at.column) for b in made.blocks for i in b.instructions if isinstance(i, Attr)}
    lines = NESTED.splitlines()
    wanted = {(m[1], n, m.start(1) + 1) for n, line in enumerate(lines, 1) for m in re.finditer(r"\.(\w)", line)}
    assert found == wanted


def test_other_things_stand_at_their_first_word():
    made = facts("x = (a.b + c)[1]\ndef f():\n  return [not d] if (yield) else (2, 3)\n")
    places = {
        type(i).__name__ + getattr(i, "operator", ""): tuple(i.at)
        for function in made.functions
        for block in function.blocks
        for i in block.instructions
        if isinstance(i, Op | Item | Yield)
    }
    assert places == {"Op+": (1, 6), "Item": (1, 6), "Opnot": (3, 11), "Yield": (3, 22)}


@given(st.integers(0, 10**9), st.integers(1, 3))
def test_random_programs(seed: int, size: int):
    compare(program(seed, size), reachable_only=True)


def test_corpus():
    for file in files(every=40):
        source = file.read_text(encoding="utf-8-sig")
        made = parse.extract("x.py", "a.b.c.d.e.f.g", False, file.read_bytes())
        assert not made.problems, file
        compare(source, made, reachable_only=True)


def test_the_slow_way_agrees(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    fast = facts(AWKWARD)

    class Lost(survey.Survey):
        def run(self, module: Any) -> None:
            raise survey.Drift("on purpose")

    monkeypatch.setattr(parse, "Survey", Lost)
    slow = facts(AWKWARD)
    assert [f.qualname for f in slow.functions] == [f.qualname for f in fast.functions]
    assert [(f.at, f.end_line) for f in slow.functions] == [(f.at, f.end_line) for f in fast.functions]
    wanted = {place for place in actual(fast, AWKWARD) if place[0] == "attr"}
    assert {place for place in actual(slow, AWKWARD) if place[0] == "attr"} == wanted
