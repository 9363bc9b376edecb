"""The webhook over HTTP: who speaks is verified before anything is read, and no answer waits for a review."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from auditor.interfaces.deliveries import Deliveries
from auditor.interfaces.reviewing import Reviewer
from auditor.review import called, signed

LARGEST = 25 * 2**20
"""Bytes of one delivery: GitHub sends none that is larger."""
AT_ONCE = 16
"""Connections: so many bodies of strangers are held in memory at most."""
_NAME = re.compile(r"[0-9A-Za-z-]{1,64}")


def application(secret: bytes, repository: str, deliveries: Deliveries, reviewer: Reviewer) -> Starlette:
    """Return the application: ``POST /webhook``, and a reviewer that runs as long as it does."""

    async def webhook(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return PlainTextResponse("too large", 413)
        if not signed(secret, body, request.headers.get("x-hub-signature-256", "")):
            return PlainTextResponse("the signature is missing or wrong", 401)
        name = request.headers.get("x-github-delivery", "")
        try:
            pull = called(request.headers.get("x-github-event", ""), body)
        except ValueError as error:
            return PlainTextResponse(str(error), 400)
        if pull is None or pull.repository.lower() != repository.lower():
            return PlainTextResponse("nothing to do")
        if not _NAME.fullmatch(name):
            return PlainTextResponse("the delivery has no name", 400)
        added = deliveries.add(name, pull.number)
        reviewer.wake()
        return PlainTextResponse("queued" if added else "known", 202)

    @asynccontextmanager
    async def life(_application: Starlette) -> AsyncIterator[None]:
        reviewer.start()
        yield
        reviewer.stop()

    return Starlette(routes=[Route("/webhook", webhook, methods=["POST"])], lifespan=life)


async def _body(request: Request) -> bytes | None:
    """Read the body, no further than one can be long."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            return None
    return bytes(body)


def run(application: Starlette, listener: socket.socket) -> None:
    """Serve until the process is told to end."""
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, timeout_graceful_shutdown=10, limit_concurrency=AT_ONCE
    )
    uvicorn.Server(config).run(sockets=[listener])
