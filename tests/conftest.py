"""What all tests share: the golden-file fixture, real releases for corpus tests, settings of hypothesis."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from auditor.errors import ReleaseUnavailable
from auditor.source import fetch_release

ROOT = Path(__file__).resolve().parent.parent

os.environ.pop("COLUMNS", None)  # reports are wrapped at it; readline, which pytest loads, sets it for workers

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing with them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --update-golden, run the tests that have golden files and no others."""
    if config.getoption("--update-golden"):
        items[:] = [item for item in items if "golden" in getattr(item, "fixturenames", ())]


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def no_cache_of_the_user(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _own_cache: Path) -> None:
    """Keep tests out of the cache of whoever runs them; only those on real releases want it."""
    if not request.node.get_closest_marker("corpus"):
        monkeypatch.setenv("BUFGATE_CACHE", str(_own_cache))


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
def pypi() -> None:
    """Skip unless PyPI can be reached."""
    if not reachable():
        pytest.skip("PyPI cannot be reached")


@pytest.fixture(scope="session")
def release() -> Callable[[str], Path]:
    """Give the folder with the sources of ``NAME==VERSION``; skip if it was never fetched and PyPI cannot be reached.

    A release that cannot be fetched although PyPI answers is a failure, not a skip.
    """

    def folder(requirement: str) -> Path:
        try:
            return fetch_release(requirement)
        except ReleaseUnavailable:
            if reachable():
                raise
            pytest.skip(f"{requirement} is not in the cache and PyPI cannot be reached")

    return folder


@functools.cache
def reachable() -> bool:
    """Tell whether a small package can be fetched from PyPI."""
    options = ["-q", "--no-deps", "--no-cache-dir", "--retries=1", "--timeout=20"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", *options, "-d", folder, "click"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
