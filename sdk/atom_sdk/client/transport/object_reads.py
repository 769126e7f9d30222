"""Whole objects from presigned addresses, piece by piece, from a store that may throttle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import httpx

from atom_sdk.client.errors import ApiError, NetworkError
from atom_sdk.client.transport.http import RETRIED_BY_STORES, Http, wait_s

_CHUNK_BYTES = 1 << 20
_TRIES = 6


def object_chunks(http: Http, url: str, told: Callable[[int], None]) -> Iterator[bytes]:
    """Yield an object; after a refusal for now or a broken connection it goes on where it was.

    `told` gets the number of bytes that came. Raises NetworkError when that does not help, ApiError
    with the code object_store for any other answer.
    """
    done = 0
    for attempt in range(_TRIES):
        try:
            for chunk in _chunks_from(http, url, done):
                done += len(chunk)
                told(len(chunk))
                yield chunk
            return
        except httpx.TransportError as error:
            if attempt == _TRIES - 1:
                raise NetworkError(f"The connection to the object store broke: {error}") from error
            time.sleep(wait_s(attempt, {}))


def _chunks_from(http: Http, url: str, start: int) -> Iterator[bytes]:
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with http.objects.stream("GET", url, headers=headers) as response:
        if response.status_code in RETRIED_BY_STORES:
            raise httpx.ReadError(f"The object store answered {response.status_code}")
        if not response.is_success:
            detail = f"The object store answered {response.status_code} for {response.url.path}."
            raise ApiError(response.status_code, {"code": "object_store", "detail": detail})
        # A store that does not know ranges sends what was here already.
        passed = start if response.status_code == httpx.codes.OK else 0
        for chunk in response.iter_bytes(_CHUNK_BYTES):
            fresh = chunk[passed:]
            passed = max(0, passed - len(chunk))
            if fresh:
                yield fresh
