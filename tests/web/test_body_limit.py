"""A body that is too large is refused before it is kept, whatever its length was said to be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from atom.asgi import application
from atom.settings.base import DATA_UPLOAD_MAX_MEMORY_SIZE as MAX_BODY_BYTES

ADDRESS = "/api/v1/auth/login/"
MANY = b"x" * (16 << 20)


async def answer_to(headers: dict[str, str], pieces: list[bytes]) -> tuple[int, dict[str, Any]]:
    """Return status and JSON of a POST whose body arrives in pieces."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": ADDRESS,
        "raw_path": ADDRESS.encode(),
        "query_string": b"",
        "headers": [
            (name.encode(), value.encode())
            for name, value in {"host": "testserver", **headers}.items()
        ],
        "server": ("testserver", 80),
    }
    communicate: Any = ApplicationCommunicator
    communicator = communicate(application, scope)
    for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
        await communicator.send_input(
            {"type": "http.request", "body": piece, "more_body": bool(left)}
        )
    start = await communicator.receive_output(10)
    body = await communicator.receive_output(10)
    await communicator.wait()
    return int(start["status"]), json.loads(body["body"])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("headers", "pieces"),
    [
        ({"content-length": str(MAX_BODY_BYTES + 1)}, []),
        ({"content-length": "9" * 40}, []),
        ({"transfer-encoding": "chunked"}, [MANY] * 5),
        ({"content-length": "12"}, [MANY] * 5),
    ],
    ids=["announced", "announced beyond belief", "not announced", "announced as less"],
)
async def test_a_body_that_is_too_large_is_refused(
    headers: dict[str, str], pieces: list[bytes]
) -> None:
    status, problem = await answer_to(headers, pieces)
    assert (status, problem["code"]) == (413, "too_large")
    assert problem["action"]
    assert str(MAX_BODY_BYTES) in problem["detail"]


@pytest.mark.django_db
async def test_a_body_in_pieces_is_read_as_one() -> None:
    headers = {"transfer-encoding": "chunked", "content-type": "application/json"}
    status, problem = await answer_to(headers, [b'{"username": "nobody",', b' "password": "x"}'])
    # It was understood: there is no such person, or no CSRF token came with it.
    assert (status, problem["code"]) in {(403, "csrf_failed"), (400, "bad_credentials")}
