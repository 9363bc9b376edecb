"""Trees of a repository, without a checkout."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from auditor.errors import UnknownRevision
from auditor.source import INDEX, Revisions, open_tree


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits on main; pkg/b.py is new in the second, pkg/a.py changes."""
    top = tmp_path / "repo"
    (top / "pkg").mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    for name, text in {"pkg/__init__.py": "", "pkg/a.py": "x = 1\n", "pyproject.toml": "", "data.bin": "no"}.items():
        (top / name).write_text(text)
    git(top, "add", ".")
    git(top, "commit", "-qm", "one")
    (top / "pkg/a.py").write_text("x = 2\n")
    (top / "pkg/b.py").write_text("y = 1\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "two")
    return top


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".git"
    }


def test_a_revision_has_its_python_files_and_nothing_else(repository: Path) -> None:
    with Revisions.around(repository / "pkg") as revisions:
        old, new = revisions.unpack(revisions.commit("HEAD~1")), revisions.unpack(revisions.commit("main"))
        assert files(old) == {"pkg/__init__.py": "", "pkg/a.py": "x = 1\n", "pyproject.toml": ""}
        assert files(new)["pkg/a.py"] == "x = 2\n"
        assert old.name == new.name == "repo"
        assert (old / "pkg/__init__.py").samefile(new / "pkg/__init__.py")
    assert not old.exists()


def test_it_opens_like_the_work_tree(repository: Path) -> None:
    here = open_tree([repository])
    with Revisions.around(repository) as revisions:
        there = open_tree([revisions.unpack(revisions.commit("HEAD"))])
        assert there.files == here.files
        assert [there.module(path) for path in there.files] == [here.module(path) for path in here.files]
        assert [there.read(path) for path in there.files] == [here.read(path) for path in here.files]


def test_nothing_is_checked_out(repository: Path) -> None:
    (repository / "pkg/a.py").write_text("x = 3\n")
    before = git(repository, "status", "--porcelain"), (repository / ".git/index").read_bytes()
    with Revisions.around(repository) as revisions:
        revisions.unpack(revisions.commit("HEAD~1"))
        revisions.unpack(INDEX)
    assert (git(repository, "status", "--porcelain"), (repository / ".git/index").read_bytes()) == before


def test_the_index_is_what_is_staged(repository: Path) -> None:
    (repository / "pkg/a.py").write_text("x = 'staged'\n")
    git(repository, "add", ".")
    git(repository, "rm", "-q", "pkg/b.py")
    (repository / "pkg/a.py").write_text("x = 'not staged'\n")
    (repository / "pkg/untracked.py").write_text("z = 1\n")
    with Revisions.around(repository) as revisions:
        assert files(revisions.unpack(INDEX)) == {
            "pkg/__init__.py": "", "pkg/a.py": "x = 'staged'\n", "pyproject.toml": "",
        }  # fmt: skip


def test_the_index_of_the_commit_that_is_being_made(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git commit FILE` makes an index of its own and tells hooks where it is."""
    other = repository / ".git/other-index"
    other.write_bytes((repository / ".git/index").read_bytes())
    (repository / "pkg/a.py").write_text("x = 'of the commit'\n")
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    git(repository, "add", "pkg/a.py")
    with Revisions.around(repository) as revisions:
        assert files(revisions.unpack(INDEX))["pkg/a.py"] == "x = 'of the commit'\n"
    monkeypatch.delenv("GIT_INDEX_FILE")
    with Revisions.around(repository) as revisions:
        assert files(revisions.unpack(INDEX))["pkg/a.py"] == "x = 2\n"


def test_a_conflict_is_left_out_of_the_index(repository: Path) -> None:
    git(repository, "checkout", "-qb", "other", "HEAD~1")
    (repository / "pkg/a.py").write_text("x = 9\n")
    git(repository, "commit", "-qam", "three")
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "-q", "main")
    with Revisions.around(repository) as revisions:
        assert "pkg/a.py" not in files(revisions.unpack(INDEX))


def test_merge_base(repository: Path) -> None:
    with Revisions.around(repository) as revisions:
        one, two = revisions.commit("HEAD~1"), revisions.commit("HEAD")
        assert revisions.head() == two
        assert revisions.merge_base(one, two) == one
        git(repository, "checkout", "-q", "--orphan", "alone")
        git(repository, "commit", "-qm", "alone")
        assert revisions.merge_base(one, revisions.commit("alone")) is None


def test_same_python(repository: Path) -> None:
    with Revisions.around(repository) as revisions:
        one, two = revisions.commit("HEAD~1"), revisions.commit("HEAD")
        assert revisions.same_python(two, INDEX)
        assert not revisions.same_python(one, INDEX)
        assert not revisions.same_python(None, INDEX)
    (repository / "data.bin").write_text("changed")
    git(repository, "add", ".")
    with Revisions.around(repository) as revisions:
        assert revisions.same_python(two, INDEX)
        git(repository, "rm", "-q", "pkg/b.py")
        assert revisions.same_python(two, INDEX), "what was listed once holds for the run"
    with Revisions.around(repository) as revisions:
        assert not revisions.same_python(two, INDEX)


@pytest.mark.parametrize("name", ["nowhere", "--help", "-x", "HEAD~7", "", "HEAD:pkg", "a\nb"])
def test_what_is_no_commit_is_refused(repository: Path, name: str) -> None:
    revisions = Revisions.around(repository)
    with pytest.raises(UnknownRevision, match="is no commit of"):
        revisions.commit(name)


def test_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UnknownRevision, match="in no git repository"):
        Revisions.around(tmp_path)


def test_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with Revisions.around(tmp_path) as revisions:
        assert revisions.head() is None
        assert files(revisions.unpack(INDEX)) == {}


def test_links_stay_links_and_lead_nowhere_else(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret = 1\n")
    (repository / "inside.py").symlink_to("pkg/a.py")
    (repository / "outside.py").symlink_to(tmp_path / "secret.py")
    git(repository, "add", ".")
    with Revisions.around(repository) as revisions:
        tree = open_tree([revisions.unpack(INDEX)])
        assert "inside.py" in tree.files
        assert "outside.py" not in tree.files
        assert [problem.path for problem in tree.problems] == ["outside.py"]


def tree_of(repository: Path, *rows: str) -> str:
    """A tree as no git would write it."""
    return git(repository, "mktree", "--missing", stdin="".join(f"{row}\n" for row in rows).encode())


def test_a_hostile_tree_writes_nothing_outside(repository: Path, tmp_path: Path) -> None:
    """A link to a folder, and a file below it."""
    (tmp_path / "outside").mkdir()
    blob = git(repository, "hash-object", "-w", "--stdin", stdin=b"x = 1\n")
    link = git(repository, "hash-object", "-w", "--stdin", stdin=os.fsencode(tmp_path / "outside"))
    below = tree_of(repository, f"100644 blob {blob}\tm.py", f"120000 blob {link}\tl.py")
    odd = tree_of(repository, f"120000 blob {link}\ta.py", f"040000 tree {below}\ta.py")
    commit = git(repository, "commit-tree", odd, "-m", "odd")
    with Revisions.around(repository) as revisions:
        with suppress(UnknownRevision):
            revisions.unpack(commit)
        assert list((tmp_path / "outside").iterdir()) == []


def test_an_object_that_is_not_there(repository: Path) -> None:
    odd = tree_of(repository, f"100644 blob {'1' * 40}\tm.py")
    commit = git(repository, "commit-tree", odd, "-m", "odd")
    with Revisions.around(repository) as revisions, pytest.raises(UnknownRevision, match="has no object 1111"):
        revisions.unpack(commit)


def test_one_file_of_a_revision_and_its_diff(repository: Path) -> None:
    revisions = Revisions.around(repository)
    assert revisions.text("HEAD~1", "pkg/a.py") == "x = 1\n"
    assert revisions.text("HEAD~1", "pkg/b.py") is None
    patch = revisions.patch("HEAD~1", "HEAD", "pkg/a.py")
    assert patch is not None
    assert patch.endswith("@@ -1 +1 @@\n-x = 1\n+x = 2\n")
    assert revisions.patch("HEAD~1", "HEAD", "data.bin") is None
    assert revisions.patch("HEAD~1", "HEAD", "a\0b") is None
    assert revisions.patch("0" * 40, "HEAD", "pkg/a.py") is None


def test_a_diff_runs_nothing_that_the_repository_names(repository: Path, tmp_path: Path) -> None:
    """Neither an external diff nor a text conversion, both of which are programs."""
    git(repository, "config", "diff.external", f"touch {tmp_path / 'ran'}; :")
    git(repository, "config", "diff.python.textconv", f"touch {tmp_path / 'ran'}; cat")
    (repository / ".git/info/attributes").write_text("*.py diff=python\n")
    assert "+x = 2" in str(Revisions.around(repository).patch("HEAD~1", "HEAD", "pkg/a.py"))
    assert not (tmp_path / "ran").exists()


# ---------------------------------------------------------------- before it is unpacked


def test_a_snapshot_lists_the_files_of_the_unpacked_tree(repository: Path) -> None:
    with Revisions.around(repository) as revisions:
        one = revisions.snapshot("HEAD", Path(), "")
        assert one is not None
        tree = open_tree([revisions.unpack("HEAD")])
        assert set(tree.files) <= set(one.files)
        assert one.blobs()[tree.files[0]] == git(repository, "rev-parse", f"HEAD:{tree.files[0]}").strip()
        assert one.contents(tree.files) == {path: tree.read(path) for path in tree.files}
        path = tree.files[0]
        assert one.lines(path) == tree.lines(path)


def test_an_outline_has_the_shape_of_the_unpacked_tree(repository: Path) -> None:
    """Without anything in its files."""
    with Revisions.around(repository) as revisions:
        outlined, unpacked = revisions.outline("HEAD"), revisions.unpack("HEAD")
        assert open_tree([outlined]).shape() == open_tree([unpacked]).shape()
        assert open_tree([outlined / "pkg"]).shape() == open_tree([unpacked / "pkg"]).shape()
        assert not any(file.read_bytes() for file in outlined.rglob("*") if file.is_file())


def test_names_are_below_the_folder_that_is_audited(repository: Path) -> None:
    with Revisions.around(repository) as revisions:
        one = revisions.snapshot("HEAD", Path("pkg"), "")
        assert one is not None
        assert "b.py" in one.files
        assert not [name for name in one.files if name.startswith("pkg/")]


def test_the_listing_depends_on_files_and_frame_and_not_on_contents(repository: Path) -> None:
    def listing(frame: str = "", below: str = "") -> str:
        with Revisions.around(repository) as revisions:
            one = revisions.snapshot(INDEX, Path(below), frame)
            assert one is not None
            return one.listing()

    before = listing()
    assert listing("other") != before
    assert listing(below="pkg") != before
    (repository / "pkg" / "b.py").write_text("changed = 1\n")
    git(repository, "add", ".")
    assert listing() == before
    (repository / "pkg" / "new.py").write_text("")
    git(repository, "add", ".")
    assert listing() != before


def test_a_tree_with_links_has_no_snapshot(repository: Path) -> None:
    """A link makes one blob the content of two files."""
    (repository / "pkg" / "linked.py").symlink_to("b.py")
    git(repository, "add", ".")
    with Revisions.around(repository) as revisions:
        assert revisions.snapshot(INDEX, Path(), "") is None
