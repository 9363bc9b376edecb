"""``rules learn`` as a user runs it: the audit takes the pack, and what cannot be done is said with exit 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from auditor.spec import parse_pack
from tests.e2e.process import Done, check, command, environment, run

CLEAN = "class Shelf:\n    def fetch(self, floor):\n        return self.rows[floor]\n"


def learn(*arguments: str | Path, cwd: Path | None = None) -> Done:
    words = ("rules", "learn", *arguments, "--jobs", "1")
    return run(*words, cwd=cwd) if cwd else run(*words)


def test_the_audit_finds_the_same_by_the_pack_that_was_learned(tree: Path, tmp_path: Path, undisturbed: Done) -> None:
    """The miniature engine, with the pack of SGLang hidden. Sites of accessors that hide behind others are missing."""
    pack = tmp_path / "mine.toml"
    done = learn(tree, "-o", pack)
    assert (done.exit, done.stdout, done.stderr) == (0, "", "")
    assert run("rules", "validate", pack).exit == 0
    report = check(tree, "--engine", pack).report
    keys = ("check", "path", "line", "severity", "buffer")
    found, wanted = (
        {tuple(finding[key] for key in keys) for finding in one["findings"]} for one in (report, undisturbed.report)
    )
    assert found == wanted != set()
    sites = {(site["path"], site["line"], site["name"], site["verdict"]) for site in report["sites"]}
    written = {(site["path"], site["line"], site["name"], site["verdict"]) for site in undisturbed.report["sites"]}
    assert sites < written
    assert {name for _, _, name, _ in written - sites} == {"get_staged_buffer", "get_local_buffer", "replay"}


def test_it_goes_to_stdout_and_has_the_name_of_the_folder(tree: Path) -> None:
    done = learn(tree)
    assert done.exit == 0
    assert parse_pack(done.stdout, "stdout").name == "tree"
    assert parse_pack(learn(tree, "--name", "mini-kv").stdout, "stdout").name == "mini-kv"


def test_without_paths_it_learns_from_here(tree: Path) -> None:
    assert learn(cwd=tree).stdout == learn(tree).stdout


def test_the_same_tree_gives_the_same_bytes(tree: Path) -> None:
    """Whatever the hashes of strings are, and however many workers there are."""
    said = set()
    for seed, jobs in (("1", "1"), ("2", "2"), ("3", "1")):
        line = command("rules", "learn", tree, "--no-cache", "--jobs", jobs)
        given = {**environment(), "PYTHONHASHSEED": seed}
        said.add(subprocess.run(line, env=given, capture_output=True, check=True, timeout=120).stdout)
    assert len(said) == 1


def test_what_is_read_is_told(tree: Path) -> None:
    done = learn(tree, "-v")
    assert "minikv/pools.py: " in done.stderr
    assert " files below " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "nowhere does not exist"),
        (("tree", "--release", "sglang==0.5.23"), "PATHS and --release exclude each other"),
        (("tree", "-o", "no/such/folder/pack.toml"), "does not exist"),
        (("tree", "-o", "tree"), "it is a folder"),
        (("tree", "--name", "My Pack"), "'My Pack' is no name for a pack"),
        (("tree", "--engine", "sglang"), "No such option '--engine'"),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_says_why(tree: Path, arguments: tuple[str, ...], told: str) -> None:
    done = learn(*arguments, cwd=tree.parent)
    assert (done.exit, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_tree_in_which_nothing_waits_ends_with_2_and_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "shelf.py").write_text(CLEAN)
    done = learn(tmp_path, "-o", tmp_path / "pack.toml")
    assert done.exit == 2
    assert "nothing was learned from" in done.stderr
    assert "a method that waits for an event, future or condition that its parameter picks" in done.stderr
    assert not (tmp_path / "pack.toml").exists()


def test_a_wait_that_is_no_gate_is_named(tmp_path: Path) -> None:
    waits = "class Lines:\n    def answer(self, name):\n        self.calls[name].wait()\n"
    (tmp_path / "lines.py").write_text(waits)
    done = learn(tmp_path)
    assert done.exit == 2
    assert "lines.py:3 Lines.answer waits: self.calls[name].wait()" in done.stderr


def test_a_file_that_cannot_be_read_as_written_is_told_and_the_pack_is_given_all_the_same(tree: Path) -> None:
    """It mentions what was looked for, so the pack may lack what it holds: exit 2."""
    whole = learn(tree).stdout
    (tree / "minikv" / "broken.py").write_text("def f(self):\n    self.layer_transfer_counter.wait_until(0\n")
    (tree / "minikv" / "other.py").write_text("def f(:\n")
    done = learn(tree)
    assert done.exit == 2
    assert done.stdout == whole
    assert "minikv/broken.py:" in done.stderr
    assert "may be missing from the pack" in done.stderr
    assert "other.py" not in done.stderr  # nothing was wanted of it


def test_a_folder_whose_name_is_none_for_a_pack_gets_one(tree: Path) -> None:
    strange = tree.rename(tree.with_name("My  Engine_2"))
    assert parse_pack(learn(strange).stdout, "stdout").name == "my-engine-2"
    os.rename(strange, tree.with_name("42"))
    done = learn(tree.with_name("42"))
    assert done.exit == 2
    assert "--name gives another" in done.stderr
