"""Which files are taken, which are left out, and that it is said."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from auditor.errors import UnreadableRoot, UsageError
from auditor.source import git as git_module
from auditor.source import open_tree


def what(tree):
    return {problem.path: problem.what for problem in tree.problems}


def test_only_python_files_are_taken(plant):
    root = plant("a.py", "b.txt", "sub/c.py", "script", "d.pyi")
    (root / "script").write_text("#!/usr/bin/env python3\n")
    assert open_tree([root]).files == ("a.py", "sub/c.py")


def test_a_named_file_is_taken_whatever_its_name(plant):
    root = plant("script", "a.py")
    assert open_tree([root / "script"]).files == ("script",)
    assert open_tree([root / "script", root]).files == ("a.py", "script")


def test_a_file_inside_a_named_folder_counts_once(plant):
    root = plant("p/a.py", "p/b.py")
    assert open_tree([root / "p", root / "p/a.py", root]).files == ("p/a.py", "p/b.py")


def test_the_order_of_arguments_the_working_directory_and_the_file_system_do_not_matter(plant, monkeypatch, tmp_path):
    root = plant(*(f"{letter}/{number}.py" for letter in "cab" for number in range(3)))
    expected = open_tree([root / "a", root / "b"])
    real = os.scandir

    class Backwards:
        def __init__(self, path):
            self.entries = sorted(real(path), key=lambda entry: entry.name, reverse=True)

        def __iter__(self):
            return iter(self.entries)

    monkeypatch.setattr(os, "scandir", Backwards)
    monkeypatch.chdir(root)
    again = open_tree([Path("b"), Path("a")])
    assert (again.files, again.root) == (expected.files, expected.root)
    assert list(again.files) == sorted(again.files)


def test_paths_are_relative_to_what_the_arguments_have_in_common_or_to_base(plant, tmp_path):
    root = plant("p/a.py", "q/b.py")
    assert open_tree([root / "p"]).files == ("a.py",)
    assert open_tree([root / "p", root / "q"]).files == ("p/a.py", "q/b.py")
    assert open_tree([root / "p"], base=tmp_path).files == ("tree/p/a.py",)
    with pytest.raises(UsageError, match="does not lie below"):
        open_tree([root / "p"], base=root / "q")


@pytest.mark.parametrize("folder", [".git", ".venv", "node_modules", "__pycache__", ".tox"])
def test_some_folders_are_never_entered(plant, folder):
    root = plant("a.py", f"{folder}/b.py", f"sub/{folder}/c.py")
    tree = open_tree([root])
    assert tree.files == ("a.py",)
    assert tree.skipped == {"folders never entered": (folder, f"sub/{folder}")}


@pytest.mark.parametrize("mark", ["CACHEDIR.TAG", "pyvenv.cfg"])
def test_build_folders_are_known_by_their_marks(plant, mark):
    root = plant("a.py", "out/b.py", f"out/{mark}")
    tree = open_tree([root])
    assert (tree.files, tree.skipped) == (("a.py",), {f"folders with {mark}": ("out",)})
    assert open_tree([root / "out"]).files == ("b.py",), "one that the user names is read"


def test_a_work_tree_gives_what_git_knows_and_would_add(plant, git):
    root = plant("tracked.py", "new.py", "build/made.py", "junk.py", "gone.py", "build/deep/x.py")
    (root / ".gitignore").write_text("build/\njunk.py\n")
    git(root, "init", "-q")
    git(root, "add", "tracked.py", "gone.py")
    (root / "gone.py").unlink()
    tree = open_tree([root])
    assert tree.files == ("new.py", "tracked.py")
    assert tree.skipped == {"ignored by git": ("build/", "junk.py")}
    assert (tree.problems, tree.walked) == ((), False)


def test_a_folder_of_a_work_tree_is_asked_alone(plant, git):
    root = plant("p/a.py", "p/.venv/x.py", "q/b.py")
    git(root, "init", "-q")
    assert open_tree([root / "p"]).files == ("a.py",)


def test_an_ignored_folder_that_the_user_names_is_walked(plant, git):
    root = plant("a.py", "build/b.py")
    (root / ".gitignore").write_text("build/\n")
    git(root, "init", "-q")
    tree = open_tree([root / "build"])
    assert (tree.files, tree.walked) == (("b.py",), True)


def test_repositories_inside_a_repository_are_read(plant, git, tmp_path):
    inner = plant("i.py", "no.py", root="inner")
    (inner / ".gitignore").write_text("no.py\n")
    git(inner, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "x")
    root = plant("a.py", "clone/c.py", "clone/drop.py")
    git(root, "init", "-q")
    git(root, "submodule", "add", str(inner), "sub")
    git(root / "clone", "init", "-q")
    (root / "clone/.gitignore").write_text("drop.py\n")
    assert open_tree([root]).files == ("a.py", "clone/c.py", "sub/i.py")


def test_repositories_below_a_walked_folder_are_asked(plant, git):
    root = plant("loose.py", "clone/c.py", "clone/drop.py")
    git(root / "clone", "init", "-q")
    (root / "clone/.gitignore").write_text("drop.py\n")
    tree = open_tree([root])
    assert tree.files == ("clone/c.py", "loose.py")
    assert tree.skipped == {"ignored by git": ("clone/drop.py",)}


@pytest.mark.parametrize("versioned", [False, True])
def test_deep_folders_are_read(plant, git, versioned):
    deep = "/".join(["d"] * 1100)
    root = plant("a.py")
    for length in (500, 1000, 1500, len(deep)):  # os.makedirs recurses
        os.makedirs(f"{root}/{deep[:length]}", exist_ok=True)
    (root / deep / "b.py").write_text("x = 1\n")
    if versioned:
        git(root, "init", "-q")
    tree = open_tree([root])
    files, module = tree.files, tree.module(tree.files[-1])
    subprocess.run(["rm", "-rf", str(root)], check=True)  # shutil.rmtree, which pytest would use, recurses
    assert files == ("a.py", f"{deep}/b.py")
    assert module == f"{deep}/b".replace("/", ".")


def test_git_that_is_missing_or_refuses_is_replaced_by_a_walk(plant, git, monkeypatch):
    root = plant("a.py", "ignored.py")
    (root / ".gitignore").write_text("ignored.py\n")
    git(root, "init", "-q")
    monkeypatch.setenv("PATH", "")
    tree = open_tree([root])
    assert (tree.files, tree.walked) == (("a.py", "ignored.py"), True)


def test_git_variables_of_a_hook_do_not_point_elsewhere(plant, git, monkeypatch):
    root, other = plant("a.py"), plant("b.py", root="other")
    git(root, "init", "-q")
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert open_tree([root]).files == ("a.py",)


def test_programs_that_the_audited_repository_names_are_not_run(plant, git, tmp_path):
    root = plant("a.py")
    git(root, "init", "-q")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(trap))
    git(root, "config", "core.hooksPath", str(tmp_path))
    assert open_tree([root]).files == ("a.py",)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("versioned", [False, True])
def test_no_link_out_of_the_root_is_followed(plant, git, versioned):
    outside = plant("secret.py", root="outside")
    root = plant("a.py", "real/b.py")
    (root / "file.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "inner.py").symlink_to("a.py")
    (root / "alias").symlink_to("real")
    if versioned:
        git(root, "init", "-q")
        git(root, "add", ".")
    tree = open_tree([root])
    assert tree.files == ("a.py", "inner.py", "real/b.py")
    assert what(tree) == dict.fromkeys(("file.py", "folder"), "links out of the audited root; not followed")
    assert tree.skipped == {"folder links (read where they point)": ("alias",)}
    assert tree.read("inner.py") == b"x = 1\n"


def test_a_tracked_folder_that_became_a_link_is_not_followed(plant, git):
    outside = plant("a.py", root="outside")
    root = plant("a.py", "pkg/a.py")
    git(root, "init", "-q")
    git(root, "add", ".")
    (root / "pkg/a.py").unlink()
    (root / "pkg").rmdir()
    (root / "pkg").symlink_to(outside)
    tree = open_tree([root])
    assert tree.files == ("a.py",)
    assert what(tree) == {"pkg": "links out of the audited root; not followed"}


def test_links_between_two_audited_roots_are_followed(plant):
    root = plant("p/a.py", "q/b.py")
    (root / "p/link.py").symlink_to(root / "q/b.py")
    assert open_tree([root / "p", root / "q"]).files == ("p/a.py", "p/link.py", "q/b.py")
    assert what(open_tree([root / "p"])) == {"link.py": "links out of the audited root; not followed"}


def test_a_root_that_is_a_link_is_read(plant, tmp_path):
    root = plant("a.py")
    (tmp_path / "alias").symlink_to(root)
    tree = open_tree([tmp_path / "alias"])
    assert (tree.files, tree.root) == (("a.py",), root)


def test_a_named_file_that_links_out_is_refused(plant):
    outside = plant("secret.py", root="outside")
    root = plant("a.py")
    (root / "link.py").symlink_to(outside / "secret.py")
    with pytest.raises(UnreadableRoot, match="links out of the audited root"):
        open_tree([root / "link.py"])


def test_loops_and_dangling_links_are_cut(plant):
    root = plant("a.py", "sub/b.py")
    (root / "loop").symlink_to(".")
    (root / "sub/up").symlink_to("..")
    (root / "self.py").symlink_to("self.py")
    (root / "dangling.py").symlink_to("nowhere.py")
    tree = open_tree([root])
    assert tree.files == ("a.py", "sub/b.py")
    assert what(tree) == {"self.py": "is a link that points at itself", "dangling.py": "is a link that leads nowhere"}


def test_fifos_sockets_and_devices_named_like_sources_do_not_block(plant, monkeypatch):
    root = plant("a.py", "p/b.py")
    os.mkfifo(root / "fifo.py")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        if os.geteuid() == 0:
            os.mknod("device.py", stat.S_IFCHR | 0o600, os.makedev(1, 5))
        tree = open_tree([root])
    expected = {"fifo.py": "is a FIFO", "socket.py": "is a socket"} | (
        {"device.py": "is a device"} if os.geteuid() == 0 else {}
    )
    assert tree.files == ("a.py", "p/b.py")
    assert what(tree) == {name: f"{words}, not a regular file; not read" for name, words in expected.items()}
    with pytest.raises(UnreadableRoot, match="neither a file nor a folder"):
        open_tree([root / "fifo.py"])


def test_a_folder_without_permission_is_a_problem(plant, monkeypatch):
    root = plant("a.py", "shut/b.py")
    real = os.scandir

    def refuse(path):
        if os.path.basename(path) == "shut":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert what(open_tree([root])) == {"shut": "is a folder that cannot be read: permission denied"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_real_folder_without_permission_is_a_problem(plant):
    root = plant("a.py", "shut/b.py")
    (root / "shut").chmod(0)
    try:
        assert "permission denied" in what(open_tree([root]))["shut"]
    finally:
        (root / "shut").chmod(0o755)


def test_a_missing_path_is_an_error_that_names_its_sibling(plant):
    root = plant("sglang/a.py")
    with pytest.raises(UnreadableRoot, match=r"sglnag does not exist. Did you mean .*sglang\?"):
        open_tree([root / "sglnag"])
    with pytest.raises(UnreadableRoot, match=r"does not exist\. Name an existing"):
        open_tree([root / "no/such/thing"])


def test_a_root_without_python_is_an_error(plant):
    root = plant("readme.txt", "p/a.py")
    (root / "empty").mkdir()
    with pytest.raises(UnreadableRoot, match="holds no Python file"):
        open_tree([root / "empty"])
    with pytest.raises(UnreadableRoot, match="holds no Python file"):
        open_tree([root / "p", root / "empty"])
    with pytest.raises(UnreadableRoot, match="holds no Python file"):
        open_tree([root / "p"], extra=[root / "empty"])
    with pytest.raises(UsageError, match="no path"):
        open_tree([])


def test_a_path_with_a_null_byte_is_an_error():
    with pytest.raises(UnreadableRoot, match="null"):
        open_tree([Path("a\0b")])


def test_extra_roots_are_read_and_not_reported(plant):
    root, engine = plant("a.py"), plant("sglang/srt/x.py", root="engine")
    tree = open_tree([root], extra=[engine])
    assert tree.files == ("<with:engine>/sglang/srt/x.py", "a.py")
    assert [tree.reported(path) for path in tree.files] == [False, True]
    assert tree.read("<with:engine>/sglang/srt/x.py") == b"x = 1\n"


def test_extra_roots_of_one_name_and_folders_that_pose_as_one_stay_apart(plant, tmp_path):
    root = plant("<with:engine>/a.py")
    one, two = plant("a.py", root="1/engine"), plant("a.py", root="2/engine")
    expected = ("./<with:engine>/a.py", "<with:engine#2>/a.py", "<with:engine>/a.py")
    assert open_tree([root], extra=[one, two]).files == expected
    assert open_tree([root], extra=[two, one]).files == expected
    assert open_tree([root / "<with:engine>"], base=root, extra=[one, two]).files == expected


def test_a_file_of_an_audited_and_an_extra_root_is_reported_once(plant):
    root = plant("plugin/a.py", "engine/b.py")
    tree = open_tree([root / "plugin"], extra=[root])
    assert tree.files == ("<with:tree>/engine/b.py", "a.py")


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize(
    "name", ["new\nline.py", "esc\x1b[31m.py", "bad\udcff.py", " -rf.py", "--help.py", "a;b&c.py", "é.py"]
)
def test_hostile_names_are_read(plant, git, name, versioned):
    root = plant(name)
    if versioned:
        git(root, "init", "-q")
        git(root, "add", "--", ".")
    tree = open_tree([root])
    assert tree.files == (name,)
    assert tree.read(name) == b"x = 1\n"


def test_git_that_runs_forever_is_given_up(plant, git, monkeypatch, tmp_path):
    root = plant("a.py")
    git(root, "init", "-q")
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexec sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git_module, "_SECONDS", 0.2)
    assert open_tree([root]).walked
