"""A stamp spares a look at a file that has been left alone, and is never believed of one that may have changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.source import Stamps, open_tree
from auditor.source.stamps import SETTLED

LATER = 10 * SETTLED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "a.py"
    made.write_text("x = 1\n")
    return made


def later(file: Path) -> int:
    """A time at which the file was left alone for long."""
    return file.stat().st_ctime_ns + LATER


def known(stamps: Stamps, file: Path) -> str:
    return stamps.digest(str(file), file.stat(), lambda: "read again")


def kept(file: Path, now: int) -> bytes:
    stamps = Stamps(now=now)
    stamps.digest(str(file), file.stat(), lambda: "first")
    return stamps.encoded()


def test_a_file_that_was_left_alone_is_not_read_again(file):
    stamps = Stamps(kept(file, later(file)), now=later(file))
    assert known(stamps, file) == "first"
    assert not stamps.changed


def test_a_file_that_was_just_changed_is_read_again(file):
    """It could be changed once more within the same tick of the clock, as in git's index."""
    stamps = Stamps(kept(file, file.stat().st_mtime_ns + SETTLED), now=later(file))
    assert known(stamps, file) == "read again"
    assert stamps.changed, "now it is settled"


def longer(file: Path) -> None:
    file.write_text("x = 10\n")


def as_long(file: Path) -> None:
    """Content is replaced, and the time of the file put back: the time of the inode tells."""
    before = file.stat()
    file.write_text("x = 2\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def another(file: Path) -> None:
    before = file.stat()
    beside = file.with_name("b")
    beside.write_text("x = 2\n")
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    beside.replace(file)


@pytest.mark.parametrize("change", [longer, as_long, another])
def test_a_file_that_has_changed_is_read_again(file, change):
    before = kept(file, later(file))
    change(file)
    assert known(Stamps(before, now=later(file)), file) == "read again"


def test_what_cannot_be_read_has_no_stamp(file):
    stamps = Stamps(now=later(file))
    assert stamps.digest(str(file), file.stat(), lambda: "") == ""
    assert not stamps.changed


@pytest.mark.parametrize("bytes_", [b"", b"no json", b"[]", b'{"a": [1, 2]}', b'{"a": [1, 2, 3, "4", "5"]}', b"\xff"])
def test_bytes_that_are_no_stamps_are_none(file, bytes_):
    assert known(Stamps(bytes_, now=later(file)), file) == "read again"


def test_files_that_are_gone_are_forgotten(file):
    stamps = Stamps(kept(file, later(file)), now=later(file))
    assert stamps.changed
    assert stamps.encoded() == b"{}"


def test_a_tree_has_the_same_digests_with_stamps_and_without(tmp_path, file):
    (tmp_path / "b.py").write_text("y = 2\n")
    (tmp_path / "link.py").symlink_to("b.py")
    first = Stamps(now=later(file))
    digests = open_tree([tmp_path]).digests(first)
    again = open_tree([tmp_path])
    assert again.digests(Stamps(first.encoded(), now=later(file))) == digests
    assert digests == tuple(again.digest(path) for path in again.files)
    assert digests[1] == digests[2]


def test_the_shape_of_a_tree_does_not_depend_on_contents(tmp_path, file):
    shape = open_tree([tmp_path]).shape()
    file.write_text("z = 3\n")
    assert open_tree([tmp_path]).shape() == shape


@pytest.mark.parametrize("name", ["b.py", "__init__.py", "sub/c.py"])
def test_the_shape_of_a_tree_depends_on_its_files(tmp_path, file, name):
    shape = open_tree([tmp_path]).shape()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    assert open_tree([tmp_path]).shape() != shape


def test_the_shape_of_a_tree_depends_on_roles_and_problems(tmp_path, file):
    shape = open_tree([tmp_path]).shape()
    assert open_tree([tmp_path], roles={"test": ("a.py",)}).shape() != shape
    assert open_tree([tmp_path], limit=10).shape() != shape
    (tmp_path / "out.py").symlink_to("/nowhere.py")
    assert open_tree([tmp_path]).shape() != shape
