"""Small complete ASGI answers."""

import json
from collections.abc import Iterable, Mapping

from asgiref.typing import ASGISendCallable

Header = tuple[bytes, bytes]


async def send_body(
    send: ASGISendCallable, status: int, headers: Iterable[Header], body: bytes
) -> None:
    """Send a whole answer at once."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": list(headers),
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def send_problem(  # noqa: PLR0913  # the fields of a problem, by name
    send: ASGISendCallable,
    *,
    status: int,
    code: str,
    title: str,
    detail: str,
    action: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send a problem+json answer in the same form as the REST API's."""
    problem = {
        "type": f"https://atom.dev/problems/{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
        "action": action,
    }
    body = json.dumps(problem).encode()
    more = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    all_headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send_body(send, status, all_headers, body)
