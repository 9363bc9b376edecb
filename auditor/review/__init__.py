"""Room ``review``: what a pull request introduces is told in it, once, on the line that opens the hole.

Two stages, because the branch of a stranger must not be read with rights to write. *Collect* compares the head with the
merge base and makes one artifact. *Publish* takes the artifact as hostile, reads what stands in the pull request, and
works out the *plan*: the writes that lead from what stands there to what should. The plan is a pure function of
artifact, state of the pull request and policy. All state lies in the pull request: a hidden *mark* in each comment of
ours says for which findings it stands. So a run that is repeated writes nothing, and after a failure of unknown effect
the state is read and planned again; nothing is sent twice.

A *place* is where a finding is told: a review comment, a comment on a file, or only the summary.

Invariants: knows no host but through ``Host``; text of others reaches Markdown through ``render.escape`` alone;
comments of people are never written to; no token is in any text.
"""

from auditor.review.apply import CLOSED, PUBLISHED, READ_ONLY, SUPERSEDED, Outcome, publish
from auditor.review.artifact import LARGEST, Artifact, ArtifactError, Gone, Introduced, from_json, to_json
from auditor.review.collect import artifact_of, untouched
from auditor.review.describe import described
from auditor.review.github import GitHub, base_file, find_pull, installation_token, pull_commits
from auditor.review.github_client import Client, Clock
from auditor.review.marks import Marks
from auditor.review.plan import Review, planned
from auditor.review.policy import Policy
from auditor.review.pull import Host, HostError
from auditor.review.webhook import Called, called, signed
from auditor.review.wording import Links, commands, summary, title

__all__ = [
    "CLOSED",
    "LARGEST",
    "PUBLISHED",
    "READ_ONLY",
    "SUPERSEDED",
    "Artifact",
    "ArtifactError",
    "Called",
    "Client",
    "Clock",
    "GitHub",
    "Gone",
    "Host",
    "HostError",
    "Introduced",
    "Links",
    "Marks",
    "Outcome",
    "Policy",
    "Review",
    "artifact_of",
    "base_file",
    "called",
    "commands",
    "described",
    "find_pull",
    "from_json",
    "installation_token",
    "planned",
    "publish",
    "pull_commits",
    "signed",
    "summary",
    "title",
    "to_json",
    "untouched",
]
