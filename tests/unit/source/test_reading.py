"""Content: read once, whole, within limits, and shown as Python counts lines."""

from __future__ import annotations

import os

import pytest

from auditor.source import Problem, display, open_tree, reading


def test_content_is_read_once_and_kept(plant):
    root = plant("a.py")
    tree = open_tree([root])
    assert tree.read("a.py") == b"x = 1\n"
    (root / "a.py").write_text("changed\n")
    assert tree.read("a.py") == b"x = 1\n"
    assert tree.lines("a.py") == ("x = 1",)
    assert tree.file("a.py") == root / "a.py"


def test_the_digest_is_of_the_content(plant):
    root = plant("a.py", "b.py", "c.py")
    (root / "c.py").write_text("other\n")
    tree = open_tree([root])
    assert tree.digest("a.py") == tree.digest("b.py") != tree.digest("c.py")
    (root / "a.py").unlink()
    assert open_tree([root]).digest("b.py") == tree.digest("b.py")


def test_a_file_that_vanished_is_a_problem(plant):
    root = plant("a.py", "b.py")
    tree = open_tree([root])
    (root / "a.py").unlink()
    assert not tree.problems
    assert (tree.read("a.py"), tree.digest("a.py"), tree.lines("a.py")) == (None, "", ())
    assert tree.problems == (Problem("a.py", 1, "cannot be read: no such file or directory"),)


def test_a_file_above_the_limit_is_a_problem_that_names_it(plant):
    root = plant("a.py", "b.py")
    (root / "a.py").write_bytes(b"x = '" + b"y" * 5_000_000 + b"'\n")
    tree = open_tree([root])
    assert tree.read("a.py") is None
    assert tree.problems[0].what == "has 5.0 MB, more than the limit of 4.0 MB; not read"
    assert open_tree([root], limit=6_000_000).read("a.py") is not None
    tree = open_tree([root], limit=3)
    assert tree.read("b.py") is None
    assert "limit of 3 bytes" in tree.problems[0].what


def test_all_files_together_have_a_limit(plant, monkeypatch):
    monkeypatch.setattr(reading, "TOTAL_LIMIT", 13)
    tree = open_tree([plant("a.py", "b.py", "c.py")])
    tree.mentioning(frozenset({"x"}))
    assert [problem.path for problem in tree.problems] == ["c.py"]
    assert "limit of 13 bytes" in tree.problems[0].what


def test_an_unreadable_file_is_a_problem(plant, monkeypatch):
    root = plant("a.py", "b.py")
    real = os.open

    def refuse(path, *arguments):
        if str(path).endswith("a.py"):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    tree = open_tree([root])
    assert (tree.read("a.py"), tree.read("b.py")) == (None, b"x = 1\n")
    assert tree.problems == (Problem("a.py", 1, "cannot be read: permission denied"),)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_really_unreadable_file_is_a_problem(plant):
    root = plant("a.py")
    (root / "a.py").chmod(0)
    assert open_tree([root]).read("a.py") is None


def test_a_file_replaced_by_a_fifo_or_a_link_after_selection_is_not_opened(plant):
    outside = plant("secret.py", root="outside")
    root = plant("a.py", "b.py")
    tree = open_tree([root])
    (root / "a.py").unlink()
    os.mkfifo(root / "a.py")
    (root / "b.py").unlink()
    (root / "b.py").symlink_to(outside / "secret.py")
    assert (tree.read("a.py"), tree.read("b.py")) == (None, None)
    assert tree.problems[0].what == "is a FIFO, not a regular file; not read"


@pytest.mark.parametrize(("changes", "content"), [(1, b"x = 1\n"), (2, None)])
def test_a_file_that_changes_while_it_is_read_is_read_again_once(plant, monkeypatch, changes, content):
    root = plant("a.py")
    tree = open_tree([root])
    real, left = reading._read_up_to, [changes]

    def disturbed(descriptor, count):
        data = real(descriptor, count)
        if left[0]:
            left[0] -= 1
            os.utime(root / "a.py", ns=(left[0], left[0]))
        return data

    monkeypatch.setattr(reading, "_read_up_to", disturbed)
    assert tree.read("a.py") == content
    assert [problem.what for problem in tree.problems] == ["changed while it was read, twice; left out"] * (
        content is None
    )


def test_a_file_that_grows_while_it_is_read_is_not_cut(plant, monkeypatch):
    root = plant("a.py")
    real, first = os.read, [True]

    def grown(descriptor, count):
        if first.pop() if first else False:
            with open(root / "a.py", "a") as file:
                file.write("y = 2\n")
        return real(descriptor, count)

    monkeypatch.setattr(os, "read", grown)
    assert open_tree([root]).read("a.py") == b"x = 1\ny = 2\n"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\nb\n", ("a", "b")),
        (b"a\r\nb\rc", ("a", "b", "c")),
        (b"a\x0cb\x0b\x1c\n\xe2\x80\xa8c\xc2\x85\n", ("a\x0cb\x0b\x1c", "\u2028c\x85")),
        (b"", ()),
        (b"\n", ("",)),
        (b"\xef\xbb\xbfa\n", ("a",)),
        (b"# -*- coding: latin-1 -*-\n\xe9\n", ("# -*- coding: latin-1 -*-", "é")),
        (b"#!/bin/x\n# vim: set fileencoding=cp1252 :\n\x80\n", ("#!/bin/x", "# vim: set fileencoding=cp1252 :", "€")),
        (b"x = 1\n# coding: latin-1\n\xe9\n", ("x = 1", "# coding: latin-1", "\ufffd")),
        (b"\xff\n", ("\ufffd",)),
        (b"# coding: no-such\n\xc3\xa9\n", ("# coding: no-such", "é")),
        (b"# coding: hex\nff\n", ("# coding: hex", "ff")),
        (b"# coding: punycode\nff\n", ("# coding: punycode", "ff")),
        (b"a\0b\n", ("a\0b",)),
    ],
)
def test_lines_are_those_of_python_in_the_declared_encoding(plant, data, lines):
    root = plant("a.py")
    (root / "a.py").write_bytes(data)
    assert open_tree([root]).lines("a.py") == lines


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a/b.py", "a/b.py"),
        ("é.py", "é.py"),
        ("a b.py", "a b.py"),
        ("new\nline.py", "new\\u000aline.py"),
        ("esc\x1b[31m.py", "esc\\u001b[31m.py"),
        ("c1\x9b31m.py", "c1\\u009b31m.py"),
        ("bad\udcff.py", "bad\\xff.py"),
        ("rtl\u202egnp.py", "rtl\\u202egnp.py"),
        ("back\\slash.py", "back\\\\slash.py"),
        ("high\U000e0001.py", "high\\U000e0001.py"),
    ],
)
def test_paths_are_shown_without_control_characters(path, shown):
    assert display(path) == shown
