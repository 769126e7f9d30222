"""The HTTP side of the stand-in: the distribution API, its tokens, and faults that a test asks for.

See https://github.com/opencontainers/distribution-spec/blob/main/spec.md.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from .store import RefusedError, Store, digest_of

_NAME = r"(?P<name>[a-z0-9]+(?:[._/-][a-z0-9]+)*)"
_MANIFEST = re.compile(rf"/v2/{_NAME}/manifests/(?P<reference>[^/]+)")
_BLOB = re.compile(rf"/v2/{_NAME}/blobs/(?P<digest>sha256:[0-9a-f]{{64}})")
_UPLOADS = re.compile(rf"/v2/{_NAME}/blobs/uploads/")
_UPLOAD = re.compile(rf"/v2/{_NAME}/blobs/uploads/(?P<session>[0-9a-f]+)")
_STORED = re.compile(rf"/store/{_NAME}/(?P<digest>sha256:[0-9a-f]{{64}})")

Scope = tuple[str, str]


@dataclass
class Account:
    """A user: `pulls` and `pushes` are the repositories that it may read and write."""

    password: str
    pulls: set[str] = field(default_factory=set)
    pushes: set[str] = field(default_factory=set)


@dataclass
class Registry:
    """A registry on 127.0.0.1; use it as a context."""

    # "": everybody may do everything.
    auth: Literal["", "basic", "bearer"] = ""
    # Blobs are given out by another address of the same server, as by an object store.
    redirects: bool = False
    accounts: dict[str, Account] = field(default_factory=dict)
    # Repositories that everybody may read.
    public: set[str] = field(default_factory=set)
    store: Store = field(default_factory=Store)
    # Each request, such as "PUT /v2/a/manifests/b"; queries are left out.
    seen: list[str] = field(default_factory=list)
    # Every request is answered with it, unless it is 0.
    fault: int = 0
    sessions: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, set[Scope]] = field(default_factory=dict)
    # How often each token is good; None: for ever.
    uses_of_token: int | None = None
    uses: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> Registry:
        registry = self

        class Handler(_Handler):
            served = registry

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        """Return host and port, as references have them."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def pushed(self, method: str, part: str) -> list[str]:
        """Return the requests of a method whose path has a part."""
        return [one for one in self.seen if one.startswith(f"{method} ") and part in one]

    def issue(self, user: str | None, scopes: list[str]) -> str:
        """Return a token for the part of the scopes that a user has."""
        granted = set[Scope]()
        for scope in scopes:
            kind, name, actions = scope.split(":")
            assert kind == "repository"
            granted |= {(name, one) for one in actions.split(",") if self.may(user, name, one)}
        token = secrets.token_hex(8)
        self.tokens[token] = granted
        return token

    def may(self, user: str | None, name: str, action: str) -> bool:
        """Return whether a user, or everybody, has a right in a repository."""
        if action == "pull" and name in self.public:
            return True
        account = self.accounts.get(user or "")
        if account is None:
            return False
        return name in (account.pushes if action == "push" else account.pulls | account.pushes)


class _Handler(BaseHTTPRequestHandler):
    served: Registry
    challenge = ""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        self.query = parse_qs(parts.query)
        self.served.seen.append(f"{self.command} {parts.path}")
        body = self._body()
        try:
            if self.served.fault:
                raise RefusedError(self.served.fault, "UNAVAILABLE", "try again later")
            self._route(parts.path, body)
        except RefusedError as refused:
            errors = [{"code": refused.code, "message": refused.message, "detail": None}]
            self._answer(refused.status, {}, json.dumps({"errors": errors}).encode())

    def _body(self) -> bytes:
        assert "Transfer-Encoding" not in self.headers, "not every registry takes chunks"
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _route(self, path: str, body: bytes) -> None:
        if path == "/token":
            self._give_token()
        elif found := _STORED.fullmatch(path):
            if "Authorization" in self.headers:
                raise RefusedError(400, "INVALID", "only one way of authorization")
            self._answer(200, {}, self.served.store.blob(found["name"], found["digest"]))
        elif found := _MANIFEST.fullmatch(path):
            self._manifest(found["name"], found["reference"], body)
        elif found := _BLOB.fullmatch(path):
            self._blob(found["name"], found["digest"])
        elif found := _UPLOADS.fullmatch(path):
            self._begin(found["name"])
        elif found := _UPLOAD.fullmatch(path):
            self._upload(found["name"], found["session"], body)
        else:
            raise RefusedError(404, "UNSUPPORTED", path)

    def _manifest(self, name: str, reference: str, body: bytes) -> None:
        store = self.served.store
        if self.command == "PUT":
            self._require(name, "push")
            kind = self.headers["Content-Type"]
            digest = store.put_manifest(name, reference, kind, body)
            place = f"/v2/{name}/manifests/{digest}"
            self._answer(201, {"Location": place, "Docker-Content-Digest": digest})
            return
        self._require(name, "pull")
        kind, content = store.manifest(name, reference)
        if kind not in self.headers.get("Accept", ""):
            raise RefusedError(404, "MANIFEST_UNKNOWN", f"the client does not accept {kind}")
        headers = {"Content-Type": kind, "Docker-Content-Digest": digest_of(content)}
        self._answer(200, headers, content)

    def _blob(self, name: str, digest: str) -> None:
        self._require(name, "pull")
        content = self.served.store.blob(name, digest)
        if self.served.redirects and self.command == "GET":
            place = f"http://localhost:{self.served.host.rpartition(':')[2]}/store/{name}/{digest}"
            self._answer(307, {"Location": place})
            return
        self._answer(200, {"Docker-Content-Digest": digest}, content)

    def _begin(self, name: str) -> None:
        assert self.command == "POST"
        self._require(name, "push")
        digest, source = self._one("mount"), self._one("from")
        if digest and source and self._has(source, "pull"):
            blobs = self.served.store.repository(source).blobs
            if digest in blobs:
                self.served.store.put_blob(name, digest, blobs[digest])
                self._answer(201, {"Location": f"/v2/{name}/blobs/{digest}"})
                return
        session = secrets.token_hex(8)
        self.served.sessions[session] = name
        # Relative, and with a query that has to stay.
        self._answer(202, {"Location": f"/v2/{name}/blobs/uploads/{session}?state=a%2Fb"})

    def _upload(self, name: str, session: str, body: bytes) -> None:
        self._require(name, "push")
        if self.command != "PUT" or self._one("state") != "a/b":
            raise RefusedError(400, "BLOB_UPLOAD_INVALID")
        if self.served.sessions.get(session) != name:
            raise RefusedError(404, "BLOB_UPLOAD_UNKNOWN")
        if self.headers["Content-Type"] != "application/octet-stream":
            raise RefusedError(400, "BLOB_UPLOAD_INVALID", "content type")
        digest = self._one("digest")
        self.served.store.put_blob(name, digest, body)
        del self.served.sessions[session]
        self._answer(201, {"Location": f"/v2/{name}/blobs/{digest}"})

    def _one(self, name: str) -> str:
        values = self.query.get(name, [""])
        assert len(values) == 1, f"{name} is there twice"
        return values[0]

    def _require(self, name: str, action: str) -> None:
        if self._has(name, action):
            return
        if self.served.auth == "basic":
            challenge = 'Basic realm="registry"'
        else:
            realm = f"http://{self.served.host}/token?account=a"
            scope = f"repository:{name}:{action}"
            challenge = f'Bearer realm="{realm}",service="the, registry",scope="{scope}"'
        self.challenge = challenge
        raise RefusedError(401, "UNAUTHORIZED", "authentication required")

    def _has(self, name: str, action: str) -> bool:
        served = self.served
        if not served.auth:
            return True
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if served.auth == "basic":
            user = self._user() if scheme == "Basic" else None
            return served.may(user, name, action)
        served.uses[value] = served.uses.get(value, 0) + 1
        if served.uses_of_token is not None and served.uses[value] > served.uses_of_token:
            return False
        return scheme == "Bearer" and (name, action) in served.tokens.get(value, ())

    def _user(self) -> str | None:
        """Return the user whose password is right; None without one. RefusedError if wrong."""
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme != "Basic":
            return None
        name, _, password = base64.b64decode(value).decode().partition(":")
        account = self.served.accounts.get(name)
        if account is None or account.password != password:
            raise RefusedError(401, "UNAUTHORIZED", "incorrect username or password")
        return name

    def _give_token(self) -> None:
        assert self._one("service") == "the, registry"
        assert self._one("account") == "a"
        token = self.served.issue(self._user(), self.query.get("scope", []))
        self._answer(
            200, {"Content-Type": "application/json"}, json.dumps({"token": token}).encode()
        )

    def _answer(self, status: int, headers: dict[str, Any], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status == 401 and self.challenge:
            self.send_header("WWW-Authenticate", self.challenge)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
