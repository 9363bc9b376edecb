"""``untransferred-buffer``: a buffer that restored slots reuse is carried by no loader."""

from auditor.checks.finding import Check

CHECK = Check(
    "untransferred-buffer",
    "warning",
    "A buffer that restored slots reuse is carried by no loader.",
    finds=lambda loading: loading.left,
)
