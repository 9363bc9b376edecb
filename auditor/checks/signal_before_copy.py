"""``signal-before-copy``: the loader completes a layer before all its copies are done or enqueued."""

from auditor.checks.finding import Check

CHECK = Check(
    "signal-before-copy", "error", "A loader completes a layer before its copies.", finds=lambda loading: loading.early
)
