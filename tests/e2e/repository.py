"""A git repository made of the miniature engine, for tests of what a commit introduces."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.e2e.process import ENGINE

WAIT = "        self._wait_for_layer(layer_id)\n"
"""What the accessors of the router do first."""
WAITING = "            self.layer_transfer_counter.wait_until(layer_id - self.start_layer)\n"
"""What `_wait_for_layer` of the router does."""
IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Repository:
    """The package lies in ``engine/``, as in a real repository, not at its top."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir()
        self.git("init", "-q", "-b", "main")
        for file in sorted((ENGINE / "minikv").glob("*.py")):
            self.write(f"engine/minikv/{file.name}", file.read_text(encoding="utf-8"))
        self.write("README.md", "An engine.\n")
        self.commit("The engine")

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **IDENTITY}
        return subprocess.run(
            ["git", *arguments], cwd=self.top, env=environment, capture_output=True, text=True, check=check
        )

    def write(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.top / "engine/minikv" / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def stage(self) -> None:
        self.git("add", "--all")

    def commit(self, message: str) -> None:
        self.stage()
        self.git("commit", "-q", "--no-verify", "-m", message)
