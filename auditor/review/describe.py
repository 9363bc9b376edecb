"""The plan in words, for ``--dry-run`` and for the outbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditor.render import clean, count
from auditor.review.pull import (
    Annotate,
    Edit,
    EditSummary,
    Hide,
    PostCheck,
    PostOnFile,
    PostReview,
    PostSummary,
    Reopen,
    Resolve,
    Show,
    Write,
)


def described(writes: Iterable[Write]) -> Iterator[str]:
    """Say what each write does, a line each (a comment of a review has its own)."""
    for write in writes:
        match write:
            case PostReview(_, body, comments):
                yield f"post a review of {count(len(comments), 'comment')}: {clean(body)}"
                for one in comments:
                    yield f"  comment on {clean(one.path)}:{one.line} {one.side} for {one.group}"
            case PostOnFile(_, group, path, _):
                yield f"comment on the file {clean(path)} for {group}"
            case Edit(id_, group, _, why):
                yield f"edit comment {clean(id_)} for {group}: {why}"
            case Hide(node, reason):
                yield f"minimise {clean(node)} as {reason.lower()}"
            case Show(node):
                yield f"show {clean(node)} again"
            case Resolve(thread):
                yield f"resolve thread {clean(thread)}"
            case Reopen(thread):
                yield f"reopen thread {clean(thread)}"
            case PostSummary():
                yield "post the summary"
            case EditSummary(id_, _):
                yield f"edit the summary {clean(id_)}"
            case PostCheck():
                told = count(len(write.annotations), "annotation")
                yield f"post the check run: {write.conclusion}, {clean(write.title)}, {told}"
            case Annotate():
                yield f"append {count(len(write.annotations), 'annotation')} to the check run"
