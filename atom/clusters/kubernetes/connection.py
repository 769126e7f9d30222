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
    ProtocolError,
    SSLError,
)
from urllib3.exceptions import (
    TimeoutError as UrllibTimeoutError,
)

from atom.clusters.kubernetes.addresses import ANY_NETWORK, checked_addresses
from atom.clusters.kubernetes.answers import html_answer, is_html, json_of, status_failure
from atom.clusters.kubernetes.certificates import (
    certificate_failure,
    client_refusal,
    read_alert,
    tls_context,
)
from atom.clusters.kubernetes.errors import (
    ClusterAnswerWrong,
    ClusterFailure,
    ClusterTooSlow,
    ClusterUnreachable,
)
from atom.clusters.kubernetes.kubeconfig import ClusterAccess
from atom.clusters.kubernetes.timed_sockets import TimedSocket, ending
from atom_sdk.public_hosts import connect_to_one
from atom_sdk.sentences import Sentence

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 15.0
# For one request that is read whole, however little by little its answer comes.
REQUEST_TIMEOUT_S = 30.0
MAX_ANSWER_BYTES = 32 << 20
# API servers take no request above 3 MiB; an event of a watch holds one object.
MAX_LINE_BYTES = 8 << 20
_CHUNK = 64 << 10


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
        self._host, self._port = access.tls_server_name or host, port
        self._certificate_pem = access.certificate_pem
        self._limits = limits or Limits()
        self._pool = pool = _PinnedPool(access, host, port, self.addresses, self._limits)
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

    def put(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Replace the object at a path; a resourceVersion in it must match. Raises ClusterFailure.

        A version that no longer matches is ClusterFails with 409 in `extra["status_code"]`.
        """
        return self._ask("PUT", path, body)

    def patch(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Merge fields into the object at a path (JSON merge patch). Raises ClusterFailure."""
        return self._ask("PATCH", path, body, "application/merge-patch+json")

    def apply(
        self, path: str, body: Mapping[str, Any], manager: str, *, force: bool = False
    ) -> Answer:
        """Apply an object on the server as a field manager; `force` takes fields of others.

        Raises ClusterFailure; fields of another manager are ClusterFails with 409.
        """
        query = {"fieldManager": manager} | ({"force": "true"} if force else {})
        # JSON is YAML.
        return self._ask(
            "PATCH", f"{path}?{urlencode(query)}", body, "application/apply-patch+yaml"
        )

    def delete(
        self, path: str, *, propagation: str = "Background", uid: str = "", version: str = ""
    ) -> Answer:
        """Delete the object at a path if it still has this uid and resourceVersion.

        Without a propagation policy a Job's running pods would stay. Raises ClusterFailure.
        """
        conditions = {"uid": uid, "resourceVersion": version}
        body: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
        }
        if held := {name: value for name, value in conditions.items() if value}:
            body["preconditions"] = held
        return self._ask("DELETE", path, body)

    def text(self, path: str, query: Mapping[str, str | int]) -> str:
        """Return what a path of the API answers as text, such as a log. Raises ClusterFailure."""
        with self.plain_errors():
            response = self._pool.request(
                "GET", f"{self.server}{path}?{urlencode(query)}", headers=self.api.default_headers
            )
            data = response.data
        _check_status(response, data)
        return data.decode(errors="replace")

    @contextmanager
    def lines(
        self, path: str, query: Mapping[str, str | int], *, silent_s: float
    ) -> Iterator[Iterator[bytes]]:
        """Open a stream of lines, such as a watch; silence of `silent_s` seconds ends it.

        Opening and reading raise ClusterFailure. A last line without its end is dropped.
        """
        headers = {"Accept": "application/json"} | self.api.default_headers
        timeout = urllib3.Timeout(connect=self._limits.connect_s, read=silent_s)
        with self.plain_errors():
            response = self._pool.request(
                "GET", f"{self.server}{path}?{urlencode(query)}", headers=headers, timeout=timeout
            )
            try:
                if not 200 <= response.status < 300:
                    _check_status(response, response.data)
                if is_html(_kind_of(response), b""):
                    raise html_answer()
                response.refuse_packed()
                yield response.lines()
            finally:
                response.close()

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
            raise status_failure(error.status or 0, kind, body) from error
        except HTTPError as error:
            raise self._transport_failure(error) from error

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        kind: str = "application/json",
    ) -> Answer:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = kind
        headers |= self.api.default_headers
        with self.plain_errors():
            response = self._pool.request(
                method, self.server + path, headers=headers, body=_encoded(body)
            )
            data = response.data
        _check_status(response, data)
        return Answer(json_of(_kind_of(response), data), response.headers)

    def _transport_failure(self, error: HTTPError) -> ClusterFailure:
        cause = error.args[0] if error.args else None
        if isinstance(error, SSLError) and isinstance(cause, ssl.SSLCertVerificationError):
            return certificate_failure(
                cause, self._host, self.addresses, self._port, self._limits.connect_s
            )
        if refusal := self._refusal_of_ours(error, cause):
            return refusal
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

    def _refusal_of_ours(self, error: HTTPError, cause: object) -> ClusterFailure | None:
        """Return the failure of a server that refuses our certificate, None for any other."""
        ended = isinstance(error, ProtocolError) or isinstance(cause, ssl.SSLEOFError)
        if not self._certificate_pem or not (ended or isinstance(error, SSLError)):
            return None
        alert = cause if isinstance(cause, ssl.SSLError) else None
        if ended:
            where = (self._host, self.addresses, self._port, self._limits.connect_s)
            alert = read_alert(self._pool.context, *where)
        return client_refusal(alert, self._certificate_pem, self._host) if alert else None


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
        self.context = tls_context(access, TimedSocket)
        self._pool = Pool(
            host,
            port,
            timeout=urllib3.Timeout(connect=limits.connect_s, read=limits.read_s),
            maxsize=8,
            retries=False,
            ssl_context=self.context,
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
        with ending(ends_at):
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

    def close(self) -> None:
        """Close the connection, read or not."""
        self._response.close()

    def lines(self) -> Iterator[bytes]:
        """Yield whole lines as they come. Raises ClusterAnswerWrong for one that is too long."""
        rest = b""
        while part := self._response.read1(_CHUNK):
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
            if len(rest) > min(self._limit, MAX_LINE_BYTES):
                raise _too_large(min(self._limit, MAX_LINE_BYTES))

    def refuse_packed(self) -> None:
        """Raise ClusterAnswerWrong if the body is compressed."""
        if self._response.headers.get("Content-Encoding", "identity") != "identity":
            self._response.close()
            # Not asked for: a few packed bytes could become any number.
            raise ClusterAnswerWrong(
                Sentence("clusters.answer_packed", "It sends compressed answers unasked.")
            )

    @property
    def data(self) -> bytes:
        """Return the body. Raises ClusterAnswerWrong if it is too large or packed."""
        self.refuse_packed()
        parts, size = [], 0
        with ending(self._ends_at):
            while part := self._response.read1(_CHUNK):
                size += len(part)
                if size > self._limit:
                    self._response.close()
                    raise _too_large(self._limit)
                parts.append(part)
        self._response.release_conn()
        return b"".join(parts)


def _too_large(limit: int) -> ClusterAnswerWrong:
    return ClusterAnswerWrong(
        Sentence(
            "clusters.answer_too_large", "It answers with more than {max} MiB.", max=limit >> 20
        )
    )


def _encoded(body: Mapping[str, Any] | None) -> bytes | None:
    return None if body is None else json.dumps(body).encode()


def _kind_of(response: _Response) -> str:
    return str(response.headers.get("Content-Type", ""))


def _check_status(response: _Response, data: bytes) -> None:
    """Raise ClusterFailure for an answer that is no success."""
    if not 200 <= response.status < 300:
        wait = str(response.headers.get("Retry-After", ""))
        text = data.decode(errors="replace")
        raise status_failure(response.status, _kind_of(response), text, wait)
