"""The composed application: who answers which path, and who may open a socket."""

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.test import AsyncClient

from atom.asgi import application
from atom.web.lifespan import LifespanApplication
from atom.web.websockets import CLOSE_FORBIDDEN, CLOSE_NOT_FOUND
from tests.websockets import WebSocketClient


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, CLOSE_NOT_FOUND),
        (b"http://testserver", CLOSE_NOT_FOUND),
        (b"http://evil.example", CLOSE_FORBIDDEN),
        (b"null", CLOSE_FORBIDDEN),
    ],
)
@pytest.mark.django_db
async def test_sockets_of_other_sites_are_refused(origin: bytes | None, expected: int) -> None:
    headers = [(b"host", b"testserver")] + ([(b"origin", origin)] if origin else [])
    assert await WebSocketClient(application, "/ws/nothing/", headers).connect() == expected


async def test_lifespan_is_answered() -> None:

    closed = []

    async def close() -> None:
        closed.append(True)

    wrapped = LifespanApplication(application, on_shutdown=[close])  # type: ignore[arg-type]
    communicator: Any = ApplicationCommunicator
    lifespan = communicator(wrapped, {"type": "lifespan"})
    await lifespan.send_input({"type": "lifespan.startup"})
    assert (await lifespan.receive_output())["type"] == "lifespan.startup.complete"
    await lifespan.send_input({"type": "lifespan.shutdown"})
    assert (await lifespan.receive_output())["type"] == "lifespan.shutdown.complete"
    assert closed == [True]


@pytest.mark.django_db
async def test_an_unknown_api_path_is_a_problem_document() -> None:

    answer = await AsyncClient().get("/api/v1/nothing/")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
