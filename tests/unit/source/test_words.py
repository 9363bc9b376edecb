"""``mentioning``: no file that holds an identifier is missed."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.source import open_tree
from auditor.source.words import WordIndex


def mentions(identifier, data):
    return bool(list(WordIndex([data]).holders(identifier)))


@pytest.mark.parametrize(
    ("identifier", "data", "expected"),
    [
        ("get_key_buffer", b"pool.get_key_buffer(0)", True),
        ("get_key", b"pool.get_key_buffer(0)", False),
        ("key_buffer", b"pool.get_key_buffer(0)", False),
        ("x", b"x=1", True),
        ("x1", b"2*x1", True),
        ("gate", b"# the gate", True),
        ("gate", b'f"{gate}"', True),
        ("größe", "größe = 1".encode(), True),
        ("größe", "# coding: latin-1\ngröße = 1".encode("latin-1"), True),
        ("gate", b"# coding: utf-7\n" + b"gate=+AGcAYQB0AGU-", True),
        ("gate", b"# coding: utf-7\n+AGcAYQB0AGU-", True),
        ("get_key_buffer", "pool.\uff47et_key_buffer(0)".encode(), True),
        ("\uff47et", b"get", True),
        ("gate", "“gate”".encode(), True),
        ("gate", b"\xff\xfegate\xff", True),
        ("gate", b"# coding: punycode\ngate", True),
        ("gate", b"a\0gate", True),
        ("gate", b"", False),
    ],
)
def test_whole_identifiers_are_found(identifier, data, expected):
    assert mentions(identifier, data) is expected


names = st.from_regex(re.compile(r"[^\W\d]\w{0,8}"), fullmatch=True).filter(
    lambda s: s.isidentifier() and not keyword.iskeyword(s)
)


@given(st.lists(names, min_size=1, max_size=8), st.sampled_from([".", " + ", "(", "\n", "\t#", ', "']))
def test_every_identifier_of_a_text_is_found(identifiers, joint):
    data = joint.join(identifiers).encode()
    assert all(mentions(identifier, data) for identifier in identifiers)


def test_answers_name_files_and_rounds_add_up(plant):
    root = plant("a.py", "b.py", "c.py")
    (root / "a.py").write_text("gate(pool)\n")
    (root / "b.py").write_text("gate = 1\n")
    (root / "c.py").unlink()
    (root / "c.py").write_bytes(b"x" * 100)
    tree = open_tree([root], limit=50)
    assert tree.mentioning(frozenset({"gate"})) == {"gate": frozenset({"a.py", "b.py"})}
    assert tree.mentioning(frozenset({"gate", "pool", "none"})) == {
        "gate": frozenset({"a.py", "b.py"}),
        "pool": frozenset({"a.py"}),
        "none": frozenset(),
    }
    assert [problem.path for problem in tree.problems] == ["c.py"], "what could not be searched is a problem"


def test_start_up_is_cheap():
    import subprocess
    import sys

    costly = {"subprocess", "zipfile", "tempfile", "difflib", "hashlib", "libcst"}
    code = f"import sys, auditor.source; print(*sorted({costly} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
