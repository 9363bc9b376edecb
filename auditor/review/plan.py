"""The plan: which writes lead from what stands in a pull request to what should. Pure.

For each group of introduced findings there is one live comment of ours, or none where the diff has no place for it:

    live and in the diff                   keep; edit if other findings belong to the group now
    closed and in the diff                 open again
    none in the diff, a line for it        post on the line, close the ones that left the diff
    none in the diff, no line either       keep what there is; else post on a file; else the summary alone

A live comment whose findings are not introduced any more is closed: minimised, resolved where that is allowed, and
edited last, so that a run that broke off in between is taken up where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from auditor.review import wording
from auditor.review.anchors import Anchor, anchor
from auditor.review.artifact import Artifact
from auditor.review.checking import check_writes
from auditor.review.groups import NAMED, Group, grouped
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
    """Return the writes in their order. ``refused``: groups whose place in the diff the host did not take."""
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
    """Works through the groups of one pull request; ``places`` (by fingerprint) fills as it goes."""

    def __init__(self, review: Review, pull: Pull, refused: frozenset[str]) -> None:
        self.artifact, self.policy = review.artifact, review.policy
        self.links, self.marks = review.links, review.marks
        self.pull = pull
        self.refused = refused
        self.places: dict[str, str] = {}
        self._own: dict[str, list[Comment]] = {}
        for comment in pull.comments:
            self._own.setdefault(comment.mark.group, []).append(comment)
        self._inline: list[Inline] = []
        self._whole = not (self.artifact.problems or self.artifact.left_out)
        """Else what is missing may be there, and nothing counts as fixed."""
        self._groups = grouped(self.artifact.introduced)
        loud = [group.id for group in self._groups if self._loud(group)]
        self._worst = frozenset(loud[: self.policy.cap])

    def comments(self) -> Iterator[Write]:
        """Post what is new in batches, then edit what changed."""
        edits: list[Write] = []
        for group in self._groups:
            edits += self._group(group)
        if self._whole:
            edits += self._fixed()
        for start in range(0, len(self._inline), BATCH):
            part = tuple(self._inline[start : start + BATCH])
            yield PostReview(self.pull.head, f"bufgate: {wording.title(self.artifact, self.policy)}", part)
        yield from edits

    def summary(self) -> Iterator[Write]:
        """Post the summary with the first finding, and edit it from then on."""
        text = wording.summary(self.artifact, self.policy, self.links, self.places)
        mark = Mark(SUMMARY, head=self.pull.head, refused=tuple(sorted(self.refused)[:NAMED]))
        if self.pull.summaries:
            first = self.pull.summaries[0]
            if not same(first.mark, text) or (first.mark.head, first.mark.refused) != (mark.head, mark.refused):
                yield EditSummary(first.id, self.marks.put(mark, text))
        elif any(map(self.policy.loud, self.artifact.introduced)):
            yield PostSummary(self.marks.put(mark, text))

    # ------------------------------------------------------------ one group

    def _loud(self, group: Group) -> bool:
        return any(map(self.policy.loud, group.findings))

    def _group(self, group: Group) -> Iterator[Write]:
        own = self._own.get(group.id, [])
        live = [comment for comment in own if comment.mark.state == OPEN]
        if not group.open:
            for comment in live:
                yield from self._close(comment, SUPPRESSED, wording.suppressed(group.findings), "RESOLVED")
        elif live or self._loud(group):
            yield from self._place(group, own, live)

    def _place(self, group: Group, own: list[Comment], live: list[Comment]) -> Iterator[Write]:
        spot = None if group.id in self.refused else anchor(group.open[0], self.pull.files)
        kept = self._kept(own, live, on_line=spot is not None and spot.line > 0)
        if kept is None and (spot is None or group.id not in self._worst) and live:
            kept = live[-1]
        if kept is not None:
            self._told(group, "in a resolved thread" if kept in live and kept.resolved else "in a comment")
            yield from self._refresh(kept, group, again=kept not in live)
        elif spot is not None and group.id in self._worst:
            self._told(group, "in a comment")
            yield from self._post(group, spot)
        for comment in live:
            if comment is not kept:
                yield from self._close(comment, MOVED, wording.moved(), "OUTDATED")

    def _told(self, group: Group, where: str) -> None:
        self.places |= {one.fingerprint: where for one in group.open}

    def _kept(self, own: list[Comment], live: list[Comment], *, on_line: bool) -> Comment | None:
        """The comment that stands for the group from now on; None if a new one is to be posted."""
        closed = [comment for comment in own if comment not in live]
        for comments in (live, closed):
            if inside := [comment for comment in comments if not comment.outdated]:
                return inside[-1]
        if on_line:
            return None
        return (closed + live)[-1] if own else None

    def _post(self, group: Group, spot: Anchor) -> Iterator[Write]:
        text = wording.told(group.open, self.artifact, self.links, suggested=spot.what == "fix")
        body = self.marks.put(self._mark(group), text)
        if spot.line:
            self._inline.append(Inline(group.id, spot.path, spot.line, spot.side, body, spot.start))
        else:
            yield PostOnFile(self.pull.head, group.id, spot.path, body)

    def _refresh(self, comment: Comment, group: Group, *, again: bool) -> Iterator[Write]:
        """Open a comment again, or let it say which findings belong to it now."""
        if again and comment.hidden:
            yield Show(comment.node)
        if again and comment.resolved and comment.may_reopen:
            yield Reopen(comment.thread)
        fewer = set(group.members) < set(comment.mark.members)
        if again or (comment.mark.members != group.members and (self._whole or not fewer)):
            text = wording.told(group.open, self.artifact, self.links, again=again)
            why = "open again" if again else "other findings"
            yield Edit(comment.id, group.id, self.marks.put(self._mark(group), text), why)

    # ------------------------------------------------------------ closing

    def _fixed(self) -> Iterator[Write]:
        introduced = {group.id for group in self._groups}
        for comment in self.pull.comments:
            if comment.mark.state == OPEN and comment.mark.group not in introduced:
                yield from self._close(comment, FIXED, wording.fixed(self.pull.head), "RESOLVED")

    def _close(self, comment: Comment, state: str, because: str, reason: str) -> Iterator[Write]:
        if comment.may_hide and not comment.hidden:
            yield Hide(comment.node, reason)
        if comment.may_resolve and not comment.resolved:
            yield Resolve(comment.thread)
        text = wording.closed(unmarked(comment.body), because)
        mark = replace(comment.mark, state=state, head=self.pull.head)
        yield Edit(comment.id, comment.mark.group, self.marks.put(mark, text), state)

    def _mark(self, group: Group) -> Mark:
        return Mark(FINDING, group.id, OPEN, self.pull.head, group.members)
