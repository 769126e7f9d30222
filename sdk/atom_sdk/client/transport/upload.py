"""Resumable upload of one file, by presigned parts or by one PUT."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from atom_sdk.client.errors import ApiError, UploadRejectedError
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.http import Http, send_object
from atom_sdk.client.transport.polling import pauses

_THREADS = 4
# A store that lost its power may have forgotten what had arrived.
_TRIES = 3
_URL_BATCH = 64
# Read into the same memory again and again. A whole part at once takes new memory from the system
# each time, and what a socket does not take of it is copied over and over.
_PIECE_BYTES = 256 << 10


@dataclass(frozen=True)
class UploadTarget:
    """Where uploads of one dataset go, and who hears about them."""

    http: Http
    base: str
    progress: Progress
    step: str = "upload"


class PartSource(Protocol):
    """What is uploaded. For several threads."""

    size_bytes: int

    def read(self, start: int, length: int) -> bytes:
        """Return bytes from `start`, fewer at the end."""

    def has_same(self, start: int, part: dict[str, Any]) -> bool:
        """Whether a part that an earlier try sent (`size_bytes`, `etag`) is what is here now."""


class _FileParts:
    """A file of this machine; a part is the same if its MD5 is."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size_bytes = os.fstat(descriptor).st_size

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, start)

    def body(self, start: int, length: int) -> _Body:
        """Return what is sent of a part."""
        return _Body(self, start, min(start + length, self.size_bytes))

    def has_same(self, start: int, part: dict[str, Any]) -> bool:
        data = self.read(start, part["size_bytes"])
        etag: str = part["etag"].strip('"')
        same = hashlib.md5(data, usedforsecurity=False).hexdigest() == etag
        return same and len(data) == int(part["size_bytes"])


class _Body:
    """Bytes of a file that are read while they are sent, and again when they are sent again."""

    def __init__(self, source: _FileParts, start: int, end: int) -> None:
        self._source = source
        self._start, self._end = start, end

    def __len__(self) -> int:
        return self._end - self._start

    def __iter__(self) -> Iterator[bytes]:
        for start in range(self._start, self._end, _PIECE_BYTES):
            yield self._source.read(start, min(_PIECE_BYTES, self._end - start))


def upload_file(target: UploadTarget, path: Path, kind: str, digest: str) -> str:
    """Send what the server does not have yet and return the upload's id ("" when it had all).

    The parts of an earlier, cut-off upload with the same digest are kept when their MD5 still
    matches. Verification goes on in the background: see `wait_verified`.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return upload_parts(target, _FileParts(descriptor), kind, digest)
    finally:
        os.close(descriptor)


def upload_parts(target: UploadTarget, source: PartSource, kind: str, digest: str) -> str:
    """Send what the server does not have yet, as `upload_file` does."""
    body = {"kind": kind, "digest": digest, "size_bytes": source.size_bytes, "single": True}
    for left in reversed(range(_TRIES)):
        upload = target.http.post(f"{target.base}uploads/", body)
        if upload["state"] != "open":
            target.progress.advance(target.step, source.size_bytes)
            break
        try:
            _send_all(target, source, upload)
            break
        except ApiError as error:
            if not left or not _is_forgotten(error):
                raise
    return str(upload["id"] or "")


def _send_all(target: UploadTarget, source: PartSource, upload: dict[str, Any]) -> None:
    etags = _send_parts(target, source, upload)
    parts = [{"n": number, "etag": etag} for number, etag in sorted(etags.items())]
    target.http.post(f"{target.base}uploads/{upload['id']}/complete/", {"parts": parts})


def _is_forgotten(error: ApiError) -> bool:
    """Whether the store does not know the upload, or parts that it had taken."""
    away = error.code == "object_store" and error.status == 404
    return away or error.code == "upload_incomplete"


def wait_verified(target: UploadTarget, upload_id: str, timeout_s: float = 900.0) -> None:
    """Return once the server has verified the upload. Raises UploadRejectedError."""
    deadline, waits = time.monotonic() + timeout_s, pauses()
    while upload_id:
        upload = target.http.get(f"{target.base}uploads/{upload_id}/")
        if upload["state"] == "verified":
            return
        if upload["state"] in {"quarantined", "aborted"}:
            reason = (upload.get("error") or {}).get("detail") or upload["state"]
            raise UploadRejectedError(f"The server refused the upload: {reason}")
        if time.monotonic() > deadline:
            raise UploadRejectedError("The server has not verified the upload in 15 minutes.")
        time.sleep(next(waits))


def _send_parts(target: UploadTarget, source: PartSource, upload: dict[str, Any]) -> dict[int, str]:
    part_bytes: int = upload["part_size_bytes"]
    count = max(1, -(-source.size_bytes // part_bytes))
    done = _kept_parts(target, source, upload, part_bytes)
    missing = [number for number in range(1, count + 1) if number not in done]
    for start in range(0, len(missing), _URL_BATCH):
        numbers = missing[start : start + _URL_BATCH]
        done.update(_send_batch(target, source, upload, numbers))
    return done


def _kept_parts(
    target: UploadTarget, source: PartSource, upload: dict[str, Any], part_bytes: int
) -> dict[int, str]:
    kept: dict[int, str] = {}
    for part in upload["parts_done"]:
        start = (part["n"] - 1) * part_bytes
        size = min(part_bytes, source.size_bytes - start)
        if part["size_bytes"] == size and source.has_same(start, part):
            kept[part["n"]] = part["etag"]
            target.progress.advance(target.step, size)
    return kept


def _send_batch(
    target: UploadTarget, source: PartSource, upload: dict[str, Any], numbers: list[int]
) -> dict[int, str]:
    address = f"{target.base}uploads/{upload['id']}/parts/"
    answer = target.http.post(address, {"numbers": numbers})
    urls: dict[str, str] = answer["urls"]
    # Servers before direct uploads sent none.
    headers: dict[str, str] = answer.get("headers") or {}
    part_bytes: int = upload["part_size_bytes"]

    def send(number: int) -> tuple[int, str]:
        start = (number - 1) * part_bytes
        # Others read over a network: a request for each piece would be slow.
        read = source.body if isinstance(source, _FileParts) else source.read
        data = read(start, part_bytes)
        etag = _put(target.http, urls[str(number)], data, headers)
        target.progress.advance(target.step, len(data))
        return number, etag

    with ThreadPoolExecutor(_THREADS, "atom-upload") as pool:
        return dict(pool.map(send, numbers))


def _put(http: Http, url: str, data: bytes | _Body, headers: dict[str, str]) -> str:
    """Send a part and return its etag; a key that may not be replaced and is there is as good."""
    sized = {**headers, "Content-Length": str(len(data))}
    try:
        answer = send_object(http, "PUT", url, content=data, headers=sized)
    except ApiError as error:
        if headers and error.status == HTTPStatus.PRECONDITION_FAILED:
            # An earlier try whose answer was lost; the server verifies what is there.
            return "exists"
        raise
    return answer.headers["etag"].strip('"')
