"""Carries a plan out. Where a write failed and may have had its effect, the state is read and planned anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from auditor.review.plan import Review, planned
from auditor.review.pull import (
    Annotate,
    Edit,
    EditSummary,
    Host,
    HostError,
    PostCheck,
    PostOnFile,
    PostReview,
    PostSummary,
    Pull,
    ReadOnly,
    Uncertain,
    Unplaced,
    Write,
)

ROUNDS = 8
"""How often the state is read before the run gives up."""

PUBLISHED, SUPERSEDED, CLOSED, READ_ONLY = "published", "superseded", "closed", "read-only"
_NEW = (PostReview, PostOnFile, PostSummary, PostCheck)


@dataclass(slots=True)
class Outcome:
    """How publishing ended, and how many writes were done."""

    what: str = PUBLISHED
    writes: int = 0


@dataclass(slots=True)
class _Run:
    """One run of ``publish``: what it learnt about the host on the way."""

    review: Review
    host: Host
    say: Callable[[str], None]
    outcome: Outcome = field(default_factory=Outcome)
    refused: frozenset[str] = frozenset()
    doubted: bool = False
    without_comments: bool = False
    without_check: bool = False


def publish(
    review: Review, host: Host, *, pause: Callable[[int], None] = lambda _round: None, say: Callable[[str], None]
) -> Outcome:
    """Read the state, plan, write; again until everything is written.

    Args:
        pause: called with the number of the round before it is begun anew.
        say: takes remarks.

    Raises:
        HostError: the host could not be reached for good.
    """
    run = _Run(review, host, say)
    failure: HostError | None = None
    for number in range(ROUNDS):
        if number:
            pause(number)
        pull = host.read()
        if _ended(run, pull):
            return run.outcome
        try:
            if _written(run, planned(review, pull, run.refused)):
                return run.outcome
        except Uncertain as error:
            failure = error
            say(f"looking before sending again: {error}")
    raise failure or HostError("the pull request could not be brought to what it should say; see the remarks above")


def _ended(run: _Run, pull: Pull) -> bool:
    """Whether nothing is to be said any more: the head moved, or the pull request is closed."""
    if pull.head != run.review.artifact.head:
        run.outcome.what = SUPERSEDED
    elif not pull.open:
        run.outcome.what = CLOSED
    return run.outcome.what != PUBLISHED


def _written(run: _Run, writes: tuple[Write, ...]) -> bool:
    """Do the writes of one plan; False where it has to be made anew."""
    for write in writes:
        if run.without_check if isinstance(write, PostCheck | Annotate) else run.without_comments:
            continue
        if isinstance(write, _NEW) and run.host.head() != run.review.artifact.head:
            run.outcome.what = SUPERSEDED
            return True
        try:
            run.host.write(write)
            run.outcome.writes += 1
        except Unplaced as error:
            _refuse(run, write, error)
            return False
        except ReadOnly as error:
            if not _learn(run, write, error):
                return False
    if run.without_comments and run.without_check:
        run.outcome.what = READ_ONLY
    return True


def _refuse(run: _Run, write: Write, error: Unplaced) -> None:
    """A place that is not taken: look once more, then tell these findings in the summary alone."""
    match write:
        case PostReview(comments=comments):
            if run.doubted:
                run.refused |= {one.group for one in comments}
            run.doubted = True
        case PostOnFile(group=group):
            run.refused |= {group}
        case _:
            raise error
    run.say(f"a place in the diff was refused: {error}")


def _learn(run: _Run, write: Write, error: ReadOnly) -> bool:
    """Learn what the token may not do; False where it may be that only one comment is gone."""
    if isinstance(write, Edit | EditSummary) and run.outcome.writes and not run.doubted:
        run.doubted = True
        return False
    if isinstance(write, PostCheck | Annotate):
        run.without_check = True
    else:
        run.without_comments = True
    run.say(f"the token may not write this: {error}")
    return True
