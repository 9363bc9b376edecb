"""What the owners of the base branch decided: which findings fail, which are told on a line, how many."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.review.artifact import Artifact, Introduced
from auditor.scales import CONFIDENCES, SEVERITIES


@dataclass(frozen=True, slots=True)
class Policy:
    """``cap``: so many groups of findings, the worst ones, get a comment; the others are in the summary. ``drafts``:
    whether a draft gets comments, too; it always gets the check run."""

    fail_on: str = "error"
    min_confidence: str = "medium"
    cap: int = 25
    drafts: bool = False

    def fails(self, finding: Introduced) -> bool:
        """Tell whether a finding fails the run."""
        return self._sure(finding) and self._severe(finding, self.fail_on)

    def loud(self, finding: Introduced) -> bool:
        """Tell whether a finding gets a comment of its own."""
        return self._sure(finding) and (self._severe(finding, "warning") or self._severe(finding, self.fail_on))

    def failed(self, artifact: Artifact) -> bool:
        """Tell whether one of the findings fails the run."""
        return any(map(self.fails, artifact.introduced))

    def conclusion(self, artifact: Artifact) -> str:
        """Return the conclusion of the check run: never a success after half an audit."""
        if artifact.problems:
            return "action_required"
        if self.failed(artifact):
            return "failure"
        return "neutral" if any(one.status == "new" for one in artifact.introduced) else "success"

    def _sure(self, finding: Introduced) -> bool:
        sure = CONFIDENCES.index(finding.confidence) <= CONFIDENCES.index(self.min_confidence)
        return finding.status == "new" and sure

    def _severe(self, finding: Introduced, limit: str) -> bool:
        return limit != "never" and SEVERITIES.index(finding.severity) <= SEVERITIES.index(limit)
