"""Serves files without Django: collected static files and the built portal.

WhiteNoise finds the file, its headers and its compressed twin; reading happens in a thread.
"""

import asyncio
import re
import secrets
from http import HTTPStatus
from pathlib import Path

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from whitenoise import WhiteNoise
from whitenoise.responders import StaticFile

from atom.web.answers import send_body, send_problem
from atom.web.security_headers import page_policy

# Placeholder in the built page for the nonce of each answer; only scripts with it run.
_NONCE = b"__ATOM_NONCE__"
_INDEX = "/index.html"
# These pages are for the holders of a link, not for search engines.
_FOR_FEW = {
    "/shared-run": [
        (b"referrer-policy", b"no-referrer"),
        (b"x-robots-tag", b"noindex, nofollow"),
    ]
}
# Where people look for the description of the API.
_API_PAGE = b"/api/v1/docs/"
_API_NAMES = frozenset({"/docs", "/swagger", "/redoc", "/api", "/api/docs", "/openapi"})
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
            immutable_file_test=lambda _path, url: bool(_HASHED.match(url)),
        )
        self._index = root / "index.html"

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
        found = None if path == _INDEX else self._find(path)
        if found is not None:
            await _send_file(found, scope, send)
        # A missing asset is an error; HTML in its place would hide it.
        elif path.startswith("/assets/"):
            await _send_missing(send)
        elif path.rstrip("/") in _API_NAMES:
            await send_body(send, 307, [(b"location", _API_PAGE)], b"")
        else:
            await self._send_page(scope, send)

    async def _send_page(self, scope: HTTPScope, send: ASGISendCallable) -> None:
        """Send the index, without a validator: an older page must not meet a newer nonce."""
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-cache")]
        try:
            page = await asyncio.to_thread(self._index.read_bytes)
        except OSError:
            await send_body(send, 503, headers, _NOT_BUILT)
            return
        nonce = secrets.token_urlsafe(16)
        body = page.replace(_NONCE, nonce.encode())
        headers += [
            (b"content-length", str(len(body)).encode()),
            (b"content-security-policy", page_policy(nonce).encode()),
            *_FOR_FEW.get(scope["path"], []),
        ]
        await send_body(send, 200, headers, b"" if scope["method"] == "HEAD" else body)


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
