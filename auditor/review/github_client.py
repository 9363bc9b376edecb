"""HTTP to GitHub: JSON over urllib, pages by ``Link``, waits where GitHub says so, and never says the token.

Rules: docs.github.com, "Rate limits for the REST API" and "Best practices for using the REST API". Reads are repeated
after a failure; a write that may have had its effect is ``Uncertain``, and who called reads the state before any other.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from auditor import __version__
from auditor.review.pull import HostError, Missing, ReadOnly, Uncertain, Unplaced

API_VERSION = "2022-11-28"
TIMEOUT = 30.0
"""Seconds of one request."""
LARGEST = 64 * 1024 * 1024
"""Bytes of one answer."""
TRIES = 5
PAGES = 40
"""3,000 files are the most that GitHub lists, 100 a page."""
SECONDARY = 60.0
"""Seconds to wait at least where GitHub limits without saying how long."""
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """Return the parsed body.

        Raises:
            HostError: it is none, as from a proxy.
        """
        try:
            return json.loads(self.content) if self.content else None
        except (ValueError, RecursionError):
            raise HostError(
                "the host answered with something that is no JSON: look at the address of its API"
            ) from None


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the token to wherever it points."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


@dataclass(slots=True)
class Clock:
    """Time, so that tests need none."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class Client:
    """A connection to one API. ``pace``: seconds between writes; ``max_wait``: seconds to wait for a limit at most."""

    api: str
    graphql: str
    token: str = field(repr=False)
    pace: float = 1.0
    max_wait: float = 900.0
    clock: Clock = field(default_factory=Clock)
    say: Callable[[str], None] = lambda _text: None
    _opener: OpenerDirector = field(default_factory=lambda: build_opener(_NoRedirects), repr=False)
    _last_write: float = 0.0

    def __post_init__(self) -> None:
        """Refuse to send the token over a connection that others can read."""
        for address in (self.api, self.graphql):
            parts = urlsplit(address)
            if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
                raise HostError(f"{address!r} is no https:// address; a token is sent over no other. Set --api-url.")
            if "@" in parts.netloc:
                raise HostError("the address of the API has a user in it; leave it out, the token says who asks")

    def get(self, path: str) -> Any:
        """Read one thing."""
        return self._answer("GET", self.api + path, None).json()

    def pages(self, path: str) -> Iterator[Any]:
        """Read all pages of a list, following ``Link``."""
        address: str | None = self.api + path
        for _page in range(PAGES):
            if address is None:
                return
            answer = self._answer("GET", address, None)
            yield answer.json()
            found = _NEXT.search(answer.headers.get("link", ""))
            address = found[1] if found else None
            if address is not None and _origin(address) != _origin(self.api):
                raise HostError("the host points to another one for the next page; nothing is sent there")

    def write(self, method: str, path: str, body: Mapping[str, object]) -> Any:
        """Send a change, no sooner than ``pace`` seconds after the one before.

        Raises:
            Uncertain: it failed, and may have had its effect.
            ReadOnly: the token has no right to it.
            Unplaced: the host does not take it as it is.
        """
        self._keep_pace()
        return self._answer(method, self.api + path, body).json()

    def query(self, document: str, variables: Mapping[str, object]) -> Any:
        """Ask GraphQL for data."""
        return self._graphql(document, variables, reads=True)

    def mutate(self, document: str, variables: Mapping[str, object]) -> Any:
        """Send a GraphQL mutation, at the pace of writes."""
        self._keep_pace()
        return self._graphql(document, variables, reads=False)

    # ------------------------------------------------------------ one request

    def _graphql(self, document: str, variables: Mapping[str, object], *, reads: bool) -> Any:
        body = {"query": document, "variables": dict(variables)}
        answer = self._answer("POST", self.graphql, body, reads=reads).json()
        errors = answer.get("errors") if isinstance(answer, dict) else [{"message": "no object"}]
        if errors:
            told = self._masked("; ".join(str(error.get("message", "")) for error in errors if isinstance(error, dict)))
            kinds = {error.get("type") for error in errors if isinstance(error, dict)}
            raise (ReadOnly if "FORBIDDEN" in kinds else HostError)(f"the host refused a GraphQL request: {told[:300]}")
        return answer["data"]

    def _answer(self, method: str, address: str, body: Mapping[str, object] | None, *, reads: bool = False) -> Answer:
        """Send a request, and again where that is right."""
        reads = reads or method == "GET"
        what = f"{method} {urlsplit(address).path}"
        failed = f"{what}: still limited after {TRIES} tries"
        for attempt in range(1, TRIES + 1):
            try:
                answer = self._once(method, address, body)
            except (OSError, HTTPException) as error:
                failed = f"{what}: {type(error).__name__}: {self._masked(str(error))[:200]}"
                if not reads:
                    raise Uncertain(failed) from None
            else:
                wait = self._limited(answer, attempt)
                if wait is None and answer.status < 300:
                    return answer
                if wait is not None:
                    self._wait(wait, what)
                    continue
                failed = f"{what}: {answer.status} {self._masked(_message(answer))[:300]}"
                if answer.status < 500:
                    raise _refusal(answer, reads=reads)(failed)
                if not reads:
                    raise Uncertain(failed)
            if attempt < TRIES:
                self.clock.sleep(self.pace * 2.0 ** (attempt - 1))
        raise HostError(failed)

    def _once(self, method: str, address: str, body: Mapping[str, object] | None) -> Answer:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self.token}",
            "User-Agent": f"bufgate/{__version__}",
            "X-GitHub-Api-Version": API_VERSION,
        }
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        request = Request(address, data=content, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT) as response:
                return _read(response.status, response.headers, response.read(LARGEST + 1))
        except HTTPError as error:
            with error:
                return _read(error.code, error.headers, error.read(LARGEST))

    def _limited(self, answer: Answer, attempt: int) -> float | None:
        """Seconds to wait where the answer is a limit, else None."""
        if not (answer.status in (403, 429) or (answer.status == 200 and _limited_query(answer))):
            return None
        if (after := answer.headers.get("retry-after", "")).isdigit():
            return float(after)
        if answer.headers.get("x-ratelimit-remaining") == "0":
            reset = answer.headers.get("x-ratelimit-reset", "")
            return max(1.0, float(reset) - self.clock.now() + 1) if reset.isdigit() else SECONDARY
        if answer.status in (200, 429) or "rate limit" in _message(answer).lower():
            return SECONDARY * 2.0 ** (attempt - 1)
        return None

    def _wait(self, seconds: float, what: str) -> None:
        if seconds > self.max_wait:
            raise HostError(f"{what}: limited for {seconds:.0f} s, and --max-wait is {self.max_wait:.0f} s")
        self.say(f"waiting {seconds:.0f} s: the host limits requests")
        self.clock.sleep(seconds)

    def _keep_pace(self) -> None:
        wait = self._last_write + self.pace - self.clock.now()
        if 0 < wait <= self.pace:
            self.clock.sleep(wait)
        self._last_write = self.clock.now()

    def _masked(self, text: str) -> str:
        return text.replace(self.token, "***") if self.token else text


def _limited_query(answer: Answer) -> bool:
    """Whether GraphQL refused for a limit, which it does in an answer that looks like a success."""
    if b"RATE_LIMITED" not in answer.content:
        return False
    document = answer.json()
    errors = document.get("errors") if isinstance(document, dict) else None
    return any(isinstance(one, dict) and one.get("type") == "RATE_LIMITED" for one in errors or ())


def _refusal(answer: Answer, *, reads: bool) -> type[HostError]:
    if reads:
        return Missing if answer.status in (404, 422) else HostError
    return {403: ReadOnly, 404: ReadOnly, 422: Unplaced}.get(answer.status, HostError)


def _read(status: int, headers: Any, content: bytes) -> Answer:
    if len(content) > LARGEST:
        raise HostError(f"the host sent more than {LARGEST:,} bytes")
    return Answer(status, {name.lower(): value for name, value in headers.items()}, content)


def _message(answer: Answer) -> str:
    """What an error says: its message, and the messages of its errors."""
    try:
        document = json.loads(answer.content)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(document, dict):
        return ""
    more = document.get("errors")
    return " ".join([str(document.get("message", "")), json.dumps(more) if more else ""]).strip()


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc
