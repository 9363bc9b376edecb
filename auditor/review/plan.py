"""The plan: which writes lead from what stands in a pull request to what should. Pure.

For each introduced finding there is one live comment of ours, or none where the diff has no place for it:

    live and in the diff                   keep
    closed and in the diff                 open again
    none in the diff, a line for it        post on the line, close the ones that left the diff
    none in the diff, no line either       keep what there is; else post on a file; else the summary alone

A live comment whose finding is not introduced any more is closed: minimised, resolved where that is allowed, and edited
last, so that a run that broke off in between is taken up where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.review import wording
from auditor.review.anchors import Anchor, anchor
from auditor.review.artifact import Artifact, Introduced
from auditor.review.checking import check_writes
from auditor.review.marks import FINDING, FIXED, MOVED, OPEN, SUMMARY, SUPPRESSED, Mark, Marks, same, unmarked
from auditor.review.policy import Policy
from auditor.review.pull import (
    Comment,
    Edit,
    EditSummary,
    Hide,
    Inline,
    PostOnFile,
    PostReview,
    PostSummary,
    Pull,
    Reopen,
    Resolve,
    Show,
    Write,
)

BATCH = 25
"""Comments of one review."""


@dataclass(frozen=True, slots=True)
class Review:
    """What is to be told and how: the artifact, what its owners decided, where links lead, how comments are marked."""

    artifact: Artifact
    policy: Policy
    links: wording.Links
    marks: Marks


def planned(review: Review, pull: Pull, refused: frozenset[str] = frozenset()) -> tuple[Write, ...]:
    """Return the writes in their order. ``refused``: findings whose place in the diff the host did not take."""
    assert pull.head == review.artifact.head, "a plan is for the commit that was analysed"
    if not pull.open:
        return ()
    before = {one for summary in pull.summaries if summary.mark.head == pull.head for one in summary.mark.refused}
    desk = _Desk(review, pull, refused | before)
    commented: tuple[Write, ...] = ()
    if review.policy.drafts or not pull.draft:
        commented = (*desk.comments(), *desk.summary())
    return (*commented, *check_writes(review, pull, desk.places))


class _Desk:
    """Works through the findings of one pull request; ``places`` fills as it goes."""

    def __init__(self, review: Review, pull: Pull, refused: frozenset[str]) -> None:
        self.artifact, self.policy = review.artifact, review.policy
        self.links, self.marks = review.links, review.marks
        self.pull = pull
        self.refused = refused
        self.places: dict[str, str] = {}
        self._own: dict[str, list[Comment]] = {}
        for comment in pull.comments:
            self._own.setdefault(comment.mark.fingerprint, []).append(comment)
        self._inline: list[Inline] = []
        loud = [one.fingerprint for one in self._findings() if self.policy.loud(one)]
        self._worst = frozenset(loud[: self.policy.cap])

    def comments(self) -> Iterator[Write]:
        """Post what is new in batches, then edit what changed."""
        edits: list[Write] = []
        for finding in self._findings():
            edits += self._finding(finding)
        if not (self.artifact.problems or self.artifact.left_out):  # else what is missing may be there
            edits += self._fixed()
        for start in range(0, len(self._inline), BATCH):
            part = tuple(self._inline[start : start + BATCH])
            yield PostReview(self.pull.head, f"bufgate: {wording.title(self.artifact, self.policy)}", part)
        yield from edits

    def summary(self) -> Iterator[Write]:
        """Post the summary with the first finding, and edit it from then on."""
        text = wording.summary(self.artifact, self.policy, self.links, self.places)
        mark = Mark(SUMMARY, head=self.pull.head, refused=tuple(sorted(self.refused)))
        if self.pull.summaries:
            first = self.pull.summaries[0]
            if not same(first.mark, text) or (first.mark.head, first.mark.refused) != (mark.head, mark.refused):
                yield EditSummary(first.id, self.marks.put(mark, text))
        elif any(map(self.policy.loud, self.artifact.introduced)):
            yield PostSummary(self.marks.put(mark, text))

    # ------------------------------------------------------------ one finding

    def _findings(self) -> Sequence[Introduced]:
        return tuple({one.fingerprint: one for one in self.artifact.introduced}.values())

    def _finding(self, finding: Introduced) -> Iterator[Write]:
        own = self._own.get(finding.fingerprint, [])
        live = [comment for comment in own if comment.mark.state == OPEN]
        if finding.status == "suppressed":
            for comment in live:
                yield from self._close(comment, SUPPRESSED, wording.suppressed(finding), "RESOLVED")
        elif live or self.policy.loud(finding):
            yield from self._place(finding, own, live)

    def _place(self, finding: Introduced, own: list[Comment], live: list[Comment]) -> Iterator[Write]:
        spot = None if finding.fingerprint in self.refused else anchor(finding, self.pull.files)
        kept = self._kept(own, live, on_line=spot is not None and spot.line > 0)
        if kept is not None:
            self.places[finding.fingerprint] = (
                "in a resolved thread" if kept in live and kept.resolved else "in a comment"
            )
            if kept not in live:
                yield from self._open_again(kept, finding)
        elif spot is not None and finding.fingerprint in self._worst:
            self.places[finding.fingerprint] = "in a comment"
            yield from self._post(finding, spot)
        elif live:
            kept = live[-1]
            self.places[finding.fingerprint] = "in a comment"
        for comment in live:
            if comment is not kept:
                yield from self._close(comment, MOVED, wording.moved(), "OUTDATED")

    def _kept(self, own: list[Comment], live: list[Comment], *, on_line: bool) -> Comment | None:
        """The comment that stands for the finding from now on; None if a new one is to be posted."""
        closed = [comment for comment in own if comment not in live]
        for comments in (live, closed):
            if inside := [comment for comment in comments if not comment.outdated]:
                return inside[-1]
        if on_line:
            return None
        return (closed + live)[-1] if own else None

    def _post(self, finding: Introduced, spot: Anchor) -> Iterator[Write]:
        text = wording.told(finding, self.artifact, self.links, suggested=spot.what == "fix")
        body = self.marks.put(self._mark(finding, OPEN), text)
        if spot.line:
            self._inline.append(Inline(finding.fingerprint, spot.path, spot.line, spot.side, body, spot.start))
        else:
            yield PostOnFile(self.pull.head, finding.fingerprint, spot.path, body)

    def _open_again(self, comment: Comment, finding: Introduced) -> Iterator[Write]:
        if comment.hidden:
            yield Show(comment.node)
        if comment.resolved and comment.may_reopen:
            yield Reopen(comment.thread)
        text = wording.told(finding, self.artifact, self.links, again=True)
        yield Edit(comment.id, finding.fingerprint, self.marks.put(self._mark(finding, OPEN), text), "open again")

    # ------------------------------------------------------------ closing

    def _fixed(self) -> Iterator[Write]:
        introduced = {one.fingerprint for one in self.artifact.introduced}
        for comment in self.pull.comments:
            if comment.mark.state == OPEN and comment.mark.fingerprint not in introduced:
                yield from self._close(comment, FIXED, wording.fixed(self.pull.head), "RESOLVED")

    def _close(self, comment: Comment, state: str, because: str, reason: str) -> Iterator[Write]:
        if comment.may_hide and not comment.hidden:
            yield Hide(comment.node, reason)
        if comment.may_resolve and not comment.resolved:
            yield Resolve(comment.thread)
        text = wording.closed(unmarked(comment.body), because)
        mark = Mark(FINDING, comment.mark.fingerprint, state, self.pull.head)
        yield Edit(comment.id, comment.mark.fingerprint, self.marks.put(mark, text), state)

    def _mark(self, finding: Introduced, state: str) -> Mark:
        return Mark(FINDING, finding.fingerprint, state, self.pull.head)
