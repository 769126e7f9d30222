"""Security headers of all answers of the web process.

One place serves Django, the portal, static files and the gateway's media. An answer with stricter
headers of its own keeps them. docs/adr/0052 gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope

from atom.web.router import HttpApplication

# Never framed, no base address, no plug-ins: of every document.
_CLOSED = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
# For answers that are no page: JSON, files, errors.
DATA = f"{_CLOSED}; form-action 'none'"
# A worker has the policy of its script; the one that hashes files is WebAssembly.
_SCRIPTS = (
    f"{_CLOSED}; form-action 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
)
# Swagger UI: its own scripts from us; it sets no style in markup, its pictures are inside its CSS.
_DOCS = (
    f"{_CLOSED}; form-action 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'"
)
# The administration's pages keep their logic in attributes, which Alpine evaluates, and styles in
# them. Only administrators of the installation see these pages, and no script from elsewhere runs.
_ADMIN = (
    f"{_CLOSED}; form-action 'self'; script-src 'self' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'"
)
_POLICIES = (
    ("/api/v1/docs/", _DOCS),
    ("/admin/", _ADMIN),
    ("/assets/", _SCRIPTS),
)
_UNUSED = "camera geolocation gyroscope magnetometer microphone midi payment usb display-capture"
_COMMON = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": ", ".join(f"{name}=()" for name in _UNUSED.split()),
}


def page_policy(nonce: str) -> str:
    """Return the policy of the portal's page: styles of its own making carry the nonce."""
    return (
        f"{_CLOSED}; form-action 'self'; script-src 'self' 'nonce-{nonce}'; "
        f"style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; media-src 'self' blob:; "
        "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'"
    )


class SecurityHeaders:
    """Adds what an answer does not say itself."""

    def __init__(self, application: HttpApplication, hsts: str = "") -> None:
        """`hsts` is the value of Strict-Transport-Security, sent to who came by https."""
        self._application = application
        self._hsts = hsts

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Handle one request."""
        wanted = {**_COMMON, "content-security-policy": _policy_of(scope["path"])}
        if self._hsts and _is_https(scope):
            wanted["strict-transport-security"] = self._hsts

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                said = list(message.get("headers", ()))
                message = {**message, "headers": [*said, *_missing(wanted, said)]}
            await send(message)

        await self._application(scope, receive, guarded)


def _missing(
    wanted: dict[str, str], said: Iterable[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    names = {name.lower() for name, _ in said}
    pairs = ((name.encode(), value.encode()) for name, value in wanted.items())
    return [(name, value) for name, value in pairs if name not in names]


def _policy_of(path: str) -> str:
    return next((policy for prefix, policy in _POLICIES if path.startswith(prefix)), DATA)


def _is_https(scope: HTTPScope) -> bool:
    """Whether the client spoke TLS, with us or with the proxy in front of us."""
    forwarded = dict(scope["headers"]).get(b"x-forwarded-proto", b"").decode("latin-1")
    return scope["scheme"] == "https" or forwarded == "https"
