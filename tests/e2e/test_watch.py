"""``check --watch``: a run after each change, and nothing else until Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from tests.e2e.process import ENGINE, LIMIT, ROOT, command, environment, run
from tests.e2e.repository import WAIT


@pytest.fixture
def engine(tmp_path):
    return shutil.copytree(ENGINE, tmp_path / "engine")


def told(process):
    """The next line of the watcher, after what its run had to say."""
    for line in process.stderr:
        if "waiting for a change" in line:
            return line
    raise AssertionError(f"it has ended: {process.wait(timeout=LIMIT)}")


def ungated(report):
    return json.loads(report.read_text())["stats"]["verdicts"]["ungated"]


def test_a_change_is_followed_by_a_run(engine, tmp_path):
    """Of a file, of a new file; Ctrl-C ends it without a traceback."""
    file, router = tmp_path / "r.json", engine / "minikv" / "router.py"
    words = ("check", engine, "--watch", "--jobs", "1", "--no-cache", "-o", f"json:{file}")
    process = subprocess.Popen(
        command(*words), cwd=tmp_path, env=environment(), encoding="utf-8", stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert told(process) == "bufgate: exit status 1; waiting for a change, Ctrl-C ends\n"
        before = ungated(file)
        router.write_text(router.read_text().replace(WAIT, ""))
        told(process)
        assert ungated(file) > before
        (engine / "minikv" / "broken.py").write_text("def get_key_buffer(:\n")
        assert told(process).startswith("bufgate: exit status 2;")
    finally:
        os.killpg(process.pid, signal.SIGINT)
    rest = process.communicate(timeout=LIMIT)[1]
    assert (process.returncode, "Traceback" in rest) == (130, False)


@pytest.mark.parametrize("word", ["--hook", "--release=sglang==0.5.23"])
def test_what_does_not_change_is_not_watched(engine, word):
    done = run("check", "--watch", word, cwd=engine)
    assert done.exit == 2
    assert "--watch waits for changes of your files" in done.stderr


def test_the_task_of_the_documentation_reads_what_is_written(engine):
    """Its problem matcher takes every finding from the workflow commands, and knows when a run begins and ends."""
    text = (ROOT / "docs" / "daily-use.md").read_text(encoding="utf-8")
    (task,) = json.loads(text.split("```json\n")[1].split("```")[0])["tasks"]
    matcher = task["problemMatcher"]
    pattern = re.compile(matcher["pattern"].pop("regexp"))
    lines = run("check", engine, "-o", "github").stdout.splitlines()
    commands = [line for line in lines if line.startswith("::") and "file=" in line]
    matches = [match for match in map(pattern.match, commands) if match]
    found = [{name: match[group] for name, group in matcher["pattern"].items()} for match in matches]
    report = run("check", engine, "-o", "json").report["findings"]
    assert sorted((one["file"], int(one["line"]), one["code"]) for one in found) == sorted(
        (one["path"], one["line"], one["check"]) for one in report
    )
    source = (ROOT / "auditor" / "interfaces" / "watch.py").read_text(encoding="utf-8")
    for name in ("beginsPattern", "endsPattern"):
        told = re.findall(r'say\(f?"(.*)"\)', source)
        assert any(re.search(matcher["background"][name], line.replace("{status}", "1")) for line in told)
