"""Small programs and the register programs that they become."""

from __future__ import annotations

import textwrap

import pytest

from auditor.facts import At, Bind, Call, Declare, FieldFacts, Import, ParamFacts, TypeExpr
from tests.unit.extract.dump import dump, facts, function, type_text


def check(source: str, expected: str, qualname: str = "f") -> None:
    """Compare the blocks of one function with a dump."""
    made = dump(function(textwrap.dedent(source).lstrip("\n"), qualname))
    assert made == textwrap.dedent(expected).strip("\n")


def test_tests_are_branches():
    check(
        """
        def f(a, b, c):
            if a and not b or c:
                a()
            return b
        """,
        """
        0:
          v0 = param a
          v1 = param b
          v2 = param c
          branch v0 1 2
        1:
          branch v1 2 3
        2:
          branch v2 3 4
        3:
          v3 = call v0 ()
          jump 4
        4:
          return v1
        """,
    )


def test_values_of_and_or_and_conditionals_join():
    check(
        """
        def f(a, b):
            return a and b() or (a if b else 1)
        """,
        """
        0:
          v0 = param a
          v1 = param b
          branch v0 1 2
        1:
          v2 = call v1 ()
          jump 2
        2:
          v3 = phi 0:v0 1:v2
          branch v3 7 3
        3:
          branch v1 4 5
        4:
          jump 6
        5:
          v4 = const 1
          jump 6
        6:
          v5 = phi 4:v0 5:v4
          jump 7
        7:
          v6 = phi 2:v3 6:v5
          return v6
        """,
    )


def test_comparisons_chain():
    check(
        """
        def f(a, b, c):
            return a() < b() <= c()
        """,
        """
        0:
          v0 = param a
          v1 = param b
          v2 = param c
          v3 = call v0 ()
          v4 = call v1 ()
          v5 = op < (v3, v4)
          branch v5 1 2
        1:
          v6 = call v2 ()
          v7 = op <= (v4, v6)
          jump 2
        2:
          v8 = phi 0:v5 1:v7
          return v8
        """,
    )


def test_for_else_and_continue():
    check(
        """
        def f(xs):
            n = 0
            for x in xs:
                if x: continue
                n += x
            else:
                n()
            return n
        """,
        """
        0:
          v0 = param xs
          v1 = const 0
          jump 1
        1:
          v2 = phi 0:v1 3:v2 4:v4
          choice 2 5
        2:
          v3 = iterate v0
          branch v3 3 4
        3:
          jump 1
        4:
          v4 = op + (v2, v3)
          jump 1
        5:
          v5 = call v2 ()
          jump 6
        6:
          return v2
        """,
    )


def test_while_true_ends_by_break_only():
    check(
        """
        def f(g):
            while True:
                if g(): break
        """,
        """
        0:
          v0 = param g
          jump 1
        1:
          jump 2
        2:
          v1 = call v0 ()
          branch v1 3 4
        3:
          jump 5
        4:
          jump 1
        5:
          v2 = const None
          return v2
        """,
    )


def test_while_else():
    check(
        """
        def f(g):
            while g():
                x = 1
            else:
                g(x)
        """,
        """
        0:
          v0 = param g
          jump 1
        1:
          v1 = phi 0:- 2:v3
          v2 = call v0 ()
          branch v2 2 3
        2:
          v3 = const 1
          jump 1
        3:
          v4 = call v0 (v1)
          jump 4
        4:
          v5 = const None
          return v5
        """,
    )


def test_try_except_finally():
    check(
        """
        def f(g):
            x = 1
            try:
                x = g()
                g(x)
            except A as e:
                return x
            finally:
                g()
        """,
        """
        0:
          v0 = param g
          v1 = const 1
          jump 1
        1: !4
          v2 = call v0 ()
          jump 2
        2: !4
          v3 = call v0 (v2)
          jump 3
        3: !10
          jump 9
        4: !10
          v4 = phi 1:v1 2:v2
          v5 = opaque exception
          v6 = name A
          v7 = op match-exception (v5, v6)
          branch v7 5 8
        5: !10
          v8 = declare v5 A
          jump 6
        6: !10
          jump 7
        7:
          v9 = call v0 ()
          return v4
        8: !10
          raise v5
        9:
          v10 = call v0 ()
          jump 11
        10:
          v11 = opaque exception
          v12 = call v0 ()
          raise v11
        11:
          v13 = const None
          return v13
        """,
    )


def test_try_else():
    check(
        """
        def f(g):
            try:
                g()
            except:
                raise
            else:
                g(1)
        """,
        """
        0:
          v0 = param g
          jump 1
        1: !3
          v1 = call v0 ()
          jump 2
        2:
          v2 = const 1
          v3 = call v0 (v2)
          jump 5
        3:
          v4 = opaque exception
          jump 4
        4:
          raise v4
        5:
          v5 = const None
          return v5
        """,
    )


def test_except_star_may_run_several():
    check(
        """
        def f(g):
            try:
                g()
            except* A:
                g(1)
            except* B:
                g(2)
        """,
        """
        0:
          v0 = param g
          jump 1
        1: !3
          v1 = call v0 ()
          jump 2
        2:
          jump 9
        3:
          v2 = opaque exception
          v3 = name A
          v4 = op match-exception (v2, v3)
          branch v4 4 5
        4:
          v5 = const 1
          v6 = call v0 (v5)
          jump 5
        5:
          v7 = name B
          v8 = op match-exception (v2, v7)
          branch v8 6 7
        6:
          v9 = const 2
          v10 = call v0 (v9)
          jump 7
        7:
          choice 9 8
        8:
          raise v2
        9:
          v11 = const None
          return v11
        """,
    )


def test_with_and_suppress():
    check(
        """
        def f(a):
            with a.b as x, suppress(E):
                return x
        """,
        """
        0:
          v0 = param a
          v1 = attr v0 b
          v2 = enter v1
          v3 = name suppress
          v4 = name E
          v5 = call v3 (v4)
          v6 = enter v5
          jump 1
        1: !3
          jump 2
        2:
          exit v5
          exit v1
          return v2
        3:
          v7 = opaque exception
          exit v5
          choice 5 4
        4:
          raise v7
        5:
          exit v1
          v8 = const None
          return v8
        """,
    )


def test_with_in_try_exits_on_the_way_to_the_handler():
    check(
        """
        def f(a, g):
            try:
                with a:
                    g()
            except E:
                g(1)
        """,
        """
        0:
          v0 = param a
          v1 = param g
          jump 1
        1: !7
          v2 = enter v0
          jump 2
        2: !4
          v3 = call v1 ()
          jump 3
        3: !7
          exit v0
          jump 5
        4: !7
          v4 = opaque exception
          exit v0
          raise v4
        5: !7
          jump 6
        6:
          jump 10
        7:
          v5 = opaque exception
          v6 = name E
          v7 = op match-exception (v5, v6)
          branch v7 8 9
        8:
          v8 = const 1
          v9 = call v1 (v8)
          jump 10
        9:
          raise v5
        10:
          v10 = const None
          return v10
        """,
    )


def test_assert_raises():
    check(
        """
        def f(a):
            assert a, a.b
            return a
        """,
        """
        0:
          v0 = param a
          branch v0 2 1
        1:
          v1 = attr v0 b
          v2 = opaque AssertionError
          raise v2
        2:
          return v0
        """,
    )


def test_captured_and_nonlocal():
    check(
        """
        def f(p):
            x = y = p
            def g():
                nonlocal x
                x = y
            return x, y
        """,
        """
        0:
          v0 = param p
          bind f x v0
          bind f y v0
          v1 = closure f.g ()
          v2 = name x
          v3 = build tuple (v2, v0)
          return v3
        """,
    )


def test_global_names():
    check(
        """
        def f():
            global x
            x = 1
            return x
        """,
        """
        0:
          v0 = const 1
          bind '' x v0
          v1 = name x
          return v1
        """,
    )


def test_class_body():
    check(
        """
        import m
        class C(m.B, k=1):
            a = 1
            b: int
            c = [a for i in a]
            @property
            def p(self): pass
            @p.setter
            def p(self, v): pass
        """,
        """
        0:
          v0 = const 1
          bind C a v0
          v1 = declare - int
          jump 1
        1:
          v2 = phi 0:- 2:v4
          choice 2 3
        2:
          v3 = iterate v0
          v4 = name a
          jump 1
        3:
          v5 = build list (v2)
          bind C c v5
          v6 = name property
          v7 = closure C.p ()
          v8 = call v6 (v7)
          bind C p v8
          v9 = attr v8 setter
          v10 = closure C.p#2 ()
          v11 = call v9 (v10)
          bind C p v11
          v12 = const None
          return v12
        """,
        "C",
    )


def test_annotated_attributes():
    check(
        """
        def f(self, v):
            self.q: 'X | None' = v
            self.r: int
            x: A = v
            y: B
        """,
        """
        0:
          v0 = param self
          v1 = param v
          v2 = declare v1 |[X, None]
          setattr v0 q v2
          v3 = declare - int
          setattr v0 r v3
          v4 = declare v1 A
          v5 = declare - B
          v6 = const None
          return v6
        """,
    )


def test_unpacking():
    check(
        """
        def f(s):
            a, (b, *c, d), s.d = s
            return a, b, c, d
        """,
        """
        0:
          v0 = param s
          v1 = unpack v0 0
          v2 = unpack v0 1
          v3 = unpack v0 2
          v4 = unpack v2 0
          v5 = unpack v2 -1
          v6 = unpack v2 -2
          setattr v0 d v3
          v7 = build tuple (v1, v4, v5, v6)
          return v7
        """,
    )


def test_slices_and_deletes():
    check(
        """
        def f(s):
            x = s[1:, ::2]
            del x, s.d, s[0]
            return x
        """,
        """
        0:
          v0 = param s
          v1 = const 1
          v2 = build slice (v1, -, -)
          v3 = const 2
          v4 = build slice (-, -, v3)
          v5 = build tuple (v2, v4)
          v6 = item v0 v5
          delete v0 d
          v7 = const 0
          delete v0 ''
          v8 = opaque unbound local x
          return v8
        """,
    )


def test_augmented_targets_are_read_first():
    check(
        """
        def f(o):
            o.x[o.i] += o.y
            o.z -= 1
        """,
        """
        0:
          v0 = param o
          v1 = attr v0 x
          v2 = attr v0 i
          v3 = item v1 v2
          v4 = attr v0 y
          v5 = op + (v3, v4)
          setitem v1 v2 v5
          v6 = attr v0 z
          v7 = const 1
          v8 = op - (v6, v7)
          setattr v0 z v8
          v9 = const None
          return v9
        """,
    )


def test_displays_and_calls():
    check(
        """
        def f(a, *b, **c):
            return a(*b, 1, k=[*b], **c), {1: a, **c}, {a}, f'{a:>{b}}' 'x', b'', 1j, -1
        """,
        """
        0:
          v0 = param a
          v1 = param b
          v2 = param c
          v3 = const 1
          v4 = op * (v1)
          v5 = build list (v4)
          v6 = call v0 (*v1, v3, k=v5, **v2)
          v7 = const 1
          v8 = build dict (v7, v0, -, v2)
          v9 = build set (v0)
          v10 = build string (v0, v1)
          v11 = opaque bytes
          v12 = opaque complex
          v13 = const 1
          v14 = op neg (v13)
          v15 = build tuple (v6, v8, v9, v10, v11, v12, v14)
          return v15
        """,
    )


def test_walrus():
    check(
        """
        def f(a):
            if (x := a()) is not None:
                return x
            return x
        """,
        """
        0:
          v0 = param a
          v1 = call v0 ()
          v2 = const None
          v3 = op is not (v1, v2)
          branch v3 1 2
        1:
          return v1
        2:
          return v1
        """,
    )


def test_unbound():
    check(
        """
        def f(a):
            if a:
                x = 1
            del a
            return x, a
        """,
        """
        0:
          v0 = param a
          branch v0 1 2
        1:
          v1 = const 1
          jump 2
        2:
          v2 = phi 0:- 1:v1
          v3 = opaque unbound local a
          v4 = build tuple (v2, v3)
          return v4
        """,
    )


def test_match_():
    check(
        """
        def f(s):
            match s:
                case A(x=[p, *_]) | B(p) as q if q: return p
                case {'k': None, **r}: return r
                case m.C | 1: pass
        """,
        """
        0:
          v0 = param s
          v1 = name A
          v2 = op match-class (v0, v1)
          branch v2 1 3
        1:
          v3 = declare v0 A
          v4 = attr v3 x
          v5 = op match-shape (v4)
          branch v5 2 3
        2:
          v6 = unpack v4 0
          jump 5
        3:
          v7 = name B
          v8 = op match-class (v0, v7)
          branch v8 4 7
        4:
          v9 = declare v0 B
          v10 = opaque positional class pattern
          jump 5
        5:
          v11 = phi 2:v6 4:v10
          branch v0 6 7
        6:
          return v11
        7:
          v12 = op match-shape (v0)
          branch v12 8 10
        8:
          v13 = const 'k'
          v14 = item v0 v13
          v15 = const None
          v16 = op is (v14, v15)
          branch v16 9 10
        9:
          v17 = opaque rest of a mapping
          return v17
        10:
          v18 = name m
          v19 = attr v18 C
          v20 = op == (v0, v19)
          branch v20 11 12
        11:
          jump 14
        12:
          v21 = const 1
          v22 = op == (v0, v21)
          branch v22 13 15
        13:
          jump 14
        14:
          jump 16
        15:
          jump 16
        16:
          v23 = const None
          return v23
        """,
    )


def test_module_names_are_values_where_certain():
    check(
        """
        from . import a
        if a:
            x = 1
        else:
            x = 2
        if x: y = 2
        print(x, y, a)
        """,
        """
        0:
          v0 = import pkg a
          bind '' a v0
          branch v0 1 2
        1:
          v1 = const 1
          bind '' x v1
          jump 3
        2:
          v2 = const 2
          bind '' x v2
          jump 3
        3:
          v3 = phi 1:v1 2:v2
          branch v3 4 5
        4:
          v4 = const 2
          bind '' y v4
          jump 5
        5:
          v5 = name print
          v6 = name y
          v7 = call v5 (v3, v6, v0)
          v8 = const None
          return v8
        """,
        "",
    )


def test_comprehensions_are_loops():
    check(
        """
        def f(xs):
            return {k: v for k, v in xs() if k for w in v}, sum(x for x in xs)
        """,
        """
        0:
          v0 = param xs
          v1 = call v0 ()
          jump 1
        1:
          v2 = phi 0:- 2:v2 6:v7
          v3 = phi 0:- 2:v3 6:v8
          choice 2 7
        2:
          v4 = iterate v1
          v5 = unpack v4 0
          v6 = unpack v4 1
          branch v5 3 1
        3:
          jump 4
        4:
          v7 = phi 3:v2 5:v5
          v8 = phi 3:v3 5:v6
          choice 5 6
        5:
          v9 = iterate v6
          jump 4
        6:
          jump 1
        7:
          v10 = build dict (v2, v3)
          v11 = name sum
          jump 8
        8:
          v12 = phi 7:- 9:v13
          choice 9 10
        9:
          v13 = iterate v0
          jump 8
        10:
          v14 = build generator (v12)
          v15 = call v11 (v14)
          v16 = build tuple (v10, v15)
          return v16
        """,
    )


def test_async_forms():
    check(
        """
        async def f(a):
            async with a as b:
                async for c in b:
                    yield await c
        """,
        """
        0:
          v0 = param a
          v1 = enter v0
          jump 1
        1:
          choice 2 3
        2:
          v2 = iterate v1
          v3 = await v2
          v4 = yield v3 False
          jump 1
        3:
          jump 4
        4:
          exit v0
          v5 = const None
          return v5
        """,
    )


def test_generators():
    check(
        """
        def f(a):
            x = yield
            yield from a(x)
        """,
        """
        0:
          v0 = param a
          v1 = const None
          v2 = yield v1 False
          v3 = call v0 (v2)
          v4 = yield v3 True
          v5 = const None
          return v5
        """,
    )


def test_star_import_may_rebind_every_name_before_it():
    made = function("x = 1\nfrom m import *\nx()\n", "")
    assert "call v2" in dump(made)
    assert "v2 = name x" in dump(made)


def test_a_constant_test_keeps_one_edge_only():
    for literal in ("True", "1"):
        assert dump(function(f"def f(a):\n if {literal}:\n  a()\n else:\n  a.b()\n")).count("call") == 1
    assert "call" not in dump(function("def f(a):\n if not True or 0:\n  a()\n"))
    assert dump(function("def f(a):\n if TYPE_CHECKING:\n  a()\n")).count("branch") == 1


def test_what_runs_on_the_way_out_is_lowered_for_every_way_out():
    source = """
    def f(g):
        for x in g():
            try:
                with x:
                    if g(2): continue
                    return g
            finally:
                g(1)
    """
    text = dump(function(textwrap.dedent(source)))
    assert text.count("exit") == 3, "continue, return, exception"
    assert text.count("const 1") == 3, "the same; the end of the body is never reached"


# ---------------------------------------------------------------- declarations


def test_parameters():
    made = function("def f(a, /, b: int = 1, *c, d: 'x.Y[\"Z\"]', e=2, **g) -> None: pass\n")
    annotations = [None if p.annotation is None else type_text(p.annotation) for p in made.params]
    assert [(p.name, p.kind, p.has_default) for p in made.params] == [
        ("a", "posonly", False),
        ("b", "pos", True),
        ("c", "*", False),
        ("d", "key", False),
        ("e", "key", True),
        ("g", "**", False),
    ]
    assert annotations == [None, "int", None, "x.Y[Z]", None, None]
    assert isinstance(made.params[0], ParamFacts)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Optional[a.B]", "Optional[a.B]"),
        ("A | B | None", "|[A, B, None]"),
        ("Callable[[A], 'B']", "Callable[[][A], B]"),
        ("Literal['a', 1]", "Literal[='a', =1]"),
        ("Tuple[int, ...]", "Tuple[int, =...]"),
        ("f()", "?"),
        ("'not a type'", "?"),
        ("'A' 'B'", "AB"),
        ("x[1:2]", "x[?]"),
    ],
)
def test_type_expressions(source: str, expected: str):
    made = facts(f"x: {source} = 1\n").functions[0]
    (declared,) = [i for i in made.blocks[0].instructions if isinstance(i, Declare)]
    assert type_text(declared.type) == expected


def test_classes():
    source = """
    @dec.orate(1)
    class C(a.B[int], *bases, metaclass=M):
        x: int
        y: str = 'y'
        z = 2
        if z:
            def m(self): pass
        else:
            async def m(self): yield
        class Inner: pass
    """
    made = facts(textwrap.dedent(source).lstrip("\n"))
    outer, inner = made.classes
    assert outer.bases == (TypeExpr("a.B", ()), TypeExpr("*bases", ()))
    assert outer.keywords == (("metaclass", "M"),)
    assert outer.decorators == ("dec.orate",)
    assert outer.methods == ("m", "m#2")
    assert outer.fields == (
        FieldFacts("x", TypeExpr("int", ()), False, At(3, 5)),
        FieldFacts("y", TypeExpr("str", ()), True, At(4, 5)),
        FieldFacts("z", None, True, At(5, 5)),
    )
    assert (outer.at, outer.end_line) == (At(2, 1), 10)
    assert (inner.qualname, inner.name, inner.scope) == ("C.Inner", "Inner", "C")
    second = next(f for f in made.functions if f.qualname == "C.m#2")
    assert second.is_async
    assert second.is_generator
    assert second.name == "m"
    assert [f.qualname for f in made.functions] == ["", "C", "C.m", "C.m#2", "C.Inner"]


def test_lambdas_are_numbered_in_their_function():
    made = facts("x = lambda: (lambda: 1)\ndef f(a=lambda: 2):\n    return [lambda: 3 for _ in a], lambda: 4\n")
    assert [f.qualname for f in made.functions] == [
        *("", "<lambda1>", "<lambda1>.<lambda1>", "f", "<lambda2>", "f.<lambda1>", "f.<lambda2>"),
    ]


def test_decorators_run_outside_in_and_apply_inside_out():
    check(
        "@a\n@b(1)\ndef f(): pass\n",
        """
        0:
          v0 = name a
          v1 = name b
          v2 = const 1
          v3 = call v1 (v2)
          v4 = closure f ()
          v5 = call v3 (v4)
          v6 = call v0 (v5)
          bind '' f v6
          v7 = const None
          return v7
        """,
        "",
    )


@pytest.mark.parametrize(
    ("source", "is_package", "expected"),
    [
        ("import a.b.c", False, [("a", "")]),
        ("import a.b as c, d", False, [("a.b", ""), ("d", "")]),
        ("from . import x", False, [("p.q", "x")]),
        ("from . import x", True, [("p.q.m", "x")]),
        ("from ..r.s import x as y", False, [("p.r.s", "x")]),
        ("from .. import x", True, [("p.q", "x")]),
        ("from .t import *", False, [("p.q.t", "*")]),
    ],
)
def test_imports(source: str, is_package: bool, expected: list[tuple[str, str]]):
    made = facts(source, module="p.q.m", is_package=is_package).functions[0]
    assert [(i.module, i.name) for b in made.blocks for i in b.instructions if isinstance(i, Import)] == expected


def test_a_captured_comprehension_variable_is_bound_in_the_function():
    made = function("def f(xs):\n    return [lambda: x for x in xs]\n")
    assert [(i.scope, i.name) for b in made.blocks for i in b.instructions if isinstance(i, Bind)] == [("f", "x")]


def test_type_parameters():
    made = facts("class A[T](B[T]):\n    def f[U: int](self, x: U) -> T: pass\ntype X[V] = list[V]\n")
    assert [f.qualname for f in made.functions] == ["", "A", "A.f"]
    assert "opaque type parameter" in dump(made.functions[0])
    assert "bind '' X" in dump(made.functions[0])


def test_a_called_name_is_where_a_call_is():
    made = function("def f(a):\n    return a.b(\n        1\n    ).c()()\n")
    assert [i.at for b in made.blocks for i in b.instructions if isinstance(i, Call)] == [
        At(2, 14),
        At(4, 7),
        At(4, 10),
    ]
