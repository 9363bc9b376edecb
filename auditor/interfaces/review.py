"""``bufgate review``: audit a pull request and tell in it what it introduces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.errors import UsageError
from auditor.interfaces.exits import CLEAN, COULD_NOT, FAIL_ON, FINDINGS
from auditor.interfaces.options import Request, debug_option, reading_options
from auditor.interfaces.output import deliver, writable
from auditor.scales import CONFIDENCES

if TYPE_CHECKING:
    from auditor.review import Artifact, Policy

ARTIFACT = "bufgate-review.json"
_FILE = click.Path(dir_okay=False, path_type=Path)

Verb = Callable[..., Any]


def _options(*options: Callable[[Verb], Verb]) -> Callable[[Verb], Verb]:
    def decorate(verb: Verb) -> Verb:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return decorate


collect_options = _options(
    click.option("--base", metavar="REV", help="Where the pull request goes to.  [default: from the workflow's event]"),
    click.option("--head", metavar="REV", help="What it brings.  [default: from the event, else HEAD]"),
    click.option("--path", "parts", multiple=True, metavar="PATH", help="Audit only this. Repeatable."),
)
judging_options = _options(
    click.option("--fail-on", type=click.Choice(FAIL_ON), help="What is introduced fails from here on."),
    click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="What is less sure gets no comment."),
)
publish_options = _options(
    click.option("--repo", metavar="OWNER/NAME", help="The repository.  [default: $GITHUB_REPOSITORY]"),
    click.option("--pr", "number", type=click.IntRange(1), metavar="N", help="Its number.  [default: asked]"),
    click.option("--api-url", metavar="URL", help="The API, https://HOST/api/v3 for GitHub Enterprise."),
    click.option("--cap", type=click.IntRange(0, 100), default=25, show_default=True, help="Most comments on lines."),
    click.option("--drafts", is_flag=True, help="Comment in drafts, too; they always get the check run."),
    click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing."),
    click.option("--max-wait", type=click.FloatRange(0), default=900.0, show_default=True, metavar="SECONDS",
                 help="Wait so long for a rate limit, then give up."),
    click.option("--pace", type=click.FloatRange(0), default=1.0, show_default=True, metavar="SECONDS",
                 help="Time between two writes."),
)  # fmt: skip


@click.group(
    invoke_without_command=True, short_help="Audit a pull request and tell in it what it introduces (collect, publish)."
)
@reading_options
@collect_options
@judging_options
@publish_options
@click.pass_context
def review(ctx: click.Context, /, request: Request, base: str | None, head: str | None, parts: tuple[str, ...],
           fail_on: str | None, min_confidence: str | None, **posting: Any) -> None:  # fmt: skip
    """Compare the head of a pull request with its merge base, and tell in it what it introduces.

    Without a verb: both stages, for branches of the same repository. For forks: `collect` in the workflow of the pull
    request, with rights to read; `publish` in another one, with rights to write, which never reads the branch.

    \b
    bufgate review collect --base origin/main -o bufgate-review.json
    bufgate review publish --artifact bufgate-review.json --dry-run

    The token is read from $GITHUB_TOKEN. Exit status: 0 clean, 1 findings introduced, 2 could not do it; `publish`
    ends with 0 when it has written what there was to write.
    """
    if ctx.invoked_subcommand:
        _refuse_options(ctx)
        return
    from auditor.interfaces.publishing import Posting, post
    from auditor.review import SUPERSEDED

    artifact = _collected(ctx, request, base, head, parts)
    posted = post(artifact, Posting(**posting, fail_on=fail_on, min_confidence=min_confidence, local=True))
    ctx.exit(CLEAN if posted.what == SUPERSEDED else _status(artifact, posted.policy))


def _refuse_options(ctx: click.Context) -> None:
    """What stands before a verb would be lost."""
    for option in ctx.command.params:
        if ctx.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} belongs after {ctx.invoked_subcommand!r}.")


def _collected(
    ctx: click.Context, request: Request, base: str | None, head: str | None, parts: tuple[str, ...]
) -> Artifact:
    from auditor.interfaces.audits import audited_between
    from auditor.interfaces.hosting import event

    started = event()
    base = base or started.base
    if not base:
        raise click.UsageError("name the revision that the pull request goes to: --base REV.")
    wanted = replace(request, paths=parts) if parts else request
    with request.progress() as progress:
        return audited_between(ctx, wanted, progress, base, head or started.head or "HEAD")


def _status(artifact: Artifact, policy: Policy) -> int:
    if artifact.problems:
        return COULD_NOT
    return FINDINGS if policy.failed(artifact) else CLEAN


@review.command(short_help="Read-only: write what a pull request introduces to one file.")
@reading_options
@collect_options
@judging_options
@click.option("-o", "--output", type=_FILE, default=ARTIFACT, show_default=True, metavar="FILE", help="The artifact.")
@click.pass_context
def collect(ctx: click.Context, request: Request, base: str | None, head: str | None, parts: tuple[str, ...],
            fail_on: str | None, min_confidence: str | None, output: Path) -> None:  # fmt: skip
    """Audit head and merge base from git, without a checkout, and write the artifact (review-v1).

    Needs no token and no network. Exit status: 0 clean, 1 findings introduced, 2 the audit is not complete.
    """
    from auditor.interfaces.publishing import policy_of_base, to_step_summary
    from auditor.review import Policy, title, to_json
    from auditor.source import Revisions

    file = writable(output)
    artifact = _collected(ctx, request, base, head, parts)
    deliver(to_json(artifact), file)
    revisions = Revisions.around(request.top())
    policy = policy_of_base(lambda path: revisions.text(artifact.base, path), Policy(), fail_on, min_confidence)
    to_step_summary(artifact, policy)
    request.say(f"bufgate: {title(artifact, policy)}: {output}")
    ctx.exit(_status(artifact, policy))


@review.command(short_help="Trusted: write an artifact to its pull request.")
@click.option("--artifact", "file", type=_FILE, default=ARTIFACT, show_default=True, metavar="FILE", help="To publish.")
@click.option("--head", metavar="SHA", help="The commit that the artifact must be of.  [default: from the event]")
@click.option("--resume", is_flag=True, help="Publish what earlier runs could not, from .bufgate/outbox.")
@judging_options
@publish_options
@debug_option
@click.pass_context
def publish(ctx: click.Context, /, file: Path, head: str | None, resume: bool, **posting: Any) -> None:
    """Write to a pull request what `collect` found.

    The artifact is taken as hostile: it may come from a fork. The pull request is found by its head commit, which the
    host names; limits come from the options and from the configuration of the base branch.
    """
    from auditor.interfaces.hosting import event
    from auditor.interfaces.publishing import Posting, post, resumed
    from auditor.review import READ_ONLY, from_json

    wanted = Posting(**posting, local=False)
    if resume:
        resumed(wanted)
        ctx.exit(CLEAN)
    artifact = from_json(_content(file), str(file))
    started = event()
    meant = head or started.head
    if not meant and wanted.number is None:
        raise UsageError("name the commit that was audited with --head, or the pull request with --pr")
    if meant and artifact.head != meant:
        raise UsageError(f"{file} is of commit {artifact.head[:12]}, not of {meant[:12]}; it is not published")
    if wanted.number is None and started.number:
        wanted = replace(wanted, number=started.number)
    if post(artifact, wanted).what == READ_ONLY:
        raise UsageError("the token may not write to the pull request: it needs pull-requests: write, checks: write")
    ctx.exit(CLEAN)


def _content(file: Path) -> bytes:
    """Read an artifact, no further than one can be long."""
    from auditor.review import LARGEST

    try:
        with file.open("rb") as stream:
            return stream.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}. `bufgate review collect` writes it.") from None
