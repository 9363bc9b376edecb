"""``unfenced-transfer``: a load or store is not ordered behind what the compute stream has in flight."""

from auditor.checks.finding import Check

CHECK = Check(
    "unfenced-transfer",
    "warning",
    "A transfer is not ordered behind in-flight work of the compute stream.",
    finds=lambda loading: loading.unfenced,
)
