"""What a register program does is what Python does; and every program is in valid single-assignment form."""

from __future__ import annotations

import warnings

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from auditor.extract import extract
from tests.unit.extract import validity
from tests.unit.extract.corpus import files
from tests.unit.extract.programs import program
from tests.unit.extract.world import in_facts, in_python


@settings(max_examples=300)
@given(st.integers(0, 10**9), st.integers(1, 3))
def test_the_same_calls_in_the_same_order(seed: int, size: int):
    source = program(seed, size)
    assume(_compiles(source))
    validity.check(extract("program.py", "program", False, source.encode()))
    assert in_facts(source) == in_python(source)


def test_programs_that_were_wrong_once():
    """Bindings just before an exception: in a ``with`` target, before a re-raise at the end of a ``finally``."""
    for seed, size in ((13794, 1), (10325, 3), (20945, 3)):
        source = program(seed, size)
        assert in_facts(source) == in_python(source)


def test_corpus_is_valid():
    for file in files(every=40, offset=7):
        validity.check(extract("x.py", "a.b.c.d.e.f.g", False, file.read_bytes()))


def test_equal_arguments_give_equal_facts():
    source = program(3, 3).encode()
    assert extract("a.py", "a", False, source) == extract("a.py", "a", False, source)


def _compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "program", "exec")
        except SyntaxError:
            return False
    return True
