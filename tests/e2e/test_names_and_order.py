"""Names made to do harm, and the same tree given in other ways."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.e2e.conftest import copy_engine
from tests.e2e.process import check, run

READER = b"""from minikv.pools import PairPool


def peek(pool: PairPool, layer_id: int):
    return pool.get_key_buffer(layer_id).sum()
"""
HOSTILE = {
    "a newline": (b"new\nerror[ungated-access]: forged.py", "new\\u000aerror[ungated-access]: forged.py"),
    "an escape sequence": (b"esc\x1b[31m\x1b]0;title\x07.py", "esc\\u001b[31m\\u001b]0;title\\u0007.py"),
    "bytes that are not UTF-8": (b"bad\xff\xe9.py", "bad\\xff\\xe9.py"),
    "text that runs backwards": ("rtl\u202eyp.py".encode(), "rtl\\u202eyp.py"),
    "quotes and markup": (b"a'\"<script>$(id)`id`.py", "a'\"<script>$(id)`id`.py"),
    "a leading dash": (b"-o.py", "-o.py"),
}

hostile = pytest.mark.parametrize(("name", "shown"), list(HOSTILE.values()), ids=list(HOSTILE))


def plant(tree, name, content):
    with open(os.path.join(os.fsencode(tree), b"minikv", name), "wb") as file:
        file.write(content)


def assert_harmless(text):
    """No control characters but line ends, and no line that a file name has made."""
    assert not [one for one in text if (ord(one) < 32 and one != "\n") or 127 <= ord(one) < 160]
    assert "\u202e" not in text
    assert not [line for line in text.splitlines() if line.startswith("error[ungated-access]: forged")]


@hostile
def test_a_site_in_a_file_with_a_hostile_name(request, tree, undisturbed, name, shown):
    plant(tree, name, READER)
    done = check(tree)
    added = {site["path"] for site in done.report["sites"]} - {site["path"] for site in undisturbed.report["sites"]}
    assert added <= {f"minikv/{shown}", f"minikv/{os.fsdecode(name)}"}
    assert len(added) == 1
    told = run("check", tree, "--jobs", "1", "--fail-on", "never")
    assert_harmless(told.stdout)
    assert_harmless(told.stderr)


@hostile
def test_a_problem_in_a_file_with_a_hostile_name(tree, undisturbed, name, shown):
    plant(tree, name, READER + b"def broken(:\n")
    done = check(tree)
    (path,) = done.problems()
    assert path in (f"minikv/{shown}", f"minikv/{os.fsdecode(name)}")
    assert done.report["findings"] == undisturbed.report["findings"]
    assert done.exit == 2
    told = run("check", tree, "--jobs", "1")
    assert "syntax error" in told.stdout
    assert_harmless(told.stdout)
    assert_harmless(told.stderr)


@hostile
def test_a_hostile_path_that_is_not_there(tmp_path, name, shown):
    del shown
    done = run("check", os.fsencode(tmp_path) + b"/" + name)
    assert done.exit == 2
    assert_harmless(done.stderr)


def test_paths_with_spaces(tmp_path, undisturbed):
    (tmp_path / "a b").mkdir()
    done = check(copy_engine(tmp_path / "a b" / " c  d "))
    assert done.stdout == undisturbed.stdout


def test_from_another_folder_and_by_a_relative_path(tree, undisturbed):
    assert check("tree", cwd=tree.parent).stdout == undisturbed.stdout
    assert check(cwd=tree).stdout == undisturbed.stdout
    assert check("../tree/./", cwd=tree).stdout == undisturbed.stdout


def test_files_made_in_another_order(tree, tmp_path, undisturbed):
    other = tmp_path / "other"
    for file in sorted((file for file in tree.rglob("*") if file.is_file()), reverse=True):
        target = other / file.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    assert check(other).stdout == undisturbed.stdout


@pytest.mark.parametrize("jobs", ["2", "3"])
def test_any_number_of_processes(tree, undisturbed, jobs):
    done = run("check", tree, "-o", "json", "--no-timing", "--quiet", "--jobs", jobs)
    assert done.stdout == undisturbed.stdout


def test_any_order_of_hashing(tree, undisturbed, monkeypatch):
    """Every run without PYTHONHASHSEED iterates its sets in an order of its own."""
    for seed in ("1", "2", "3", "4", "5", "6"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        assert check(tree).stdout == undisturbed.stdout, f"PYTHONHASHSEED={seed}"


def test_several_paths_in_any_order(tree, tmp_path):
    plugin = tmp_path / "plugin" / "addon"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_bytes(b"")
    (plugin / "peek.py").write_bytes(READER)
    one, two = check(tree, plugin.parent), check(plugin.parent, tree)
    assert one.stdout == two.stdout
    assert any(site["path"].endswith("addon/peek.py") for site in one.report["sites"])
    assert check(tree, plugin.parent, tree).stdout == one.stdout


def test_a_path_inside_another_counts_once(tree, undisturbed):
    assert check(tree, tree / "minikv").report["sites"] == undisturbed.report["sites"]
