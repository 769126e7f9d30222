"""The connection: authentication, retries, and problem+json turned into exceptions."""

from __future__ import annotations

import os
import random
import ssl
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager
from functools import cached_property, lru_cache
from typing import Any

import httpx

from atom_sdk.client.config import Config
from atom_sdk.client.errors import ApiError, NetworkError, NotAtomError

_RETRIED_STATUS = frozenset({429, 502, 503, 504})
# An object store that is overloaded or restarts says so in more ways.
# 409: two conditional writes of one key met.
RETRIED_BY_STORES = _RETRIED_STATUS | {408, 409, 500}
_TRIES = 6
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
# A server that restarts is back within seconds.
_MAX_WAIT_S = 8.0
# A server that limits how often it is asked says how long to wait; so much of that is done.
_MAX_THROTTLED_S = 60.0
_MIN_WAIT_S = 0.25

JSON = Any


class Http:
    """Calls `/api/v1/…`. Thread-safe."""

    def __init__(self, config: Config) -> None:
        self.config = config
        headers = {"Accept": "application/json", "User-Agent": "atom-sdk"}
        if config.token:
            headers["Authorization"] = f"Bearer {config.token}"
        self._client = httpx.Client(
            base_url=f"{config.url}/api/v1/",
            headers=headers,
            timeout=_TIMEOUT,
            # Redirects are not followed: a plain address stays one.
            verify=verification(config.url),
        )

    @cached_property
    def objects(self) -> httpx.Client:
        """A client for presigned addresses.

        They carry their own authorisation; ours must not leak to the store.
        """
        return httpx.Client(timeout=httpx.Timeout(300.0, connect=10.0), verify=_trusted())

    def close(self) -> None:
        """Close both connection pools."""
        self._client.close()
        if "objects" in vars(self):
            self.objects.close()

    def get(self, path: str, **params: Any) -> JSON:
        """Return the JSON answer of a GET."""
        given = {name: value for name, value in params.items() if value is not None}
        return self.request("GET", path, params=given)

    def post(self, path: str, body: JSON = None, key: str | None = None) -> JSON:
        """POST with an Idempotency-Key, so that a retry never does the work twice."""
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return self.request("POST", path, json=body if body is not None else {}, headers=headers)

    def put(self, path: str, body: JSON) -> JSON:
        """PUT; idempotent by its meaning."""
        return self.request("PUT", path, json=body)

    def delete(self, path: str) -> None:
        """DELETE."""
        self.request("DELETE", path)

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield every row of a list, page after page."""
        cursor: str | None = None
        while True:
            page = self.get(path, cursor=cursor, **{"limit": 200, **params})
            yield from page["results"]
            cursor = page["next"]
            if cursor is None:
                return

    @contextmanager
    def stream(self, path: str, params: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Open a GET whose answer is read as it comes; it is not tried again once it has begun."""
        with ExitStack() as stack:

            def send() -> httpx.Response:
                stack.close()
                return stack.enter_context(self._client.stream("GET", path, params=params))

            yield _with_retries(send)

    def request(self, method: str, path: str, **kwargs: Any) -> JSON:
        """Send, retry what may be retried, and return the JSON answer (None for 204).

        Raises ApiError for a problem, NetworkError when the server cannot be reached, NotAtomError
        when something else answers at its address.
        """
        response = _with_retries(lambda: self._client.request(method, path, **kwargs))
        if response.is_redirect:
            raise NotAtomError(_redirects(response))
        if not response.is_success:
            raise ApiError(response.status_code, _problem(response))
        try:
            return response.json() if response.content else None
        except ValueError as exc:
            raise NotAtomError(f"{response.url.host} answers, but not as Atom does.") from exc


def _redirects(response: httpx.Response) -> str:
    # Only the beginning: what follows may be somebody's state of signing in.
    wanted = response.url.join(response.headers.get("location", ""))
    return f"{response.url.host} does not answer, it redirects to {wanted.scheme}://{wanted.host}."


def download(http: Http, path: str, params: Mapping[str, str | None]) -> Iterator[bytes]:
    """Yield the bytes of an answer that is a file. Raises ApiError; NetworkError if it ends."""
    given = {name: value for name, value in params.items() if value is not None}
    with http.stream(path, given) as response:
        if not response.is_success:
            response.read()
            raise ApiError(response.status_code, _problem(response))
        try:
            yield from response.iter_bytes()
        except httpx.TransportError as exc:
            raise NetworkError(f"The answer broke off: {exc}.") from exc


def verification(url: str) -> ssl.SSLContext | bool:
    """Return by what the certificate of an address is verified; a plain one has none."""
    return _trusted() if httpx.URL(url).scheme != "http" else False


def _trusted() -> ssl.SSLContext:
    """Return whom to trust; loading the certificates takes most of a client's start."""
    return _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Load what httpx trusts under these two variables."""
    return httpx.create_ssl_context()


def _with_retries(
    send: Callable[[], httpx.Response], retried: Set[int] = _RETRIED_STATUS
) -> httpx.Response:
    tries, throttled_s = 0, 0.0
    while True:
        tries += 1
        try:
            response = send()
        except httpx.TransportError as exc:
            if tries == _TRIES:
                raise NetworkError(
                    f"The server cannot be reached: {str(exc).rstrip('.')}."
                ) from exc
            time.sleep(wait_s(tries - 1, {}))
            continue
        if response.status_code not in retried:
            return response
        asked_s = wait_s(tries - 1, response.headers)
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS and _says_when(response):
            # The server works and says when: that is no failed try. Callers who were refused
            # together do not come back together.
            asked_s = max(asked_s, _MIN_WAIT_S) * random.uniform(1.0, 1.25)
            throttled_s += asked_s
            if throttled_s > _MAX_THROTTLED_S:
                return response
            tries -= 1
        elif tries == _TRIES or asked_s > _MAX_WAIT_S:
            return response
        time.sleep(asked_s)


def _says_when(response: httpx.Response) -> bool:
    return str(response.headers.get("retry-after", "")).isdecimal()


def wait_s(attempt: int, headers: Mapping[str, str]) -> float:
    """Seconds before the next try, after `attempt` (from 0); longer and longer."""
    if (after := headers.get("retry-after", "")).isdecimal():
        return float(after)
    return float(min(_MAX_WAIT_S, 0.25 * 2**attempt) * random.uniform(0.75, 1.25))


def _problem(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    return {"detail": f"The server answered {response.status_code} without a reason."}


def send_object(http: Http, method: str, url: str, **kwargs: Any) -> httpx.Response:
    """Talk to a presigned address, with the same retries. Raises NetworkError or ApiError."""
    response = _with_retries(lambda: http.objects.request(method, url, **kwargs), RETRIED_BY_STORES)
    if response.is_success:
        return response
    where = httpx.URL(url).path
    detail = f"The object store answered {response.status_code} for {where}: {response.text[:200]}"
    raise ApiError(response.status_code, {"code": "object_store", "detail": detail})


def get_range(http: Http, url: str, start: int, end: int) -> bytes:
    """Return bytes of what a signed address of our gateway shows. Raises NetworkError, ApiError."""
    headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
    response = _with_retries(lambda: http.objects.request("GET", url, headers=headers))
    if response.is_success:
        return response.content
    raise ApiError(response.status_code, _problem(response))
