"""A copy of the miniature engine for each test, and what the audit says of it undisturbed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.process import ENGINE, Done, check


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of ``fixtures/engine`` in a folder that no git knows."""
    return copy_engine(tmp_path / "tree")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The audit of such a copy."""
    done = check(copy_engine(tmp_path_factory.mktemp("undisturbed") / "tree"))
    assert done.exit == 1, done.stderr
    assert done.report["problems"] == []
    return done


def copy_engine(target: Path) -> Path:
    shutil.copytree(ENGINE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target
