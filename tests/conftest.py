"""What all tests share: the golden-file fixture, real releases for corpus tests, settings of hypothesis."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing with them")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file; ``make golden`` rewrites the file instead."""

    def compare(file: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"{file.relative_to(ROOT)} does not exist: `make golden` writes it"
        assert text == file.read_text(encoding="utf-8"), f"{file.relative_to(ROOT)}: `make golden` rewrites it"

    return compare


@pytest.fixture(scope="session")
def pypi(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip unless a package can be fetched from PyPI."""
    target = tmp_path_factory.mktemp("reachable")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target), "click"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("PyPI cannot be reached")
