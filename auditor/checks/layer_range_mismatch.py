"""``layer-range-mismatch``: the loader's range of layers is in another index space than its readers'."""

from auditor.checks.finding import Check

CHECK = Check(
    "layer-range-mismatch",
    "warning",
    "The loader's range of layers is in another index space than the ids.",
    finds=lambda loading: loading.ranges,
)
