"""The two scales of a finding, worst and surest first: the order in which reports tell findings and limits cut them."""

SEVERITIES = ("error", "warning", "note")
CONFIDENCES = ("high", "medium", "low")
