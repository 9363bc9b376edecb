"""What stands in a pull request, and what may be written to it: the values between the plan and a host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from auditor.errors import AuditError
from auditor.review.hunks import Hunks
from auditor.review.marks import Mark

LEFT, RIGHT = "LEFT", "RIGHT"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of the diff. ``hunks`` is None where its lines are not known (too large, binary)."""

    path: str
    previous: str
    hunks: Hunks | None


@dataclass(frozen=True, slots=True)
class Comment:
    """A review comment of ours that began a thread. ``outdated``: its line is in the diff no more; ``hidden``:
    minimised; ``thread`` and ``node`` are the host's names for the thread and the comment."""

    id: str
    node: str
    thread: str
    mark: Mark
    body: str
    outdated: bool
    hidden: bool
    resolved: bool
    may_hide: bool
    may_resolve: bool
    may_reopen: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """The comment of ours that is edited with each push."""

    id: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Check:
    """A check run of ours on the head; ``key`` says what was written to it, ``annotations`` how many it has."""

    id: str
    key: str
    annotations: int


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request as it stands. ``files`` are by the paths of the head."""

    number: int
    head: str
    open: bool
    draft: bool
    files: Mapping[str, ChangedFile]
    comments: tuple[Comment, ...]
    summaries: tuple[Summary, ...]
    checks: tuple[Check, ...]


# ---------------------------------------------------------------- writes


@dataclass(frozen=True, slots=True)
class Inline:
    """A comment on a line of the diff, or on the lines from ``start`` to it. ``side``: of the old file (``LEFT``) or of
    the new one."""

    group: str
    path: str
    line: int
    side: str
    body: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class PostReview:
    """Post several comments at once: the host takes all or none."""

    commit: str
    body: str
    comments: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class PostOnFile:
    """Post a comment on a whole file of the diff."""

    commit: str
    group: str
    path: str
    body: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of a review comment of ours; ``why`` is told in the plan."""

    id: str
    group: str
    body: str
    why: str


@dataclass(frozen=True, slots=True)
class Hide:
    """Minimise a comment of ours. The host may refuse; ``reason``: ``RESOLVED`` or ``OUTDATED``."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Show:
    """Undo ``Hide``."""

    node: str


@dataclass(frozen=True, slots=True)
class Resolve:
    """Resolve a thread. The host may refuse."""

    thread: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """Undo ``Resolve``."""

    thread: str


@dataclass(frozen=True, slots=True)
class PostSummary:
    body: str


@dataclass(frozen=True, slots=True)
class EditSummary:
    id: str
    body: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on a line in the check run. ``level``: ``failure``, ``warning`` or ``notice``."""

    path: str
    line: int
    level: str
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class PostCheck:
    """Post a finished check run; ``key`` stands for all that is in it."""

    commit: str
    key: str
    conclusion: str
    title: str
    summary: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Annotate:
    """Append annotations to a check run."""

    id: str
    title: str
    summary: str
    annotations: tuple[Annotation, ...]


Write = (
    PostReview | PostOnFile | Edit | Hide | Show | Resolve | Reopen | PostSummary | EditSummary | PostCheck | Annotate
)


# ---------------------------------------------------------------- the host


class HostError(AuditError):
    """Indicates that the host of the pull request cannot be reached or refuses; the user can mend access or wait."""


class Missing(HostError):
    """Indicates that what was to be read is not there."""


class ReadOnly(HostError):
    """Indicates that the token may read and not write, as in the pull request of a fork."""


class Uncertain(HostError):
    """Indicates that a request failed and may have had its effect all the same; the state has to be read again."""


class Unplaced(HostError):
    """Indicates that the host does not take the line of a comment; nothing was written."""


class Host(Protocol):
    """A host of pull requests, seen from one of them. Each method raises ``HostError``."""

    def head(self) -> str:
        """Return the commit that the pull request stands at now."""

    def read(self) -> Pull:
        """Read all that the plan needs."""

    def write(self, write: Write) -> None:
        """Do one write; a refused ``Hide``, ``Show``, ``Resolve`` or ``Reopen`` is no error."""


def by_path(files: Iterable[ChangedFile]) -> dict[str, ChangedFile]:
    """Return files by the path that they have in the head."""
    return {file.path: file for file in files}
