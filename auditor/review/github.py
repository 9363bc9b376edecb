"""GitHub and GitHub Enterprise Server as a ``Host``."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from auditor.review import github_queries as queries
from auditor.review.github_client import Client
from auditor.review.hunks import hunks
from auditor.review.marks import FINDING, SUMMARY, Marks
from auditor.review.pull import (
    Annotate,
    Annotation,
    ChangedFile,
    Check,
    Comment,
    Edit,
    EditSummary,
    Hide,
    HostError,
    Inline,
    Missing,
    PostCheck,
    PostOnFile,
    PostReview,
    PostSummary,
    Pull,
    Reopen,
    Resolve,
    Show,
    Summary,
    Uncertain,
    Write,
    by_path,
)

CHECK = "bufgate review"
"""The name of the check run; not that of a job, whose check runs GitHub makes itself."""
_KEY = "bufgate:v1:"


def find_pull(client: Client, repository: str, head: str) -> int | None:
    """Return the number of the open pull request whose head is this commit, asked of GitHub and of nobody else.

    The list of a commit has it for branches of the repository; for forks GitHub may leave it out, so the open pull
    requests are looked through as well.
    """
    for path in (f"/repos/{repository}/commits/{head}/pulls", f"/repos/{repository}/pulls?state=open&per_page=100"):
        with suppress(Missing):
            for page in client.pages(path):
                for one in page:
                    if one["state"] == "open" and one["head"]["sha"] == head:
                        return int(one["number"])
    return None


def pull_commits(client: Client, repository: str, number: int) -> tuple[str, str] | None:
    """Return base and head of a pull request, None where it is not open."""
    pull = client.get(f"/repos/{repository}/pulls/{number}")
    return (str(pull["base"]["sha"]), str(pull["head"]["sha"])) if pull["state"] == "open" else None


def installation_token(client: Client, repository: str) -> str:
    """Return a token for one repository, with no more rights than reviews need. The client speaks for an App."""
    number = client.get(f"/repos/{repository}/installation")["id"]
    rights = {"contents": "read", "pull_requests": "write", "checks": "write"}
    body = {"repositories": [repository.partition("/")[2]], "permissions": rights}
    return str(client.write("POST", f"/app/installations/{number}/access_tokens", body)["token"])


def base_file(client: Client, repository: str, number: int, path: str) -> str | None:
    """Return a file of the commit that the pull request wants to change, or None where there is none."""
    base = client.get(f"/repos/{repository}/pulls/{number}")["base"]["sha"]
    try:
        found = client.get(f"/repos/{repository}/contents/{quote(path)}?ref={base}")
    except Missing:
        return None
    return b64decode(found["content"]).decode("utf-8", "replace") if found.get("encoding") == "base64" else None


@dataclass(slots=True)
class GitHub:
    """One pull request. ``local``: the diff of a file from a clone, for those that GitHub does not show."""

    client: Client
    repository: str
    number: int
    marks: Marks
    local: Callable[[str], str | None] = lambda _path: None
    _check: str = field(default="", init=False)

    def head(self) -> str:
        """Return the commit that the pull request stands at now."""
        return str(self._pull()["head"]["sha"])

    def read(self) -> Pull:
        """Read the pull request, its files, and what is ours in it."""
        pull = self._pull()
        head = str(pull["head"]["sha"])
        return Pull(
            number=self.number,
            head=head,
            open=pull["state"] == "open",
            draft=bool(pull.get("draft")),
            files=by_path(self._files()),
            comments=tuple(self._comments()),
            summaries=tuple(self._summaries()),
            checks=tuple(self._checks(head)),
        )

    # ------------------------------------------------------------ reading

    @property
    def _repo(self) -> str:
        return f"/repos/{self.repository}"

    def _pull(self) -> Any:
        return self.client.get(f"{self._repo}/pulls/{self.number}")

    def _files(self) -> Iterator[ChangedFile]:
        for page in self.client.pages(f"{self._repo}/pulls/{self.number}/files?per_page=100"):
            for one in page:
                path = one["filename"]
                patch = one.get("patch") or self.local(path)
                yield ChangedFile(path, one.get("previous_filename") or path, hunks(patch) if patch else None)

    def _nodes(self, document: str, name: str) -> Iterator[Any]:
        owner, _, repository = self.repository.partition("/")
        after: str | None = None
        while True:
            variables = {"owner": owner, "name": repository, "number": self.number, "after": after}
            found = self.client.query(document, variables)["repository"]["pullRequest"][name]
            yield from found["nodes"]
            if not found["pageInfo"]["hasNextPage"]:
                return
            after = found["pageInfo"]["endCursor"]

    def _comments(self) -> Iterator[Comment]:
        for thread in self._nodes(queries.THREADS, "reviewThreads"):
            for one in thread["comments"]["nodes"]:
                mark = self.marks.read(one["body"]) if one["viewerDidAuthor"] else None
                if mark is not None and mark.kind == FINDING:
                    yield Comment(
                        id=str(one["fullDatabaseId"]),
                        node=one["id"],
                        thread=thread["id"],
                        mark=mark,
                        body=one["body"],
                        outdated=thread["isOutdated"],
                        hidden=one["isMinimized"],
                        resolved=thread["isResolved"],
                        may_hide=one["viewerCanMinimize"],
                        may_resolve=thread["viewerCanResolve"],
                        may_reopen=thread["viewerCanUnresolve"],
                    )

    def _summaries(self) -> Iterator[Summary]:
        for one in self._nodes(queries.COMMENTS, "comments"):
            mark = self.marks.read(one["body"]) if one["viewerDidAuthor"] else None
            if mark is not None and mark.kind == SUMMARY:
                yield Summary(str(one["fullDatabaseId"]), mark)

    def _checks(self, head: str) -> Iterator[Check]:
        name = quote(CHECK)
        for page in self.client.pages(f"{self._repo}/commits/{head}/check-runs?check_name={name}&per_page=100"):
            for one in page["check_runs"]:
                if (one.get("external_id") or "").startswith(_KEY):
                    yield Check(str(one["id"]), one["external_id"], one["output"]["annotations_count"])

    # ------------------------------------------------------------ writing

    def write(self, write: Write) -> None:
        """Do one write."""
        pull, issue = f"{self._repo}/pulls", f"{self._repo}/issues"
        match write:
            case PostReview(commit, body, comments):
                rows = [_inline(one) for one in comments]
                review = {"commit_id": commit, "event": "COMMENT", "body": body, "comments": rows}
                self.client.write("POST", f"{pull}/{self.number}/reviews", review)
            case PostOnFile(commit, _, path, body):
                comment = {"commit_id": commit, "path": path, "subject_type": "file", "body": body}
                self.client.write("POST", f"{pull}/{self.number}/comments", comment)
            case Edit(id_, _, body, _):
                self.client.write("PATCH", f"{pull}/comments/{id_}", {"body": body})
            case PostSummary(body):
                self.client.write("POST", f"{issue}/{self.number}/comments", {"body": body})
            case EditSummary(id_, body):
                self.client.write("PATCH", f"{issue}/comments/{id_}", {"body": body})
            case PostCheck() | Annotate():
                self._write_check(write)
            case Hide(node, reason):
                self._ask(queries.HIDE, {"id": node, "classifier": reason})
            case Show(node):
                self._ask(queries.SHOW, {"id": node})
            case Resolve(thread):
                self._ask(queries.RESOLVE, {"id": thread})
            case Reopen(thread):
                self._ask(queries.REOPEN, {"id": thread})

    def _write_check(self, write: PostCheck | Annotate) -> None:
        output = {
            "title": write.title,
            "summary": write.summary,
            "annotations": [_annotation(one) for one in write.annotations],
        }
        if isinstance(write, Annotate):
            id_ = write.id or self._check
            self.client.write("PATCH", f"{self._repo}/check-runs/{id_}", {"output": output})
            return
        run = {
            "name": CHECK,
            "head_sha": write.commit,
            "status": "completed",
            "conclusion": write.conclusion,
            "external_id": write.key,
            "output": output,
        }
        self._check = str(self.client.write("POST", f"{self._repo}/check-runs", run)["id"])

    def _ask(self, document: str, variables: Mapping[str, object]) -> None:
        """Ask for what needs a right that a token may lack; a refusal changes nothing that matters."""
        try:
            self.client.mutate(document, variables)
        except Uncertain:
            raise
        except HostError as error:
            self.client.say(f"left as it is: {error}")


def _inline(one: Inline) -> dict[str, object]:
    """The first of several lines is named only where there are several: GitHub refuses it otherwise."""
    row: dict[str, object] = {"path": one.path, "line": one.line, "side": one.side, "body": one.body}
    return row | {"start_line": one.start, "start_side": one.side} if 0 < one.start < one.line else row


def _annotation(one: Annotation) -> dict[str, object]:
    return {
        "path": one.path,
        "start_line": one.line,
        "end_line": one.line,
        "annotation_level": one.level,
        "title": one.title,
        "message": one.message,
    }
