"""Django in the web process: one thread for a request, pieces that end when the client goes."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.utils.translation import activate, get_language

from atom.core.streaming import streamed
from atom.web.django_handler import OneThread

pytestmark = [pytest.mark.urls(__name__), pytest.mark.django_db(transaction=True)]

# asgiref.testing carries no types.
_Communicator: Any = ApplicationCommunicator
_seen = contextvars.ContextVar("seen", default=0)
_ended = threading.Event()


def _where(request: HttpRequest) -> HttpResponse:
    """Tell the thread, and what an earlier request in it would have left."""
    left = [_seen.get(), get_language()]
    _seen.set(1)
    activate("zh-hans")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"thread": threading.current_thread().name, "left": left})


def _echo(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.body, content_type="text/plain")


def _broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a view's defect")


def _pieces() -> Iterator[bytes]:
    with connection.cursor() as cursor:
        for number in range(3):
            cursor.execute("SELECT %s::int", [number])
            yield f"{cursor.fetchone()[0]} ".encode()


def _three(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(streamed(_pieces()))


async def _endless_pieces() -> AsyncIterator[bytes]:
    try:
        while True:
            yield b"more "
            await asyncio.sleep(0.01)
    finally:
        _ended.set()


def _endless(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(_endless_pieces())


urlpatterns = [
    path("where/", _where),
    path("echo/", _echo),
    path("broken/", _broken),
    path("three/", _three),
    path("endless/", _endless),
]


async def ask(application: OneThread, address: str, *pieces: bytes) -> Any:
    """Send a request whose body comes in pieces; return its communicator."""
    scope = {
        "type": "http",
        "method": "POST" if pieces else "GET",
        "path": address,
        "query_string": b"",
        "headers": [(b"host", b"testserver")],
    }
    asked = _Communicator(application, scope)
    for number, piece in enumerate(pieces or (b"",), 1):
        more = number < len(pieces)
        await asked.send_input({"type": "http.request", "body": piece, "more_body": more})
    return asked


async def answered(asked: Any) -> tuple[int, bytes]:
    """Return the status and the whole body."""
    status, body, more = (await asked.receive_output(10))["status"], b"", True
    while more:
        message = await asked.receive_output(10)
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await asked.wait(10)
    return status, body


@pytest.fixture
def application(settings: Any) -> OneThread:
    """Django with these views alone, as no page of ours would be."""
    settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    return OneThread()


async def test_requests_leave_nothing_to_the_next_in_their_thread(
    application: OneThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "_threads", ThreadPoolExecutor(1, "request"))
    bodies = [await answered(await ask(application, "/where/")) for _ in range(3)]
    assert len(set(bodies)) == 1
    assert b'"thread": "request_0", "left": [0,' in bodies[0][1]


async def test_a_body_in_pieces_comes_whole(application: OneThread) -> None:
    assert await answered(await ask(application, "/echo/", b"one ", b"two")) == (200, b"one two")


async def test_a_client_that_goes_before_its_body_is_whole_is_not_answered(
    application: OneThread,
) -> None:
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/echo/",
        "query_string": b"",
        "headers": [],
    }
    asked = _Communicator(application, scope)
    await asked.send_input({"type": "http.request", "body": b"half", "more_body": True})
    await asked.send_input({"type": "http.disconnect"})
    await asked.wait(10)
    assert await asked.receive_nothing()


async def test_a_broken_view_answers_500_and_the_next_is_well(application: OneThread) -> None:
    status, _ = await answered(await ask(application, "/broken/"))
    assert status == 500
    assert (await answered(await ask(application, "/echo/", b"x")))[0] == 200


async def test_pieces_are_made_with_a_connection_of_their_own(application: OneThread) -> None:
    assert await answered(await ask(application, "/three/")) == (200, b"0 1 2 ")


async def test_pieces_end_when_the_client_goes(application: OneThread) -> None:
    _ended.clear()
    asked = await ask(application, "/endless/")
    assert (await asked.receive_output(10))["status"] == 200
    assert (await asked.receive_output(10))["body"] == b"more "
    await asked.send_input({"type": "http.disconnect"})
    await asked.wait(10)
    assert _ended.is_set()
