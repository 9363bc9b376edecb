"""Room ``gating``: the must-analysis. Which gates are certainly held at each read of guarded storage, and what proves
it.

A *gate* is an acquire of the capability (counter, layer); guarded storage *requires* it where its elements are read.
*Held* is what every path has acquired; a *need* is a requirement not met yet, carried to the callers. A certificate is
the gate with why its object is armed and why its layer covers; a witness is the path on which it is missing.

It knows no file, no syntax and no report; unknown is an outcome with a reason.
"""

from auditor.gating.armed import Armed, Registration, State
from auditor.gating.contradictions import Contradiction
from auditor.gating.proofs import certificates, vocabulary
from auditor.gating.remedies import Extent, Remedy, Waiting
from auditor.gating.streams import ASIDE
from auditor.gating.symbols import Layer, Path, readable
from auditor.gating.values import (
    EAGER,
    EARLY,
    REPLAY,
    SKIPPED,
    UNRELATED_ARGUMENT,
    Buffer,
    Gate,
    Given,
    Hop,
    Near,
    Need,
    Outcome,
    Place,
    Touch,
    by_length,
    plainness,
)
from auditor.gating.verdicts import ORDER, BindingVerdict, Excluded, Judgement, SiteVerdict, judge

__all__ = [
    "ASIDE",
    "EAGER",
    "EARLY",
    "ORDER",
    "REPLAY",
    "SKIPPED",
    "UNRELATED_ARGUMENT",
    "Armed",
    "BindingVerdict",
    "Buffer",
    "Contradiction",
    "Excluded",
    "Extent",
    "Gate",
    "Given",
    "Hop",
    "Judgement",
    "Layer",
    "Near",
    "Need",
    "Outcome",
    "Path",
    "Place",
    "Registration",
    "Remedy",
    "SiteVerdict",
    "State",
    "Touch",
    "Waiting",
    "by_length",
    "plainness",
    "certificates",
    "judge",
    "readable",
    "vocabulary",
]
