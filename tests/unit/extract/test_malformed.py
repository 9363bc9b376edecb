"""Whatever a file holds, there is an answer, and soon."""

from __future__ import annotations

import gc
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.extract import extract
from auditor.facts import ModuleFacts
from tests.unit.extract import validity
from tests.unit.extract.programs import program


def read(content: bytes | str) -> ModuleFacts:
    return extract("m.py", "m", False, content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"x = 1\nprint 'a'\n", 2, "syntax error"),
        (b"def f(:\n", 2, "syntax error"),
        (b"x = 1\n'abc\n", 2, "unterminated"),
        (b"x = 1\n\0", 2, "null byte"),
        (b"x = 1\ny = '\xe9'\n", 2, "UTF-8"),
        (b"# coding: nonsense\n", 1, "unknown encoding"),
        (b"# coding: hex\n00\n", 1, "not a text encoding"),
        (b"\xff\xfe", 1, "UTF-8"),
        (b"# coding: utf-16\nx = 1\n", 2, "utf-16"),
        ("(" * 3_000 + ")" * 3_000, 1, "nesting deeper than 200"),
        ("(" * 20_000 + ")" * 20_000, 1, "nesting deeper than 200"),
        ("x = 1\n" + "[" * 20_000, 2, "nesting deeper than 200"),
        ('f"{' * 20_000, 1, "nesting deeper than 200"),
        ("x = " + "+".join(["a"] * 5_000), 1, "2000 terms"),
        ("a" + ".b()" * 5_000, 1, "2000 terms"),
        ("x = " + "not " * 20_000 + "a", 1, "2000 terms"),
        ("x = " + "-" * 20_000 + "a", 1, "2000 terms"),
        ("if a: pass\n" + "elif b: pass\n" * 9_000, 2_001, "2000 elif"),
        ("".join(" " * i + "if a:\n" for i in range(150)) + " " * 150 + "pass\n", 1, "indentation"),
        (("x = " + "({[" * 66 + "1" + "]:1})" * 66 + "\n") * 2_000, 26, "too long and too deep"),
        ("x = '" + "a" * 5_000_000 + "'", 1, "larger than 4000000 bytes"),
        ("y = 1\nx = '" + "a" * 3_000_000 + "'", 2, "line longer than 1000000"),
        ("x;" * 480_000 + "\n" + "x;" * 30_000, 1, "500000 words"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_problems_say_where_and_what(content: bytes | str, line: int, words: str):
    begun = time.monotonic()
    made = read(content)
    assert time.monotonic() - begun < 30
    assert (made.functions, made.classes) == ((), ())
    (problem,) = made.problems
    assert words in problem.what
    if words not in ("UTF-8", "indentation", "500000 words"):
        assert problem.line == line


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n\n",
        "# only a comment",
        "\ufeffx = 1\n",
        "x = 1\ry = 2\r",
        "x = " + "(" * 190 + "1" + ")" * 190,
        "x = " + "+".join(["a"] * 900),
        "a" + ".b()" * 500,
        "x = a" + ".b" * 1_500,
        "import a" + ".b" * 1_500,
        "if a: pass\n" + "elif b: pass\n" * 2_000,
        "x = " + "lambda: " * 400 + "a",
        "x = 'a'\n" * 5_000,
        "x = 1\n" + "if a: x = 2\n" * 5_000 + "y = x\n",
        "x = 1\nwhile a:\n x = x + 1\n" * 300,
        "x = " + 'f"{' * 100 + "a" + '}"' * 100,
    ],
    ids=lambda value: value[:20],
)
def test_long_and_odd_but_readable(source: str):
    made = read(source)
    assert not made.problems
    assert made.functions[0].kind == "module"


def test_an_empty_file_is_a_module_without_instructions_of_its_own():
    (module,) = read("").functions
    assert (module.qualname, len(module.blocks), module.end_line) == ("", 1, 1)


def test_declared_encoding():
    made = read("# coding: latin-1\nx = 'é'; y.z\n".encode("latin-1"))
    assert not made.problems
    assert any("é" in str(i) for i in made.functions[0].blocks[0].instructions)


def test_ways_out_that_multiply_are_cut_off():
    body = "".join(f"{' ' * i}try:\n{' ' * i} return\n{' ' * i}finally:\n" for i in range(1, 40)) + " " * 41 + "pass\n"
    (problem,) = read("def f():\n" + body).problems
    assert "instructions (limit)" in problem.what


def test_relative_import_beyond_the_top_is_a_problem_and_the_rest_is_read():
    made = extract("m.py", "m", False, b"from ... import x\nx()\n")
    assert [problem.line for problem in made.problems] == [1]
    assert made.functions


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes):
    made = read(content)
    assert made.functions or made.problems


@given(
    st.integers(0, 10**6),
    st.integers(0, 2_000),
    st.sampled_from(["(", ")", '"', "'", ":", "{", "\n", " ", "f'", "\\", "lambda"]),
)
def test_damaged_programs(seed: int, place: int, noise: str):
    source = program(seed, 2)
    made = read(source[: place % len(source)] + noise + source[place % len(source) :])
    assert made.functions or made.problems
    validity.check(made)


def test_nothing_of_a_file_stays_behind() -> None:
    """The collector is off while many files are read: what is read must not hold itself."""
    text = "".join(f"class C{n}:\n    def f(self, x):\n        return [y for y in x if y]\n" for n in range(40))
    gc.disable()
    try:
        read(text)
        before = len(gc.get_objects())
        for _ in range(3):
            read(text)
        assert len(gc.get_objects()) - before < 200
    finally:
        gc.enable()
