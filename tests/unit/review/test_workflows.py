"""The action and the workflows that we ship: valid, pinned, with no right too many, and the action's script runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor import __version__

ROOT = Path(__file__).parents[3]
WORKFLOWS = ROOT / "docs" / "workflows"
COLLECT, PUBLISH, GITLAB = (
    WORKFLOWS / name for name in ("bufgate-collect.yml", "bufgate-publish.yml", "gitlab-ci.yml")
)
ACTION = ROOT / "action.yml"


def program(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name(name)), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("file", "schema"),
    [(COLLECT, "github-workflows"), (PUBLISH, "github-workflows"), (ACTION, "github-actions"), (GITLAB, "gitlab-ci")],
    ids=lambda value: getattr(value, "name", value),
)
def test_files_are_what_the_hosts_take(file: Path, schema: str) -> None:
    done = program("check-jsonschema", "--builtin-schema", f"vendor.{schema}", file)
    assert done.returncode == 0, done.stdout


def test_zizmor_finds_nothing_but_the_trigger_that_is_explained() -> None:
    done = program("zizmor", "--offline", "--no-progress", "--color", "never", ACTION, COLLECT, PUBLISH)
    assert done.returncode == 0, done.stdout
    assert "1 ignored" in done.stdout + done.stderr


def test_every_action_is_pinned_to_a_commit() -> None:
    used = re.findall(r"uses: (\S+)", COLLECT.read_text() + PUBLISH.read_text())
    assert len(used) == 5
    assert [one for one in used if not re.search(r"@[0-9a-f]{40}$", one)] == []


def test_rights() -> None:
    """The workflow that reads the branch may not write; the one that may write does not read the branch."""
    (collect,) = loaded(COLLECT)["jobs"].values()
    (publish,) = loaded(PUBLISH)["jobs"].values()
    assert collect["permissions"] == {"contents": "read"}
    assert set(publish["permissions"].values()) == {"read", "write"}
    assert publish["permissions"]["contents"] == "read"
    assert not [step for step in publish["steps"] if "checkout" in step.get("uses", "")]
    assert [loaded(file)["permissions"] for file in (COLLECT, PUBLISH)] == [{}, {}]


def test_publish_follows_collect() -> None:
    document = loaded(PUBLISH)
    trigger: Any = document[True]  # the key `on`, as YAML 1.1 reads it
    assert trigger["workflow_run"]["workflows"] == [loaded(COLLECT)["name"]]
    artifacts = [
        step["with"]["name"]
        for file in (COLLECT, PUBLISH)
        for job in loaded(file)["jobs"].values()
        for step in job["steps"]
        if "artifact" in step.get("uses", "")
    ]
    assert artifacts == ["bufgate-review", "bufgate-review"]


def test_gitlab_installs_this_version() -> None:
    assert f'"bufgate=={__version__}"' in GITLAB.read_text()


@pytest.mark.parametrize(
    ("given", "line", "token"),
    [
        ({}, ["review"], "t0ken"),
        ({"STAGE": "collect", "AUDITED": "a b"}, ["review", "collect", "--output", "a.json", "--path", "a b"], ""),
        (
            {"STAGE": "publish", "AUDITED": "x", "FAIL_ON": "warning", "MIN_CONFIDENCE": "low"},
            ["review", "publish", "--artifact", "a.json", "--fail-on", "warning", "--min-confidence", "low"],
            "t0ken",
        ),
    ],
)
def test_the_script_of_the_action(tmp_path: Path, given: dict[str, str], line: list[str], token: str) -> None:
    """Collect gets no token at all."""
    done = scripted(tmp_path, given)
    assert done.stdout.split("\n")[:-1] == [*line, f"token={token}"]


def test_the_script_refuses_a_stage_that_is_none(tmp_path: Path) -> None:
    done = scripted(tmp_path, {"STAGE": "$(touch x)"})
    assert (done.returncode, done.stdout[:7]) == (2, "::error")


def scripted(folder: Path, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program = folder / "bufgate/bin/bufgate"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "token=$GITHUB_TOKEN"\n')
    program.chmod(0o755)
    step = loaded(ACTION)["runs"]["steps"][-1]
    names = dict.fromkeys(step["env"], "")
    environment = {**names, "STAGE": "review", "ARTIFACT": "a.json", "TOKEN": "t0ken", **given}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command,
        env={"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def loaded(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))
