"""Gates taken out of a real release, one at a time: what that opens is flagged, and nothing else changes.

``make mutants`` does it to the newest release and prints a table; how the readers that a mutant opens are known without
the audit of it, ``tests/mutants/reference.py`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.kinds import BEHIND, DELETED, DISARMED, HIGHER, LOWER
from tests.mutants.trial import Trial

pytestmark = [pytest.mark.corpus, pytest.mark.long, pytest.mark.xdist_group("mutants")]
RELEASE = "sglang==0.5.9"
SAMPLE = 3
"""Mutants of each kind, those that open most first."""


@pytest.fixture(scope="module")
def trial(release: Callable[[str], Path]) -> Trial:
    return Trial(release(RELEASE))


@pytest.mark.parametrize("kind", [DELETED, LOWER, HIGHER, BEHIND, DISARMED])
def test_what_a_mutant_opens_is_flagged_and_nothing_else_changes(trial, kind):
    opened = {one: trial.opened(one) for one in trial.mutants() if one.kind == kind}
    for one in sorted(opened, key=lambda one: -len(opened[one].readers))[:SAMPLE]:
        row = trial.row(one, opened[one])
        assert row.caught, row.told()
        assert not row.others, row.told()
