"""Room ``checks``: which verdicts deserve telling. One check a file, named like its id; the list below is complete.

A *case* is one uncovered read seen from the function that should have waited; a *finding* is one missing edge: all
cases with the same check, function to change and storage. Of several checks that apply the most specific speaks: the
first of ``CHECKS``.
"""

from auditor.checks import (
    buffer_escape,
    bypassed_owner,
    disarmed_gate,
    gate_after_access,
    gate_on_some_paths,
    noop_gate,
    optional_gate_not_passed,
    override_drops_gate,
    replay_skips_gate,
    ungated_access,
    wrong_layer_gate,
)
from auditor.checks.cases import findings
from auditor.checks.finding import Case, Check, Finding
from auditor.gating import Judgement

CHECKS: tuple[Check, ...] = (
    replay_skips_gate.CHECK,
    buffer_escape.CHECK,
    bypassed_owner.CHECK,
    override_drops_gate.CHECK,
    wrong_layer_gate.CHECK,
    optional_gate_not_passed.CHECK,
    noop_gate.CHECK,
    disarmed_gate.CHECK,
    gate_after_access.CHECK,
    gate_on_some_paths.CHECK,
    ungated_access.CHECK,
)


def check(judgement: Judgement) -> tuple[Finding, ...]:
    """Tell every finding of a judgement, worst first."""
    return findings(judgement, CHECKS)


__all__ = ["CHECKS", "Case", "Check", "Finding", "check"]
