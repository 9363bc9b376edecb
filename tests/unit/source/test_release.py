"""Releases: validated, downloaded without running anything, unpacked safely, kept whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from auditor.errors import AuditError, ReleaseUnavailable, UsageError
from auditor.source import fetch_release, release, release_folder

NONE_FOUND = "ERROR: No matching distribution found for x"
NO_MATCH = f"ERROR: Could not find a version that satisfies the requirement x (from versions: 1.0)\n{NONE_FOUND}"
OFFLINE = (
    "WARNING: Retrying after connection broken by 'NewConnectionError'\n"
    f"ERROR: Could not find a version that satisfies the requirement x (from versions: none)\n{NONE_FOUND}"
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("BUFGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BUFGATE_CORPORA", str(tmp_path / "corpora"))


class FakePip:
    """Stands for pip: gives the outcomes in turn; a mapping is a wheel, a text is what it says when it fails."""

    def __init__(self, monkeypatch, *outcomes):
        self.calls, self.outcomes = [], list(outcomes)
        monkeypatch.setattr(release, "_run_pip", self)

    def __call__(self, arguments, folder):
        self.calls.append(arguments)
        outcome = self.outcomes.pop(0)
        if callable(outcome):
            outcome = outcome(folder)
        if isinstance(outcome, str):
            return subprocess.CompletedProcess(arguments, 1, "", outcome)
        with zipfile.ZipFile(folder / "x-1.0-py3-none-any.whl", "w") as archive:
            for member, data in outcome.items():
                archive.writestr(member, data)
        return subprocess.CompletedProcess(arguments, 0, "", "")


@pytest.mark.parametrize(
    "requirement",
    ["", "x", "x==", "==1", "-x==1", "--index-url==1", "x==1 --pre", "x==1;y", "x==1,<2", "x===1", "x>=1", "x[y]==1",
     "x==1.*", "x==../../etc", "x==1/..", "../x==1", "x==1\n", "x @ file:///x==1", "x==1.0 ", "é==1", "x==१"],
)  # fmt: skip
def test_only_name_and_version_is_a_release(monkeypatch, requirement):
    pip = FakePip(monkeypatch)
    with pytest.raises(UsageError, match="NAME==VERSION"):
        fetch_release(requirement)
    assert pip.calls == []


@pytest.mark.parametrize(
    "version", ["0.5.23", "0.5.10.post1", "1!2.0", "1.0rc1", "1.0.dev3", "0.18.0rc1", "1.0+cu118", "v1.0"]
)
def test_versions_of_pep_440_are_taken(monkeypatch, version):
    FakePip(monkeypatch, {"x/a.py": "x"})
    assert fetch_release(f"x=={version}").name == f"x-{version}"


def test_only_sources_are_kept(monkeypatch, tmp_path):
    pip = FakePip(
        monkeypatch, {"x/__init__.py": "one\n", "x/_c.so": "no", "x-1.0.dist-info/METADATA": "no", "x/d/y.py": "two\n"}
    )
    folder = fetch_release("x==1.0")
    assert folder == tmp_path / "cache/releases/x-1.0"
    assert {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()} == {
        "x/__init__.py": "one\n",
        "x/d/y.py": "two\n",
    }
    arguments = pip.calls[0]
    assert arguments[:3] == ["download", "--no-deps", "--only-binary=:all:"]
    assert arguments[-2:] == ["--", "x==1.0"]
    assert fetch_release("x==1.0") == release_folder("x==1.0") == folder
    assert len(pip.calls) == 1, "the second time nothing is fetched"
    assert [p.name for p in folder.parent.iterdir()] == ["x-1.0"], "no scratch folder stays"


def test_pip_runs_in_a_folder_of_ours(monkeypatch, tmp_path):
    (tmp_path / "pip.py").write_text("raise SystemExit('the audited tree was run')\n")
    monkeypatch.chdir(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = release._run_pip(["--version"], scratch)
    assert done.stdout.startswith("pip "), done.stderr


def test_the_cache_is_marked_as_one(monkeypatch, tmp_path):
    FakePip(monkeypatch, {"x/a.py": "x"})
    fetch_release("x==1.0")
    assert (tmp_path / "cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert (tmp_path / "cache/.gitignore").read_text() == "*\n"


def test_where_the_cache_lies(tmp_path, monkeypatch):
    assert release.cache_home({"BUFGATE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert release.cache_home({"XDG_CACHE_HOME": "/b"}) == Path("/b/bufgate")
    assert release.cache_home({}) == Path.home() / ".cache/bufgate"
    FakePip(monkeypatch, {"x/a.py": "x"})
    assert fetch_release("x==1.0", cache=tmp_path / "own") == tmp_path / "own/releases/x-1.0"


def test_a_release_among_the_corpora_is_used_as_it_is(monkeypatch, tmp_path):
    pip = FakePip(monkeypatch)
    known = tmp_path / "corpora/Some_Name-1.0"
    known.mkdir(parents=True)
    assert fetch_release("Some_Name==1.0") == known
    assert release_folder("other==1.0") is None
    assert pip.calls == []
    assert not (tmp_path / "cache").exists()


def test_hostile_members_are_left_out(monkeypatch, tmp_path):
    link = zipfile.ZipInfo("x/link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    members = {
        "x/a.py": "ok",
        "../up.py": "no",
        "/abs.py": "no",
        "x/../../up.py": "no",
        "x\\..\\..\\w.py": "no",
        "C:/w.py": "no",
        link: "/etc/passwd",
    }
    FakePip(monkeypatch, members)
    folder = fetch_release("x==1.0")
    assert [str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir()] == ["x/a.py"]
    assert not list(tmp_path.rglob("up.py"))


@pytest.mark.parametrize(
    ("limit", "words"), [("MEMBER_LIMIT", "a source of 6 bytes"), ("TOTAL_LIMIT", "more than 5 bytes")]
)
def test_a_wheel_made_to_fill_the_disk_is_refused(monkeypatch, limit, words):
    monkeypatch.setattr(release, limit, 5)
    FakePip(monkeypatch, {"x/a.py": "123456"})
    with pytest.raises(ReleaseUnavailable, match=words):
        fetch_release("x==1.0")
    assert release_folder("x==1.0") is None


def test_a_wheel_of_folders_in_folders_is_refused(monkeypatch):
    FakePip(monkeypatch, {"d/" * 1500 + "a.py": "x"})
    with pytest.raises(ReleaseUnavailable, match="folders deep"):
        fetch_release("x==1.0")


def test_a_wheel_without_sources_or_with_damage_is_an_error(monkeypatch):
    FakePip(monkeypatch, {"x/a.so": "x"}, {"x/a.py": "x", "x/a.py/b.py": "y"})
    with pytest.raises(ReleaseUnavailable, match="holds no Python sources"):
        fetch_release("x==1.0")
    with pytest.raises(AuditError):
        fetch_release("x==1.0")

    def damaged(folder):
        (folder / "x-1.0.whl").write_bytes(b"PK no zip")
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(release, "_run_pip", lambda arguments, folder: damaged(folder))
    with pytest.raises(ReleaseUnavailable, match="is damaged"):
        fetch_release("x==1.0")
    assert release_folder("x==1.0") is None


def test_wheels_for_another_platform_or_python_are_tried(monkeypatch):
    pip = FakePip(monkeypatch, NO_MATCH, NO_MATCH, {"x/a.py": "x"})
    fetch_release("x==1.0")
    first, second, third = pip.calls
    assert not any(argument.startswith("--platform") for argument in first)
    assert {"--platform=manylinux2014_x86_64", "--platform=manylinux_2_28_aarch64", "--python-version=3.12"} <= {
        *second
    }
    assert "--python-version=3.11" in third
    assert all(
        "--only-binary=:all:" in call and not any("no-binary" in argument for argument in call) for call in pip.calls
    )


def test_a_version_that_does_not_exist_is_an_error_with_the_last_line_of_pip(monkeypatch):
    FakePip(monkeypatch, *[NO_MATCH] * 5)
    with pytest.raises(ReleaseUnavailable, match=r"cannot fetch x 9: No matching distribution found for x\. .*path"):
        fetch_release("x==9")


@pytest.mark.parametrize(
    "said", [OFFLINE, "/usr/bin/python: No module named pip", "ERROR: [Errno 28] No space left on device", ""]
)
def test_what_no_other_platform_mends_is_tried_once(monkeypatch, said):
    pip = FakePip(monkeypatch, said)
    with pytest.raises(ReleaseUnavailable, match="give the path") as raised:
        fetch_release("x==1.0")
    assert len(pip.calls) == 1
    assert ("the package index could not be reached" in str(raised.value)) is (said is OFFLINE)


def test_a_run_that_another_one_overtakes_uses_its_result(monkeypatch, tmp_path):
    final = tmp_path / "cache/releases/x-1.0"

    def overtaken(folder):
        (final / "x").mkdir(parents=True)
        (final / "x/a.py").write_text("theirs")
        return {"x/a.py": "ours"}

    FakePip(monkeypatch, overtaken)
    assert fetch_release("x==1.0") == final
    assert (final / "x/a.py").read_text() == "theirs"
    assert [p.name for p in final.parent.iterdir()] == ["x-1.0"]


def test_a_killed_run_leaves_no_half_release_and_is_swept_up_later(monkeypatch, tmp_path):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(release, "_write_member", killed)
    FakePip(monkeypatch, {"x/a.py": "x"})
    with pytest.raises(KeyboardInterrupt):
        fetch_release("x==1.0")
    assert release_folder("x==1.0") is None
    monkeypatch.undo()

    left, fresh = tmp_path / "cache/releases/.fetch-dead", tmp_path / "cache/releases/.fetch-busy"
    left.mkdir()
    fresh.mkdir()
    os.utime(left, (time.time() - 1e6,) * 2)
    FakePip(monkeypatch, {"x/a.py": "x"})
    fetch_release("x==1.0", cache=tmp_path / "cache")
    assert (left.exists(), fresh.exists()) == (False, True)


def test_a_full_disk_is_an_error_that_says_what_to_do(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release, "_write_member", full)
    FakePip(monkeypatch, {"x/a.py": "x"})
    with pytest.raises(ReleaseUnavailable, match=r"no space left on device\. Make room or set BUFGATE_CACHE"):
        fetch_release("x==1.0")
    assert release_folder("x==1.0") is None


def test_a_cache_that_cannot_be_written_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BUFGATE_CACHE", str(tmp_path / "file/cache"))
    FakePip(monkeypatch)
    with pytest.raises(ReleaseUnavailable, match="BUFGATE_CACHE"):
        fetch_release("x==1.0")


@pytest.mark.network
def test_a_real_release_is_fetched():
    try:
        folder = fetch_release("iniconfig==2.0.0")
    except ReleaseUnavailable as error:
        pytest.skip(str(error))
    assert (folder / "iniconfig/__init__.py").is_file()
    assert {p.suffix for p in folder.rglob("*") if p.is_file()} == {".py"}
