"""A GitHub that lives in the test: keeps pull requests, and the documented rules, over HTTP on the loopback.

Every request is checked against GitHub's own description (``contracts``), and so is every answer; what does not conform
is a *violation*, as is a write to what somebody else wrote. It knows one pull request.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

import jwt
from graphql import execute_sync

from tests.review.contracts import faults, graphql_schema, operation, parsed

REPOSITORY = "acme/engine"
BOT, HUMAN = "github-actions[bot]", "ada"
APP, ISSUED = "1234", "ghs_issued"
"""The App that is installed, and the token that it is given."""
LONGEST = 65_536
Patches = Mapping[str, str]
"""Path → unified diff."""


@dataclass
class Line:
    """A line of a diff that a comment can stand on."""

    side: str
    number: int
    text: str
    hunk: int


@dataclass
class ReviewComment:
    """Begins a thread. ``line`` None: outdated; 0: the whole file."""

    id: int
    author: str
    body: str
    path: str
    side: str
    line: int | None
    text: str
    hidden: str = ""
    resolved: str = ""
    replies: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class IssueComment:
    id: int
    author: str
    body: str


@dataclass
class CheckRun:
    id: int
    author: str
    head: str
    body: dict[str, Any]
    annotations: list[dict[str, Any]]


@dataclass
class Fault:
    """What goes wrong with the next request that matches: ``before`` or ``after`` it had its effect."""

    method: str
    path: str
    when: Literal["before", "after"]
    status: int | None
    """None: the connection is dropped."""
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=lambda: {"message": "Server Error"})


class Refused(Exception):
    """Indicates an answer that is no success."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass
class Double:
    """The state. ``may``: the kinds of writes that the token has a right to."""

    head: str
    base: str
    patches: dict[str, str]
    previous: dict[str, str] = field(default_factory=dict)
    number: int = 7
    state: str = "open"
    draft: bool = False
    flavour: str = "github"
    contents: dict[str, str] = field(default_factory=dict)
    may: set[str] = field(default_factory=lambda: {"comments", "checks", "minimise", "resolve"})
    secondary_after: int | None = None
    page: int = 100
    app_key: str = ""
    """The public key of the App; where there is one, no token is taken but the one issued to it."""
    too_large: bool = False
    """Whether the diffs of files are not shown."""
    comments: list[ReviewComment] = field(default_factory=list)
    notes: list[IssueComment] = field(default_factory=list)
    checks: list[CheckRun] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    writes: int = 0
    violations: list[str] = field(default_factory=list)
    on_write: Callable[[], None] = lambda: None
    _ids: int = 3_000_000_000
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # ------------------------------------------------------------ what people do

    def push(self, head: str, patches: Patches, previous: Mapping[str, str] | None = None) -> None:
        """Move the head; comments whose line is in the new diff follow it, the others are outdated."""
        self.head, self.patches, self.previous = head, dict(patches), dict(previous or {})
        for comment in self.comments:
            if comment.line == 0:
                comment.line = 0 if comment.path in self.patches else None
                continue
            near = [
                line.number
                for line in self._lines(comment.path)
                if (line.side, line.text) == (comment.side, comment.text)
            ]
            was = comment.line or 0
            comment.line = min(near, key=lambda number: abs(number - was), default=None)

    def say(self, body: str) -> None:
        """A person writes to the conversation."""
        self.notes.append(IssueComment(self._id(), HUMAN, body))

    def remark(self, path: str, body: str) -> None:
        """A person comments on a file."""
        self.comments.append(ReviewComment(self._id(), HUMAN, body, path, "RIGHT", 0, ""))

    def by_people(self) -> list[Any]:
        """Return everything that people wrote, as it stands."""
        threads = [(one.path, one.body, one.hidden) for one in self.comments if one.author == HUMAN]
        replies = [reply for one in self.comments for reply in one.replies]
        return [threads, replies, [note.body for note in self.notes if note.author == HUMAN]]

    def ours(self) -> list[ReviewComment]:
        """Return the review comments of the bot."""
        return [one for one in self.comments if one.author == BOT]

    # ------------------------------------------------------------ requests

    def handle(self, method: str, target: str, headers: Mapping[str, str], content: bytes) -> tuple[Any, Any, Any]:
        """Answer a request: status (None: drop the connection), body, headers."""
        with self._lock:
            parts = urlsplit(target)
            path = unquote(parts.path)
            fault = self._fault(method, path)
            if fault and fault.when == "before":
                return fault.status, fault.body, fault.headers
            try:
                self._admit(path, headers)
                body = json.loads(content) if content else None
                answer = self._answer(method, path, parse_qs(parts.query), body)
            except Refused as refused:
                answer = refused.status, {"message": refused.message}, {}
            return (fault.status, fault.body, fault.headers) if fault else answer

    def _fault(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.method == method and re.search(fault.path, path):
                self.faults.remove(fault)
                return fault
        return None

    def _admit(self, path: str, headers: Mapping[str, str]) -> None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind != "Bearer" or (self.app_key and not self._known(path, token)):
            raise Refused(401, "Requires authentication")
        if not headers.get("user-agent"):
            raise Refused(403, "Request forbidden by administrative rules")
        if headers.get("x-github-api-version") != "2022-11-28":
            self.violations.append("the version of the API is not named")

    def _known(self, path: str, token: str) -> bool:
        """An App asks as itself where it is installed and for a token, and does all else with that token."""
        if not path.startswith("/app/") and not path.endswith("/installation"):
            return token == ISSUED
        try:
            claim = jwt.decode(
                token, self.app_key, algorithms=["RS256"], issuer=APP, options={"require": ["exp", "iat"]}
            )
        except jwt.PyJWTError:
            return False
        return bool(claim["exp"] - claim["iat"] <= 600)

    def _answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any, Any]:
        self.log.append((method, path))
        if path == "/graphql":
            return self._graphql(body)
        found = operation(self.flavour, method, path)
        if found is None:
            self.violations.append(f"no such operation: {method} {path}")
            raise Refused(404, "Not Found")
        self.violations += [f"{path} has no parameter {name}" for name in query if name not in found.query]
        if found.body is not None and (wrong := faults(found.body, body)):
            self.violations += wrong
            raise Refused(422, "Validation Failed")
        if method != "GET":
            self._count_write()
        status, answer, more = self._route(method, path, query, body)
        self.violations += [
            f"the double answers wrongly: {path}: {one}" for one in faults(found.answers[status], answer)
        ]
        return status, answer, more

    def _count_write(self) -> None:
        self.writes += 1
        if self.secondary_after is not None and self.writes > self.secondary_after:
            self.secondary_after = None
            raise Refused(403, "You have exceeded a secondary rate limit")
        self.on_write()

    def _route(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any, Any]:
        repo, pull = f"/repos/{REPOSITORY}", f"/repos/{REPOSITORY}/pulls/{self.number}"
        last = path.rpartition("/")[2]
        match method, path.removeprefix(repo):
            case "GET", _ if path == pull:
                return 200, self._pull(), {}
            case "GET", "/installation":
                return 200, {"id": 99}, {}
            case "POST", "/app/installations/99/access_tokens":
                return 201, {"token": ISSUED}, {}
            case "GET", "/pulls":
                return 200, [self._pull()] if self.state == "open" else [], {}
            case "GET", rest if rest.startswith("/commits/") and last == "pulls":
                return 200, [self._pull()] if rest.split("/")[2] == self.head else [], {}
            case "GET", rest if rest.startswith("/commits/"):
                runs = [self._run(one) for one in self.checks if one.head == rest.split("/")[2]]
                named = [one for one in runs if one["name"] == query["check_name"][0]]
                return 200, {"total_count": len(named), "check_runs": named}, {}
            case "GET", rest if rest.startswith("/contents/"):
                return self._content(rest.removeprefix("/contents/"), query)
            case "GET", _ if path == f"{pull}/files":
                return self._page(path, query, list(self._files()))
            case "POST", _ if path == f"{pull}/reviews":
                self._need("comments")
                return 200, self._review(body), {}
            case "POST", _ if path == f"{pull}/comments":
                self._need("comments")
                return 201, self._on_file(body), {}
            case "PATCH", rest if rest.startswith("/pulls/comments/"):
                return 200, self._edit(self.comments, int(last), body), {}
            case "POST", rest if rest == f"/issues/{self.number}/comments":
                self._need("comments")
                note = IssueComment(self._id(), BOT, self._body(body["body"]))
                self.notes.append(note)
                return 201, {"id": note.id, "body": note.body}, {}
            case "PATCH", rest if rest.startswith("/issues/comments/"):
                return 200, self._edit(self.notes, int(last), body), {}
            case "POST", "/check-runs":
                return 201, self._run(self._check(body)), {}
            case "PATCH", rest if rest.startswith("/check-runs/"):
                return 200, self._run(self._annotate(int(last), body)), {}
        raise Refused(404, "Not Found")

    # ------------------------------------------------------------ reading

    def _pull(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "state": self.state,
            "draft": self.draft,
            "head": {"sha": self.head},
            "base": {"sha": self.base},
        }

    def _files(self) -> Iterator[dict[str, Any]]:
        for path, patch in sorted(self.patches.items()):
            more = {"patch": patch} if patch and not self.too_large else {}
            if path in self.previous:
                yield {"filename": path, "status": "renamed", "previous_filename": self.previous[path], **more}
            else:
                yield {"filename": path, "status": "modified", **more}

    def _page(self, path: str, query: dict[str, list[str]], rows: list[Any]) -> tuple[int, Any, Any]:
        size = min(self.page, int(query.get("per_page", ["30"])[0]))
        page = int(query.get("page", ["1"])[0])
        more = {}
        if page * size < len(rows):
            more["Link"] = f'<http://HOST{path}?per_page={size}&page={page + 1}>; rel="next"'
        return 200, rows[(page - 1) * size : page * size], more

    def _content(self, path: str, query: dict[str, list[str]]) -> tuple[int, Any, Any]:
        if query["ref"] != [self.base]:
            self.violations.append(f"the configuration is read from {query['ref']}, not from the base")
        if path not in self.contents:
            raise Refused(404, "Not Found")
        content = base64.b64encode(self.contents[path].encode()).decode()
        return 200, {"name": path, "encoding": "base64", "content": content}, {}

    def _run(self, one: CheckRun) -> dict[str, Any]:
        return {
            "id": one.id,
            "name": one.body["name"],
            "status": "completed",
            "conclusion": one.body["conclusion"],
            "external_id": one.body["external_id"],
            "output": {"annotations_count": len(one.annotations)},
        }

    # ------------------------------------------------------------ writing

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def _need(self, right: str) -> None:
        if right not in self.may:
            raise Refused(403, "Resource not accessible by integration")

    def _body(self, text: str) -> str:
        if not text or len(text) > LONGEST:
            raise Refused(422, "body is too long or empty")
        return text.replace("\n", "\r\n")

    def _review(self, body: dict[str, Any]) -> dict[str, Any]:
        """All or nothing; which comment is at fault is not said."""
        if body.get("event") == "COMMENT" and not body.get("body"):
            self.violations.append("a review that comments needs a body")
        made = [self._inline(one) for one in body["comments"]]
        self.comments += made
        self.reviews.append(body["body"])
        return {"id": self._id(), "body": body["body"]}

    def _inline(self, one: dict[str, Any]) -> ReviewComment:
        lines = [line for line in self._lines(one["path"]) if (line.side, line.number) == (one["side"], one["line"])]
        if not lines:
            raise Refused(422, "Line could not be resolved")
        if "start_line" in one:
            near = {line.number for line in self._lines(one["path"]) if line.hunk == lines[0].hunk}
            if not one["start_line"] < one["line"] or one["start_line"] not in near:
                raise Refused(422, "start line must precede the end line, in the same hunk")
        return ReviewComment(
            self._id(), BOT, self._body(one["body"]), one["path"], one["side"], one["line"], lines[0].text
        )

    def _on_file(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["path"] not in self.patches or body.get("subject_type") != "file":
            raise Refused(422, "Path could not be resolved")
        comment = ReviewComment(self._id(), BOT, self._body(body["body"]), body["path"], "RIGHT", 0, "")
        self.comments.append(comment)
        return {"id": comment.id, "body": comment.body}

    def _edit(self, among: list[Any], id_: int, body: dict[str, Any]) -> dict[str, Any]:
        self._need("comments")
        for one in among:
            if one.id == id_:
                if one.author != BOT:
                    self.violations.append(f"the comment of a person was edited: {one.body[:80]}")
                one.body = self._body(body["body"])
                return {"id": one.id, "body": one.body}
        raise Refused(404, "Not Found")

    def _check(self, body: dict[str, Any]) -> CheckRun:
        self._need("checks")
        run = CheckRun(self._id(), BOT, body["head_sha"], body, list(body["output"].get("annotations", [])))
        self.checks.append(run)
        return run

    def _annotate(self, id_: int, body: dict[str, Any]) -> CheckRun:
        self._need("checks")
        for run in self.checks:
            if run.id == id_:
                run.annotations += body["output"].get("annotations", [])
                return run
        raise Refused(404, "Not Found")

    def _lines(self, path: str) -> Iterator[Line]:
        """The lines of a patch that comments can stand on, by GitHub's rule: any line of a hunk, on its side."""
        hunk = old = new = 0
        for line in self.patches.get(path, "").splitlines():
            if found := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", line):
                hunk, old, new = hunk + 1, int(found[1]), int(found[2])
            elif hunk and line.startswith("+"):
                yield Line("RIGHT", new, line[1:], hunk)
                new += 1
            elif hunk and line.startswith("-"):
                yield Line("LEFT", old, line[1:], hunk)
                old += 1
            elif hunk and line.startswith(" "):
                yield Line("RIGHT", new, line[1:], hunk)
                yield Line("LEFT", old, line[1:], hunk)
                old, new = old + 1, new + 1

    # ------------------------------------------------------------ GraphQL

    def _graphql(self, body: dict[str, Any]) -> tuple[int, Any, Any]:
        document, wrong = parsed(body["query"])
        self.violations += wrong
        if body["query"].lstrip().startswith("mutation"):
            self._count_write()
        root = {
            "repository": lambda _info, owner, name, **_: self._repository(f"{owner}/{name}"),
            "minimizeComment": lambda _info, **given: self._minimise(**given["input"]),
            "unminimizeComment": lambda _info, **given: self._minimise(**given["input"]),
            "resolveReviewThread": lambda _info, **given: self._resolve(given["input"]["threadId"], BOT),
            "unresolveReviewThread": lambda _info, **given: self._resolve(given["input"]["threadId"], ""),
        }
        done = execute_sync(graphql_schema(), document, root, variable_values=body.get("variables"))
        answer: dict[str, Any] = {"data": done.data}
        if done.errors:
            answer["errors"] = [{"message": error.message, "type": "FORBIDDEN"} for error in done.errors]
        return 200, answer, {}

    def _repository(self, name: str) -> Any:
        if name != REPOSITORY:
            return None
        threads = [self._thread(one) for one in self.comments]
        notes = [
            {"fullDatabaseId": str(one.id), "body": one.body, "viewerDidAuthor": one.author == BOT}
            for one in self.notes
        ]

        def pull(_info: Any, number: int) -> Any:
            return {"reviewThreads": _connection(threads, self.page), "comments": _connection(notes, self.page)}

        return {"pullRequest": pull}

    def _thread(self, one: ReviewComment) -> dict[str, Any]:
        comment = {
            "id": f"C{one.id}",
            "fullDatabaseId": str(one.id),
            "body": one.body,
            "viewerDidAuthor": one.author == BOT,
            "isMinimized": bool(one.hidden),
            "viewerCanMinimize": one.author == BOT,
        }
        replies = [{"id": f"R{one.id}", "body": text, "viewerDidAuthor": False} for _, text in one.replies]
        return {
            "id": f"T{one.id}",
            "isOutdated": one.line is None,
            "isResolved": bool(one.resolved),
            "viewerCanResolve": "resolve" in self.may and not one.resolved,
            "viewerCanUnresolve": "resolve" in self.may and bool(one.resolved),
            "comments": _connection([comment, *replies], self.page),
        }

    def _comment(self, node: str) -> ReviewComment:
        (found,) = [one for one in self.comments if node in (f"C{one.id}", f"T{one.id}")]
        if found.author != BOT:
            self.violations.append(f"the comment of a person was hidden or resolved: {found.body[:80]}")
        return found

    def _minimise(self, subjectId: str, classifier: str = "") -> Any:
        if "minimise" not in self.may:
            raise PermissionError("Resource not accessible by integration")
        comment = self._comment(subjectId)
        comment.hidden = classifier
        shown = {"__typename": "PullRequestReviewComment", "isMinimized": bool(classifier)}
        return {"minimizedComment": shown, "unminimizedComment": shown}

    def _resolve(self, node: str, by: str) -> Any:
        if "resolve" not in self.may:
            raise PermissionError("Resource not accessible by integration")
        comment = self._comment(node)
        comment.resolved = by
        return {"thread": {"isResolved": bool(by)}}


def _connection(nodes: list[Any], size: int) -> Callable[..., Any]:
    def page(_info: Any, first: int, after: str | None = None, **_: Any) -> Any:
        start, first = int(after or 0), min(first, size)
        part = nodes[start : start + first]
        return {
            "pageInfo": {"hasNextPage": start + first < len(nodes), "endCursor": str(start + first)},
            "nodes": part,
            "totalCount": len(nodes),
        }

    return page


# ---------------------------------------------------------------- over HTTP


class Server:
    """Serves a double on the loopback; a context manager that gives its address."""

    def __init__(self, double: Double, prefix: str = "") -> None:
        outer = double

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                target = self.path.removeprefix(prefix)
                status, body, more = outer.handle(
                    self.command, target, {name.lower(): value for name, value in self.headers.items()}, content
                )
                if status is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                written = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(written)))
                for name, value in more.items():
                    self.send_header(name, value.replace("HOST", f"{self.headers['Host']}{prefix}"))
                self.end_headers()
                self.wfile.write(written)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
