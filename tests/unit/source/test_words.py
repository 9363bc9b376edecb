"""``mentioning``: no file that holds an identifier is missed."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.source import open_tree, wordstore
from auditor.source import words as words_module
from auditor.source.words import WordIndex


def mentions(identifier, data):
    return bool(WordIndex({"digest": data}).holders(identifier))


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


def answers(root, cache, *names):
    found = open_tree([root], cache=cache).mentioning(frozenset(names))
    return {name: sorted(found[name]) for name in names}


@pytest.fixture
def kept(plant, tmp_path):
    """A tree whose index an earlier run kept."""
    root = plant(*(f"{number}.py" for number in range(20)))
    for number in range(20):
        (root / f"{number}.py").write_text(f"common, own_{number}, größe_{number % 2} = 0  # {'padding ' * 9}\n")
    (root / "again.py").write_bytes((root / "0.py").read_bytes())
    answers(root, tmp_path / "cache", "common")
    return root, tmp_path / "cache"


@pytest.fixture
def scans(monkeypatch, kept):
    """The contents that are scanned from here on."""
    seen, real = [], words_module.words

    def watched(data):
        seen.append(data)
        return real(data)

    monkeypatch.setattr(words_module, "words", watched)
    return seen


def test_an_index_that_was_kept_gives_the_same_answers_without_a_scan(kept, scans):
    root, cache = kept
    names = ("common", "own_0", "own_19", "größe_1", "padding", "none")
    again = answers(root, cache, *names)
    assert scans == []
    assert again == answers(root, None, *names)
    assert again["own_0"] == ["0.py", "again.py"], "files of one content are both named"


def test_what_changed_since_the_index_was_kept_is_scanned(kept, scans):
    root, cache = kept
    (root / "3.py").write_text("own_3x = common\n")
    (root / "4.py").unlink()
    (root / "new.py").write_text("own_4 = 1\n")
    names = ("common", "own_3", "own_3x", "own_4")
    again = answers(root, cache, *names)
    assert sorted(scans) == [b"own_3x = common\n", b"own_4 = 1\n"]
    assert again == answers(root, None, *names)
    assert again["own_3"] == []


def test_an_index_of_which_little_holds_is_built_anew(kept, scans):
    root, cache = kept
    for number in range(5, 20):
        (root / f"{number}.py").write_text(f"changed_{number} = 0  # {'padding ' * 9}\n")
    assert answers(root, cache, "changed_7", "own_7") == {"changed_7": ["7.py"], "own_7": []}
    scans.clear()
    assert answers(root, cache, "changed_8")["changed_8"] == ["8.py"]
    assert scans == []


@pytest.mark.parametrize("damage", [b"", b"x" * 500, "flip", "half", "version"])
def test_a_damaged_index_is_a_miss(kept, monkeypatch, damage):
    root, cache = kept
    (file,) = cache.glob("*.words")
    data = bytearray(file.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "half":
        data = data[: len(data) // 2]
    elif damage == "version":
        monkeypatch.setattr(wordstore, "_VERSION", "words-0")
    else:
        data = damage
    file.write_bytes(data)
    assert wordstore.kept_words(file) is None
    assert answers(root, cache, "own_2")["own_2"] == ["2.py"]
    assert wordstore.kept_words(file) is not None, "it is written anew"


def test_a_cache_that_cannot_be_written_is_none(plant, tmp_path):
    (tmp_path / "file").write_text("")
    assert answers(plant("a.py"), tmp_path / "file/cache", "x") == {"x": ["a.py"]}


def test_few_indexes_are_kept_and_no_scratch_file(plant, tmp_path):
    for number in range(8):
        answers(plant("a.py", root=f"t{number}"), tmp_path / "cache", "x")
    assert len(list((tmp_path / "cache").iterdir())) == 5


def test_an_empty_tree_of_words_is_kept_too(plant, tmp_path):
    root = plant("a.py")
    (root / "a.py").write_text("")
    assert [answers(root, tmp_path / "cache", "x", "") for _ in range(2)] == [{"x": [], "": []}] * 2
