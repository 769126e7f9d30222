"""A provider of single sign-on that lies as a test wants: small, and strict with its clients.

`oidc-provider-mock` is the honest one; it checks neither PKCE nor where it sends people.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey

CLIENT_ID, CLIENT_SECRET = "atom", "between us"


@dataclass
class Provider:
    """A provider with its next answers, which tests change."""

    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "1", "name": "Mia"})
    # Claims of the ID token that are wrong.
    lies: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "ES256", "kid": "k"})
    key: Any = field(default_factory=lambda: ECKey.generate_key(parameters={"kid": "k"}))
    signs_with: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] | None = None
    issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorize(self, url: str) -> str:
        """Return the address of the callback with a code, as the provider's page would."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = asked
        return f"{urlsplit(asked['redirect_uri']).path}?code={code}&state={asked['state']}"

    def answer(self, path: str) -> dict[str, Any] | None:
        """Answer a GET."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "end_session_endpoint": f"{self.issuer}/out",
                "jwks_uri": f"{self.issuer}/keys",
                **self.metadata,
            }
        if path == "/keys":
            return dict(KeySet([self.key]).as_dict(private=False))
        return self.userinfo if path == "/userinfo" else None

    def exchange(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """Return tokens for a code: once, for the client and the browser that began."""
        pair = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET.replace(' ', '%20')}".encode())
        plain = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode())
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"]:
            return None
        if authorization not in (f"Basic {pair.decode()}", f"Basic {plain.decode()}"):
            return None
        if form.get("redirect_uri") != asked["redirect_uri"]:
            return None
        now = int(time.time())
        truth = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60}
        claims = {**truth, "nonce": asked["nonce"], **self.claims, **self.lies}
        claims = {name: value for name, value in claims.items() if value is not None}
        key = self.signs_with or self.key
        token = (
            _unsigned(claims) if self.header["alg"] == "none" else _signed(self.header, claims, key)
        )
        return {"access_token": "a", "token_type": "Bearer", "id_token": token}


def _signed(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    if isinstance(key, OctKey):
        return jwt.encode(header, claims, key, algorithms=["HS256"])
    return jwt.encode(header, claims, key)


def _unsigned(claims: dict[str, Any]) -> str:
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
                    for part in parts) + "."  # fmt: skip


@contextmanager
def serving() -> Iterator[Provider]:
    """Run a provider on this machine."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(provider.answer(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._send(provider.exchange(form, self.headers.get("Authorization", "")))

        def _send(self, found: dict[str, Any] | None) -> None:
            text = json.dumps(found if found is not None else {"error": "invalid_grant"}).encode()
            self.send_response(200 if found is not None else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
