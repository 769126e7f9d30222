"""Handle one S3 request: key, operation, answer."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import structlog
from django.db import InterfaceError, OperationalError

from atom.core.errors import AtomError
from atom.core.storage import StoreError
from atom.datasets.sources.errors import SourceChanged, SourceError, SourceRemoved
from atom.gateway.responses import Answer
from atom.gateway.s3.catalogue import Bucket, Catalogue, Credential
from atom.gateway.s3.errors import (
    Broken,
    Busy,
    KeyUnknown,
    ObjectUnavailable,
    OperationUnknown,
    ReadOnly,
    S3Error,
    SourceObjectUnavailable,
)
from atom.gateway.s3.listings import list_buckets, list_objects, open_files
from atom.gateway.s3.objects import FoundObject, ObjectAnswer, answer_object, read_object
from atom.gateway.s3.requests import S3Request, parse_request
from atom.gateway.s3.signature import check_payload, check_signature, check_time, read_claim
from atom.gateway.s3.xml import document, error_document
from atom.gateway.sources import MediaSource
from atom.gateway.threads import begun, run_in
from atom_sdk.errors import AtomError as SdkError

log = structlog.get_logger(__name__)

_READERS = 32
_MAX_WAITING = 512
_XML = {"content-type": "application/xml", "cache-control": "no-store"}
# Parts of S3 that read something which versions do not have.
_UNKNOWN_PARTS = frozenset(
    {"accelerate", "acl", "analytics", "attributes", "cors", "encryption", "intelligent-tiering"}
    | {"inventory", "legal-hold", "lifecycle", "logging", "metrics", "notification", "torrent"}
    | {"object-lock", "ownershipControls", "policy", "policyStatus", "publicAccessBlock", "tagging"}
    | {"replication", "requestPayment", "retention", "uploadId", "uploads", "versions", "website"}
)


_STORED = re.compile(r"\b(?:packs|roots|groups|ranges|deltas|layers)/[0-9a-f]{64}")


@dataclass(frozen=True)
class Reading:
    """An answer whose body is read from a pack."""

    answer: ObjectAnswer
    object: FoundObject


class S3Server:
    """Turns ASGI scopes into answers. One per process."""

    def __init__(self, source: MediaSource) -> None:
        """Threads are started when they are first needed."""
        self._source = source
        self._catalogue = Catalogue()
        self._readers = ThreadPoolExecutor(_READERS, "s3-read")
        self._in_progress = 0

    async def answer(self, scope: Mapping[str, Any]) -> Answer:
        """Return the answer to a request; every failure is a document of S3's."""
        request_id = secrets.token_hex(8).upper()
        try:
            answer = await self._admitted(scope)
        except S3Error as error:
            answer = _refusal(error, scope, request_id)
        except Exception:
            log.exception("s3_failed", path=scope["path"], request_id=request_id)
            answer = _refusal(Broken(), scope, request_id)
        return replace(answer, headers={**answer.headers, "x-amz-request-id": request_id})

    def close(self) -> None:
        """Stop the threads."""
        self._readers.shutdown(wait=False, cancel_futures=True)

    async def _admitted(self, scope: Mapping[str, Any]) -> Answer:
        if self._in_progress >= _MAX_WAITING:
            raise Busy("Too many reads are in progress.", headers={"Retry-After": "1"})
        self._in_progress += 1
        try:
            handled = await run_in(self._readers, lambda: self._translated(scope))
            return handled if isinstance(handled, Answer) else await self._body(handled)
        finally:
            self._in_progress -= 1

    async def _body(self, reading: Reading) -> Answer:
        status, headers, span = (
            reading.answer.status,
            reading.answer.headers,
            reading.answer.span,
        )
        if span is None:
            return Answer(status, headers)
        pieces = read_object(self._source, reading.object, span)
        try:
            return Answer(status, headers, pieces=await begun(self._readers, pieces))
        except AtomError as error:
            raise _as_s3(error) from error
        except StoreError as error:
            raise _busy(error) from error

    def _translated(self, scope: Mapping[str, Any]) -> Answer | Reading:
        """Handle the request in a thread; what other parts raise becomes an S3Error."""
        try:
            return self._handle(parse_request(scope))
        except SdkError as error:
            raise ObjectUnavailable(str(error)) from error
        except AtomError as error:
            raise _as_s3(error) from error
        except (StoreError, OperationalError, InterfaceError) as error:
            raise _busy(error) from error

    def _handle(self, request: S3Request) -> Answer | Reading:
        credential = self._authenticate(request)
        if request.method not in {"GET", "HEAD"}:
            raise ReadOnly(headers={"Allow": "GET, HEAD"})
        if unknown := sorted(_UNKNOWN_PARTS & {name for name, _ in request.query}):
            raise OperationUnknown(f"This endpoint does not have ?{unknown[0]}.")
        if not request.bucket:
            return _xml(list_buckets(self._catalogue.buckets(credential.project_id)))
        bucket = self._catalogue.bucket(credential.project_id, request.bucket)
        return self._object(request, bucket) if request.key else self._bucket(request, bucket)

    def _authenticate(self, request: S3Request) -> Credential:
        claim = read_claim(request)
        credential = self._catalogue.credential(claim.access_key_id)
        check_signature(request, claim, credential.secret)
        check_time(claim, datetime.now(UTC))
        if request.method in {"GET", "HEAD"}:
            check_payload(claim)
        self._catalogue.note_use(credential)
        return credential

    def _bucket(self, request: S3Request, bucket: Bucket) -> Answer:
        if request.method == "HEAD":
            return Answer(200, {**_XML, "x-amz-bucket-region": "us-east-1"})
        if request.has("location"):
            # Empty means us-east-1; every region is good for signing.
            return _xml(document("LocationConstraint", []))
        if request.has("versioning"):
            return _xml(document("VersioningConfiguration", []))
        return _xml(list_objects(request, bucket, self._catalogue))

    def _object(self, request: S3Request, bucket: Bucket) -> Reading:
        name, _, path = request.key.partition("/")
        ref = self._catalogue.ref(bucket, name)
        files = open_files(bucket, ref)
        file = files.find(path) or files.find(files.stored_path(path))
        if file is None or request.parameter("versionId", "null") != "null":
            raise KeyUnknown
        found = FoundObject(file, ref.created_at, bucket.prefix)
        answer = answer_object(request, found)
        return Reading(replace(answer, span=None) if request.method == "HEAD" else answer, found)


def _xml(body: bytes) -> Answer:
    return Answer(200, _XML, body)


def _as_s3(error: AtomError) -> S3Error:
    if isinstance(error, S3Error):
        return error
    if isinstance(error, SourceChanged | SourceRemoved):
        return SourceObjectUnavailable(error.detail)
    # A source that is away or throttles may be back in a moment.
    return Busy(error.detail) if isinstance(error, SourceError) else ObjectUnavailable(error.detail)


def _busy(error: Exception) -> Busy:
    """Name the object that the store does not deliver, without the store's own text."""
    found = _STORED.search(str(error))
    detail = f"The object store does not give {found[0]}." if found else ""
    return Busy(detail, headers={"Retry-After": "2"})


def _refusal(error: S3Error, scope: Mapping[str, Any], request_id: str) -> Answer:
    body = error_document(error, quote(scope["path"], safe="/"), request_id)
    # An unread body would be parsed as the next request.
    close = {} if scope["method"] in {"GET", "HEAD"} else {"connection": "close"}
    return Answer(error.status, {**_XML, **close, **error.headers}, body)
