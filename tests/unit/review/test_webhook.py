"""Who sent a delivery, and what it asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.review import Called, called, signed

SECRET, BODY = b"It's a Secret to Everybody", b"Hello, World!"
RIGHT = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
"""The vector of docs.github.com, "Validating webhook deliveries"."""


def test_the_vector_of_githubs_documentation():
    assert signed(SECRET, BODY, RIGHT)


@pytest.mark.parametrize(
    "signature",
    ["", RIGHT[7:], RIGHT.upper(), RIGHT[:-1], RIGHT + "0", RIGHT.replace("256", "1"), "sha256=\udcff", "ä"],
)
def test_another_signature_is_none(signature):
    assert not signed(SECRET, BODY, signature)


def test_another_body_or_secret_is_not_signed():
    assert not signed(SECRET, BODY + b"\n", RIGHT)
    assert not signed(SECRET[:-1], BODY, RIGHT)


def test_it_is_compared_in_constant_time(monkeypatch):
    """By the function of the standard library that is made for it, over the whole header."""
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append({one, other})
        return True

    monkeypatch.setattr("hmac.compare_digest", compare)
    assert signed(SECRET, BODY, "sha256=wrong")
    assert compared == [{RIGHT.encode(), b"sha256=wrong"}]


def delivery(action: object = "opened", **more: Any) -> bytes:
    return json.dumps({"action": action, "number": 7, "repository": {"full_name": "acme/engine"}, **more}).encode()


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize", "ready_for_review"])
def test_news_of_a_pull_request(action):
    assert called("pull_request", delivery(action)) == Called("acme/engine", 7)


def test_another_base_is_news_another_title_is_none():
    assert called("pull_request", delivery("edited", changes={"base": {"ref": {"from": "old"}}}))
    assert called("pull_request", delivery("edited", changes={"title": {"from": "old"}})) is None


@pytest.mark.parametrize(("event", "body"), [("pull_request", delivery("labeled")), ("ping", b"{}"), ("push", b"")])
def test_the_rest_asks_for_nothing(event, body):
    assert called(event, body) is None


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"action":"opened"}', b"[" * 100_000, delivery(number=True),
     delivery(number=-1), delivery(number="7"), delivery(repository={"full_name": 1}), delivery(repository=[]),
     delivery(action=["opened"]), delivery("edited"), delivery("edited", changes=None)],
)  # fmt: skip
def test_what_is_no_event_is_refused(body):
    with pytest.raises(ValueError):  # noqa: PT011 - of any decoder
        called("pull_request", body)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(
    st.sampled_from(["action", "number", "repository", "full_name", "changes", "base"]), one)))  # fmt: skip
def test_any_document_is_answered_or_refused(document):
    try:
        found = called("pull_request", json.dumps(document).encode())
    except ValueError:
        return
    assert found is None or found.number > 0
