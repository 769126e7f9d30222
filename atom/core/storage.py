"""The one door to object storage.

`obstore` moves data (small-object reads are four times as fast as boto3's); `boto3` signs
addresses and drives multipart uploads, which obstore does not expose.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

import obstore
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from obstore.exceptions import BaseError, GenericError
from obstore.store import S3Store

from atom.core.conditional_writes import StoreConditions, is_refused_condition
from atom.core.errors import NotFound
from atom.core.store_clients import data_client, signing_client
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.sentences import Sentence

if TYPE_CHECKING:
    from obstore import ObjectMeta

    from atom.accounts.models import Project

# Some of these are in memory at a time: a worker that grows makes way for a new process.
_CHUNK_BYTES = 1 << 20
# 10,000 parts are an object of 80 GiB.
_PART_BYTES = 8 << 20
_PARTS_AT_ONCE = 2
# S3 copies no more in one request. A larger object is copied in parts, each of which is answered
# within the timeout of a request.
_COPY_BYTES = 5 << 30
_IN_PARTS = TransferConfig(multipart_threshold=1, multipart_chunksize=64 << 20, max_concurrency=4)
# 503 asks to come again later; the other 5xx say that the store has failed at this request.
_FAILED = re.compile(r"status code: 5(?!03)\d\d")

# The store's client raises it when the store cannot be reached or refuses.
StoreError = BaseError


class ObjectMissing(NotFound):
    """The object store has no object under this key."""

    code = "object_missing"
    title = "The stored object is missing."
    action = "Report it: the bucket has lost an object that the catalogue knows."


def _missing(key: str) -> ObjectMissing:
    return ObjectMissing(
        Sentence("core.object_missing", "{key} is not in the object store.", key=key)
    )


class ObjectExists(Exception):
    """A conditional write found an object under its key, and changed nothing."""


@dataclass(frozen=True)
class ObjectInfo:
    """The answer of a HEAD request."""

    key: str
    size_bytes: int
    etag: str
    # By the store's clock.
    modified_at: datetime


@dataclass(frozen=True)
class Part:
    """One uploaded part of a multipart upload; `number` counts from 1."""

    number: int
    etag: str
    size_bytes: int
    # By the store's clock.
    modified_at: datetime


@dataclass(frozen=True)
class UnfinishedUpload:
    """A multipart upload that was neither completed nor aborted."""

    key: str
    upload_id: str
    initiated_at: datetime


class ObjectStorage:
    """One bucket. Keys are plain strings; a missing key raises ObjectMissing."""

    def __init__(
        self, bucket: str, store: S3Store, hasty: S3Store, admin: Any, public: Any
    ) -> None:
        """`hasty` is a client of the same store that retries for seconds, not minutes."""
        self.bucket = bucket
        self._store = store
        self._hasty = hasty
        self._admin = admin
        self._public = public
        self._conditions = StoreConditions()

    def takes_conditional_writes(self) -> bool:
        """Return whether the store refuses to write a key twice when it is asked to; tried once.

        A store that cannot be asked does not, and is tried again after a minute.
        """
        return self._conditions.are_honoured(self._admin, self.bucket)

    def get(self, key: str) -> bytes:
        """Return the whole object."""
        try:
            return bytes(obstore.get(self._store, key).bytes())
        except FileNotFoundError as exc:
            raise _missing(key) from exc

    def get_range(self, key: str, start: int, end: int) -> bytes:
        """Return bytes `start` (inclusive) to `end` (exclusive)."""
        if end <= start:
            return b""
        try:
            return bytes(obstore.get_range(self._store, key, start=start, end=end))
        except FileNotFoundError as exc:
            raise _missing(key) from exc

    def views(
        self, key: str, *, retried: bool = True, chunk_bytes: int = _CHUNK_BYTES
    ) -> Iterator[memoryview]:
        """Yield the object in chunks of at least `chunk_bytes`, but for the last.

        Without `retried` a store that is away soon raises; with it, it is waited for, for minutes.
        Raises ObjectMissing or StoreError.
        """
        try:
            result = obstore.get(self._store if retried else self._hasty, key)
            for chunk in result.stream(min_chunk_size=chunk_bytes):
                yield memoryview(chunk)
        except FileNotFoundError as exc:
            raise _missing(key) from exc

    def fails_at(self, key: str, *, witness: str, scratch: str) -> bool:
        """Return whether the store answers, but not for this object.

        It gives the object `witness`, and cannot make a copy of `key` by itself (to `scratch`,
        which is removed again): no network is between the store and its disk.
        """
        try:
            obstore.get(self._hasty, witness).bytes()
        except (StoreError, FileNotFoundError):
            return False
        try:
            obstore.copy(self._hasty, key, scratch)
        except (StoreError, FileNotFoundError) as exc:
            return _FAILED.search(str(exc)) is not None
        self.delete(scratch)
        return False

    def put(self, key: str, data: bytes | Iterable[bytes] | BinaryIO) -> None:
        """Write an object, by multipart when it is large."""
        obstore.put(self._store, key, data)  # type: ignore[arg-type]

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        """Write an object from pieces as they arrive, a few parts in memory at a time.

        An error of `pieces` is raised, and then there is no object.
        """
        await obstore.put_async(
            self._store, key, pieces, chunk_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE
        )

    def exists(self, key: str) -> bool:
        """Return whether the key has an object."""
        return self.head_or_none(key) is not None

    def ask(self) -> None:
        """Ask the store anything, once. Raises StoreError if it does not answer."""
        with suppress(FileNotFoundError):
            obstore.head(self._hasty, "readyz")

    def head(self, key: str) -> ObjectInfo:
        """Return size and etag. Raises ObjectMissing."""
        info = self.head_or_none(key)
        if info is None:
            raise _missing(key)
        return info

    def head_or_none(self, key: str) -> ObjectInfo | None:
        """Return size and etag, or None when there is no such object."""
        try:
            meta = obstore.head(self._store, key)
        except FileNotFoundError:
            return None
        return _info(key, meta)

    def copy(self, source: str, target: str) -> None:
        """Copy within the bucket, on the server's side. Raises ObjectMissing or StoreError."""
        if self.head(source).size_bytes > _COPY_BYTES:
            self._copy_in_parts(source, target)
            return
        try:
            obstore.copy(self._store, source, target)
        except FileNotFoundError as exc:
            raise _missing(source) from exc

    def _copy_in_parts(self, source: str, target: str) -> None:
        try:
            self._admin.copy(
                {"Bucket": self.bucket, "Key": source}, self.bucket, target, Config=_IN_PARTS
            )
        except (ClientError, BotoCoreError) as exc:
            raise GenericError(f"{source} was not copied: {exc}") from exc

    def delete(self, key: str) -> None:
        """Delete an object; one that is not there is fine."""
        try:
            obstore.delete(self._store, key)
        except FileNotFoundError:
            return

    def list_prefix(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield every object under `prefix`, in key order."""
        for page in obstore.list(self._store, prefix):
            for meta in page:
                yield _info(meta["path"], meta)

    def presign_get(self, key: str, expires_s: int = 3600, filename: str | None = None) -> str:
        """Return an address that reads the object without credentials."""
        params = {"Bucket": self.bucket, "Key": key}
        if filename is not None:
            quoted = quote(filename, safe="")
            params["ResponseContentDisposition"] = f"attachment; filename*=UTF-8''{quoted}"
        return str(self._public.generate_presigned_url("get_object", params, expires_s))

    def presign_put(self, key: str, expires_s: int = 3600, *, only_new: bool = False) -> str:
        """Return an address that writes the object without credentials.

        With `only_new` a key that has an object is refused, and the request needs the header
        `If-None-Match: *`, which is part of the signature.
        """
        params = {"Bucket": self.bucket, "Key": key}
        if only_new:
            params["IfNoneMatch"] = "*"
        return str(self._public.generate_presigned_url("put_object", params, expires_s))

    def multipart_create(self, key: str) -> str:
        """Start a multipart upload and return its id."""
        return str(self._admin.create_multipart_upload(Bucket=self.bucket, Key=key)["UploadId"])

    def presign_part(self, key: str, upload_id: str, number: int, expires_s: int = 3600) -> str:
        """Return an address that writes part `number` (from 1) of an upload."""
        params = {"Bucket": self.bucket, "Key": key, "UploadId": upload_id, "PartNumber": number}
        return str(self._public.generate_presigned_url("upload_part", params, expires_s))

    def part_address(self, key: str, upload_id: str, number: int) -> str:
        """Return where this process can PUT part `number`, for a minute.

        For bytes that come through us: browsers see one origin, and no address of the store.
        """
        params = {"Bucket": self.bucket, "Key": key, "UploadId": upload_id, "PartNumber": number}
        return str(self._admin.generate_presigned_url("upload_part", params, 60))

    def multipart_parts(self, key: str, upload_id: str) -> list[Part]:
        """Return the parts that have arrived, in order; empty when the upload is unknown."""
        pages = self._admin.get_paginator("list_parts")
        try:
            found = [
                Part(
                    part["PartNumber"],
                    part["ETag"].strip('"'),
                    part["Size"],
                    part["LastModified"],
                )
                for page in pages.paginate(Bucket=self.bucket, Key=key, UploadId=upload_id)
                for part in page.get("Parts", [])
            ]
        except ClientError as exc:
            if _is_no_upload(exc):
                return []
            raise
        return sorted(found, key=lambda part: part.number)

    def multipart_is_known(self, key: str, upload_id: str) -> bool:
        """Whether parts can still be sent: it was neither joined nor forgotten."""
        try:
            self._admin.list_parts(Bucket=self.bucket, Key=key, UploadId=upload_id, MaxParts=1)
        except ClientError as exc:
            if _is_no_upload(exc):
                return False
            raise
        return True

    def multipart_list(self, prefix: str) -> Iterator[UnfinishedUpload]:
        """Yield the multipart uploads under `prefix` that are under way or were given up."""
        pages = self._admin.get_paginator("list_multipart_uploads")
        for page in pages.paginate(Bucket=self.bucket, Prefix=prefix):
            for found in page.get("Uploads", []):
                # Not every store filters.
                if found["Key"].startswith(prefix):
                    yield UnfinishedUpload(found["Key"], found["UploadId"], found["Initiated"])

    def multipart_complete(
        self,
        key: str,
        upload_id: str,
        parts: Sequence[tuple[int, str]],
        *,
        only_new: bool = False,
    ) -> None:
        """Join the parts into one object.

        With `only_new` an object that is there stays: raises ObjectExists, also when an earlier
        try joined these parts and its answer was lost.
        """
        body = {"Parts": [{"PartNumber": number, "ETag": etag} for number, etag in parts]}
        condition = {"IfNoneMatch": "*"} if only_new else {}
        try:
            self._admin.complete_multipart_upload(
                Bucket=self.bucket, Key=key, UploadId=upload_id, MultipartUpload=body, **condition
            )
        except ClientError as exc:
            if is_refused_condition(exc):
                raise ObjectExists(key) from exc
            # An earlier attempt has joined the parts, and its answer was lost.
            if not (_is_no_upload(exc) and self.exists(key)):
                raise

    def multipart_abort(self, key: str, upload_id: str) -> None:
        """Abort an unfinished upload; an unknown one is no error."""
        try:
            self._admin.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload_id)
        except ClientError as exc:
            if not _is_no_upload(exc):
                raise


class PrefixStore:
    """The `ObjectStore` of `atom_sdk.manifests` over one prefix of the bucket."""

    def __init__(self, storage: ObjectStorage, prefix: str) -> None:
        self._storage = storage
        self.prefix = prefix

    def get(self, key: str) -> bytes:
        """Return the whole object. Raises ObjectNotFoundError, as the SDK's readers expect."""
        try:
            return self._storage.get(self.prefix + key)
        except ObjectMissing as exc:
            raise ObjectNotFoundError(key) from exc

    def get_range(self, key: str, start: int, end: int) -> bytes:
        """Return a part of an object. Raises ObjectMissing."""
        return self._storage.get_range(self.prefix + key, start, end)

    def size_bytes(self, key: str) -> int:
        """Return the size of an object. Raises ObjectNotFoundError."""
        try:
            return self._storage.head(self.prefix + key).size_bytes
        except ObjectMissing as exc:
            raise ObjectNotFoundError(key) from exc

    def put(self, key: str, data: bytes) -> None:
        """Write an object."""
        self._storage.put(self.prefix + key, data)

    def exists(self, key: str) -> bool:
        """Return whether the key has an object."""
        return self._storage.exists(self.prefix + key)


def project_prefix(project: Project) -> str:
    """Return the prefix that holds everything of one project."""
    return f"p/{project.pk}/"


def project_store(project: Project) -> PrefixStore:
    """Return the store of one project's packs, ranges, roots, layers and commits."""
    return PrefixStore(objects(), project_prefix(project))


def _is_no_upload(exc: ClientError) -> bool:
    return exc.response["Error"]["Code"] in {"NoSuchUpload", "404", "NoSuchKey"}


def _info(key: str, meta: ObjectMeta) -> ObjectInfo:
    etag = (meta["e_tag"] or "").strip('"')
    return ObjectInfo(key, meta["size"], etag, meta["last_modified"])


@lru_cache(maxsize=1)
def objects() -> ObjectStorage:
    """Return the installation's bucket."""
    endpoint = settings.S3_ENDPOINT_URL
    public = settings.S3_PUBLIC_ENDPOINT_URL or endpoint
    patience = timedelta(seconds=settings.ATOM_STORE_PATIENCE_S)
    store = data_client(endpoint, {"retry_timeout": patience})
    hasty = data_client(endpoint, {"max_retries": 0})
    admin, for_others = signing_client(endpoint), signing_client(public)
    return ObjectStorage(settings.S3_BUCKET, store, hasty, admin, for_others)
