"""Connections to a cluster's API: the official client over addresses that were checked before.

The host's name is resolved once, when a connection is opened. Each socket goes to one of the
addresses that were checked then; the name stays what TLS and the Host header mean. No proxy of the
environment is used, no redirect is followed, and an answer has a limit in size and in time.
"""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
from kubernetes.client import ApiClient, ApiException, Configuration
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import (
    HTTPError,
    LocationParseError,
    NewConnectionError,
    SSLError,
)
from urllib3.exceptions import (
    TimeoutError as UrllibTimeoutError,
)

from atom.clusters.kubernetes.addresses import ANY_NETWORK, checked_addresses
from atom.clusters.kubernetes.certificates import certificate_failure, tls_context
from atom.clusters.kubernetes.errors import (
    ClusterAnswerWrong,
    ClusterFails,
    ClusterFailure,
    ClusterForbids,
    ClusterRefusesCredentials,
    ClusterTooSlow,
    ClusterUnreachable,
)
from atom.clusters.kubernetes.kubeconfig import ClusterAccess
from atom_sdk.public_hosts import connect_to_one
from atom_sdk.sentences import Sentence

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 15.0
# For one request that is read whole, however little by little its answer comes.
REQUEST_TIMEOUT_S = 30.0
MAX_ANSWER_BYTES = 32 << 20
_CHUNK = 64 << 10
_MAX_MESSAGE = 300
_UNAUTHORIZED, _FORBIDDEN, _REDIRECTS = 401, 403, range(300, 400)

# When the request of this thread is over.
_ENDS_AT: ContextVar[float | None] = ContextVar("cluster_request_ends_at", default=None)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait for an API server, and how much to read."""

    connect_s: float = CONNECT_TIMEOUT_S
    read_s: float = READ_TIMEOUT_S
    request_s: float = REQUEST_TIMEOUT_S
    answer_bytes: int = MAX_ANSWER_BYTES
    # For all requests of a connection together; None for one that is kept.
    total_s: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """JSON of an API server, with the headers that came with it."""

    body: dict[str, Any]
    headers: Mapping[str, str]


class ClusterConnection:
    """An open door to one cluster. Close it; `api` is for the typed calls of the client."""

    def __init__(
        self, access: ClusterAccess, networks: Sequence[str], limits: Limits | None = None
    ) -> None:
        """Resolve and check the address, once. Raises ClusterAddressRefused, ClusterFailure."""
        parts = urlsplit(access.server)
        host, port = (parts.hostname or "").rstrip("."), parts.port or 443
        allowed = ANY_NETWORK if access.is_in_cluster else networks
        self.server = access.server
        self.addresses = checked_addresses(host, port, allowed)
        self._host = access.tls_server_name or host
        pool = _PinnedPool(access, host, port, self.addresses, limits or Limits())
        configuration = Configuration(host=access.server)
        configuration.proxy = None
        self.api = ApiClient(configuration)
        self.api.user_agent = "atom"
        self.api.rest_client.pool_manager = pool  # type: ignore[assignment]  # as much of it
        if access.token:
            self.api.default_headers["Authorization"] = f"Bearer {access.token}"

    def __enter__(self) -> ClusterConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the sockets."""
        self.api.close()  # type: ignore[no-untyped-call]

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> Answer:
        """Return the JSON at a path of the API. Raises ClusterFailure."""
        return self._ask("GET", path + (f"?{urlencode(query)}" if query else ""), None)

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send JSON to a path of the API and return its answer. Raises ClusterFailure."""
        return self._ask("POST", path, body)

    def delete(self, path: str, options: Mapping[str, Any]) -> Answer:
        """Delete what is at a path of the API, with DeleteOptions. Raises ClusterFailure."""
        return self._ask("DELETE", path, options)

    def text(self, path: str, query: Mapping[str, str | int]) -> str:
        """Return what a path of the API answers as text, such as a log. Raises ClusterFailure."""
        return self._read("GET", f"{path}?{urlencode(query)}", None)[1].decode(errors="replace")

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        """Raise the failures of `api` as ClusterFailure."""
        try:
            yield
        except ApiException as error:
            # The client hides failures of TLS in an error of its own.
            if isinstance(error.__context__, HTTPError):
                raise self._transport_failure(error.__context__) from error
            kind = (error.headers or {}).get("Content-Type", "")
            body = error.body if isinstance(error.body, str) else ""
            raise _status_failure(error.status or 0, kind, body) from error
        except HTTPError as error:
            raise self._transport_failure(error) from error

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Answer:
        headers, data = self._read(method, path, body)
        return Answer(_json_of(str(headers.get("Content-Type", "")), data), headers)

    def _read(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[Mapping[str, str], bytes]:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        headers |= self.api.default_headers
        with self.plain_errors():
            response = self.api.rest_client.request(  # type: ignore[no-untyped-call]
                method, self.server + path, headers=headers, body=body
            )
            data: bytes = response.read()
        kind = str(response.headers.get("Content-Type", ""))
        if not 200 <= response.status < 300:
            raise _status_failure(response.status, kind, data.decode(errors="replace"))
        return response.headers, data

    def _transport_failure(self, error: HTTPError) -> ClusterFailure:
        cause = error.args[0] if error.args else None
        if isinstance(error, SSLError) and isinstance(cause, ssl.SSLCertVerificationError):
            return certificate_failure(cause, self._host)
        if isinstance(error, SSLError):
            return ClusterAnswerWrong(
                Sentence(
                    "clusters.tls_failed",
                    "{host} does not speak TLS as an API server does.",
                    host=self._host,
                )
            )
        # A connection that is refused is, for urllib3, a kind of timeout.
        if isinstance(error, UrllibTimeoutError) and not isinstance(error, NewConnectionError):
            return ClusterTooSlow(
                Sentence(
                    "clusters.no_answer_in_time", "{host} did not answer in time.", host=self._host
                )
            )
        return ClusterUnreachable(
            Sentence("clusters.no_connection", "There is no connection to {host}.", host=self._host)
        )


class _TimedSocket(ssl.SSLSocket):
    """A socket whose reads end with the request: each wait alone could be begun again and again."""

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        ends_at = _ENDS_AT.get()
        if ends_at is not None:
            left_s = ends_at - time.monotonic()
            if left_s <= 0:
                raise TimeoutError("the request is over")
            wait_s = self.gettimeout()
            self.settimeout(left_s if wait_s is None else min(wait_s, left_s))
        return super().recv_into(buffer, nbytes, flags)


@contextmanager
def _ending(ends_at: float) -> Iterator[None]:
    token = _ENDS_AT.set(ends_at)
    try:
        yield
    finally:
        _ENDS_AT.reset(token)


class _PinnedPool:
    """Stands where the client has its `PoolManager`: one host, and the addresses of it."""

    def __init__(
        self, access: ClusterAccess, host: str, port: int, addresses: list[str], limits: Limits
    ) -> None:
        class PinnedConnection(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                try:
                    made = connect_to_one(addresses, port, limits.connect_s)
                    # A body is written after its headers; it must not wait for their receipt.
                    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return made
                except OSError as error:
                    raise NewConnectionError(self, str(error)) from error

        class Pool(urllib3.HTTPSConnectionPool):
            ConnectionCls = PinnedConnection

        self._limits, self._origin = limits, urlsplit(access.server)
        total_s = float("inf") if limits.total_s is None else limits.total_s
        self._over_at = time.monotonic() + total_s
        self._pool = Pool(
            host,
            port,
            timeout=urllib3.Timeout(connect=limits.connect_s, read=limits.read_s),
            maxsize=8,
            retries=False,
            ssl_context=tls_context(access, _TimedSocket),
            cert_reqs="CERT_REQUIRED",
            server_hostname=access.tls_server_name or host,
        )

    def request(self, method: str, url: str, **options: Any) -> _Response:
        """Ask the one host; `options` are those of `PoolManager.request`."""
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc) != (self._origin.scheme, self._origin.netloc):
            raise LocationParseError(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        ends_at = min(time.monotonic() + self._limits.request_s, self._over_at)
        if ends_at <= time.monotonic():
            raise UrllibTimeoutError("the time of the connection is over")
        # The client passes None where the pool's own limits hold.
        settings = {name: value for name, value in options.items() if value is not None}
        fields = settings.pop("fields", None)
        settings |= {"redirect": False, "retries": False, "preload_content": False}
        with _ending(ends_at):
            if fields:
                answer = self._pool.request(method, target, fields=fields, **settings)
            else:
                answer = self._pool.urlopen(method, target, **settings)
        return _Response(answer, ends_at, self._limits.answer_bytes)

    def clear(self) -> None:
        """Close all sockets."""
        self._pool.close()


class _Response:
    """An answer whose `data` has a limit; streams (watches, logs) are read as they come."""

    def __init__(self, response: Any, ends_at: float, limit: int) -> None:
        self._response, self._ends_at, self._limit = response, ends_at, limit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._response, name)

    @property
    def data(self) -> bytes:
        """Return the body. Raises ClusterAnswerWrong if it is too large or packed."""
        if self._response.headers.get("Content-Encoding", "identity") != "identity":
            self._response.close()
            # Not asked for: a few packed bytes could become any number.
            raise ClusterAnswerWrong(
                Sentence("clusters.answer_packed", "It sends compressed answers unasked.")
            )
        parts, size = [], 0
        with _ending(self._ends_at):
            while part := self._response.read1(_CHUNK):
                size += len(part)
                if size > self._limit:
                    self._response.close()
                    raise ClusterAnswerWrong(
                        Sentence(
                            "clusters.answer_too_large",
                            "It answers with more than {max} MiB.",
                            max=self._limit >> 20,
                        )
                    )
                parts.append(part)
        self._response.release_conn()
        return b"".join(parts)


def _json_of(kind: str, data: bytes) -> dict[str, Any]:
    if _is_html(kind, data):
        raise _html()
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ClusterAnswerWrong(
            Sentence("clusters.answer_not_json", "It answers with something else than JSON.")
        )
    return body


def _is_html(kind: str, data: bytes) -> bool:
    return "html" in kind.lower() or data[:256].lstrip()[:14].lower().startswith(
        (b"<!doctype html", b"<html")
    )


def _html() -> ClusterAnswerWrong:
    return ClusterAnswerWrong(
        Sentence("clusters.answer_html", "It answers with a page of HTML, as a portal does.")
    )


def _status_failure(status: int, kind: str, body: str) -> ClusterFailure:
    """Return what an answer that is no success means."""
    if status in _REDIRECTS:
        return ClusterAnswerWrong(
            Sentence(
                "clusters.answer_redirects",
                "It sends us to another address, and redirects are not followed.",
            )
        )
    # A page before the API, such as a proxy's sign-in, says nothing about our rights.
    if _is_html(kind, body.encode(errors="replace")):
        return _html()
    if status == _UNAUTHORIZED:
        return ClusterRefusesCredentials()
    detail = Sentence(
        "clusters.answer_status",
        "It answers {status}: {message}",
        status=status,
        message=_message(body),
    )
    return (
        ClusterForbids(detail) if status == _FORBIDDEN else ClusterFails(detail, status_code=status)
    )


def _message(body: str) -> str:
    """Return the message of a Status, in one line of what can be shown."""
    try:
        parsed = json.loads(body)
        text = parsed["message"] if isinstance(parsed, dict) else body
    except (ValueError, KeyError, RecursionError):
        text = body
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)[:2000]).split())
    return line[:_MAX_MESSAGE] or "-"
