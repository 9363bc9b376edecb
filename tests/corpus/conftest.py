"""Corpus tests: one audit per release and session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.corpus.audits import Audit, audit_release


@pytest.fixture(scope="session")
def audit(release: Callable[[str], Path]) -> Callable[[str], Audit]:
    """Give the audit of ``sglang==VERSION``; skip where the release cannot be had."""
    done: dict[str, Audit] = {}

    def of(version: str) -> Audit:
        requirement = f"sglang=={version}"
        release(requirement)
        if version not in done:
            done[version] = audit_release(requirement)
        return done[version]

    return of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of one release go to one worker, so that none is audited twice."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if item.get_closest_marker("corpus") and callspec and "version" in callspec.params:
            item.add_marker(pytest.mark.xdist_group(f"sglang=={callspec.params['version']}"))
