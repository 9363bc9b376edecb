"""One bad file in a tree that otherwise audits fine: a clear problem, the right exit status, and the rest as before.

Exit status: 2 if the file is relevant (mentions a pool, gate or accessor) or under ``--strict``, else as without it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.e2e.process import Done, check, run

RELEVANT = b"def read(pool, layer_id):\n    return pool.get_key_buffer(layer_id)\n"
PLAIN = b"def helper():\n    return 1\n"

MALFORMED = {
    "not UTF-8": (b"# \xff\xfe caf\xe9\n", "UTF-8"),
    "a syntax error": (b"def broken(:\n", "syntax error"),
    "Python 2": (b"print 'done'\nexec 'x = 1'\n", "syntax error"),
    "a null byte": (b"x = '\0'\n", "null byte"),
    "one line of 5 MB": (b"x = '" + b"a" * 5_000_000 + b"'\n", "limit"),
    "one line of 3 MB": (b"x = '" + b"a" * 3_000_000 + b"'\n", "limit"),
    "3,000 parentheses": (b"x = " + b"(" * 3_000 + b")" * 3_000 + b"\n", "nesting"),
    "an unclosed bracket": (b"x = (1,\n" * 20, "syntax error"),
}
BAD = "minikv/broken.py"

each = pytest.mark.parametrize(("content", "words"), list(MALFORMED.values()), ids=list(MALFORMED))


USER = "minikv/user.py"


def same_rest(done: Done, undisturbed: Done) -> bool:
    """Whether findings and sites are those of the tree without the bad file (and without its user)."""
    return all(
        [one for one in done.report[key] if one["path"] != USER] == undisturbed.report[key]
        for key in ("findings", "sites", "scenarios")
    )


def need(tree: Path) -> None:
    """Let a receiver depend on what the bad file should define, so that the audit has to read it."""
    reader = "def peek(layer_id):\n    return helper().get_key_buffer(layer_id)\n"
    (tree / USER).write_text(f"from minikv.broken import helper\n\n\n{reader}")


TOO_LARGE = MALFORMED["one line of 5 MB"][0]


@each
def test_a_relevant_file_makes_the_audit_incomplete(request, tree, undisturbed, content, words):
    (tree / BAD).write_bytes(RELEVANT + content)
    done = check(tree)
    assert list(done.problems()) == [BAD]
    assert words in done.problems()[BAD]
    assert same_rest(done, undisturbed)
    assert [problem["relevant"] for problem in done.report["problems"]] == [True]
    assert done.exit == 2


@each
def test_another_file_that_is_needed_is_listed_only(tree, undisturbed, content, words):
    need(tree)
    (tree / BAD).write_bytes(PLAIN + content)
    done = check(tree)
    assert list(done.problems()) == [BAD]
    assert words in done.problems()[BAD]
    assert [problem["relevant"] for problem in done.report["problems"]] == [False]
    assert same_rest(done, undisturbed)
    assert done.exit == 1
    assert check(tree, "--strict").exit == 2


@each
def test_another_file_that_nobody_needs_changes_nothing(tree, undisturbed, content, words):
    """It may stay unread: a file is parsed only where the audit has a use for it."""
    (tree / BAD).write_bytes(PLAIN + content)
    done = check(tree)
    assert same_rest(done, undisturbed)
    assert set(done.problems()) <= {BAD}
    assert done.exit == 1


def test_the_problem_is_told_in_words(tree):
    (tree / BAD).write_bytes(RELEVANT + b"def broken(:\n")
    done = run("check", tree, "--jobs", "1")
    assert re.search(rf"{BAD}:[34]\b", done.stdout)  # the line of the colon, or where the parser gave up
    assert "syntax error" in done.stdout
    assert "not complete (exit status 2)" in done.stderr
    assert done.exit == 2


def test_an_empty_file_is_fine(tree, undisturbed):
    (tree / BAD).write_bytes(b"")
    done = check(tree, "--strict")
    assert done.problems() == {}
    assert same_rest(done, undisturbed)
    assert done.exit == 1


def test_the_problem_stays_where_the_file_was_good_before(tree, undisturbed):
    """A broken file of the engine itself: its sites are gone, the others are still there."""
    file = tree / "minikv" / "indexer.py"
    file.write_bytes(file.read_bytes() + b"\ndef broken(:\n")
    done = check(tree)
    assert list(done.problems()) == ["minikv/indexer.py"]
    others = {site["path"] for site in undisturbed.report["sites"]} - {"minikv/indexer.py"}
    assert {site["path"] for site in done.report["sites"]} == others
    assert done.exit == 2


# ---------------------------------------------------------------- links, and what is no regular file


def link_loop(tree: Path, outside: Path) -> str:
    (tree / BAD).symlink_to("broken.py")
    return "points at itself"


def link_out(tree: Path, outside: Path) -> str:
    (outside / "secret.py").write_bytes(RELEVANT)
    (tree / BAD).symlink_to(outside / "secret.py")
    return "links out of the audited root"


def folder_link_out(tree: Path, outside: Path) -> str:
    (outside / "secret.py").write_bytes(RELEVANT)
    (tree / BAD).symlink_to(outside)
    return "links out of the audited root"


def dangling(tree: Path, outside: Path) -> str:
    (tree / BAD).symlink_to("nowhere.py")
    return "leads nowhere"


def fifo(tree: Path, outside: Path) -> str:
    os.mkfifo(tree / BAD)
    return "is a FIFO"


@pytest.mark.parametrize("make", [link_loop, link_out, folder_link_out, dangling, fifo])
def test_what_is_no_regular_file_is_listed_and_not_read(tree, undisturbed, tmp_path, make):
    outside = tmp_path / "outside"
    outside.mkdir()
    words = make(tree, outside)
    done = check(tree)
    assert list(done.problems()) == [BAD]
    assert words in done.problems()[BAD]
    assert same_rest(done, undisturbed)
    assert done.exit == 1
    assert check(tree, "--strict").exit == 2


def test_a_loop_of_folder_links_ends(tree, undisturbed):
    (tree / "minikv" / "again").symlink_to("..")
    done = check(tree)
    assert same_rest(done, undisturbed)
    assert done.exit == 1


# ---------------------------------------------------------------- what goes wrong while reading


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize(("how", "words"), [("changing", "changed while it was read"), ("denied", "permission denied")])
def test_a_file_that_cannot_be_read_whole(tree, undisturbed, how, words):
    (tree / BAD).write_bytes(PLAIN)
    done = check(tree, disturb=f"{how}:broken.py")
    assert list(done.problems()) == [BAD]
    assert words in done.problems()[BAD]
    assert same_rest(done, undisturbed)
    assert done.exit in (1, 2)
    assert check(tree, "--strict", disturb=f"{how}:broken.py").exit == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything; the test above denies it to root too")
def test_a_file_without_permission(tree, undisturbed):
    (tree / BAD).write_bytes(PLAIN)
    (tree / BAD).chmod(0)
    done = check(tree)
    assert "permission denied" in done.problems()[BAD]
    assert same_rest(done, undisturbed)


# ---------------------------------------------------------------- nothing to audit


def test_a_missing_path(tmp_path):
    done = check(tmp_path / "nowhere")
    assert done.exit == 2
    assert done.stdout == ""
    assert "nowhere" in done.stderr


def test_a_missing_path_beside_a_good_one(tree, tmp_path):
    done = check(tree, tmp_path / "nowhere")
    assert done.exit == 2
    assert "nowhere" in done.stderr


def test_an_empty_folder(tmp_path):
    done = check(tmp_path)
    assert (done.exit, done.stdout) == (2, "")
    assert str(tmp_path) in done.stderr
    assert "Python" in done.stderr


def test_a_folder_without_an_engine_says_what_was_looked_for(tmp_path):
    (tmp_path / "m.py").write_text("x = 1\n")
    done = check(tmp_path)
    assert (done.exit, done.stdout) == (2, "")
    assert "no engine is recognised" in done.stderr
    assert "register_layer_transfer_counter" in done.stderr


def test_a_tree_whose_every_file_is_broken_is_not_clean(tree):
    for file in tree.rglob("*.py"):
        file.write_bytes(file.read_bytes() + b"\ndef broken(:\n")
    done = check(tree)
    assert done.exit == 2
