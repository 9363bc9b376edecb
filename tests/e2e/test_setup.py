"""``init`` and ``completion``, and how verbs end that are disturbed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.e2e.process import LIMIT, command, environment, run
from tests.e2e.repository import WAIT, Repository

ALL = [".github/workflows/bufgate.yml", ".pre-commit-config.yaml", "bufgate.toml"]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


def made(top: Path) -> list[str]:
    return [name for name in ALL if (top / name).exists()]


# ---------------------------------------------------------------- init


def test_init_shows_and_writes_nothing(repository):
    done = run("init", cwd=repository.top)
    assert done.exit == 0
    assert all(f"{name} (new)" in done.stdout for name in ALL)
    assert made(repository.top) == []


def test_init_writes_what_it_showed(repository):
    preview = run("init", cwd=repository.top).stdout
    done = run("init", "--write", cwd=repository.top)
    assert made(repository.top) == ALL
    for name in ALL:
        text = (repository.top / name).read_text()
        shown = "".join(f"    {line}\n" for line in text.split("\n")[:-1])
        assert f"{name} (new)\n{shown}" in preview
        assert f"{name} (written)\n{shown}" in done.stdout


def test_what_it_wrote_is_understood(repository):
    run("init", "--write", cwd=repository.top)
    assert tomllib.loads((repository.top / "bufgate.toml").read_text())["fail-on"] == "error"
    assert "# bufgate.toml:2" in run("config", "show", cwd=repository.top).stdout
    program = Path(sys.executable).with_name("pre-commit")
    done = subprocess.run([program, "validate-config"], cwd=repository.top, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    workflow = yaml.safe_load((repository.top / ".github/workflows/bufgate.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["check"]["steps"]
    assert not [step for step in steps if "${{" in step.get("run", "")], "an expression in a script can be injected"


def test_init_replaces_nothing(repository):
    """Neither a configuration in pyproject.toml nor hooks nor a workflow."""
    repository.write("pyproject.toml", "[tool.bufgate]\n")
    repository.write(".pre-commit-config.yaml", "repos: []\n")
    repository.write(".github/workflows/bufgate.yml", "name: mine\n")
    done = run("init", "--write", cwd=repository.top)
    assert "pyproject.toml (left as it is: it is the configuration)" in done.stdout
    assert ".pre-commit-config.yaml (left as it is: add this to its repos)\n    - repo: local" in done.stdout
    assert done.stdout.endswith("Everything is there.\n")
    assert not (repository.top / "bufgate.toml").exists()
    assert (repository.top / ".pre-commit-config.yaml").read_text() == "repos: []\n"


def test_init_twice(repository):
    run("init", "--write", cwd=repository.top)
    done = run("init", "--write", cwd=repository.top)
    assert "it has the hook" in done.stdout
    assert done.stdout.endswith("Everything is there.\n")


def test_init_goes_to_the_top_of_the_repository(repository):
    run("init", "--write", cwd=repository.top / "engine")
    assert made(repository.top) == ALL


# ---------------------------------------------------------------- completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(tmp_path, shell):
    done = run("completion", shell, cwd=tmp_path)
    assert done.exit == 0
    assert "_BUFGATE_COMPLETE" in done.stdout
    if program := shutil.which(shell):
        checked = subprocess.run([program, "-n"], input=done.stdout, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("bufgate ch", "check"),
        ("bufgate check --fail-on wa", "warning"),
        ("bufgate check -o sa", "sarif"),
        ("bufgate explain disa", "disarmed-gate"),
        ("bufgate fix --check byp", "bypassed-owner"),
    ],
)
def test_completion_offers_what_there_is(tmp_path, words, offered):
    """As a shell asks: verbs, options and the values of closed lists."""
    asking = {"_BUFGATE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "auditor"],
        env=environment() | asking, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=LIMIT, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"plain,{offered}\n", "")


def test_completion_knows_its_shells(tmp_path):
    assert run("completion", "tcsh", cwd=tmp_path).exit == 2


@pytest.mark.parametrize(
    ("words", "offered"),
    [("bufgate bas", "baseline"), ("bufgate baseline pr", "prune"), ("bufgate check --si", "--since")],
)
def test_verbs_and_options_are_completed(tmp_path, words, offered):
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_BUFGATE_COMPLETE": "bash_complete"}
    program = Path(sys.executable).with_name("bufgate")
    done = subprocess.run(
        [program], env={**environment(), **variables}, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert offered in done.stdout


# ---------------------------------------------------------------- disturbed


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "noop-gate"),
        ("config", "schema"),
        ("rules", "show", "sglang"),
        ("baseline", "show"),
        ("diff", "HEAD", "."),
        ("history", "HEAD"),
        ("completion", "bash"),
    ],
    ids=" ".join,
)
def test_a_reader_that_is_gone(repository, arguments):
    run("baseline", "write", cwd=repository.top)
    process = subprocess.Popen(
        command(*arguments), cwd=repository.top, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, told = process.communicate(timeout=LIMIT)
    assert (process.returncode, told) == (141, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--since", "HEAD"),
        ("check", "--hook"),
        ("baseline", "update"),
        ("diff", "HEAD", "."),
        ("history", "HEAD"),
    ],
    ids=" ".join,
)
def test_ctrl_c_leaves_nothing_behind(repository, tmp_path, arguments):
    """No folder of an unpacked revision, no process, and the old baseline."""
    run("baseline", "write", cwd=repository.top)
    before = (repository.top / "bufgate-baseline.json").read_bytes()
    repository.edit("router.py", WAIT, "")
    repository.stage()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        command(*arguments, "--no-cache", disturb="slow:"),
        cwd=repository.top,
        env={**environment(), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "reading\n"
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    stdout, told = process.communicate(timeout=LIMIT)
    assert (process.returncode, stdout) == (130, "")
    assert "Traceback" not in told
    assert os.listdir(scratch) == []
    assert (repository.top / "bufgate-baseline.json").read_bytes() == before
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


COLOURS = [({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({}, False)]


@pytest.mark.parametrize("arguments", [("diff", "HEAD", "."), ("history", "HEAD"), ("explain", "noop-gate")])
@pytest.mark.parametrize(("variables", "painted"), COLOURS)
def test_no_colour_where_it_is_not_wanted(repository, arguments, variables, painted):
    repository.edit("router.py", WAIT, "")
    done = subprocess.run(
        command(*arguments),
        cwd=repository.top,
        env={**environment(), **variables},
        capture_output=True,
        check=False,
    )
    assert (b"\x1b[" in done.stdout) == painted
