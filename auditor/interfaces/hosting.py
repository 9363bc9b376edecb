"""Where a pull request lies and who may write to it: options first, then the environment of a workflow of GitHub.

The token comes from the environment alone: a command line can be read by every process of the machine.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.errors import UsageError

if TYPE_CHECKING:
    from auditor.review import Client, Links, Marks

TOKEN, KEY = "GITHUB_TOKEN", "BUFGATE_REVIEW_KEY"
_LARGEST_EVENT = 32 * 1024 * 1024
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Event:
    """What started the workflow: the commits of the pull request, as far as the event has them. ``number`` 0: none."""

    base: str = ""
    head: str = ""
    number: int = 0


def event(environment: Mapping[str, str] = os.environ) -> Event:
    """Read the event of a workflow; an empty one elsewhere."""
    file = environment.get("GITHUB_EVENT_PATH", "")
    if not file or not Path(file).is_file():
        return Event()
    try:
        with open(file, "rb") as stream:
            document = json.loads(stream.read(_LARGEST_EVENT))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the event in $GITHUB_EVENT_PATH cannot be read: {error}") from None
    pull = _at(document, "pull_request")
    if pull is not None:
        number = _at(pull, "number")
        return Event(
            base=_commit(_at(pull, "base", "sha")),
            head=_commit(_at(pull, "head", "sha")),
            number=number if type(number) is int else 0,
        )
    return Event(head=_commit(_at(document, "workflow_run", "head_sha")))


def _at(document: Any, *names: str) -> Any:
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _commit(value: Any) -> str:
    return value if isinstance(value, str) and _COMMIT.fullmatch(value) else ""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository at a host. ``server`` is what people open in a browser."""

    repository: str
    api: str
    graphql: str
    server: str

    def client(self, *, pace: float = 1.0, max_wait: float = 900.0, token: str | None = None) -> Client:
        """Return the connection, with the token of the environment unless another is given.

        Raises:
            UsageError: there is none.
        """
        from auditor.review import Client

        token = token or os.environ.get(TOKEN, "").strip()
        if not token:
            raise UsageError(f"no token: set ${TOKEN}. It needs pull-requests: write and checks: write")
        return Client(
            self.api,
            self.graphql,
            token,
            pace=pace,
            max_wait=max_wait,
            say=lambda text: click.echo(f"bufgate: {text}", err=True),
        )

    def variables(self) -> dict[str, str]:
        """Return the environment of a workflow that lies here."""
        return {
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_API_URL": self.api,
            "GITHUB_GRAPHQL_URL": self.graphql,
            "GITHUB_SERVER_URL": self.server,
        }

    def links(self) -> Links:
        """Return where links lead."""
        from auditor.review import Links

        return Links(self.server, self.repository)

    def marks(self, number: int) -> Marks:
        """Return the marks of one pull request, signed if the environment has a key."""
        from auditor.review import Marks

        return Marks(f"{self.server}/{self.repository}#{number}", os.environ.get(KEY, "").encode())


def place(repository: str | None, api: str | None, environment: Mapping[str, str] = os.environ) -> Place:
    """Work out where the pull request lies.

    Raises:
        UsageError: nobody says which repository.
    """
    name = repository or environment.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(name):
        raise UsageError(f"{name!r} is no repository. Name it with --repo OWNER/NAME.")
    if api is None:
        address = environment.get("GITHUB_API_URL") or "https://api.github.com"
        graphql = environment.get("GITHUB_GRAPHQL_URL") or _graphql(address)
        server = environment.get("GITHUB_SERVER_URL") or _server(address)
    else:
        address, graphql, server = api, _graphql(api), _server(api)
    return Place(name, address.rstrip("/"), graphql, server.rstrip("/"))


def _graphql(api: str) -> str:
    """GitHub Enterprise has REST at ``/api/v3`` and GraphQL at ``/api/graphql``."""
    return f"{api.rstrip('/').removesuffix('/v3')}/graphql"


def _server(api: str) -> str:
    return api.rstrip("/").removesuffix("/api/v3").replace("://api.github.com", "://github.com")
