"""One answer serves the work tree, the commit that is made of it, and whoever looks at that commit later; and none that
would differ is ever given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.process import Done, run
from tests.e2e.repository import WAIT, Repository

CONFIGURATION = "[tool.bufgate]\n"
ASIDE = "engine/minikv/aside.py"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """An engine whose last commit is known, and a file in it that no audit reads; a cache of this test alone."""
    monkeypatch.setenv("BUFGATE_CACHE", str(tmp_path / "cache"))
    made = Repository(tmp_path / "repo")
    made.write(ASIDE, "x = 1\n")
    made.write("pyproject.toml", CONFIGURATION)
    made.commit("A file that nobody reads")
    checked(made)
    made.edit("router.py", WAIT, "")
    return made


def checked(repository: Repository, *more: str) -> Done:
    return _run(repository, *more)


def hooked(repository: Repository, *more: str) -> Done:
    return _run(repository, "--hook", *more)


def _run(repository: Repository, *more: str) -> Done:
    return run("check", "-o", "json", "--no-timing", "--jobs", "1", "--verbose", *more, cwd=repository.top)


def is_fresh(done: Done) -> bool:
    """Whether the tree that is judged was audited, and no answer of an earlier run given."""
    fresh = " judged " in done.stderr
    assert fresh != ("the answer of an earlier run holds" in done.stderr), done.stderr
    return fresh


def same(done: Done, other: Done) -> bool:
    """Whether two runs said the same, byte for byte."""
    return (done.exit, done.stdout) == (other.exit, other.stdout)


# ---------------------------------------------------------------- the same contents


@pytest.mark.parametrize("paths", [(), ("engine",), ("engine/minikv",)], ids=["top", "folder", "package"])
def test_a_hook_gives_the_answer_that_a_check_of_the_same_files_left(repository, paths):
    assert is_fresh(checked(repository, *paths))
    repository.stage()
    done = hooked(repository, *paths)
    assert not is_fresh(done)
    assert {one["check"] for one in done.report["findings"]} == {"disarmed-gate"}
    assert same(done, hooked(repository, *paths, "--no-cache"))


@pytest.mark.parametrize("paths", [(), ("engine",)], ids=["top", "folder"])
def test_a_check_gives_the_answer_that_a_hook_left(repository, paths):
    repository.stage()
    assert is_fresh(hooked(repository, *paths))
    done = checked(repository, *paths)
    assert not is_fresh(done)
    assert same(done, checked(repository, *paths, "--no-cache"))


def test_a_revision_is_known_by_what_a_check_said_of_the_files_that_it_has(repository):
    """Where the work parted (``--since``) was never unpacked before; the sides of ``diff`` neither."""
    repository.commit("Simplify")
    checked(repository)
    done = run("diff", "HEAD~1", "HEAD", "--jobs", "1", "--verbose", cwd=repository.top)
    assert done.exit == 1
    assert " judged " not in done.stderr
    collected = run("review", "collect", "--base", "HEAD~1", "--jobs", "1", "--verbose", cwd=repository.top)
    assert not is_fresh(collected)


def test_a_file_that_no_audit_reads_may_differ(repository):
    """As between two work trees: what it says is the same."""
    checked(repository)
    repository.stage()
    repository.write(ASIDE, "x = 2\n")
    repository.git("add", ASIDE)
    done = hooked(repository)
    assert not is_fresh(done)
    assert same(done, hooked(repository, "--no-cache"))


# ---------------------------------------------------------------- what makes a difference


def change_a_byte_after_the_check(repository: Repository) -> None:
    checked(repository)
    repository.edit("pools.py", "layer_num", "layer_nun")
    repository.stage()


def stage_one_of_two_files(repository: Repository) -> None:
    repository.edit("pools.py", "layer_num", "layer_nun")
    checked(repository)
    repository.git("add", "engine/minikv/pools.py")


def leave_a_file_out(repository: Repository) -> None:
    checked(repository)
    repository.stage()
    repository.git("rm", "-q", "--cached", "engine/minikv/attention.py")


def keep_a_file_that_is_not_staged(repository: Repository) -> None:
    """It belongs to the work tree, and not to the commit."""
    repository.write("engine/minikv/scratch.py", "x = 1\n")
    checked(repository)
    repository.git("add", "--update")


def convert_line_ends(repository: Repository) -> None:
    """The work tree has other bytes than the commit."""
    repository.write(".gitattributes", "router.py text eol=crlf\n")
    path = repository.top / "engine/minikv/router.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    checked(repository)
    repository.stage()


def have_a_package_that_git_ignores(repository: Repository) -> None:
    """Modules of the work tree have other names than those of the commit."""
    repository.write(".gitignore", "engine/__init__.py\n")
    repository.write("engine/__init__.py", "")
    checked(repository)
    repository.stage()


def change_the_roles(repository: Repository) -> None:
    checked(repository)
    repository.write("pyproject.toml", CONFIGURATION + '[tool.bufgate.roles]\ntest = ["aside.py"]\n')
    repository.stage()


@pytest.mark.parametrize(
    "change",
    [
        change_a_byte_after_the_check,
        stage_one_of_two_files,
        leave_a_file_out,
        keep_a_file_that_is_not_staged,
        convert_line_ends,
        have_a_package_that_git_ignores,
        change_the_roles,
    ],
    ids=lambda change: change.__name__,
)
def test_an_answer_is_not_given_for_other_files(repository: Repository, change: Callable[[Repository], None]) -> None:
    change(repository)
    done = hooked(repository)
    assert is_fresh(done)
    assert same(done, hooked(repository, "--no-cache"))


@pytest.mark.parametrize(
    "option", ["--no-assumptions", "--verify", "--assume=attention=latent"], ids=["assumptions", "verify", "assume"]
)
def test_an_answer_is_not_given_for_other_options(repository, option):
    checked(repository)
    repository.stage()
    done = hooked(repository, option)
    assert is_fresh(done)
    assert same(done, hooked(repository, option, "--no-cache"))
