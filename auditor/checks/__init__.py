"""Room ``checks``: which verdicts deserve telling. One check a file, named like its id; the list below is complete.

A *case* is one uncovered read seen from the function that should have waited; a *finding* is one missing edge: all
cases with the same check, function to change and storage. Of several checks that apply the most specific speaks: the
first of ``CHECKS``. The last ones tell what loaders leave out (*lapses*), or *remark* on a place that is no uncovered
read; each of these is a finding of its own.
"""

from auditor.checks import (
    buffer_escape,
    bypassed_owner,
    counter_reuse,
    disarmed_gate,
    false_annotation,
    gate_after_access,
    gate_on_some_paths,
    lapses,
    layer_range_mismatch,
    noop_gate,
    optional_gate_not_passed,
    override_drops_gate,
    pack_gap,
    redundant_gate,
    remarks,
    replay_skips_gate,
    signal_before_copy,
    unfenced_transfer,
    ungated_access,
    unresolved_receiver,
    untransferred_buffer,
    wrong_layer_gate,
    wrong_stream_gate,
)
from auditor.checks.cases import by_weight, findings
from auditor.checks.finding import Case, Check, Finding
from auditor.gating import Judgement
from auditor.loading import Loading

CHECKS: tuple[Check, ...] = (
    replay_skips_gate.CHECK,
    wrong_stream_gate.CHECK,
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
    signal_before_copy.CHECK,
    unfenced_transfer.CHECK,
    untransferred_buffer.CHECK,
    layer_range_mismatch.CHECK,
    counter_reuse.CHECK,
    false_annotation.CHECK,
    unresolved_receiver.CHECK,
    redundant_gate.CHECK,
    pack_gap.CHECK,
)


def check(judgement: Judgement, loading: Loading) -> tuple[Finding, ...]:
    """Tell every finding about reads and about loaders, and every remark; worst first."""
    found = (*findings(judgement, CHECKS), *lapses.told(loading, CHECKS), *remarks.told(judgement, CHECKS))
    return tuple(sorted(found, key=by_weight))


__all__ = ["CHECKS", "Case", "Check", "Finding", "check"]
