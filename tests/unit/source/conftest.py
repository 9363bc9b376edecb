"""Small trees on disk."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Plant = Callable[..., Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Write files below a fresh folder and return it."""

    def write(*names: str, root: str = "tree") -> Path:
        top = tmp_path / root
        for name in names:
            file = top / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x = 1\n")
        return top

    return write


@pytest.fixture
def git() -> Callable[..., None]:
    """Run git in a folder with an identity of its own."""

    def run(folder: Path, *arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "protocol.file.allow=always"]
        subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True)

    return run
