"""``counter-reuse``: one set of signals is shared by loads that can be in flight together."""

from auditor.checks.finding import Check

CHECK = Check(
    "counter-reuse",
    "warning",
    "One set of signals is shared by loads that can be in flight together.",
    finds=lambda loading: loading.reused,
)
