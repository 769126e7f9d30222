"""Serves files without Django: collected static files and the built portal.

WhiteNoise finds the file, its headers and its compressed twin; reading happens in a thread.
"""

import asyncio
import re
from http import HTTPStatus
from pathlib import Path
from wsgiref.headers import Headers

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from whitenoise import WhiteNoise
from whitenoise.responders import StaticFile

from atom.web.answers import send_body, send_problem

# Vite names assets by their content: name-<8 characters>.ext
_HASHED = re.compile(r"^/assets/.+-[\w-]{8}\.\w+$")
_NOT_BUILT = (
    b"<!doctype html><title>Atom</title>"
    b"<p>The portal is not built. Run <code>make install</code>.\n"
)


class StaticFiles:
    """Files below a folder; paths that name none answer 404, or the portal's index."""

    def __init__(self, root: Path, *, prefix: str = "", refresh: bool = False) -> None:
        self._files = WhiteNoise(
            None,
            root=str(root) if root.is_dir() else None,
            prefix=prefix,
            autorefresh=refresh,
            allow_all_origins=False,
            max_age=0 if refresh else 300,
            add_headers_function=_add_headers,
            immutable_file_test=lambda _path, url: bool(_HASHED.match(url)),
        )

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Answer one request."""
        found = self._find(scope["path"])
        if found is None:
            await _send_missing(send)
        else:
            await _send_file(found, scope, send)

    def _find(self, path: str) -> StaticFile | None:
        found = self._files.find_file(path) if self._files.autorefresh else None
        return found or self._files.files.get(path)


class Portal(StaticFiles):
    """The built portal: every path that is no file is a page of the single-page application."""

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Answer one request."""
        path = scope["path"]
        found = self._find(path)
        # A missing asset is an error; HTML in its place would hide it.
        if found is None and not path.startswith("/assets/"):
            found = self._find("/index.html")
            if found is None:
                headers = [(b"content-type", b"text/html; charset=utf-8")]
                await send_body(send, 503, headers, _NOT_BUILT)
                return
        if found is None:
            await _send_missing(send)
        else:
            await _send_file(found, scope, send)


def _add_headers(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    if path.endswith(".html"):
        headers["Cache-Control"] = "no-cache"
        headers["X-Frame-Options"] = "DENY"
        headers["Referrer-Policy"] = "same-origin"


async def _send_file(found: StaticFile, scope: HTTPScope, send: ASGISendCallable) -> None:
    environ = {
        "HTTP_" + name.decode("latin-1").upper().replace("-", "_"): value.decode("latin-1")
        for name, value in scope["headers"]
    }
    response = found.get_response(scope["method"], environ)
    body = b""
    if response.file is not None:
        with response.file:
            body = await asyncio.to_thread(response.file.read)
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.headers]
    await send_body(send, HTTPStatus(response.status).value, headers, body)


async def _send_missing(send: ASGISendCallable) -> None:
    await send_problem(
        send,
        status=404,
        code="not_found",
        title="Not found",
        detail="There is no such file.",
        action="Reload the page: it may belong to an older version of the portal.",
    )
