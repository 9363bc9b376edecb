"""The command as a user runs it, on trees built from the miniature engine, disturbed where a test asks for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
ENGINE = ROOT / "fixtures" / "engine"
LIMIT = 120


class Done(NamedTuple):
    exit: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        assert self.stdout, self.stderr
        return json.loads(self.stdout)  # type: ignore[no-any-return]

    def problems(self) -> dict[str, str]:
        """What is wrong with each path."""
        return {problem["path"]: problem["what"] for problem in self.report["problems"]}


def command(*arguments: str | bytes | Path, disturb: str = "") -> list[str | bytes]:
    words = [word if isinstance(word, bytes) else str(word) for word in arguments]
    module = "tests.e2e.disturbed" if disturb else "auditor"
    return [sys.executable, "-m", module, *([disturb] if disturb else []), *words]


def environment() -> dict[str, str]:
    """The environment of the tests, without what changes the output."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}


def run(*arguments: str | bytes | Path, disturb: str = "", cwd: Path = ROOT) -> Done:
    """Run to the end; a traceback is never right."""
    line = command(*arguments, disturb=disturb)
    done = subprocess.run(line, cwd=cwd, env=environment(), capture_output=True, timeout=LIMIT, check=False)
    stderr = done.stderr.decode("utf-8", "backslashreplace")
    assert "Traceback" not in stderr, stderr
    assert "internal error" not in stderr, stderr
    return Done(done.returncode, done.stdout.decode("utf-8"), stderr)


def check(*arguments: str | bytes | Path, disturb: str = "", cwd: Path = ROOT) -> Done:
    """Audit into JSON on stdout, without times."""
    return run("check", *arguments, "-o", "json", "--no-timing", "--jobs", "1", "--quiet", disturb=disturb, cwd=cwd)
