"""Gates taken out of a real release, one at a time: what that opens is flagged, and nothing else changes.

In CI the pools of an old release and a few of their readers, with the mutant of each kind that opens most; ``make
long`` takes the whole release. ``make mutants`` does it to the newest release and prints a table. How
the readers that a mutant opens are known without an audit of it, ``tests/mutants/reference.py`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.kinds import KINDS
from tests.mutants.trial import Trial

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("mutants")]
RELEASE = "sglang==0.5.9"
BACKENDS = "sglang/srt/layers/attention"
PARTS = (
    "sglang/srt/mem_cache",
    "sglang/srt/model_executor",
    "sglang/srt/managers/cache_controller.py",
    *(f"{BACKENDS}/{name}_backend.py" for name in ("base_attn", "torch_native", "triton")),
)


def hold(trial: Trial, kind: str, count: int) -> None:
    """Try the mutants of a kind that open most."""
    opened = {one: trial.opened(one) for one in trial.mutants() if one.kind == kind}
    assert opened
    for one in sorted(opened, key=lambda one: -len(opened[one].readers))[:count]:
        row = trial.row(one, opened[one])
        assert row.caught, row.told()
        assert not row.others, row.told()


@pytest.fixture(scope="module")
def pools(release: Callable[[str], Path]) -> Trial:
    return Trial(release(RELEASE), PARTS)


@pytest.fixture(scope="module")
def whole(release: Callable[[str], Path]) -> Trial:
    return Trial(release(RELEASE))


@pytest.mark.parametrize("kind", KINDS)
def test_the_pools_with_a_few_readers(pools, kind):
    hold(pools, kind, 1)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_release(whole, kind):
    hold(whole, kind, 1)
