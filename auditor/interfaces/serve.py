"""``bufgate serve``: the review bot as a server that GitHub calls (extra ``bufgate[app]``)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.errors import UsageError
from auditor.interfaces.exits import CLEAN
from auditor.interfaces.failures import Failure
from auditor.interfaces.options import debug_option

if TYPE_CHECKING:
    from auditor.interfaces.hosting import Place

APP, APP_KEY = "BUFGATE_APP_ID", "BUFGATE_APP_KEY_FILE"
_EARLIER, _LIFE = 60, 540
"""Seconds: clocks differ, and ten minutes are the most that GitHub takes."""


@click.command(short_help="Wait for webhooks of GitHub and review each pull request (needs bufgate[app]).")
@click.argument("clone", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--repo", metavar="OWNER/NAME", help="The repository.  [default: $GITHUB_REPOSITORY]")
@click.option("--api-url", metavar="URL", help="The API, https://HOST/api/v3 for GitHub Enterprise.")
@click.option("--path", "parts", multiple=True, metavar="PATH", help="Audit only this. Repeatable.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: any that is free.")
@debug_option
@click.pass_context
def serve(
    ctx: click.Context, clone: Path, repo: str | None, api_url: str | None, parts: tuple[str, ...], host: str, port: int
) -> None:
    """Listen for `pull_request` webhooks at /webhook and tell in each pull request what it introduces.

    CLONE is a clone of the repository; commits are fetched into it from where it was cloned, and what is not done when
    the server ends is done by the next one. Deliveries count only if $BUFGATE_WEBHOOK_SECRET signed them. The token is
    $GITHUB_TOKEN, or asked for as the GitHub App $BUFGATE_APP_ID with the private key in the file
    $BUFGATE_APP_KEY_FILE. TLS is the business of a proxy in front.
    """
    import socket

    try:
        from auditor.interfaces.server import application, run
    except ImportError:
        raise Failure("`serve` needs packages that are not installed: pip install 'bufgate[app]'") from None
    from auditor.interfaces.deliveries import FILE, Deliveries
    from auditor.interfaces.hosting import place
    from auditor.interfaces.reviewing import SECRET, Reviewer
    from auditor.source import Revisions

    secret = os.environ.get(SECRET, "").encode()
    if not secret:
        raise UsageError(f"no secret: set ${SECRET} to the one that GitHub signs the webhook's deliveries with")
    where = place(repo, api_url)
    top = Revisions.around(clone).top
    deliveries = Deliveries(top / FILE)

    def say(text: str) -> None:
        click.echo(f"bufgate: {text}", err=True)

    reviewer = Reviewer(where, top, deliveries, _tokens(where), parts, say)
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise Failure(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    with listener:
        address = f"http://{host}:{listener.getsockname()[1]}/webhook"
        say(f"listens on {address} for {where.repository}; Ctrl-C ends")
        run(application(secret, where.repository, deliveries, reviewer), listener)
    ctx.exit(CLEAN)


def _tokens(where: Place) -> Callable[[], str]:
    """Return what gives the token for the next review.

    Raises:
        UsageError: there is none.
    """
    app, file = os.environ.get(APP, ""), os.environ.get(APP_KEY, "")
    if not app:
        token = where.client().token
        return lambda: token
    try:
        key = Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"the private key of the App, ${APP_KEY}, cannot be read: {error.strerror}") from None
    _claim(app, key)  # a key that is none is told now
    return lambda: _installed(where, _claim(app, key))


def _claim(app: str, key: bytes) -> str:
    """Return the token by which an App says who it is."""
    import jwt

    now = int(time.time())
    try:
        return jwt.encode({"iat": now - _EARLIER, "exp": now + _LIFE, "iss": app}, key, algorithm="RS256")
    except (ValueError, TypeError, jwt.PyJWTError) as error:
        raise UsageError(f"${APP_KEY} names no private key: {error}") from None


def _installed(where: Place, claim: str) -> str:
    from auditor.review import installation_token

    return installation_token(where.client(token=claim), where.repository)
