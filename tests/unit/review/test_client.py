"""HTTP to GitHub: the rules on waiting, repeating and not repeating, and where the token never goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from graphql import parse, validate

from auditor.review import HostError, find_pull, publish
from auditor.review.github_client import TRIES, Client
from auditor.review.github_queries import DOCUMENTS
from auditor.review.pull import Missing, ReadOnly, Uncertain, Unplaced
from tests.review.contracts import graphql_schema
from tests.review.double import REPOSITORY, Fault
from tests.review.stage import HEAD, Stage, artifact, finding, stage

PULL = f"/repos/{REPOSITORY}/pulls/7"
SUMMARY = f"/repos/{REPOSITORY}/issues/7/comments"


@pytest.fixture
def hub() -> Iterator[Stage]:
    with stage() as made:
        yield made


def fault(hub: Stage, status: int | None, headers: dict[str, str] | None = None, *, method: str = "GET", **more: Any):
    hub.double.faults.append(Fault(method, "", "before", status, headers or {}, **more))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_are_valid_by_githubs_schema(document: str) -> None:
    assert validate(graphql_schema(), parse(document)) == []


def test_the_schema_notices_a_wrong_member() -> None:
    (error,) = validate(graphql_schema(), parse(DOCUMENTS[0].replace("isOutdated", "isOutdatet")))
    assert "Did you mean 'isOutdated'" in error.message


# ---------------------------------------------------------------- repeating


@pytest.mark.parametrize("status", [500, 503, None])
def test_a_read_is_repeated(hub, status):
    fault(hub, status)
    assert hub.client().get(PULL)["number"] == 7


def test_a_read_that_never_succeeds_ends(hub):
    for _ in range(TRIES):
        fault(hub, 502)
    with pytest.raises(HostError, match="502"):
        hub.client().get(PULL)
    assert hub.time.slept == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("status", [500, 504, None])
def test_a_write_is_not_repeated_it_may_have_had_its_effect(hub, status):
    fault(hub, status, method="POST")
    with pytest.raises(Uncertain):
        hub.client().write("POST", SUMMARY, {"body": "x"})
    assert hub.double.notes == []


@pytest.mark.parametrize(
    ("status", "error"), [(403, ReadOnly), (404, ReadOnly), (422, Unplaced), (401, HostError), (400, HostError)]
)
def test_what_a_refused_write_means(hub, status, error):
    fault(hub, status, method="POST")
    with pytest.raises(HostError) as raised:
        hub.client().write("POST", SUMMARY, {"body": "x"})
    assert type(raised.value) is error


def test_what_is_not_there_is_told_apart(hub):
    with pytest.raises(Missing):
        hub.client().get(f"/repos/{REPOSITORY}/contents/no.toml?ref={hub.double.base}")


# ---------------------------------------------------------------- limits


def limited(hub: Stage, headers: dict[str, str], status: int = 403, message: str = "limit") -> list[float]:
    """How long the client waits before it asks again."""
    hub.double.faults.append(Fault("GET", "", "before", status, headers, {"message": message}))
    hub.client().get(PULL)
    return hub.time.slept


def test_a_limit_says_how_long_to_wait(hub):
    assert limited(hub, {"Retry-After": "17"}) == [17.0]
    assert hub.said == ["waiting 17 s: the host limits requests"]


def test_the_primary_limit_is_waited_for_until_its_reset(hub):
    reset = str(int(hub.time.now) + 120)
    assert limited(hub, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}) == [121.0]


@pytest.mark.parametrize(("status", "message"), [(429, ""), (403, "You have exceeded a secondary rate limit")])
def test_a_limit_that_does_not_say_how_long_is_a_minute(hub, status, message):
    assert limited(hub, {}, status, message) == [60.0]


def test_the_secondary_limit_doubles(hub):
    fault(hub, 429)
    assert limited(hub, {}, 429) == [60.0, 120.0]


def test_graphql_says_in_a_success_that_it_is_limited(hub):
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    hub.double.faults.append(Fault("POST", "/graphql", "before", 200, {}, body))
    hub.double.say("RATE_LIMITED")
    hub.host().read()
    assert hub.time.slept == [60.0], "and what people write is no limit"


def test_a_limit_that_is_too_long_ends_the_run(hub):
    fault(hub, 403, {"Retry-After": "3600"})
    with pytest.raises(HostError, match="--max-wait is 900 s"):
        hub.client().get(PULL)
    assert hub.time.slept == []


def test_a_write_that_was_limited_was_not_done_and_is_sent_again(hub):
    hub.double.secondary_after = 0
    hub.client().write("POST", SUMMARY, {"body": "x"})
    assert (len(hub.double.notes), hub.time.slept) == (1, [60.0])


def test_writes_keep_their_pace(hub):
    client = hub.client(pace=1.0)
    for _ in range(3):
        client.write("POST", SUMMARY, {"body": "x"})
    assert hub.time.slept == [1.0, 1.0]


# ---------------------------------------------------------------- the token


@pytest.mark.parametrize("address", ["http://github.example/api/v3", "ftp://127.0.0.1", "https://me@github.example"])
def test_where_a_token_is_not_sent(address):
    with pytest.raises(HostError):
        Client(address, address, "s3cret")


def test_the_token_is_in_no_error_and_no_picture_of_the_client(hub):
    fault(hub, 401, body={"message": "s3cret is not valid"})
    client = hub.client()
    with pytest.raises(HostError) as raised:
        client.get(PULL)
    assert "s3cret" not in str(raised.value) + repr(client)
    assert "*** is not valid" in str(raised.value)


def test_no_redirect_is_followed(hub):
    with stage() as other:
        fault(hub, 302, {"Location": f"{other.address}{PULL}"})
        with pytest.raises(HostError):
            hub.client().get(PULL)
        assert other.double.log == []


def test_a_page_elsewhere_is_not_asked_for(hub):
    with stage() as other:
        fault(hub, 200, {"Link": f'<{other.address}{PULL}/files?page=2>; rel="next"'}, body=[])
        with pytest.raises(HostError, match="another one"):
            list(hub.client().pages(f"{PULL}/files"))
        assert other.double.log == []


def test_what_is_no_json_is_no_answer():
    """As from a proxy that asks to log in."""
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Proxy)
    Thread(target=server.handle_request, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    with pytest.raises(HostError, match="no JSON"):
        Client(address, address, "s3cret").get("/x")
    server.server_close()


# ---------------------------------------------------------------- finding the pull request


def test_a_pull_request_is_found_by_its_head(hub):
    assert find_pull(hub.client(), REPOSITORY, HEAD) == 7
    assert find_pull(hub.client(), REPOSITORY, "9" * 40) is None


def test_one_of_a_fork_is_found_among_the_open_ones(hub):
    """GitHub may not know its commits by the list of a commit."""
    hub.double.faults.append(Fault("GET", f"/commits/{HEAD}/pulls", "before", 422))
    assert find_pull(hub.client(), REPOSITORY, HEAD) == 7


def test_a_closed_one_is_none(hub):
    hub.double.state = "closed"
    assert find_pull(hub.client(), REPOSITORY, HEAD) is None


def test_the_same_without_http_between(hub):
    """The way of the state machine is that of the others."""
    publish(hub.review(artifact(finding())), hub.direct(), say=hub.said.append)
    assert len(hub.double.comments) == 1
    assert hub.publish(artifact(finding())).writes == 0
