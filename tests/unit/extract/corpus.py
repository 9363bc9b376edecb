"""Files of a real release for tests, if it has been fetched before."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path.home() / ".cache" / "bufgate-corpora" / "sglang-0.5.23"


def files(every: int, offset: int = 0) -> list[Path]:
    """Give every n-th file of the corpus; skip the test if there is none."""
    found = sorted(CORPUS.rglob("*.py"))[offset::every]
    if not found:
        pytest.skip("sglang 0.5.23 is not in the cache (shared/corpora/corpora.py fetches it)")
    return found
