"""Test whether an object store honours conditional writes.

A store that does not know `If-None-Match` ignores it, and replaces the object. Some check the
condition when a request begins and not when the object is written: between the two, another
request may have written it. Both calls that Atom relies on are tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import structlog
from botocore.exceptions import BotoCoreError, ClientError

log = structlog.get_logger(__name__)

PROBES = "staging/probes/"
ONLY_NEW = {"If-None-Match": "*"}
_HALF = b"a" * 65_536
_EXPIRES_S = 60
_PATIENCE_S = 30.0


class StoreConditions:
    """Remembers whether a store honours conditional writes."""

    def __init__(self, again_s: float = 60.0) -> None:
        """`again_s`: seconds until a store that did not answer is tested again."""
        self._again_s = again_s
        self._honoured: bool | None = None
        self._again_at = 0.0

    def are_honoured(self, client: Any, bucket: str) -> bool:
        """Return the known result, or test the store; one that does not answer is tested later."""
        if self._honoured is None and time.monotonic() >= self._again_at:
            try:
                self._honoured = honours_conditional_writes(client, bucket)
            except (ClientError, BotoCoreError, httpx.HTTPError) as exc:
                self._again_at = time.monotonic() + self._again_s
                log.warning("conditional_writes_not_tried", reason=str(exc))
        return bool(self._honoured)


def is_refused_condition(exc: ClientError) -> bool:
    """Return whether the store refused a write since its key has an object."""
    return exc.response["ResponseMetadata"].get("HTTPStatusCode") in {409, 412}


def honours_conditional_writes(client: Any, bucket: str) -> bool:
    """Return whether neither a PUT nor the end of a multipart upload replaces an object.

    `client` is boto3's. Raises ClientError, BotoCoreError or httpx.HTTPError when the store
    cannot be asked.
    """
    key = f"{PROBES}{uuid4()}"
    tried = (_slow_put_is_refused, _second_completion_is_refused)
    try:
        honoured = all(is_refused(client, bucket, key) for is_refused in tried)
    finally:
        client.delete_object(Bucket=bucket, Key=key)
    log.info("conditional_writes_tried", honoured=honoured)
    return honoured


def _slow_put_is_refused(client: Any, bucket: str, key: str) -> bool:
    """Whether a PUT that began while the key was free keeps an object written meanwhile."""
    target = {"Bucket": bucket, "Key": key}
    address = client.generate_presigned_url(
        "put_object", {**target, "IfNoneMatch": "*"}, _EXPIRES_S
    )

    def body() -> Iterator[bytes]:
        yield _HALF
        client.put_object(**target, Body=b"first")
        yield _HALF

    headers = {**ONLY_NEW, "Content-Length": str(2 * len(_HALF))}
    answer = httpx.put(address, content=body(), headers=headers, timeout=_PATIENCE_S)
    kept: bytes = client.get_object(**target)["Body"].read()
    return answer.status_code in {409, 412} and kept == b"first"


def _second_completion_is_refused(client: Any, bucket: str, key: str) -> bool:
    """Whether the store refuses to join parts under `key`, which has an object."""
    target = {"Bucket": bucket, "Key": key}
    upload = {**target, "UploadId": client.create_multipart_upload(**target)["UploadId"]}
    try:
        etag = client.upload_part(**upload, PartNumber=1, Body=b"second")["ETag"]
        parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
        try:
            client.complete_multipart_upload(**upload, MultipartUpload=parts, IfNoneMatch="*")
        except ClientError as exc:
            return is_refused_condition(exc)
        return False
    finally:
        _abort(client, upload)


def _abort(client: Any, upload: dict[str, Any]) -> None:
    try:
        client.abort_multipart_upload(**upload)
    except ClientError as exc:
        # The store joined the parts, so it ignores conditions.
        log.info("conditional_completion_ignored", reason=str(exc))
