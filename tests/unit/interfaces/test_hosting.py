"""Where a pull request lies: options before the environment, and the events of workflows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import UsageError
from auditor.interfaces.hosting import Event, event, place

ACTIONS = {
    "GITHUB_REPOSITORY": "acme/engine",
    "GITHUB_API_URL": "https://hub.example/api/v3",
    "GITHUB_GRAPHQL_URL": "https://hub.example/api/graphql",
    "GITHUB_SERVER_URL": "https://hub.example",
}
A, B = "a" * 40, "b" * 40


def test_what_a_workflow_has_in_its_environment() -> None:
    made = place(None, None, ACTIONS)
    assert (made.repository, made.api, made.graphql, made.server) == tuple(ACTIONS.values())


@pytest.mark.parametrize(
    ("api", "graphql", "server"),
    [
        (None, "https://api.github.com/graphql", "https://github.com"),
        ("https://hub.example/api/v3/", "https://hub.example/api/graphql", "https://hub.example"),
    ],
)
def test_elsewhere_the_api_says_the_rest(api: str | None, graphql: str, server: str) -> None:
    made = place("acme/engine", api, {})
    assert (made.graphql, made.server) == (graphql, server)


@pytest.mark.parametrize("name", ["", "engine", "acme/engine/x", "../..", "acme/en gine", "acme/engine?x"])
def test_what_is_no_repository(name: str) -> None:
    with pytest.raises(UsageError, match="--repo OWNER/NAME"):
        place(name, None, {})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"pull_request": {"number": 7, "head": {"sha": A}, "base": {"sha": B}}}, Event(B, A, 7)),
        ({"workflow_run": {"head_sha": A, "pull_requests": []}}, Event("", A, 0)),
        ({"workflow_run": {"head_sha": "main; x"}}, Event()),
        ({"pull_request": {"number": True, "head": [], "base": {"sha": 1}}}, Event()),
        ({"schedule": "0 0 * * *"}, Event()),
        ([], Event()),
    ],
)
def test_events(tmp_path: Path, document: Any, expected: Event) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(document))
    assert event({"GITHUB_EVENT_PATH": str(file)}) == expected


def test_no_event(tmp_path: Path) -> None:
    assert event({}) == event({"GITHUB_EVENT_PATH": str(tmp_path / "none")}) == Event()


def test_an_event_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text("{")
    with pytest.raises(UsageError, match="GITHUB_EVENT_PATH"):
        event({"GITHUB_EVENT_PATH": str(file)})
