"""The bucket of a second store, over connections to checked addresses alone.

All keys are below `<prefix>atom-replicas/`, so that even a store over Atom's own bucket cannot
touch an original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeVar
from uuid import UUID

from blake3 import blake3
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from atom.core.errors import AtomError
from atom.datasets.replicas.errors import (
    StoreAddressRefused,
    StoreAway,
    StoreDenied,
    StoreMissing,
    StoreOdd,
    StoreThrottled,
)
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import (
    SourceAddressRefused,
    SourceAway,
    SourceDenied,
    SourceMissing,
    SourceOdd,
    SourceThrottled,
)
from atom.datasets.sources.pipelines.addresses import check_url
from atom.datasets.sources.pipelines.connections import check_connections
from atom.datasets.sources.pipelines.patience import BATCH, Patience
from atom.datasets.sources.pipelines.s3 import aws_endpoint, failure_of, make_client

T = TypeVar("T")
FOLDER: Final = "atom-replicas/"
PART_BYTES: Final = 8 << 20
# S3 takes 10,000 parts at most.
_MOST_PARTS: Final = 9000
_READ_BYTES: Final = 1 << 20
_KINDS: Final[tuple[tuple[type[AtomError], type[AtomError]], ...]] = (
    (SourceThrottled, StoreThrottled),
    (SourceAway, StoreAway),
    (SourceDenied, StoreDenied),
    (SourceMissing, StoreMissing),
    (SourceOdd, StoreOdd),
    (SourceAddressRefused, StoreAddressRefused),
)


def part_bytes(size_bytes: int) -> int:
    """Return the size of each part but the last; some stores want them to be equal."""
    return max(PART_BYTES, -(-size_bytes // _MOST_PARTS))


class SecondStore:
    """Objects of one project in a second store. Used from several threads at once."""

    def __init__(
        self, spec: SourceSpec, project_id: UUID | str, patience: Patience = BATCH
    ) -> None:
        """Nothing is connected yet; `check_address` says early whether it may be."""
        self._endpoint = spec.endpoint or aws_endpoint(spec.region)
        self._bucket = spec.bucket
        self._patience = patience
        self.prefix = f"{spec.root}{FOLDER}p/{project_id}/"
        self._client = _client_of(replace(spec, id=""), tuple(settings.ATOM_SOURCE_ALLOW))

    def check_address(self) -> None:
        """Raise StoreAddressRefused or StoreAway for an endpoint that may not be used."""
        try:
            check_url(self._endpoint, settings.ATOM_SOURCE_ALLOW)
        except AtomError as error:
            raise _as_store(error) from error

    def size_of(self, key: str) -> int | None:
        """Return the bytes of an object, None without one."""
        try:
            answer = self._call("head_object", key)
        except _NoObject:
            return None
        return int(answer["ContentLength"])

    def get(self, key: str) -> bytes | None:
        """Return an object, None without one."""
        try:
            return b"".join(self._chunks(key))
        except _NoObject:
            return None

    def digest_of(self, key: str, note: Callable[[int], None]) -> str | None:
        """Return the BLAKE3 of an object's bytes (hex) as the store gives them, None without one.

        `note` gets the bytes of each piece; it may raise to stop.
        """
        hasher = blake3()
        try:
            for chunk in self._chunks(key):
                note(len(chunk))
                hasher.update(chunk)
        except _NoObject:
            return None
        return hasher.hexdigest()

    def put(self, key: str, data: bytes) -> None:
        """Write a small object."""
        self._call("put_object", key, Body=data)

    def put_parts(
        self,
        key: str,
        size_bytes: int,
        chunks: Iterable[bytes | memoryview],
        note: Callable[[int], None],
    ) -> str:
        """Write an object from pieces as they come, a part in memory; return their BLAKE3 (hex).

        `note` gets the bytes of each part before it is sent; it may raise to stop. Then there is no
        object, and the parts that were sent are given back.
        """
        hasher = blake3()
        parts = _equal_parts(chunks, part_bytes(size_bytes))
        if size_bytes <= PART_BYTES:
            data = b"".join(parts)
            hasher.update(data)
            note(len(data))
            self.put(key, data)
            return hasher.hexdigest()
        self.abort_unfinished(key)
        upload = self._call("create_multipart_upload", key)["UploadId"]
        try:
            rows = []
            for number, data in enumerate(parts, 1):
                hasher.update(data)
                note(len(data))
                rows.append({"PartNumber": number, "ETag": self._send(key, upload, number, data)})
            self._call(
                "complete_multipart_upload", key, UploadId=upload, MultipartUpload={"Parts": rows}
            )
        except BaseException:
            self._abort(key, upload)
            raise
        return hasher.hexdigest()

    def _send(self, key: str, upload: str, number: int, data: bytes) -> str:
        answer = self._call(
            "upload_part",
            key,
            UploadId=upload,
            PartNumber=number,
            Body=data,
        )
        return str(answer["ETag"])

    def abort_unfinished(self, key: str) -> None:
        """Give back the parts that a killed worker left, where the store lists them."""
        with suppress(AtomError):
            answer = self._ask("list_multipart_uploads", Prefix=self.prefix + key)
            for row in answer.get("Uploads", []):
                # Not every store filters.
                if row["Key"] == self.prefix + key:
                    self._abort(key, row["UploadId"])

    def _abort(self, key: str, upload: str) -> None:
        with suppress(AtomError):
            self._call("abort_multipart_upload", key, UploadId=upload)

    def delete(self, key: str) -> None:
        """Delete an object; one that is not there is fine."""
        with suppress(_NoObject):
            self._call("delete_object", key)

    def list_keys(self, under: str = "") -> Iterator[str]:
        """Yield the keys of the project's objects, relative to its prefix, in their order."""
        token: str | None = None
        while True:
            more = {"ContinuationToken": token} if token else {}
            page = self._ask("list_objects_v2", Prefix=self.prefix + under, **more)
            for row in page.get("Contents", []):
                yield str(row["Key"]).removeprefix(self.prefix)
            token = page.get("NextContinuationToken")
            if not page.get("IsTruncated") or not token:
                return

    def address(self, key: str, expires_s: int) -> str:
        """Return where anyone can GET an object for so long; the store is not asked."""
        params = {"Bucket": self._bucket, "Key": self.prefix + key}
        return str(self._client.generate_presigned_url("get_object", params, expires_s))

    def _chunks(self, key: str) -> Iterator[bytes]:
        body = self._call("get_object", key)["Body"]
        try:
            while chunk := self._read(body):
                yield chunk
        finally:
            body.close()

    def _read(self, body: Any) -> bytes:
        try:
            return bytes(body.read(_READ_BYTES))
        except (BotoCoreError, OSError) as exc:
            raise self._failure(exc) from exc

    def _call(self, method: str, key: str, **params: Any) -> dict[str, Any]:
        return self._ask(method, Key=self.prefix + key, **params)

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            try:
                answer: dict[str, Any] = getattr(self._client, method)(
                    Bucket=self._bucket, **params
                )
            except (ClientError, BotoCoreError, OSError) as exc:
                raise self._failure(exc) from exc
            return answer

        return self._patience.run(ask)

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, ClientError) and _is_no_object(error):
            return _NoObject()
        return _as_store(failure_of(error, self._endpoint, self._bucket))


class _NoObject(Exception):
    """The bucket has no object of the key."""


def _is_no_object(error: ClientError) -> bool:
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status == 404 and code != "NoSuchBucket"


def _as_store(error: AtomError) -> AtomError:
    for kind, ours in _KINDS:
        if isinstance(error, kind):
            return error if isinstance(error, ours) else ours(error.detail)
    return error


def _equal_parts(chunks: Iterable[bytes | memoryview], size: int) -> Iterator[bytes]:
    """Yield pieces of exactly `size` bytes, but for the last; none of nothing."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)


@lru_cache(maxsize=32)
def _client_of(spec: SourceSpec, allowed: Sequence[str]) -> Any:
    client = make_client(spec, spec.endpoint or aws_endpoint(spec.region))
    check_connections(client, allowed)
    return client
