"""A pull request of a real git repository, shown by a double as GitHub would show it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.repository import Repository
from tests.review.double import Double


def patches(repository: Repository, base: str, head: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the diff of each file between the merge base and the head, and the old paths of renamed ones."""
    start = repository.git("merge-base", base, head).stdout.strip()
    shown, previous = {}, {}
    listed = repository.git("diff", "--name-status", "-M", "-z", start, head).stdout.split("\0")
    while listed and (status := listed.pop(0)):
        path = listed.pop(0)
        if status.startswith("R"):
            old, path = path, listed.pop(0)
            previous[path] = old
        diff = repository.git("diff", "-M", start, head, "--", previous.get(path, path), path).stdout
        shown[path] = diff[diff.find("@@") :].rstrip("\n") if "@@" in diff else ""
    return shown, previous


def commit(repository: Repository, revision: str) -> str:
    return repository.git("rev-parse", revision).stdout.strip()


def opened(repository: Repository, base: str = "main", head: str = "HEAD", **changes: Any) -> Double:
    """Open a pull request."""
    shown, previous = patches(repository, base, head)
    return Double(
        head=commit(repository, head), base=commit(repository, base), patches=shown, previous=previous, **changes
    )


def pushed(double: Double, repository: Repository, base: str = "main") -> None:
    """Push what the repository has now."""
    shown, previous = patches(repository, base, "HEAD")
    double.push(commit(repository, "HEAD"), shown, previous)


def event(folder: Path, kind: str, double: Double) -> Path:
    """Write the event of a workflow as GitHub does, as far as it is read."""
    if kind == "pull_request":
        pull = {"number": double.number, "head": {"sha": double.head}, "base": {"sha": double.base, "ref": "main"}}
        document: dict[str, Any] = {"action": "synchronize", "number": double.number, "pull_request": pull}
    else:
        document = {"action": "completed", "workflow_run": {"head_sha": double.head, "pull_requests": []}}
    file = folder / f"{kind}.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file
