"""Buckets of S3 and of what speaks its protocol.

boto3 and not obstore: it follows no redirect (a checked address could send us into our own
network), connects where we tell it, tells throttling, refusal and absence apart, and lists with a
delimiter page by page. A bucket with versioning pins its objects by version ids.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
)
from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)

from atom.core.errors import AtomError
from atom.datasets.sentences import listing_stuck, no_answer_from
from atom.datasets.source_spec import DEFAULT_REGION, SourceSpec
from atom.datasets.sources.errors import (
    SourceAway,
    SourceChanged,
    SourceDenied,
    SourceMissing,
    SourceOdd,
    SourceThrottled,
)
from atom.datasets.sources.pipelines.addresses import check_url
from atom.datasets.sources.pipelines.connections import check_connections
from atom.datasets.sources.pipelines.endless import EndlessGuard
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom.datasets.sources.pipelines.patience import BATCH, Patience, retry_after_s
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_CONNECTIONS = 16
_SESSION = boto3.session.Session()
_CLIENTS = threading.Lock()
_FOLDER_PAGES = 20
_TIMEOUT_S = 60
_CONNECT_TIMEOUT_S = 10
_SLOW_DOWN = {
    "SlowDown",
    "TooManyRequests",
    "Throttling",
    "RequestLimitExceeded",
    "ThrottlingException",
}
_GONE = {"NoSuchKey", "NoSuchVersion", "PreconditionFailed", "InvalidRange"}


class S3Reader:
    """One prefix of one bucket."""

    def __init__(
        self, spec: SourceSpec, allowed: Sequence[str], patience: Patience = BATCH
    ) -> None:
        """Raises SourceAddressRefused or SourceAway for the endpoint."""
        self._endpoint = spec.endpoint or aws_endpoint(spec.region)
        check_url(self._endpoint, allowed)
        self._bucket, self._root = spec.bucket, spec.root
        self._patience = patience
        self._client = make_client(spec, self._endpoint)
        check_connections(self._client, allowed)
        self._versioned: bool | None = None
        self._asking = threading.Lock()

    def folders(self, prefix: str) -> list[str] | None:
        """Return the prefixes directly below, each ending in a slash; None if they are many."""
        found: list[str] = []
        for number, page in enumerate(self._list(self._root + prefix, "", delimiter="/")):
            if number == _FOLDER_PAGES:
                return None
            found += [row["Prefix"] for row in page.get("CommonPrefixes", [])]
        return [full.removeprefix(self._root) for full in found]

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the objects of a shard that come after a key."""
        delimiter = "" if shard.is_deep else "/"
        start = self._root + after if after else ""
        if self._has_versions():
            for page in self._list_versions(self._root + shard.prefix, start, delimiter):
                rows = page.get("Versions", [])
                yield [self._object(row) for row in rows if row.get("IsLatest")]
            return
        for page in self._list(self._root + shard.prefix, start, delimiter=delimiter):
            yield [self._object(row) for row in page.get("Contents", [])]

    def _has_versions(self) -> bool:
        """Whether the bucket keeps old versions, and we may list them; asked once."""
        with self._asking:
            if self._versioned is None:
                self._versioned = self._patience.run(self._ask_for_versions)
            return self._versioned

    def _ask_for_versions(self) -> bool:
        try:
            answer = self._client.get_bucket_versioning(Bucket=self._bucket)
            # "Suspended" has them too: those from before.
            if answer.get("Status") not in {"Enabled", "Suspended"}:
                return False
            self._client.list_object_versions(Bucket=self._bucket, Prefix=self._root, MaxKeys=1)
        except ClientError as exc:
            if _code(exc) in _SLOW_DOWN or _status(exc) in {429, 500, 502, 503, 504}:
                raise self._failure(exc) from exc
            # A key that may read objects only, or a server that knows nothing of versions.
            return False
        except (BotoCoreError, OSError) as exc:
            raise self._failure(exc) from exc
        return True

    def _list_versions(self, prefix: str, after: str, delimiter: str) -> Iterator[dict[str, Any]]:
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": prefix}
        asked |= {"Delimiter": delimiter} if delimiter else {}
        asked |= {"KeyMarker": after} if after else {}
        guard = EndlessGuard()
        while True:
            page = self._patience.run(lambda: self._call(self._client.list_object_versions, asked))
            rows = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            guard.see(sorted(f"{row['Key']} {row['VersionId']}" for row in rows))
            yield page
            if not page.get("IsTruncated"):
                return
            marker = {
                name: page[f"Next{name}"]
                for name in ("KeyMarker", "VersionIdMarker")
                if page.get(f"Next{name}")
            }
            if "KeyMarker" not in marker:
                raise SourceOdd(listing_stuck())
            asked.pop("VersionIdMarker", None)
            asked.update(marker)

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes of exactly the pinned state. Raises SourceChanged."""
        if end <= start:
            return b""
        return self._patience.run(lambda: self._read(pin, start, end))

    def _read(self, pin: Pin, start: int, end: int) -> bytes:
        asked: dict[str, Any] = {"Range": f"bytes={start}-{end - 1}"}
        if pin.version_id is not None:
            asked["VersionId"] = pin.version_id
        elif pin.etag:
            asked["IfMatch"] = f'"{pin.etag}"'
        key = self._root + pin.key
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=key, **asked)
            # Not every server minds If-Match, and one whose etag is of its own making may lie.
            if not _is_pinned(answer, pin):
                answer["Body"].close()
                raise SourceChanged.of([pin.key])
            data: bytes = answer["Body"].read()
        except ClientError as exc:
            code, status = _code(exc), _status(exc)
            if code in _GONE or (status in {404, 412, 416} and code != "NoSuchBucket"):
                raise SourceChanged.of([pin.key]) from exc
            raise self._failure(exc) from exc
        except (BotoCoreError, OSError) as exc:
            raise self._failure(exc) from exc
        if len(data) != end - start:
            raise SourceAway(
                Sentence("datasets.source_cut_off", "The source cut off {key}.", key=repr(pin.key))
            )
        return data

    def _list(self, prefix: str, after: str, *, delimiter: str) -> Iterator[dict[str, Any]]:
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": prefix}
        asked |= {"Delimiter": delimiter} if delimiter else {}
        asked |= {"StartAfter": after} if after else {}
        guard = EndlessGuard()
        while True:
            page = self._patience.run(lambda: self._call(self._client.list_objects_v2, asked))
            names = [row["Key"] for row in page.get("Contents", [])]
            guard.see(names + [row["Prefix"] for row in page.get("CommonPrefixes", [])])
            yield page
            token = page.get("NextContinuationToken")
            if not page.get("IsTruncated"):
                return
            if not token or token == asked.get("ContinuationToken"):
                raise SourceOdd(listing_stuck())
            asked["ContinuationToken"] = token

    def _call(self, method: Callable[..., dict[str, Any]], asked: dict[str, Any]) -> dict[str, Any]:
        try:
            return method(**asked)
        except (ClientError, BotoCoreError, OSError) as exc:
            raise self._failure(exc) from exc

    def _object(self, row: dict[str, Any]) -> SourceObject:
        key = str(row["Key"]).removeprefix(self._root)
        etag = str(row.get("ETag", "")).strip('"') or None
        # "null" is the one state without an id, which the next write takes the place of.
        version = row.get("VersionId")
        version = None if version in {None, "", "null"} else str(version)
        return SourceObject(key, int(row["Size"]), etag, row.get("LastModified"), version)

    def _failure(self, error: Exception) -> AtomError:
        return failure_of(error, self._endpoint, self._bucket)


def failure_of(error: Exception, endpoint: str, bucket: str) -> AtomError:
    """Return a client's failure in our words: never the client's, which may quote a signature."""
    if isinstance(error, ClientError):
        return _refusal(error, endpoint, bucket)
    # boto3 wraps the errors of our own connections.
    if isinstance(inner := getattr(error, "kwargs", {}).get("error"), AtomError):
        return inner
    if isinstance(error, HTTPClientError | BotoConnectionError | OSError):
        return SourceAway(no_answer_from(endpoint))
    return SourceOdd(
        Sentence("datasets.not_s3", "The answer of {endpoint} is not S3.", endpoint=endpoint)
    )


def _refusal(error: ClientError, endpoint: str, bucket: str) -> AtomError:
    """Return the failure that an answer of the store stands for."""
    code, status = _code(error), _status(error)
    if code in _SLOW_DOWN or status == 429:
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        return SourceThrottled(retry_after_s=retry_after_s(headers.get("retry-after")))
    if status in {401, 403}:
        return SourceDenied(
            Sentence(
                "datasets.bucket_refuses_credentials",
                "The bucket {bucket} refuses these credentials ({code}).",
                bucket=bucket,
                code=code,
            )
        )
    if status == 404:
        return SourceMissing(
            Sentence(
                "datasets.bucket_missing",
                "{endpoint} has no bucket {bucket}.",
                endpoint=endpoint,
                bucket=bucket,
            )
        )
    if status >= 500:
        return SourceAway(
            Sentence(
                "datasets.endpoint_fails",
                "{endpoint} fails with status {status}.",
                endpoint=endpoint,
                status=status,
            )
        )
    return SourceOdd(
        Sentence(
            "datasets.endpoint_answers_status",
            "{endpoint} answers with status {status} ({code}).",
            endpoint=endpoint,
            status=status,
            code=code[:60],
        )
    )


def aws_endpoint(region: str) -> str:
    """Return the address of AWS in a region."""
    return f"https://s3.{region or DEFAULT_REGION}.amazonaws.com"


def make_client(spec: SourceSpec, endpoint: str) -> Any:
    """Return boto3's client of a bucket: it follows no redirect and tries each request once."""
    with _CLIENTS:
        # A session is not made for several threads.
        client = _make_client(spec, endpoint)
    # boto3 goes to another region's address when it is sent there; we go only where we checked.
    client.meta.events.register("before-call.s3", _stay_here)
    return client


def _stay_here(params: dict[str, Any], **_: Any) -> None:
    params["context"].setdefault("s3_redirect", {})["redirected"] = True


def _make_client(spec: SourceSpec, endpoint: str) -> Any:
    keys = spec.credentials
    return _SESSION.client(
        "s3",
        endpoint_url=endpoint,
        region_name=spec.region or DEFAULT_REGION,
        # Never those of the server itself, which boto3 would look for.
        aws_access_key_id=keys.access_key_id or "anonymous",
        aws_secret_access_key=keys.secret_access_key or "anonymous",
        aws_session_token=keys.session_token or None,
        config=Config(
            signature_version="s3v4" if keys.access_key_id else UNSIGNED,
            s3={"addressing_style": "path"},
            retries={"total_max_attempts": 1, "mode": "standard"},
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_TIMEOUT_S,
            max_pool_connections=_CONNECTIONS,
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            proxies={},
        ),
    )


def _is_pinned(answer: dict[str, Any], pin: Pin) -> bool:
    size = str(answer.get("ContentRange", "")).rpartition("/")[2] or str(answer["ContentLength"])
    if size != str(pin.size):
        return False
    if pin.version_id is not None:
        return answer.get("VersionId") == pin.version_id
    same_etag = pin.etag is None or str(answer.get("ETag", "")).strip('"') == pin.etag
    return same_etag and _same_second(answer.get("LastModified"), pin.mtime)


def _same_second(given: datetime | None, pinned: datetime | None) -> bool:
    # Listings have milliseconds, headers whole seconds.
    if given is None or pinned is None:
        return given is pinned
    return given.replace(microsecond=0) == pinned.replace(microsecond=0)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
