"""Publishing as the verbs ask for it: find the pull request, decide by the base branch, write, keep what failed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from auditor.errors import AuditError, UnknownRevision, UsageError
from auditor.interfaces.hosting import Place, event, place
from auditor.interfaces.outbox import Entry, keep, kept
from auditor.interfaces.output import deliver
from auditor.review import (
    CLOSED,
    PUBLISHED,
    READ_ONLY,
    SUPERSEDED,
    Artifact,
    Client,
    GitHub,
    HostError,
    Policy,
    Review,
    base_file,
    commands,
    described,
    find_pull,
    planned,
    publish,
    summary,
)

if TYPE_CHECKING:
    from auditor.interfaces.configuration import Configuration

_ENDS = {
    SUPERSEDED: "the pull request has moved on; a newer run tells what holds",
    CLOSED: "the pull request is closed; nothing was written",
    READ_ONLY: "the token may only read; what was found stands in the log and in the step summary",
}


class NoPullRequest(UsageError):
    """Indicates that no open pull request has the commit; the user can name one, or let it be."""


@dataclass(frozen=True, slots=True)
class Posting:
    """What the options say about publishing. ``local``: a clone with the commits is here."""

    repo: str | None
    number: int | None
    api_url: str | None
    cap: int
    drafts: bool
    dry_run: bool
    max_wait: float
    pace: float
    fail_on: str | None
    min_confidence: str | None
    local: bool


@dataclass(frozen=True, slots=True)
class Posted:
    """How it ended, and the policy that held. ``what``: one of the ends of ``publish``."""

    policy: Policy
    what: str = PUBLISHED


def post(artifact: Artifact, posting: Posting) -> Posted:
    """Bring a pull request to what the artifact says; keep the artifact in the outbox where the host fails."""
    where = place(posting.repo, posting.api_url)
    policy = Policy(cap=posting.cap, drafts=posting.drafts)
    if not posting.dry_run:  # first: whatever happens, it can be read there
        to_step_summary(artifact, policy)
    client = where.client(pace=posting.pace, max_wait=posting.max_wait)
    number = posting.number or event().number
    try:
        number = number or find_pull(client, where.repository, artifact.head) or 0
        if not number:
            raise NoPullRequest(
                f"no open pull request of {where.repository} has the head {artifact.head[:12]}: nothing to write to"
            )
        policy = policy_of_base(
            lambda path: base_file(client, where.repository, number, path),
            policy,
            posting.fail_on,
            posting.min_confidence,
        )
        return _posted(Review(artifact, policy, where.links(), where.marks(number)), posting, where, client, number)
    except HostError as error:
        if posting.dry_run:
            raise
        file = keep(Entry(where.repository, number, artifact))
        raise HostError(f"{error}\nKept in {file}: `bufgate review publish --resume` goes on from there.") from error


def resumed(posting: Posting) -> None:
    """Publish what the outbox has for the repository; an entry goes when it is done or told by a newer run."""
    where = place(posting.repo, posting.api_url)
    entries = list(kept(where.repository))
    if not entries:
        click.echo(f"bufgate: the outbox has nothing for {where.repository}", err=True)
    for file, entry in entries:
        try:
            done = post(entry.artifact, replace(posting, number=entry.number or posting.number)).what
        except NoPullRequest as error:
            click.echo(f"bufgate: {error}", err=True)
            done = CLOSED
        if not posting.dry_run and done != READ_ONLY:
            file.unlink()


def _posted(review: Review, posting: Posting, where: Place, client: Client, number: int) -> Posted:
    artifact, policy = review.artifact, review.policy
    host = GitHub(client, where.repository, number, review.marks, _local(artifact) if posting.local else _nothing)
    if posting.dry_run:
        pull = host.read()
        writes = planned(review, pull) if pull.head == artifact.head else ()
        deliver("".join(f"{line}\n" for line in described(writes)) or "nothing to write\n", None)
        return Posted(policy)
    outcome = publish(review, host, pause=lambda number: client.clock.sleep(posting.pace * 2.0**number), say=client.say)
    client.say(_ENDS.get(outcome.what, f"{outcome.writes} written to {where.repository}#{number}"))
    if outcome.what == READ_ONLY:
        deliver("".join(f"{line}\n" for line in commands(artifact)), None)
    return Posted(policy, outcome.what)


# ---------------------------------------------------------------- what holds


def policy_of_base(base: Callable[[str], str | None], given: Policy, fail_on: str | None, sure: str | None) -> Policy:
    """Return the options, then the configuration of the base: never that of the branch that is judged.

    Args:
        base: gives a file of the base by its path from the top of the repository, None where there is none.
        given: what other options say.
        fail_on: the option, if it was given.
        sure: the option ``--min-confidence``, if it was given.
    """
    found = None if fail_on and sure else _configured(base)
    return replace(
        given,
        fail_on=fail_on or (found["fail-on"] if found else given.fail_on),
        min_confidence=sure or (found["min-confidence"] if found else given.min_confidence),
    )


def _configured(base: Callable[[str], str | None]) -> Configuration | None:
    from auditor.interfaces.configuration import FILE, PYPROJECT, read

    for name in (FILE, PYPROJECT):
        text = base(name)
        if text is None:
            continue
        with TemporaryDirectory(prefix="bufgate-") as folder:
            file = Path(folder) / name
            file.write_text(text, encoding="utf-8")
            try:
                found = read(file)
            except AuditError as error:
                raise UsageError(f"the configuration of the base is at fault: {error}") from None
        if found is not None:
            return found
    return None


def _nothing(_path: str) -> str | None:
    return None


def _local(artifact: Artifact) -> Callable[[str], str | None]:
    """The diff of a file from the clone here, for files whose diff the host does not show."""
    from auditor.source import Revisions

    try:
        revisions = Revisions.around(Path())
    except UnknownRevision:
        return _nothing
    return lambda path: revisions.patch(artifact.base, artifact.head, path)


def to_step_summary(artifact: Artifact, policy: Policy) -> None:
    """Append the summary to that of the workflow's step, where there is one."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        text = summary(artifact, policy, place(None, None).links(), {})
        with open(file, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"{text}\n")
